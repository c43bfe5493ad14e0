//! What earlier versions wrote: every directory and every file in it, and each line is read as today's type. Machines and journals are
//! lifted by their own readers; events, actions, steps and refusals have none: serde reads them as they are.

use crate::kept::{self, lines};
use crate::{job, lifecycle};
use agent_core::job::Job;
use agent_core::journal::{self, Format, Record};
use agent_core::lifecycle::Lifecycle;
use agent_core::session::{Action, Rejected, Session, Step};
use agent_core::snapshot::{self, Machine};
use agent_core::{job as core_job, lifecycle as core_lifecycle};
use serde::de::DeserializeOwned;

/// A line that cannot be read by design: its form, version and file, its number, and why.
type Unreadable = (&'static str, u32, &'static str, usize, &'static str);

/// A refusal is told and kept nowhere, neither in a journal nor in a machine: a word that only refusals had is read no more.
const UNREADABLE: &[Unreadable] = &[
    ("machines", 1, "words.txt", 13, "lifecycle::step::Reason knows no OldTurn"),
    ("machines", 2, "words.txt", 13, "lifecycle::step::Reason knows no OldTurn"),
];

#[test]
fn every_line_of_every_earlier_version_is_read_or_explained() {
    let mut found = Vec::new();
    for (form, today) in [("journal", journal::FORMAT_VERSION), ("machines", snapshot::FORMAT_VERSION)] {
        let versions: Vec<String> = (1..=today).map(|version| format!("v{version}")).collect();
        assert_eq!(kept::names(form), versions, "a directory for each version of the {form}");
        for version in 1..today {
            let names = kept::names(&format!("{form}/v{version}"));
            assert!(!names.is_empty(), "{form} {version}");
            for name in names {
                let text = kept::read_of(form, version, &name);
                assert!(!text.is_empty(), "{form} {version}: {name}");
                let unreadable = unreadable(form, &name, &text);
                found.extend(unreadable.into_iter().map(|(number, why)| (form, version, name.clone(), number, why)));
            }
        }
    }
    let unexplained: Vec<_> = found.iter().filter(|line| !UNREADABLE.iter().any(|known| is(known, line))).collect();
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    for known in UNREADABLE {
        assert!(!known.4.is_empty() && found.iter().any(|line| is(known, line)), "it is read: {known:?}");
    }
}

fn is(known: &Unreadable, line: &(&str, u32, String, usize, String)) -> bool {
    (known.0, known.1, known.2, known.3, known.4) == (line.0, line.1, line.2.as_str(), line.3, line.4.as_str())
}

/// The lines that are no value of today's type, by their number, and what is said of them.
fn unreadable(form: &str, name: &str, text: &str) -> Vec<(usize, String)> {
    let read: fn(&str, &str) -> Result<(), String> = match (form, name) {
        (
            "journal",
            "session.jsonl" | "hooks.jsonl" | "agent.jsonl" | "follow_up.jsonl" | "summaries.jsonl" | "imported.jsonl",
        ) => of_journal,
        (
            "machines",
            "session.machines.jsonl" | "hooks.machines.jsonl" | "follow_up.machines.jsonl" | "summaries.machines.jsonl",
        ) => machine::<Session>,
        ("machines", "lifecycle.machines.jsonl" | "timed.machines.jsonl") => machine::<Lifecycle>,
        ("machines", "job.machines.jsonl") => machine::<Job>,
        ("machines", "session.actions.jsonl" | "hooks.actions.jsonl") => value::<Action>,
        ("machines", "session.steps.jsonl") => value::<Step>,
        ("machines", "session.refusals.jsonl") => value::<Rejected>,
        ("machines", "lifecycle.actions.jsonl" | "timed.actions.jsonl") => value::<core_lifecycle::Action>,
        ("machines", "job.actions.jsonl") => value::<core_job::Action>,
        ("machines", "lifecycle.events.jsonl" | "timed.events.jsonl") => value::<lifecycle::Entry>,
        ("machines", "job.events.jsonl") => value::<job::Entry>,
        ("machines", "words.txt") => words,
        _ => panic!("nobody reads {form} {name}"),
    };
    let numbered = (1..).zip(lines(text));
    numbered.filter_map(|(number, line)| Some((number, read(text, line).err()?))).collect()
}

fn value<T: DeserializeOwned>(_: &str, line: &str) -> Result<(), String> {
    serde_json::from_str::<T>(line).map(drop).map_err(|error| error.to_string())
}

fn machine<M: Machine>(_: &str, line: &str) -> Result<(), String> {
    snapshot::read::<M>(line).map(drop).map_err(|error| error.to_string())
}

/// The first line says how the others are read.
fn of_journal(text: &str, line: &str) -> Result<(), String> {
    let format = Format::of(lines(text)[0]).map_err(|error| error.to_string())?;
    let _: Record = format.read(line).map_err(|error| error.to_string())?;
    Ok(())
}

/// A kind of something that could be written then is still one.
fn words(_: &str, line: &str) -> Result<(), String> {
    let (name, words) = line.split_once(": ").unwrap();
    let today = kept::read("machines", "words.txt");
    let known = lines(&today).into_iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let known: Vec<&str> = known.ok_or("no such type")?.split(", ").collect();
    match words.split(", ").find(|word| !known.contains(word)) {
        Some(word) => Err(format!("{name} knows no {word}")),
        None => Ok(()),
    }
}
