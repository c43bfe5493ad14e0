//! How a run or a turn ended, as programs read it.

use super::{AgentReport, Line};
use crate::session::limits::Raise;
use agent_core::budget::Ledger;
use agent_core::llm::Usage;
use agent_core::session::{Denial, OutcomeKind};
use serde::Serialize;
use serde_json::Value;

/// How a run ended: the object of `json`, and the last line of `stream-json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RunResult {
    /// What it came to, as a word.
    #[cfg_attr(test, schemars(extend("enum" = SUBTYPES)))]
    pub(crate) subtype: &'static str,
    /// Whether that is an error.
    pub(crate) is_error: bool,
    /// The program's exit code.
    pub(crate) exit_code: u8,
    /// The final answer; empty when there is none.
    pub(crate) result: String,
    /// How far the work was checked (`--verify`): a check counts that passed, and since whose begin no file changed.
    #[cfg_attr(test, schemars(extend("enum" = ["verified", "partly verified", "unverified"])))]
    pub(crate) verification: &'static str,
    /// The error, if one ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The session's id; empty without a journal.
    pub(crate) session_id: String,
    /// Model calls of this run.
    pub(crate) num_turns: u64,
    /// How long the run took.
    pub(crate) duration_ms: u64,
    /// Cost of this run in US dollars, that of agents below included; null when a model's price is unknown.
    pub(crate) total_cost_usd: Option<f64>,
    /// Tokens of this run.
    pub(crate) usage: UsageReport,
    /// Calls that were not allowed to run.
    pub(crate) permission_denials: Vec<DenialReport>,
    /// The agents below the session's own, in the order in which they ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<AgentReport>,
    /// Where the machine stands.
    pub(crate) terminal_state: String,
    /// With `--input-format stream-json`: how many messages the agent has taken in this conversation, those before this turn included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) messages: Option<u64>,
    /// What a person does about the limit that ended it.
    #[serde(skip)]
    pub(crate) raise: Option<Raise>,
}

/// Tokens, in the field names of Anthropic's API.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UsageReport {
    /// Read at full price.
    input_tokens: u64,
    /// Written.
    output_tokens: u64,
    /// Read from the provider's cache.
    cache_read_input_tokens: u64,
    /// Written to the provider's cache.
    cache_creation_input_tokens: u64,
}

/// A call that was not allowed to run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DenialReport {
    /// The tool.
    tool_name: String,
    /// The call.
    tool_use_id: String,
    /// Its arguments.
    tool_input: Value,
    /// Why.
    reason: String,
    /// The session's id of the agent below that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
}

impl RunResult {
    /// Whether the limit on time ended it.
    pub(crate) fn is_out_of_time(&self, max_wall_time_ms: Option<u64>) -> bool {
        let is_up = max_wall_time_ms.is_some_and(|most| self.duration_ms >= most);
        is_up && self.exit_code == OutcomeKind::Budget.exit_code()
    }

    /// The object as text, with its line end, as `json` prints it.
    pub(crate) fn text(self) -> String {
        Line::Result(self).text()
    }
}

impl UsageReport {
    pub(crate) const fn of(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_input_tokens: usage.cache_read_tokens,
            cache_creation_input_tokens: usage.cache_write_tokens,
        }
    }
}

impl DenialReport {
    /// The denial in one line, for people.
    pub(crate) fn line(&self) -> String {
        let name = crate::screen::terminal::inline(&self.tool_name);
        let call = match crate::screen::view::telling(&self.tool_input) {
            Some(text) => format!("{name} {}", crate::screen::terminal::one_line(text, 100)),
            None => name,
        };
        let whose = self.agent.as_deref().map(|id| format!("agent {}: ", crate::screen::terminal::inline(id)));
        format!("denied: {}{call} ({})", whose.unwrap_or_default(), crate::screen::terminal::inline(&self.reason))
    }

    /// `agent` is the session's id of the agent below that made the call.
    pub(crate) fn of(denial: &Denial, agent: Option<&str>) -> Self {
        Self {
            tool_name: denial.call.name.to_string(),
            tool_use_id: denial.call.id.to_string(),
            tool_input: serde_json::from_str(denial.call.arguments.as_str()).unwrap_or_default(),
            reason: denial.reason.clone(),
            agent: agent.map(str::to_owned),
        }
    }
}

/// What was used since a state of the ledger. The cost is not known when a call without a price was made, or one is
/// still open.
pub(crate) fn used(before: &Ledger, after: &Ledger, has_open_cost: bool) -> (u64, Option<f64>, UsageReport) {
    let (a, b) = (&after.usage, &before.usage);
    let usage = Usage {
        input_tokens: a.input_tokens - b.input_tokens,
        output_tokens: a.output_tokens - b.output_tokens,
        cache_read_tokens: a.cache_read_tokens - b.cache_read_tokens,
        cache_write_tokens: a.cache_write_tokens - b.cache_write_tokens,
    };
    let is_priced = after.unpriced_calls == before.unpriced_calls && !has_open_cost;
    let cost_usd = is_priced.then(|| (after.whole().cost_nano_usd - before.whole().cost_nano_usd) as f64 / 1e9);
    (after.model_calls - before.model_calls, cost_usd, UsageReport::of(&usage))
}

/// Every word that a result can have for what it came to.
#[cfg(test)]
pub(super) const SUBTYPES: [&str; 11] = [
    "success",
    "error_during_execution",
    "error_authentication",
    "error_input",
    "error_config",
    "error_max_turns",
    "error_max_budget",
    "error_permission",
    "verification_failed",
    "waiting",
    "cancelled",
];
