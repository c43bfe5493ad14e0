//! Every small change of the lifecycle's table is refused by the proof or noticed by a test: by the witnesses, which say what each event
//! did, and, counted apart, by the grid of all pairs, the scenarios in text and the stories, which say it independently of the table.

use crate::harness::config;
use crate::pairs::every_event_in;
use crate::scenario::play;
use crate::stage::on;
use crate::stories::STORIES;
use agent_check::action_name;
use agent_check::mutation::mutants;
use agent_check::witness::{Done, Driver, Witnesses};
use agent_check::{mutation, quiet, scenarios};
use agent_core::lifecycle::table::{PROVED, TABLE};
use agent_core::lifecycle::{Event, Lifecycle, LifecycleTable, Transition};
use serde_json::Value;

#[test]
fn every_change_of_the_table_is_noticed() {
    let witnesses = Witnesses::of("lifecycle");
    let breaks = |table, test: &dyn Fn()| on(table, || quiet::caught(test).is_err());
    let from = |cell: &'_ str| cell.split(' ').next().unwrap_or_default().to_owned();
    mutation::check(
        &TABLE,
        PROVED.claims(),
        &[
            ("witnesses", &|mutant| witnesses.notice(&mutant.cell, &|config| start(config, mutant.table))),
            ("pairs", &|mutant| breaks(mutant.table, &|| assert_ne!(every_event_in(&from(&mutant.cell)), 0))),
            ("scenarios", &|mutant| {
                breaks(mutant.table, &|| assert!(scenarios::differing("lifecycle", &play).is_empty()))
            }),
            ("stories", &|mutant| STORIES.iter().any(|story| breaks(mutant.table, story))),
        ],
    );
}

#[test]
fn every_witness_does_what_is_written() {
    Witnesses::of("lifecycle").check(&TABLE, &|config| start(config, &TABLE), rendered_as);
}

#[test]
fn an_agent_on_another_table_is_another_agent() {
    let other = mutants(&TABLE).remove(0).table;
    assert_ne!(Lifecycle::with_table(config(), other), Lifecycle::with_table(config(), &TABLE));
}

fn start(config: &Value, table: &'static LifecycleTable) -> Driver<'static> {
    let mut agent = Lifecycle::with_table(serde_json::from_value(config.clone()).unwrap(), table);
    Box::new(move |event| {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let step = agent.step(0, event).ok()?;
        let Transition { from, on, to, .. } = *step.transitions.first()?;
        assert_eq!(agent.state(), to);
        let fired = vec![format!("{from:?} + {on:?} => {to:?}")];
        Some(Done { fired, actions: step.actions.iter().map(action_name).collect() })
    })
}

fn rendered_as(_: &str, action: &str) -> String {
    let is_timer = matches!(action, "StartIdleTimer" | "StartWorkTimer" | "StartWaitTimer" | "StartCheckTimer");
    if is_timer { "StartTimer".to_owned() } else { action.to_owned() }
}
