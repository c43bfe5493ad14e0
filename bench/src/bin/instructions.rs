//! Runs one case so that callgrind can count it: `cargo xtask instructions` does the rest. What is not counted is said by
//! `--toggle-collect`. With `cases` or `summaries` alone it prints the names of those.

use agent_core::journal;
use bench::cases::{Case, NAMES, SUMMARIES, cases, turn_with_eight_tools};
use bench::driver::{self, Driver};
use bench::small;
use std::hint::black_box;

/// Repetitions: a whole chunk of the history.
const COUNT: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments[0].as_str() {
        "cases" => return NAMES.iter().for_each(|name| println!("{name}")),
        "summaries" => return SUMMARIES.iter().for_each(|name| println!("{name}")),
        _ => {}
    }
    let (name, length) = (arguments[0].as_str(), arguments[1].parse().expect("a length"));
    let count = match name {
        "turn" => {
            let mut driver = Driver::with_history(length);
            driver.take(driver.done());
            measured(|| (0..COUNT).for_each(|_| turn_with_eight_tools(&mut driver)));
            COUNT
        }
        "turn under commitments" => {
            let mut driver = Driver::with_history(length);
            driver.take(driver.done());
            let mut driver = driver.bound();
            measured(|| (0..COUNT).for_each(|_| turn_with_eight_tools(&mut driver)));
            COUNT
        }
        "snapshot" => {
            let mut driver = Driver::with_history(length);
            for _ in 0..COUNT {
                driver.round();
                let conversation = driver.session().conversation();
                measured(|| drop(black_box(conversation.clone())));
            }
            COUNT
        }
        "replay" => {
            let lines = driver::journal(length);
            let mut session = None;
            measured(|| session = journal::replay(driver::records(lines.as_bytes())).ok());
            assert!(session.is_some_and(|(_, session)| session.conversation().len() > length / 9));
            length
        }
        "parse" => {
            let lines = driver::journal(length);
            measured(|| driver::records(lines.as_bytes()).for_each(|record| drop(black_box(record))));
            length
        }
        "small" => {
            let run = small::MACHINES.iter().find(|(name, _)| *name == arguments[2]).expect("a machine").1;
            measured(|| assert_eq!(run(length), small::expected(length)));
            length
        }
        event => {
            let mut cases = cases(event, length, COUNT);
            let events: Vec<_> = cases.iter().map(|case| case.event.clone()).collect();
            measured(|| step_all(&mut cases, events));
            COUNT
        }
    };
    println!("{count}");
}

/// Callgrind counts from its call to its return: `--toggle-collect` names it.
#[inline(never)]
fn measured(run: impl FnOnce()) {
    run();
    black_box(());
}

fn step_all(cases: &mut [Case], events: Vec<agent_core::session::Event>) {
    for (case, event) in cases.iter_mut().zip(events) {
        drop(black_box(case.session.step(1, event)));
    }
}
