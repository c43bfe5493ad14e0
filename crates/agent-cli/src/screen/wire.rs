//! Machine-readable output: one object at the end (`json`) or one a line as things happen (`stream-json`). The schema in `docs/` is made
//! from these types.

mod agents;
mod machines;
mod reports;
mod summarised;
use crate::session::limits::Raise;
use agent_core::budget::Ledger;
use agent_core::conversation::{Block, Item};
use agent_core::llm::{Delta, Usage};
use agent_core::permission::{Basis, PermissionMode};
use agent_core::session::{Denial, OutcomeKind, Session};
use agent_runner::Notice;
use agents::AgentBegun;
pub(crate) use agents::AgentReport;
use reports::PictureReport;
pub(crate) use reports::SandboxReport;
use serde::Serialize;
use serde_json::Value;
use summarised::SummaryReport;

/// One line of `stream-json`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first line: what the session is made of.
    System {
        /// Always `init`.
        #[cfg_attr(test, schemars(extend("const" = "init")))]
        subtype: &'static str,
        /// The session's id; empty without a journal.
        session_id: String,
        /// The model's id.
        model: String,
        /// How much it is asked to think; null where its server decides.
        #[cfg_attr(test, schemars(extend("enum" = ["none", "minimal", "low", "medium", "high", "xhigh", "max", null])))]
        effort: Option<&'static str>,
        /// Names of the tools.
        tools: Vec<String>,
        /// The working directory.
        cwd: String,
        /// How much may happen without asking, as `--permission-mode` names it.
        #[cfg_attr(test, schemars(with = "String", extend("enum" = ["default", "accept-edits", "plan", "bypass"])))]
        permission_mode: PermissionMode,
        /// What commands are held to; null when they run as the user, and when the run ended before it began.
        sandbox: Option<SandboxReport>,
    },
    /// A complete answer of the model.
    Assistant {
        /// The answer.
        message: Message,
        /// The session's id.
        session_id: String,
    },
    /// The results of tool calls, as the model gets them.
    User {
        /// The results.
        message: Message,
        /// The session's id.
        session_id: String,
    },
    /// With `--include-partial-messages`: a piece of an answer.
    StreamEvent {
        /// The piece.
        event: PartialEvent,
        /// The session's id.
        session_id: String,
    },
    /// It was decided about a call that may change something, or that is denied: by the policy or by a person.
    Permission {
        /// The call.
        tool_use_id: String,
        /// The tool.
        tool_name: String,
        /// What: whether it runs, is asked about, or is denied.
        #[cfg_attr(test, schemars(extend("enum" = ["run", "ask", "deny"])))]
        decision: &'static str,
        /// Why: the rule and where it comes from, the mode, a hook, or a person.
        reason: String,
        /// The session's id.
        session_id: String,
    },
    /// A hook of the user's ran.
    Hook {
        /// At which event.
        hook_event_name: &'static str,
        /// What the user configured.
        command: String,
        /// The call that it looked at, if it was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<String>,
        /// What it came to.
        #[cfg_attr(test, schemars(extend("enum" = ["passed", "blocked", "failed"])))]
        outcome: &'static str,
        /// How long it took, in milliseconds.
        duration_ms: u64,
        /// Why it objects, what went wrong, or what it says to the user.
        #[serde(skip_serializing_if = "String::is_empty")]
        message: String,
        /// The session's id.
        session_id: String,
    },
    /// A summary has taken the place of what was said before.
    Summarised(SummaryReport),
    /// Pieces shown of the last answer do not count.
    Discard {
        /// The session's id.
        session_id: String,
    },
    /// An agent below the session's own has begun. What it does follows in lines with its `session_id`.
    AgentBegun(AgentBegun),
    /// An agent below the session's own has an outcome.
    AgentEnded(AgentReport),
    /// A machine moved.
    Transition {
        /// Which machine, where it is not the session: `lifecycle`, `child` or `children`.
        #[serde(skip_serializing_if = "Option::is_none")]
        machine: Option<&'static str>,
        /// The id of the agent whose machine it is, where it is not the session's own agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The number of the child, where it is a machine of one.
        #[serde(skip_serializing_if = "Option::is_none")]
        child: Option<u32>,
        /// State that was left or kept.
        from: String,
        /// State that was entered or kept.
        to: String,
        /// What happened.
        trigger: String,
        /// When, in milliseconds since the Unix epoch.
        at_ms: u64,
    },
    /// The last line, exactly once: how the run ended.
    Result(RunResult),
}

/// A message with content blocks as Anthropic's API has them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Message {
    /// `assistant` or `user`.
    #[cfg_attr(test, schemars(extend("enum" = ["assistant", "user"])))]
    role: &'static str,
    /// The parts in order.
    content: Vec<Content>,
    /// What the answer used, when the provider said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageReport>,
}

/// A part of a message.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's reasoning, as far as it is shown.
    Thinking {
        /// The reasoning.
        thinking: String,
    },
    /// A tool call.
    ToolUse {
        /// Identifies the call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// What a call came to.
    ToolResult {
        /// The call.
        tool_use_id: String,
        /// What the model reads.
        content: String,
        /// Whether it failed or was not run.
        is_error: bool,
        /// What the model sees with it. The bytes are beside the session.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<PictureReport>,
    },
}

/// A piece of an answer.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum PartialEvent {
    /// Text for the user.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// Reasoning.
    ThinkingDelta {
        /// The piece.
        thinking: String,
    },
}

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

impl Line {
    /// The line for a notice, if it has one.
    pub(crate) fn of(notice: &Notice, session_id: &str, with_partial: bool) -> Option<Self> {
        let session_id = session_id.to_owned();
        match notice {
            Notice::Message { blocks, usage } => {
                let content = blocks.iter().filter_map(Content::of).collect();
                let message = Message { role: "assistant", content, usage: usage.map(|usage| UsageReport::of(&usage)) };
                Some(Self::Assistant { message, session_id })
            }
            Notice::RoundClosed { round, .. } => match round.as_ref() {
                Item::Round(round) => {
                    let results = round.results().iter().map(|result| Content::ToolResult {
                        tool_use_id: result.call().to_string(),
                        content: result.content().to_owned(),
                        is_error: result.is_error(),
                        pictures: result.pictures().iter().map(PictureReport::of).collect(),
                    });
                    let message = Message { role: "user", content: results.collect(), usage: None };
                    Some(Self::User { message, session_id })
                }
                Item::Input(_) | Item::Summary(_) | Item::Answer(_) => None,
            },
            Notice::Delta(delta) if with_partial => Some(Self::StreamEvent {
                event: match delta {
                    Delta::Text(text) => PartialEvent::TextDelta { text: text.clone() },
                    Delta::Thinking(text) => PartialEvent::ThinkingDelta { thinking: text.clone() },
                },
                session_id,
            }),
            // That reading runs goes without saying.
            Notice::Ruled(ruling) if *ruling.decision.basis() != Basis::Reads => Some(Self::Permission {
                tool_use_id: ruling.call.to_string(),
                tool_name: ruling.tool.to_string(),
                decision: ruling.decision.word(),
                reason: ruling.reason(),
                session_id,
            }),
            Notice::HookRan(run) => Some(Self::Hook {
                hook_event_name: run.point.name(),
                command: run.command.clone(),
                tool_use_id: run.call.as_ref().map(ToString::to_string),
                outcome: run.end.word(),
                duration_ms: run.took_ms,
                message: run.message.clone(),
                session_id,
            }),
            Notice::Summarised(summarised) => Some(Self::Summarised(SummaryReport::of(summarised, session_id))),
            Notice::Discarded => Some(Self::Discard { session_id }),
            Notice::OfAgent { agent, notice } => {
                Self::of(notice, &agent.id, with_partial).map(|line| line.by(&agent.id))
            }
            Notice::AgentBegun { agent, task, model } => Some(Self::AgentBegun(AgentBegun::of(agent, task, model))),
            Notice::AgentEnded { agent, outcome, spent } => {
                Some(Self::AgentEnded(AgentReport::of(agent, outcome, spent)))
            }
            Notice::Transition(row) => Some(Self::moved(None, None, row)),
            Notice::Lifecycle(row) => Some(Self::moved(Some("lifecycle"), None, row)),
            Notice::ChildMoved { number, transition } => Some(Self::moved(Some("child"), Some(*number), transition)),
            Notice::ChildrenMoved(row) => Some(Self::moved(Some("children"), None, row)),
            _ => None,
        }
    }

    /// The line as text, with its line end.
    pub(crate) fn text(&self) -> String {
        as_line(self)
    }
}

impl RunResult {
    /// Whether the limit on time ended it.
    pub(crate) fn is_out_of_time(&self, max_wall_time_ms: Option<u64>) -> bool {
        let is_up = max_wall_time_ms.is_some_and(|most| self.duration_ms >= most);
        is_up && self.exit_code == OutcomeKind::Budget.exit_code()
    }

    /// The object as text, with its line end, as `json` prints it.
    pub(crate) fn text(self) -> String {
        as_line(&Line::Result(self))
    }
}

/// These types hold nothing that JSON could not: strings, numbers and values that were read from JSON.
fn as_line(value: &Line) -> String {
    let mut text =
        serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"type\":\"error\",\"error\":\"{error}\"}}"));
    text.push('\n');
    text
}

impl Content {
    fn of(block: &Block) -> Option<Self> {
        match block {
            Block::Text(text) => Some(Self::Text { text: text.clone() }),
            Block::Thinking { text, .. } => Some(Self::Thinking { thinking: text.clone() }),
            Block::Call(call) => Some(Self::ToolUse {
                id: call.id.to_string(),
                name: call.name.to_string(),
                input: serde_json::from_str(call.arguments.as_str()).unwrap_or_default(),
            }),
            Block::RedactedThinking { .. } | Block::Opaque { .. } => None,
        }
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
pub(crate) fn used(before: &Ledger, session: &Session) -> (u64, Option<f64>, UsageReport) {
    let after = session.ledger();
    let (a, b) = (&after.usage, &before.usage);
    let usage = Usage {
        input_tokens: a.input_tokens - b.input_tokens,
        output_tokens: a.output_tokens - b.output_tokens,
        cache_read_tokens: a.cache_read_tokens - b.cache_read_tokens,
        cache_write_tokens: a.cache_write_tokens - b.cache_write_tokens,
    };
    let is_priced = after.unpriced_calls == before.unpriced_calls && !session.has_open_cost();
    let cost_usd = is_priced.then(|| (after.whole().cost_nano_usd - before.whole().cost_nano_usd) as f64 / 1e9);
    (after.model_calls - before.model_calls, cost_usd, UsageReport::of(&usage))
}

/// Every word that a result can have for what it came to.
#[cfg(test)]
const SUBTYPES: [&str; 11] = [
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// `INSTA_UPDATE=always` rewrites the published file.
    #[test]
    fn the_published_schema_is_made_from_the_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stream-json.schema.json");
        // As written, not as read: what is always there is required.
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings.into_generator().into_root_schema_for::<Line>();
        schema.insert("title".into(), "A line of `agent run --output-format stream-json`".into());
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
            std::fs::write(&path, &made).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(published == made, "docs/stream-json.schema.json is stale: INSTA_UPDATE=always rewrites it");
    }

    #[test]
    fn every_outcome_has_a_published_word() {
        use OutcomeKind::{Authentication, Budget, CallLimit, Cancelled, Failed, Permission, Provider, Success};
        use OutcomeKind::{VerificationFailed, Waiting};
        let of_session = [Success, Failed, Authentication, CallLimit, Budget, Permission, Provider, Cancelled];
        for kind in of_session.into_iter().chain([VerificationFailed, Waiting]) {
            assert!(SUBTYPES.contains(&kind.subtype()), "{kind:?}");
        }
    }
}
