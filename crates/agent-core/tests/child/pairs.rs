//! Every state with every event and every guard: the row that fires, or the refusal.

use crate::stage::table;
use agent_check::action_name;
use agent_check::child::alphabet::WAYS;
use agent_check::child::{Script, config};
use agent_core::child::table::TABLE;
use agent_core::child::{Child, Event, Objection, Reason, State, Trigger};
use agent_core::table::Label;
use std::collections::BTreeSet;

/// Ways to every state in which something can happen; those that look different to a guard apart.
const PLACES: &[(State, &[&str])] = &[
    (State::Planned, &[]),
    (State::Starting, &["assign"]),
    (State::Working, &["assign", "begun"]),
    (State::Working, &["assign", "begun", "say one", "say two"]),
    (State::Working, &["assign", "begun", "repeatable gave up", "begun"]),
    (State::Asking, &["assign", "begun", "asks which?"]),
    (State::Asking, &["assign", "begun", "say one", "asks which?"]),
    (State::Stopping, &["assign", "stop parent"]),
    (State::Stopping, &["assign", "begun", "say one", "stop person"]),
    (State::Stopping, &["assign", "begun", "lost torn"]),
    (State::Starting, &["apart", "assign"]),
    (State::Working, &["apart", "assign", "begun"]),
    (State::Asking, &["apart", "assign", "begun", "asks which?"]),
    (State::Stopping, &["apart", "assign", "stop parent"]),
    (State::Stopping, &["apart", "assign", "begun", "lost torn"]),
    (State::Clearing, &["apart", "assign", "begun", "rest done ok"]),
    (State::Clearing, &["apart", "assign", "not-begun no git"]),
    (State::Ended, &["apart", "assign", "begun", "rest done ok", "cleared"]),
    (State::Ended, &["assign", "begun", "rest done ok"]),
    (State::Told, &["assign", "begun", "rest done ok", "told"]),
    (State::Detached, &["assign", "begun", "taken-over"]),
];

/// What each row does, once more and independent of the table: from, triggers, to, actions.
#[rustfmt::skip]
const EXPECTED: &[(State, &[Trigger], State, &[&str])] = &[
    (State::Planned, &[Trigger::Assigned], State::Wanted, &[]),
    (State::Wanted, &[Trigger::AutoStopped, Trigger::AutoLimit, Trigger::AutoNoLease], State::Ended, &[]),
    (State::Wanted, &[Trigger::AutoClear], State::Starting, &["BeginChild"]),

    (State::Starting, &[Trigger::Begun], State::Working, &[]),
    (State::Starting, &[Trigger::BeginFailed], State::Ended, &[]),
    (State::Starting, &[Trigger::StopRequested], State::Stopping, &["WithdrawBegin"]),

    (State::Working, &[Trigger::MessageSent], State::Working, &["SendMessage"]),
    (State::Working, &[Trigger::MessageTaken], State::Working, &[]),
    (State::Working, &[Trigger::Asked], State::Asking, &[]),

    (State::Asking, &[Trigger::MessageSent], State::Working, &["SendMessage"]),
    (State::Asking, &[Trigger::MessageTaken], State::Asking, &[]),
    (State::Asking, &[Trigger::WentOn], State::Working, &[]),

    // A stop asks the child to stop once, and again when it is seen to have begun.
    (State::Working, &[Trigger::StopRequested], State::Stopping, &["StopChild"]),
    (State::Asking, &[Trigger::StopRequested], State::Stopping, &["StopChild"]),
    (State::Stopping, &[Trigger::Begun], State::Stopping, &["StopChild"]),
    (State::Stopping, &[Trigger::StopRequested, Trigger::Asked, Trigger::MessageTaken], State::Stopping, &[]),
    (State::Stopping, &[Trigger::BeginFailed, Trigger::Rested], State::Ended, &[]),

    (State::Working, &[Trigger::Rested], State::Ended, &[]),
    (State::Asking, &[Trigger::Rested], State::Ended, &[]),
    (State::Working, &[Trigger::RestedRestarting], State::Wanted, &[]),
    (State::Asking, &[Trigger::RestedRestarting], State::Wanted, &[]),

    (State::Starting, &[Trigger::Lost], State::Stopping, &["InheritChildren"]),
    (State::Working, &[Trigger::Lost], State::Stopping, &["InheritChildren"]),
    (State::Asking, &[Trigger::Lost], State::Stopping, &["InheritChildren"]),
    (State::Stopping, &[Trigger::Lost], State::Stopping, &["InheritChildren"]),

    (State::Working, &[Trigger::TakenOver], State::Detached, &["HandOver"]),
    (State::Asking, &[Trigger::TakenOver], State::Detached, &["HandOver"]),

    // With a workspace of its own nothing ends before that is looked through.
    (State::Starting, &[Trigger::BeginFailedApart], State::Clearing, &["ClearWorkspace"]),
    (State::Working, &[Trigger::RestedApart], State::Clearing, &["ClearWorkspace"]),
    (State::Asking, &[Trigger::RestedApart], State::Clearing, &["ClearWorkspace"]),
    (State::Stopping, &[Trigger::BeginFailedApart, Trigger::RestedApart], State::Clearing, &["ClearWorkspace"]),
    (State::Clearing, &[Trigger::StopRequested], State::Clearing, &[]),
    (State::Clearing, &[Trigger::Cleared], State::Ended, &[]),

    (State::Ended, &[Trigger::StopRequested], State::Ended, &[]),
    (State::Ended, &[Trigger::OutcomeTold], State::Told, &[]),
];

/// What the event is, said independently of the machine.
fn expected(event: &Event, script: &Script, way: &[&str]) -> Result<Trigger, Reason> {
    let sent = way.iter().filter(|line| line.starts_with("say")).count();
    let (is_stopped, has_restarted) =
        (way.iter().any(|line| line.starts_with("stop")), way.iter().any(|line| line.starts_with("repeatable")));
    let is_apart = way.first() == Some(&"apart");
    if event.run().is_some_and(|run| run != script.child.run()) {
        return Err(Reason::StaleTicket);
    }
    match event {
        Event::Assigned { .. } => Ok(Trigger::Assigned),
        Event::Begun { .. } => Ok(Trigger::Begun),
        Event::BeginFailed { .. } if is_apart => Ok(Trigger::BeginFailedApart),
        Event::BeginFailed { .. } => Ok(Trigger::BeginFailed),
        Event::MessageSent { .. } => Ok(Trigger::MessageSent),
        Event::MessageTaken { .. } if sent > 0 => Ok(Trigger::MessageTaken),
        Event::MessageTaken { .. } => Err(Objection::OutOfOrder.into()),
        Event::Asked { .. } => Ok(Trigger::Asked),
        Event::WentOn { .. } => Ok(Trigger::WentOn),
        Event::StopRequested { .. } => Ok(Trigger::StopRequested),
        Event::Rested { rest, .. } if rest.is_repeatable && !is_stopped && !has_restarted => {
            Ok(Trigger::RestedRestarting)
        }
        Event::Rested { .. } if is_apart => Ok(Trigger::RestedApart),
        Event::Rested { .. } => Ok(Trigger::Rested),
        Event::Lost { .. } => Ok(Trigger::Lost),
        Event::Cleared { .. } => Ok(Trigger::Cleared),
        Event::TakenOver => Ok(Trigger::TakenOver),
        Event::OutcomeTold => Ok(Trigger::OutcomeTold),
    }
}

/// The automatic row that follows, by the words of the line.
fn gate(name: &str) -> Trigger {
    match name {
        "assigned under a stop" => Trigger::AutoStopped,
        "assigned beyond a limit" => Trigger::AutoLimit,
        "assigned without money" => Trigger::AutoNoLease,
        _ => Trigger::AutoClear,
    }
}

fn row(from: State, on: Trigger) -> Option<(State, &'static [&'static str])> {
    EXPECTED
        .iter()
        .find(|(state, ons, ..)| *state == from && ons.contains(&on))
        .map(|(_, _, to, actions)| (*to, *actions))
}

#[test]
fn every_state_with_every_event_and_every_guard() {
    let fired = every_event_in(State::ALL);
    let all: BTreeSet<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).collect();
    assert_eq!(fired, all, "every row fires somewhere");
}

/// What fired in these states.
pub(crate) fn every_event_in(states: &[State]) -> BTreeSet<(State, Trigger)> {
    let mut fired = BTreeSet::new();
    for (state, way) in PLACES.iter().filter(|(state, _)| states.contains(state) || states.contains(&State::Wanted)) {
        for (name, line) in WAYS {
            for line in [(*line).to_owned(), format!("{line} @7")] {
                fired.extend(try_one(*state, way, name, &line));
            }
        }
    }
    fired
}

fn try_one(state: State, way: &[&str], name: &str, line: &str) -> Vec<(State, Trigger)> {
    let (kind, told) = match way {
        ["apart", told @ ..] => ("restarts=1 apart", told),
        told => ("restarts=1", told),
    };
    let mut script = Script::on(config(kind).unwrap(), table());
    for line in told {
        drop(script.tell(line));
    }
    assert_eq!(script.child.state(), state, "{way:?}");
    let (event, before) = (script.read(line), script.child.clone());
    let shown = format!("{way:?} + {line}");
    let said = expected(&event, &script, way);
    let mut rows = Vec::new();
    if let Ok(on) = said {
        let mut from = state;
        for on in [on, gate(name)] {
            let Some((to, actions)) = row(from, on) else { break };
            rows.push((from, on, to, actions));
            if to != State::Wanted {
                break;
            }
            from = to;
        }
    }
    match script.take(event) {
        Ok(step) => {
            let found: Vec<_> = step.transitions.iter().map(|row| (row.from, row.on, row.to)).collect();
            assert_eq!(found, rows.iter().map(|row| (row.0, row.1, row.2)).collect::<Vec<_>>(), "{shown}");
            let names: Vec<String> = step.actions.iter().map(action_name).collect();
            assert_eq!(names, rows.iter().flat_map(|row| row.3.iter().copied()).collect::<Vec<_>>(), "{shown}");
            assert_eq!(
                script.child.outcome().is_some(),
                matches!(script.child.state(), State::Clearing | State::Ended | State::Told)
            );
            let kept = serde_json::to_string(&script.child).unwrap();
            if table().rows.len() == TABLE.rows.len() {
                assert_eq!(serde_json::from_str::<Child>(&kept).unwrap(), script.child, "{shown}: {kept}");
            }
        }
        Err(rejected) => {
            assert_eq!(rows, Vec::new(), "{shown}: {rejected}");
            assert_eq!(rejected.reason, said.err().unwrap_or(Reason::NoRow), "{shown}");
            assert_eq!(script.child, before, "{shown}");
        }
    }
    rows.iter().map(|row| (row.0, row.1)).collect()
}
