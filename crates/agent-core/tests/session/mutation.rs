//! Every small change of the session's table is refused by the proof or noticed by a test: by the witnesses, which say what each event did,
//! and, counted apart, by the pairs and by the scenarios in text.

use crate::pairs::Pairs;
use crate::scenario::Scenarios;
use crate::stage::on;
use agent_check::action_name;
use agent_check::mutation;
use agent_check::mutation::mutants;
use agent_check::witness::{Done, Driver, Witnesses};
use agent_core::session::table::{PROVED, TABLE};
use agent_core::session::{Event, ModelConfig, Session, SessionConfig, SessionTable, Transition, Trigger};
use serde_json::Value;

#[test]
fn every_change_of_the_table_is_noticed() {
    let (witnesses, pairs, scenarios) = (Witnesses::of("session"), Pairs::tried(), Scenarios::read());
    mutation::check(
        &TABLE,
        PROVED.claims(),
        &[
            ("witnesses", &|mutant| witnesses.notice(&mutant.cell, &|config| start(config, mutant.table))),
            ("pairs", &|mutant| on(mutant.table, || pairs.notice(&mutant.cell))),
            ("scenarios", &|mutant| on(mutant.table, || scenarios.notice(&mutant.cell))),
        ],
    );
}

#[test]
fn every_witness_does_what_is_written() {
    Witnesses::of("session").check(&TABLE, &|config| start(config, &TABLE), rendered_as);
}

#[test]
fn a_session_on_another_table_is_another_session() {
    let config = SessionConfig::new(ModelConfig::new("m"));
    let other = mutants(&TABLE).remove(0).table;
    assert_ne!(Session::with_table(config.clone(), other), Session::with_table(config, &TABLE));
}

fn start(config: &Value, table: &'static SessionTable) -> Driver<'static> {
    let mut session = Session::with_table(serde_json::from_value(config.clone()).unwrap(), table);
    Box::new(move |event| {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let (before, piece) = (session.state(), piece(&event));
        let step = session.step(0, event).ok()?;
        let mut fired: Vec<String> = step.transitions.iter().map(shown).collect();
        fired.extend(piece.map(|trigger| format!("{before:?} + {trigger:?} => {:?}", session.state())));
        Some(Done { fired, actions: step.actions.iter().map(action_name).collect() })
    })
}

fn shown(transition: &Transition) -> String {
    let Transition { from, on, to, .. } = transition;
    format!("{from:?} + {on:?} => {to:?}")
}

/// Pieces of text leave no transition.
fn piece(event: &Event) -> Option<Trigger> {
    match event {
        Event::LlmDelta { .. } => Some(Trigger::LlmDelta),
        Event::ToolProgress { .. } => Some(Trigger::ToolProgress),
        _ => None,
    }
}

fn rendered_as(on: &str, action: &str) -> String {
    if on == "ToolProgress" { "DisplayProgress".to_owned() } else { action.to_owned() }
}
