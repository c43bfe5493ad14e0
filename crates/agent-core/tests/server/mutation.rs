//! Every small change of the server machine's table is refused by the proof or noticed by a test.

use crate::pairs::every_event_in;
use crate::scenario::play;
use crate::stage::on;
use agent_check::action_name;
use agent_check::mutation::mutants;
use agent_check::witness::{Done, Driver, Witnesses};
use agent_check::{mutation, quiet, scenarios};
use agent_core::server::table::{PROVED, TABLE};
use agent_core::server::{Event, Limits, Server, ServerTable, State, Transition};
use agent_core::table::Label;
use serde_json::Value;

#[test]
fn every_change_of_the_table_is_noticed() {
    let witnesses = Witnesses::of("server");
    let breaks = |table, test: &dyn Fn()| on(table, || quiet::caught(test).is_err());
    let from = |cell: &str| {
        State::ALL.iter().copied().filter(|state| cell.starts_with(&format!("{state:?} "))).collect::<Vec<_>>()
    };
    mutation::check(
        &TABLE,
        PROVED.claims(),
        &[
            ("witnesses", &|mutant| witnesses.notice(&mutant.cell, &|config| start(config, mutant.table))),
            ("pairs", &|mutant| breaks(mutant.table, &|| drop(every_event_in(&from(&mutant.cell))))),
            ("scenarios", &|mutant| {
                breaks(mutant.table, &|| assert!(scenarios::differing("server", &play).is_empty()))
            }),
        ],
    );
}

#[test]
fn every_witness_does_what_is_written() {
    Witnesses::of("server").check(&TABLE, &|config| start(config, &TABLE), |_, action| action.to_owned());
}

#[test]
fn a_server_on_another_table_is_another_server() {
    let limits = Limits::default();
    let other = mutants(&TABLE).remove(0).table;
    assert_ne!(Server::with_table(limits, other), Server::with_table(limits, &TABLE));
}

fn start(config: &Value, table: &'static ServerTable) -> Driver<'static> {
    let mut server = Server::with_table(serde_json::from_value(config.clone()).unwrap(), table);
    Box::new(move |event| {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let step = server.step(0, event).ok()?;
        let fired = step.transitions.iter().map(|row| {
            let Transition { from, on, to, .. } = row;
            format!("{from:?} + {on:?} => {to:?}")
        });
        Some(Done { fired: fired.collect(), actions: step.actions.iter().map(action_name).collect() })
    })
}
