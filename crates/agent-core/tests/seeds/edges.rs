//! Both directions, for each seed: what it draws is walked by a real machine or explained, and what it does not draw is explained. An
//! explanation that nothing needs is an error too.

use crate::data::{SEED_000, SEED_001, SEED_002, SEED_003, SEED_004};
use crate::seed::{Seed, Shown};
use crate::walks;
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::session::table::TABLE as SESSION;
use agent_core::table::{Label, Table};

#[test]
fn seed_000_is_realised_and_what_it_lacks_is_explained() {
    check(&SEED_000, &SESSION, walks::session);
}

#[test]
fn seed_001_is_realised_and_what_it_lacks_is_explained() {
    check(&SEED_001, &SESSION, walks::session);
}

#[test]
fn seed_002_is_realised_and_what_it_lacks_is_explained() {
    check(&SEED_002, &LIFECYCLE, walks::lifecycle);
}

#[test]
fn seed_003_is_realised_and_what_it_lacks_is_explained() {
    check(&SEED_003, &SESSION, walks::session);
}

#[test]
fn seed_004_is_realised_and_what_it_lacks_is_explained() {
    check(&SEED_004, &JOB, walks::job);
}

fn check<S: Label, T: Label + Ord, A: Label>(
    seed: &Seed<S, T>,
    table: &Table<S, T, A>,
    walk: fn(&str) -> Vec<(S, T, S)>,
) {
    let number = seed.number;
    check_states(seed, table);
    let projected = seed.projected(table);
    for edge in seed.edges {
        let shown = format!("seed {number}: {} --{}--> {}", edge.from, edge.label, edge.to);
        let marks = matches!(edge.shown, Shown::Begins | Shown::Ends);
        for state in [edge.from, edge.to].into_iter().filter(|state| !(marks && *state == MARK)) {
            assert!(seed.states.iter().any(|(name, _)| *name == state), "{shown}: the seed has no state {state}");
        }
        match edge.shown {
            Shown::Begins => {
                assert!(edge.from == MARK && edge.on.is_empty(), "{shown}");
                assert_eq!(seed.class(table.initial), Some(edge.to), "{shown}");
            }
            Shown::Ends => {
                assert!(edge.to == MARK && edge.on.is_empty(), "{shown}");
                let ours = seed.states.iter().find(|(name, _)| *name == edge.from).unwrap().1;
                assert!(ours.iter().all(|state| table.terminal.contains(state)), "{shown}");
                assert!(ours.iter().all(|state| table.rows_from(*state).next().is_none()), "{shown}");
            }
            Shown::By(words) => {
                let walked = seed.walked(&walk(words));
                assert!(walked.iter().any(|seen| edge.is(seen)), "{shown}: {words} walks {walked:?}");
                for seen in walked {
                    assert!(projected.contains(&seen), "{shown}: {words} walks {seen:?}, which is not in the table");
                }
                for on in edge.on {
                    assert!(projected.contains(&(edge.from, *on, edge.to)), "{shown}: not on {on:?}");
                }
            }
            Shown::Not(why) => {
                let is_there = |seen: &(&str, T, &str)| {
                    seen.0 == edge.from && seen.2 == edge.to && (edge.on.is_empty() || edge.on.contains(&seen.1))
                };
                assert!(!why.is_empty() && !projected.iter().any(is_there), "{shown} is there");
            }
        }
    }
    let beyond = seed.beyond(table).unwrap();
    for reason in seed.reasons() {
        assert!(!reason.on.is_empty(), "seed {number}: {} is for everything", reason.why);
        assert!(beyond.iter().any(|(seen, _)| reason.covers(seen)), "seed {number}: nothing needs `{}`", reason.why);
        for on in reason.on {
            let is_used = beyond.iter().any(|(seen, _)| seen.1 == *on && reason.covers(seen));
            assert!(is_used, "seed {number}: `{}` does not need {on:?}", reason.why);
        }
    }
}

/// Every state of the seed is there, once; where it begins and ends, ours begins and ends.
fn check_states<S: Label, T: Label + Ord, A: Label>(seed: &Seed<S, T>, table: &Table<S, T, A>) {
    let number = seed.number;
    let mut known: Vec<S> = seed.own.to_vec();
    for (name, ours) in seed.states {
        assert!(!ours.is_empty(), "seed {number}: nothing stands for {name}");
        known.extend(*ours);
    }
    let all = known.len();
    known.sort_by_key(|state| state.name());
    known.dedup();
    assert_eq!(known.len(), all, "seed {number}: a state of ours stands for two");
    assert_eq!(seed.class(table.initial), Some(seed.begins), "seed {number}");
    for end in seed.ends {
        assert!(table.terminal.iter().any(|state| seed.class(*state) == Some(end)), "seed {number}: {end} is no end");
    }
    let names: Vec<&str> = [S::NAMES, T::NAMES, A::NAMES].concat();
    for word in seed.words {
        assert!(
            !word.ours.is_empty() || !word.note.is_empty(),
            "seed {number}: {} needs a word or a reason",
            word.theirs
        );
        for ours in word.ours {
            assert!(names.contains(ours), "seed {number}: {} is {ours}, which is no word of ours", word.theirs);
        }
    }
}

/// Where the seeds' diagrams begin and end.
const MARK: &str = "[*]";
