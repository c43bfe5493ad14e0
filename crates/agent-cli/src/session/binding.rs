//! What binds the agent of a session: commitments that are given, or those under which it was left.

use crate::failure::Failure;
use agent_core::lifecycle::{Commitment, Lifecycle, LifecycleConfig, Outcome};
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
    let left = left.filter(|_| commitments.is_empty());
    // One that is at work continues. One that rests without having kept its promises is bound by them still, whatever comes next.
    let is_kept = left.as_ref().is_some_and(|left| matches!(left.outcome(), Some(Outcome::Done { .. })));
    Ok(match left {
        Some(left) if left.is_busy() && (!is_attended || !left.commitments().is_empty()) => {
            check_commands(&left)?;
            (if is_attended { builder.attend() } else { builder }, Some(left))
        }
        Some(left) if !is_kept && !left.commitments().is_empty() => {
            check_commands(&left)?;
            let config = LifecycleConfig::headless(left.commitments().to_vec());
            (builder.bind(LifecycleConfig { is_renewed: is_attended, ..config }), None)
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
            "cannot resume the interrupted run: the journal has `{}` without its secret; give every command again with `--verify`, and \
             outside the prompt a task with `-p`",
            lost.assertion.command.trim()
        )))
    })
}
