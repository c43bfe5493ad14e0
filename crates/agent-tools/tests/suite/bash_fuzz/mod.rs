//! A differential fuzz: of commands made at random, those that the permission rules take for plain are run by the real bash, which must
//! run exactly the programs with exactly the words that the rules saw, and open no file.
//!
//! ```text
//! generator -> text -> the tool's `inspect` -> plain? -> real bash, many texts in one process -> compare
//!                                                        where they differ, or it broke: once more, one by one, as the tool runs it
//! ```
//!
//! Of commands that are taken for reading, the real programs run as well: `reading` looks whether they write anything.
//!
//! The short form runs with the other tests; `cargo xtask fuzz-bash` is the long one.

mod generator;
mod reading;
mod real;

use crate::commands::seen;
use crate::support::Bench;
use generator::{Dice, command};
use real::{Ran, World};

/// Says what a rule would see of a text: the words of each command, or nothing.
type Judge<'a> = dyn Fn(&Bench, &str) -> Option<Vec<Vec<String>>> + Sync + 'a;

#[test]
fn bash_runs_what_the_policy_judges() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse::<u64>().unwrap());
    let (count, seed) = (number("FUZZ_BASH_COUNT", 12_000), number("FUZZ_BASH_SEED", 1));
    let result = fuzz(&seen, count, seed);
    eprintln!("{} commands made from the seed {seed}, {} of them plain", result.made, result.accepted);
    assert!(result.faults.is_empty(), "{}", result.faults.join("\n\n"));
    assert!(result.accepted > count / 10, "enough of them were plain: {}", result.accepted);
}

/// A fault that was there once: what a rule saw then, and how many commands it takes to find it. Only where it saw something else than a
/// rule sees today does bash run: the rest is the test above.
fn is_found(what: &str, judge: &Judge<'_>) {
    let otherwise =
        |bench: &Bench, text: &str| judge(bench, text).filter(|then| seen(bench, text).as_ref() != Some(then));
    let found = (1..=60).find(|seed| !fuzz(&otherwise, 1_000, *seed).faults.is_empty());
    assert!(found.is_some(), "{what}: not found in 60,000 commands");
}

#[test]
fn a_line_break_that_is_taken_for_a_blank_is_found() {
    // The third of three piped commands, a line break, a redirect behind: the parser made one command of both lines.
    is_found("a line break", &|bench, text| {
        let joined = |(at, _): (usize, &str)| {
            let (before, after) = (text.get(..at)?, text.get(at + 1..)?);
            let is_piped = before.lines().next_back()?.matches(" | ").count() >= 2;
            let is_redirected = after.lines().next()?.contains(" >&2");
            (is_piped && is_redirected).then(|| seen(bench, &format!("{before} {after}")))?
        };
        seen(bench, text).or_else(|| text.match_indices('\n').find_map(joined))
    });
}

#[test]
fn a_redirect_that_is_read_without_its_blanks_is_found() {
    is_found("a destination with a blank", &|bench, text| seen(bench, &text.replace("/dev/ null", "/dev/null")));
}

#[test]
fn a_descriptor_that_is_taken_for_a_word_is_found() {
    is_found("a number before a redirect", &|bench, text| seen(bench, &text.replace("0>&2", "0 >&2")));
}

struct Fuzzed {
    made: u64,
    accepted: u64,
    faults: Vec<String>,
}

/// Makes so many commands, shared among as many threads as there are processors, and compares.
fn fuzz(judge: &Judge<'_>, count: u64, seed: u64) -> Fuzzed {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64).min(count);
    let parts: Vec<Fuzzed> = std::thread::scope(|scope| {
        let work = |thread: u64| {
            let share = count / threads + u64::from(thread < count % threads);
            scope.spawn(move || part(judge, share, &mut Dice::new(seed << 8 | thread)))
        };
        let threads: Vec<_> = (0..threads).map(work).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all = Fuzzed { made: 0, accepted: 0, faults: Vec::new() };
    for part in parts {
        all.made += part.made;
        all.accepted += part.accepted;
        all.faults.extend(part.faults);
    }
    all
}

fn part(judge: &Judge<'_>, count: u64, dice: &mut Dice) -> Fuzzed {
    let (bench, world) = (Bench::new(), World::new());
    let mut result = Fuzzed { made: 0, accepted: 0, faults: Vec::new() };
    while result.made < count && result.faults.len() < MOST_FAULTS {
        let mut batch = Vec::new();
        while batch.len() < BATCH && result.made < count {
            let text = command(dice);
            result.made += 1;
            if let Some(seen) = judge(&bench, &text) {
                batch.push((text, seen));
            }
        }
        result.accepted += batch.len() as u64;
        result.faults.extend(faults(&world, &batch));
    }
    result
}

/// The commands of a batch that bash reads otherwise.
fn faults(world: &World, batch: &[(String, Vec<Vec<String>>)]) -> Vec<String> {
    let runs: Vec<(&str, u8)> =
        batch.iter().flat_map(|(text, _)| statuses(text).iter().map(move |status| (text.as_str(), *status))).collect();
    world.stub(batch.iter().flat_map(|(_, seen)| programs(seen)));
    let together = world.run_all(&runs);
    let mut together = together.iter().flatten();
    let mut faults = Vec::new();
    for (number, (text, seen)) in batch.iter().enumerate() {
        let ran: Vec<&Ran> = together.by_ref().take(statuses(text).len()).collect();
        let agrees = ran.len() == statuses(text).len() && is_as_seen(seen, &ran);
        if agrees && number % ALONE != 0 {
            continue;
        }
        world.stub(programs(seen));
        let alone: Vec<Ran> = statuses(text).iter().map(|status| world.run(text, *status)).collect();
        if !is_as_seen(seen, &alone.iter().collect::<Vec<_>>()) {
            faults.push(format!("{text:?}\n  a rule sees {seen:?}\n  bash did    {alone:?}"));
        } else if !agrees && !ran.is_empty() {
            faults.push(format!("{text:?}\n  a rule sees {seen:?}\n  bash did    {ran:?} (by `eval`, and not alone)"));
        }
    }
    faults
}

fn programs(seen: &[Vec<String>]) -> impl Iterator<Item = &str> {
    seen.iter().filter_map(|words| words.first()).map(String::as_str)
}

/// With what its programs end: nothing else decides what runs behind `&&` and `||`.
fn statuses(text: &str) -> &'static [u8] {
    if text.contains("&&") || text.contains("||") { &[0, 1] } else { &[0] }
}

/// Whether each command that was seen ran, with one status or the other, and nothing else did, nor more often.
fn is_as_seen(seen: &[Vec<String>], runs: &[&Ran]) -> bool {
    let times = |list: &[Vec<String>], one: &Vec<String>| list.iter().filter(|other| *other == one).count();
    let nothing_else = runs.iter().all(|ran| {
        ran.marks.is_empty() && ran.commands.iter().all(|one| times(&ran.commands, one) <= times(seen, one))
    });
    nothing_else && seen.iter().all(|one| runs.iter().any(|ran| ran.commands.contains(one)))
}

/// So many commands are run in one process.
const BATCH: usize = 400;
/// Every so manieth command is run in a process of its own, too, as the tool does.
const ALONE: usize = 50;
/// More of the same tell nothing.
const MOST_FAULTS: usize = 20;
