//! Deny rules whose patterns would silently cover nothing.

use crate::failure::Failure;
use agent_core::permission::Rule;

/// Fails at the first deny rule with a pattern over files that does not mean what it says. Patterns over commands are text. An allow rule of that kind
/// only leaves a question to be asked, and one that was answered for a file may have any sign in it.
pub(crate) fn check(deny: &[Rule]) -> Result<(), Failure> {
    let flawed = deny.iter().filter(|rule| rule.tool() != "bash");
    match flawed.into_iter().find_map(|rule| rule.flaw_over_files().map(|flaw| (rule, flaw))) {
        Some((rule, flaw)) => {
            Err(Failure::config(format!("use the deny rule `{rule}`{}: {flaw}", rule.source().phrase())))
        }
        None => Ok(()),
    }
}
