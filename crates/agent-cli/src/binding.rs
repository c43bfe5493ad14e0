//! What binds the agent of a session: commitments that are given, or those under which it was left.

use crate::failure::Failure;
use agent_core::lifecycle::{Commitment, Lifecycle, LifecycleConfig};
use agent_runner::{Builder, REDACTED};

/// Binds the agent: to new commitments, or to those under which it was left at work. A person at a prompt is bound by neither
/// unless they exist.
pub(crate) fn bind(
    builder: Builder,
    commitments: Vec<Commitment>,
    left: Option<Lifecycle>,
    is_attended: bool,
) -> Result<(Builder, Option<Lifecycle>), Failure> {
    let is_bound = left.is_some();
    let unfinished = left.filter(|left| left.is_busy() && commitments.is_empty());
    Ok(match unfinished {
        Some(left) if !is_attended || !left.commitments().is_empty() => {
            check_commands(&left)?;
            (if is_attended { builder.attend() } else { builder }, Some(left))
        }
        _ if !is_attended => (builder.bind(LifecycleConfig::headless(commitments)), None),
        _ if !commitments.is_empty() => {
            (builder.bind(LifecycleConfig { is_renewed: true, ..LifecycleConfig::headless(commitments) }), None)
        }
        _ if is_bound => (builder.release(), None),
        _ => (builder, None),
    })
}

/// A command with a secret stands in the journal without it: run like that, it would fail and say nothing about the work.
fn check_commands(left: &Lifecycle) -> Result<(), Failure> {
    let lost = left.commitments().iter().find(|commitment| commitment.assertion.command.contains(REDACTED));
    lost.map_or(Ok(()), |lost| {
        Err(Failure::input(format!(
            "resume the run that was left: `{}` is kept without its secret; give every command again with `--verify`, and a task with `-p` where \
             there is no prompt",
            lost.assertion.command.trim()
        )))
    })
}
