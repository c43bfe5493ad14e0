//! Every small change of the job's table is refused by the proof or noticed by a test: by the witnesses, which say what each event did,
//! and, counted apart, by the grid of all pairs, which says it independently of the table, by the scenarios in text, and by the rules.

use crate::pairs::every_event_in;
use crate::rules::RULES;
use crate::scenario::play;
use crate::stage::on;
use agent_check::action_name;
use agent_check::mutation::mutants;
use agent_check::witness::{Done, Driver, Witnesses};
use agent_check::{mutation, quiet, scenarios};
use agent_core::job::table::{PROVED, TABLE};
use agent_core::job::{Event, Job, JobConfig, JobTable, State, Transition};
use agent_core::table::Label;
use serde_json::Value;

#[test]
fn every_change_of_the_table_is_noticed() {
    let witnesses = Witnesses::of("job");
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
            ("scenarios", &|mutant| breaks(mutant.table, &|| assert!(scenarios::differing("job", &play).is_empty()))),
            ("rules", &|mutant| RULES.iter().any(|rule| breaks(mutant.table, rule))),
        ],
    );
}

#[test]
fn every_witness_does_what_is_written() {
    Witnesses::of("job").check(&TABLE, &|config| start(config, &TABLE), |_, action| action.to_owned());
}

#[test]
fn a_job_on_another_table_is_another_job() {
    let config = JobConfig::new("job-1", "fix the crash");
    let other = mutants(&TABLE).remove(0).table;
    assert_ne!(Job::with_table(config.clone(), 0, other), Job::with_table(config, 0, &TABLE));
}

fn start(config: &Value, table: &'static JobTable) -> Driver<'static> {
    let mut job = Job::with_table(serde_json::from_value(config.clone()).unwrap(), 0, table);
    Box::new(move |event| {
        let event: Event = serde_json::from_value(event.clone()).unwrap();
        let step = job.step(0, event).ok()?;
        let Transition { from, on, to, .. } = *step.transitions.first()?;
        assert_eq!(job.state(), to);
        let fired = vec![format!("{from:?} + {on:?} => {to:?}")];
        Some(Done { fired, actions: step.actions.iter().map(action_name).collect() })
    })
}
