//! Checks that a model asked for. They are commands of the model, so the policy decides about each by itself, when it is to run.

use crate::agent::Agent;
use crate::agents::COMMAND_TOOL;
use crate::conversation::{Arguments, CallId, ToolCall};
use crate::lifecycle::{Check, Origin};
use crate::permission::{Basis, Decision};
use crate::tool::{Finding, HookVerdict};
use alloc::format;
use alloc::string::String;

impl Agent {
    /// The check as a call of the tool that runs commands, if a model asked for it: what the call would do decides whether the check may
    /// run ([`judge_check`](Self::judge_check)). Nothing for a check of the host's.
    #[must_use]
    pub fn check_as_call(&self, check: &Check) -> Option<ToolCall> {
        let commitment = self.lifecycle()?.commitments().get(check.commitment.0)?;
        match commitment.origin {
            Origin::Starter => None,
            Origin::Parent | Origin::Agent => {
                let arguments = serde_json::json!({ "command": check.assertion.command });
                let arguments = Arguments::parse(&format!("{arguments}")).ok()?;
                Some(ToolCall { id: CallId::new("check"), name: COMMAND_TOOL.into(), arguments })
            }
        }
    }

    /// Whether a check that a model asked for may run: only what a rule or the mode lets run without asking. No one is asked about a check.
    /// That a command only reads is not enough: then it would have to run as its tool runs such commands.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge_check(&self, finding: &Finding) -> Result<(), String> {
        let inspection = match finding {
            Finding::Runnable(inspection) => inspection,
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => return Err(message.clone()),
        };
        let permissions = &self.session.config().permissions;
        match permissions.decide(COMMAND_TOOL, inspection, &HookVerdict::None) {
            Decision::Run(Basis::Allowed(_) | Basis::Mode(_)) => Ok(()),
            Decision::Deny(basis) => Err(format!("{basis}")),
            Decision::Run(_) | Decision::Ask(_) => {
                Err(format!("no rule lets it run: it needs one for `{COMMAND_TOOL}` that covers it"))
            }
        }
    }
}
