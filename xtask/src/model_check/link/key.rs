//! What makes two pairs of machines the same: each machine's own part, what is between them, and what may still happen.
//!
//! As with a session alone, everything that decides in `choices` which choices there are has a word here; of the rest the choices only make
//! ids and texts.

use super::super::fingerprint::{Fingerprint, Part};
use super::super::session::key as session_key;
use super::super::world::PLAIN;
use super::{Down, Together, Up};
use agent_core::lifecycle::{self, Event, Signal};
use agent_core::session::OutcomeKind;

pub(super) fn of(node: &Together) -> u128 {
    let mut print = Fingerprint::new();
    if node.agent.is_over() {
        print.word(u64::MAX);
        return print.finish();
    }
    print.word(u64::from(node.is_over) << 1 | u64::from(node.is_told));
    if !node.is_over {
        session_key::session(&PLAIN, &node.session, &mut print);
    }
    print.value(&node.agent, rules);
    print.word(node.sent - node.taken);
    print.word(u64::from(node.reports));
    for down in &node.down {
        print.word(match down {
            Down::Event(agent_core::session::Event::UserInput { .. }) => 1,
            Down::Event(_) => 2,
            Down::Detach => 3,
        });
    }
    print.word(u64::MAX);
    node.up.iter().for_each(|up| notice(up, &mut print));
    print.word(u64::MAX);
    if let Some((_, answers)) = &node.checks {
        answers.iter().for_each(|answer| print.word(answer.map_or(0, |kept| 1 + u64::from(kept))));
    }
    print.word(u64::from(node.timer.is_some()) << 1 | u64::from(node.cleanup.is_some()));
    // The outcome of the turns alone.
    let turns = node.turns.outcome(Some(&lifecycle::Outcome::TurnEnded));
    print.word(turns.map_or(0, |turns| kind(turns.kind)));
    let left = node.left;
    [left.messages, left.rounds, left.commitments, left.cancels, left.ends]
        .iter()
        .for_each(|left| print.word(u64::from(*left)));
    print.finish()
}

fn notice(up: &Up, print: &mut Fingerprint) {
    match up {
        Up::Taken => print.word(1),
        Up::Signals(signals) => {
            print.word(2);
            print.count(signals.len());
            for signal in signals {
                let is_waiting = matches!(signal, Event::Signalled { signal: Signal::Waiting, .. });
                print.word(u64::from(is_waiting));
            }
        }
        Up::Prompt(outcome) => print.word(3 + kind(outcome.kind)),
    }
}

fn kind(kind: OutcomeKind) -> u64 {
    u64::from(kind.exit_code())
}

fn rules(of: &'static str, field: &'static str) -> Part {
    match (of, field) {
        ("Lifecycle", "config" | "now_ms" | "inputs_sent" | "input" | "next_ticket" | "trace") => Part::Out,
        ("Lifecycle", "commitments" | "timer" | "cleanup") => Part::Count,
        ("Verification", "ticket") => Part::Out,
        _ => Part::Whole,
    }
}
