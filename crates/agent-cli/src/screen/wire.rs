//! Machine-readable output: one object at the end (`json`) or one a line as things happen (`stream-json`). The schema in `docs/` is made
//! from these types.

mod agents;
mod asked;
mod machines;
mod reports;
mod result;
mod summarised;
use agent_core::conversation::{Block, Item};
use agent_core::llm::Delta;
use agent_core::permission::{Basis, PermissionMode};
use agent_runner::Notice;
use agents::AgentBegun;
pub(crate) use agents::AgentReport;
pub(crate) use asked::{ChangeReport, QuestionReport, ServerQuestionReport};
use reports::PictureReport;
pub(crate) use reports::SandboxReport;
pub(crate) use result::{DenialReport, RunResult, UsageReport, used};
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
    /// With `--input-format stream-json`: it is asked whether a call may run. The call waits for the `answer`.
    Question(QuestionReport),
    /// With `--input-format stream-json`: a server of tools asks the person something in the middle of a call. The call waits for the
    /// `server_answer`.
    ServerQuestion(ServerQuestionReport),
    /// With `--input-format stream-json`: a question needs no answer any more.
    QuestionWithdrawn {
        /// The question's id.
        id: String,
        /// The session's id.
        session_id: String,
    },
    /// With `--input-format stream-json`: messages that came while the agent worked, and did not go to the model. They count as not said.
    Returned {
        /// The messages, oldest first.
        messages: Vec<String>,
        /// The session's id.
        session_id: String,
    },
    /// With `--input-format stream-json`: a line of the input changed nothing.
    Rejected {
        /// Which line of the input, counted from 1, blank ones left out.
        line: u64,
        /// Why, and what can be done.
        error: String,
        /// The session's id.
        session_id: String,
    },
    /// How the run ended: the last line, exactly once. With `--input-format stream-json` how a turn ended, once for each.
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

#[cfg(test)]
mod tests {
    use super::result::SUBTYPES;
    use super::*;
    use agent_core::session::OutcomeKind;
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
