//! `signal`: the agent reports that it is done, or that it needs an answer to continue. The tool does nothing: the call is the message.

use agent_types::conversation::{Arguments, ToolCall};
use agent_types::ports::{Tool, ToolContext};
use agent_types::signal::{SIGNAL_TOOL, Signal as Status, SignalArguments};
use agent_types::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;

/// The tool by which an unattended agent signals the result of its work.
#[must_use]
pub fn signal_tool() -> Arc<dyn Tool> {
    let schema = json!({
        "type": "object",
        "properties": {
            "status": {
                "type": "string",
                "enum": ["done", "waiting"],
                "description": "`done`: the task is finished. `waiting`: you cannot continue without an answer."
            },
            "summary": {
                "type": "string",
                "description": "What was done, or what must be answered."
            }
        },
        "required": ["status", "summary"],
        "additionalProperties": false
    });
    Arc::new(Signal {
        spec: ToolSpec {
            name: Arc::from(SIGNAL_TOOL),
            description: Arc::from(DESCRIPTION),
            input_schema: Arc::new(schema),
        },
    })
}

struct Signal {
    spec: ToolSpec,
}

#[async_trait]
impl Tool for Signal {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        SignalArguments::read(arguments).map(|_| Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, call: &ToolCall, _context: &ToolContext) -> ToolOutcome {
        match SignalArguments::read(&call.arguments) {
            Ok(SignalArguments { status: Status::Done, .. }) => ToolOutcome::ok("noted: done. End your turn now."),
            Ok(SignalArguments { status: Status::Waiting, .. }) => {
                ToolOutcome::ok("noted: waiting. End your turn now.")
            }
            Err(message) => ToolOutcome::failed(message),
        }
    }
}

const DESCRIPTION: &str = "Reports the outcome of your work, right before you end your turn. No one can answer while you work: use \
                           `waiting` only when you cannot continue at all without an answer. Ending your turn without this call means \
                           `done`.";

#[cfg(test)]
mod tests {
    use super::*;

    fn inspect(arguments: &str) -> Result<Inspection, String> {
        signal_tool().inspect(&Arguments::parse(arguments).unwrap())
    }

    #[test]
    fn it_takes_two_words_and_a_summary() {
        for status in ["done", "waiting"] {
            let found = inspect(&format!(r#"{{"status":"{status}","summary":"s"}}"#)).unwrap();
            assert_eq!(found, Inspection { effect: Effect::Reads, subject: Subject::None });
        }
        for wrong in [r#"{"status":"finished","summary":"s"}"#, r#"{"status":"done"}"#, "{}"] {
            assert!(inspect(wrong).is_err(), "{wrong}");
        }
    }
}
