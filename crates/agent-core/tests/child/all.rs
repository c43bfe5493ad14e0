//! The machine over all children: every state with every event, and every small change of its table is noticed.

use agent_check::mutation;
use agent_check::quiet;
use agent_check::witness::{Done, Driver, Witnesses, children_letters};
use agent_core::children::table::{PROVED, TABLE};
use agent_core::children::{ActionKind, Children, ChildrenTable, Event, Standing, State, Trigger, TurnEnd};
use agent_core::table::Label as _;
use std::collections::BTreeSet;

/// A way to every state.
fn at(state: State, table: &'static ChildrenTable) -> Children {
    let mut children = Children::with_table(table);
    let standing = Standing { are_alive: true, ..Standing::default() };
    let way: &[Event] = match state {
        State::Resting => &[],
        State::Working => &[Event::TurnBegan],
        State::Gathering => &[Event::TurnBegan, Event::TurnEnded { end: TurnEnd::Completed, standing }],
        State::Stopping => &[Event::TurnBegan, Event::TurnEnded { end: TurnEnd::Failed, standing }],
        _ => panic!("another state: {state:?}"),
    };
    for event in way {
        drop(children.step(0, *event).unwrap());
    }
    assert_eq!(children.state(), state);
    children
}

/// Where an event leads and what follows, said once more and independent of the table.
fn expected(from: State, event: Event) -> Option<(State, Vec<ActionKind>)> {
    use ActionKind::{KeepReports, SendReports, StopChildren, StopUnanswered};
    Some(match (from, event) {
        (_, Event::CancelRequested) if from == State::Gathering => (State::Stopping, vec![StopChildren]),
        (_, Event::CancelRequested) => (from, vec![]),
        (State::Working, Event::TurnBegan) => return None,
        (_, Event::TurnBegan) => (State::Working, vec![]),
        (State::Working, Event::CallsStopped) => (State::Working, vec![StopChildren]),
        (_, Event::CallsStopped) => return None,
        (State::Working, Event::TurnEnded { end, standing: all }) => match end {
            TurnEnd::Failed if all.are_alive => (State::Stopping, vec![StopChildren]),
            TurnEnd::Failed => (State::Resting, vec![KeepReports]),
            _ if all.has_reports => (State::Working, vec![SendReports]),
            _ if all.is_unanswered => (State::Gathering, vec![StopUnanswered]),
            _ if all.are_alive => (State::Gathering, vec![]),
            TurnEnd::LeasedOut => (State::Resting, vec![KeepReports]),
            TurnEnd::Completed => (State::Resting, vec![]),
        },
        (_, Event::TurnEnded { .. }) => return None,
        (State::Working, Event::Moved { .. }) => (State::Working, vec![]),
        (State::Gathering, Event::Moved { standing: all }) => match all {
            _ if all.has_reports => (State::Working, vec![SendReports]),
            _ if all.is_unanswered => (State::Gathering, vec![StopUnanswered]),
            _ if all.are_alive => (State::Gathering, vec![]),
            _ => (State::Resting, vec![]),
        },
        (State::Stopping, Event::Moved { standing: all }) if all.are_alive => (State::Stopping, vec![]),
        (State::Stopping, Event::Moved { .. }) => (State::Resting, vec![KeepReports]),
        (_, Event::Moved { .. }) => return None,
    })
}

/// Tries every event in these states; what fired.
fn every_event_in(states: &[State], table: &'static ChildrenTable) -> BTreeSet<(State, Trigger)> {
    let mut fired = BTreeSet::new();
    for state in states {
        for (name, event) in children_letters() {
            let (mut children, before) = (at(*state, table), at(*state, table));
            match (children.step(0, event), expected(*state, event)) {
                (Ok(step), Some((to, actions))) => {
                    assert_eq!((children.state(), &step.actions), (to, &actions), "{state:?} + {name}");
                    fired.extend(step.transitions.iter().map(|row| (row.from, row.on)));
                }
                (Err(_), None) => assert_eq!(children, before, "{state:?} + {name}"),
                (found, expected) => panic!("{state:?} + {name}: {found:?}, not {expected:?}"),
            }
        }
    }
    fired
}

#[test]
fn every_state_with_every_event() {
    let all: BTreeSet<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).collect();
    assert_eq!(every_event_in(State::ALL, &TABLE), all, "every row fires somewhere");
}

/// Nothing leads to rest while a child is alive.
#[test]
fn an_agent_rests_only_without_children() {
    for state in State::ALL {
        for (name, event) in children_letters() {
            let mut children = at(*state, &TABLE);
            let alive = match event {
                Event::TurnEnded { standing, .. } | Event::Moved { standing } => standing.are_alive,
                _ => false,
            };
            let moved = children.step(0, event).is_ok();
            let comes_to_rest = moved && *state != State::Resting && children.state() == State::Resting;
            assert!(!(comes_to_rest && alive), "{state:?} + {name}");
        }
    }
}

#[test]
fn every_change_of_the_table_is_noticed() {
    let witnesses = Witnesses::of("children");
    let of = |cell: &str| {
        State::ALL.iter().copied().filter(|state| cell.starts_with(&format!("{state:?} "))).collect::<Vec<_>>()
    };
    mutation::check(
        &TABLE,
        PROVED.claims(),
        &[
            ("witnesses", &|mutant| witnesses.notice(&mutant.cell, &|_| start(mutant.table))),
            ("pairs", &|mutant| quiet::caught(|| drop(every_event_in(&of(&mutant.cell), mutant.table))).is_err()),
        ],
    );
}

#[test]
fn every_witness_does_what_is_written() {
    Witnesses::of("children").check(&TABLE, &|_| start(&TABLE), |_, action| action.to_owned());
}

#[test]
fn what_is_kept_is_read_back() {
    for state in State::ALL {
        let children = at(*state, &TABLE);
        let kept = serde_json::to_string(&children).unwrap();
        assert_eq!(serde_json::from_str::<Children>(&kept).unwrap().state(), *state);
    }
}

fn start(table: &'static ChildrenTable) -> Driver<'static> {
    let mut children = Children::with_table(table);
    Box::new(move |event| {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let step = children.step(0, event).ok()?;
        let fired = step.transitions.iter().map(|row| format!("{:?} + {:?} => {:?}", row.from, row.on, row.to));
        Some(Done { fired: fired.collect(), actions: step.actions.iter().map(|kind| kind.name().to_owned()).collect() })
    })
}
