//! What a person may choose for a session: permission mode, model, effort; as modes and as options.

use crate::host::Live;
use crate::wire::RpcError;
use agent_core::permission::{PermissionMode, Permissions};
use agent_core::session::SessionConfig;
use serde_json::{Value, json};

/// The modes, and which one holds.
pub(crate) fn modes(live: &dyn Live, config: &SessionConfig) -> Value {
    let mode =
        |mode: PermissionMode| json!({ "id": mode.to_string(), "name": name(mode), "description": meaning(mode) });
    let all: Vec<Value> = offered(live, config).into_iter().map(mode).collect();
    json!({ "currentModeId": config.permissions.mode.to_string(), "availableModes": all })
}

/// All options, each with the value that holds.
pub(crate) fn options(live: &dyn Live, config: &SessionConfig) -> Value {
    let value = |value: &str, name: &str| json!({ "value": value, "name": name });
    let modes = offered(live, config).into_iter();
    let modes: Vec<Value> = modes
        .map(|mode| json!({ "value": mode.to_string(), "name": name(mode), "description": meaning(mode) }))
        .collect();
    let models = live.models(config);
    let model = config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
    let (efforts, effort) = live.efforts(config);
    json!([
        { "id": "mode", "name": "Permission mode", "category": "mode", "type": "select",
          "currentValue": config.permissions.mode.to_string(), "options": modes },
        { "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": model,
          "options": models.iter().map(|model| value(model, model)).collect::<Vec<_>>() },
        { "id": "effort", "name": "Effort", "category": "thought_level", "type": "select", "currentValue": effort,
          "options": efforts.iter().map(|effort| value(effort, effort)).collect::<Vec<_>>() },
    ])
}

/// The configuration with another value of an option.
///
/// # Errors
/// When there is no such option, or no such value of it.
pub(crate) fn changed(
    live: &mut dyn Live,
    config: &SessionConfig,
    option: &str,
    value: &str,
) -> Result<SessionConfig, RpcError> {
    match option {
        "mode" => with_mode(live, config, value),
        "model" => live.with_model(config, value),
        "effort" => live.with_effort(config, value),
        other => Err(RpcError::params(format!("there is no option `{other}`; the options are mode, model and effort"))),
    }
}

fn with_mode(live: &dyn Live, config: &SessionConfig, wanted: &str) -> Result<SessionConfig, RpcError> {
    let offered = offered(live, config);
    let Some(mode) = offered.iter().copied().find(|mode| mode.to_string() == wanted) else {
        let known: Vec<String> = offered.iter().map(ToString::to_string).collect();
        return Err(RpcError::params(format!("there is no mode `{wanted}` here; the modes are {}", known.join(", "))));
    };
    Ok(SessionConfig { permissions: Permissions { mode, ..config.permissions.clone() }, ..config.clone() })
}

/// The mode that holds is always among them.
fn offered(live: &dyn Live, config: &SessionConfig) -> Vec<PermissionMode> {
    let mut modes = live.modes();
    if !modes.contains(&config.permissions.mode) {
        modes.push(config.permissions.mode);
    }
    modes
}

const fn name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "Ask",
        PermissionMode::AcceptEdits => "Accept edits",
        PermissionMode::Plan => "Plan",
        PermissionMode::Bypass => "Bypass",
    }
}

const fn meaning(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "Reads run; everything else asks",
        PermissionMode::AcceptEdits => "Reads and file edits run; everything else asks",
        PermissionMode::Plan => "Only reads run",
        PermissionMode::Bypass => "Everything runs unless a rule denies it",
    }
}
