//! What a summary of the conversation changed, as a line of `stream-json`.

use agent_core::session::Summarised;
use serde::Serialize;

/// What a summary changed, and what it cost.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct SummaryReport {
    /// Who asked for it: the session, because the conversation was too long, or the user.
    #[cfg_attr(test, schemars(extend("enum" = ["auto", "manual"])))]
    trigger: &'static str,
    /// Estimated tokens of the next request without it.
    before_tokens: u64,
    /// Estimated tokens of the next request with it.
    after_tokens: u64,
    /// The model that wrote it.
    model: String,
    /// What it cost; null where the model's price is not known.
    cost_usd: Option<f64>,
    /// The session's id.
    session_id: String,
}

impl SummaryReport {
    pub(super) fn of(summarised: &Summarised, session_id: String) -> Self {
        Self {
            trigger: if summarised.is_requested { "manual" } else { "auto" },
            before_tokens: summarised.before_tokens,
            after_tokens: summarised.after_tokens,
            model: summarised.model.to_string(),
            cost_usd: summarised.cost_nano_usd.map(|nano| nano as f64 / 1e9),
            session_id,
        }
    }
}
