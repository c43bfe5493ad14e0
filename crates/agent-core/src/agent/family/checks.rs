//! Checks that a model asked for. They are commands of the model, so the policy decides about each by itself, when it is to run.

use crate::agent::Agent;
use crate::agents::COMMAND_TOOL;
use crate::conversation::{Arguments, CallId, ToolCall};
use crate::lifecycle::{Check, Origin};
use crate::permission::{Basis, Decision};
use crate::tool::{Effect, Finding, HookVerdict, Inspection, Subject, Walls};
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
    /// That a command only reads is not enough: then it would have to run as its tool runs such commands. So it is judged as one that may
    /// change something.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge_check(&self, finding: &Finding) -> Result<(), String> {
        let inspection = match finding {
            Finding::Runnable(inspection) => as_it_runs(inspection),
            Finding::UnknownTool { message } | Finding::InvalidArguments { message } => return Err(message.clone()),
        };
        let permissions = &self.session.config().permissions;
        match permissions.decide(COMMAND_TOOL, &inspection, &HookVerdict::None) {
            Decision::Run(Basis::Allowed(_) | Basis::Mode(_)) => Ok(()),
            Decision::Deny(basis) => Err(format!("{basis}")),
            Decision::Run(_) | Decision::Ask(_) => {
                Err(format!("no rule lets it run: it needs one for `{COMMAND_TOOL}` that covers it"))
            }
        }
    }
}

/// What a check does that runs as any command, whatever its tool would hold it to.
fn as_it_runs(inspection: &Inspection) -> Inspection {
    let mut inspection = inspection.clone();
    inspection.effect = Effect::Changes;
    if let Subject::Command { walls: walls @ Walls::Reading { .. }, .. } = &mut inspection.subject {
        *walls = Walls::Usual;
    }
    inspection
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{PermissionMode, Permissions};
    use crate::session::SessionConfig;
    use alloc::vec;
    use alloc::vec::Vec;

    fn judged(allow: &str, deny: &str, mode: PermissionMode) -> Result<(), String> {
        let rules = |text: &str| -> Vec<_> { text.split_terminator(';').map(|rule| rule.parse().unwrap()).collect() };
        let permissions = Permissions { mode, allow: rules(allow), deny: rules(deny), ..Permissions::default() };
        let command = String::from("grep -q good a.txt");
        let subject = Subject::Command {
            plain: Some(vec![command.clone()]),
            text: command,
            carries_over: false,
            beyond_reading: None,
            walls: Walls::Reading { akin: Vec::new() },
        };
        let agent = Agent::new(SessionConfig { permissions, ..SessionConfig::default() });
        agent.judge_check(&Finding::Runnable(Inspection { effect: Effect::Reads, subject }))
    }

    #[test]
    fn a_check_that_only_reads_runs_where_a_rule_or_the_mode_lets_it() {
        let default = PermissionMode::Default;
        assert!(judged("", "", default).unwrap_err().contains("no rule lets it run"));
        assert_eq!(judged("bash(grep:*)", "", default), Ok(()));
        assert_eq!(judged("", "", PermissionMode::Bypass), Ok(()));
        assert!(judged("bash(cat:*)", "", default).is_err());
        assert!(judged("bash(grep:*)", "bash(grep:*)", default).is_err());
        assert!(judged("bash(grep:*)", "", PermissionMode::Plan).is_err());
    }
}
