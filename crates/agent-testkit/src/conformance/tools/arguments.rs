//! What a tool says about itself, and what it takes.

use super::ToolCheck;
use super::stage::{Stage, differences, shown};
use agent_core::tool::ToolStatus;
use serde_json::{Value, json};

pub(super) fn all() -> Vec<ToolCheck> {
    vec![
        ToolCheck {
            name: "specification",
            demands: "it has a name that every service takes, a description and an object schema, and they do not change",
            run: |stage| Box::pin(specification(stage)),
        },
        ToolCheck {
            name: "misfits",
            demands: "arguments that do not fit are refused with a message, before anything happens",
            run: |stage| Box::pin(misfits(stage)),
        },
        ToolCheck {
            name: "anything",
            demands: "no arguments make it panic or hang",
            run: |stage| Box::pin(anything(stage)),
        },
    ]
}

async fn specification(stage: &Stage<'_>) -> Result<(), String> {
    let spec = stage.tool.spec().clone();
    let is_name = |name: &str| {
        (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    if !is_name(&spec.name) {
        return Err(format!("its name is `{}`", spec.name));
    }
    if spec.description.trim().is_empty() {
        return Err(String::from("it has no description"));
    }
    if spec.input_schema.get("type") != Some(&json!("object")) {
        return Err(format!("its schema is {}", shown(&spec.input_schema)));
    }
    for arguments in stage.case.works(&stage.workspace()) {
        stage.call(&arguments).await?;
    }
    if *stage.tool.spec() == spec { Ok(()) } else { Err(String::from("it is another one after a call")) }
}

async fn misfits(stage: &Stage<'_>) -> Result<(), String> {
    let before = stage.snapshot();
    for arguments in stage.case.misfits() {
        match stage.inspect(&arguments) {
            Err(message) if !message.trim().is_empty() => {}
            other => return Err(format!("about {} it says {other:?}", shown(&arguments))),
        }
        let outcome = stage.call(&arguments).await?;
        if outcome.status != ToolStatus::Failed || outcome.content.trim().is_empty() {
            return Err(format!("run with {} it gives {outcome:?}", shown(&arguments)));
        }
    }
    match differences(&before, &stage.snapshot()).first() {
        None => Ok(()),
        Some(path) => Err(format!("`{}` has changed", path.display())),
    }
}

async fn anything(stage: &Stage<'_>) -> Result<(), String> {
    let names: Vec<String> = stage
        .tool
        .spec()
        .input_schema
        .get("properties")
        .and_then(Value::as_object)
        .map_or_else(Vec::new, |properties| properties.keys().cloned().collect());
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}"),
        json!("x".repeat(100_000)),
        json!("\u{1b}[31m\u{202e}é"),
        json!([[]]),
        json!({"a": {}}),
    ];
    for value in &values {
        let all: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), value.clone())).collect();
        let mut tries = vec![Value::Object(all)];
        tries.extend(names.iter().map(|name| json!({name.as_str(): value})));
        for arguments in tries {
            // What it says about them is up to it, but what it refuses it must refuse to run, too.
            let is_refused = match stage.inspect(&arguments) {
                Err(message) if message == "it panicked" => {
                    return Err(format!("it panicked at {}", shown(&arguments)));
                }
                inspected => inspected.is_err(),
            };
            if is_refused && stage.call(&arguments).await?.status == ToolStatus::Ok {
                return Err(format!("it refuses {} and runs it all the same", shown(&arguments)));
            }
        }
    }
    Ok(())
}
