//! Which triggers an event becomes, as the seeds' words say it and as the machine does it: both ways, over every scenario in text and every
//! kept witness of the session.

use crate::data::{SEED_000, SEED_001, SEED_002, SEED_003, SEED_004};
use agent_check::session::{Command, Script};
use agent_core::session::{Action, Event, Session, SessionConfig, Trigger};
use agent_core::table::Label;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Triggers by the name of the event.
type Became = BTreeMap<String, BTreeSet<&'static str>>;

#[test]
fn the_triggers_of_an_event_are_those_that_it_was_seen_to_become() {
    let mut became = Became::new();
    play_scenarios(&mut became);
    replay_witnesses(&mut became);
    let words = [SEED_000.words, SEED_001.words, SEED_002.words, SEED_003.words, SEED_004.words];
    let mut checked = 0;
    for word in words.into_iter().flatten() {
        assert_eq!(
            word.theirs.starts_with("event ") && !word.ours.is_empty(),
            !word.events.is_empty(),
            "{}",
            word.theirs
        );
        if word.events.is_empty() {
            continue;
        }
        let of = |event: &&str| became.get(*event).unwrap_or_else(|| panic!("{event} was never seen")).iter().copied();
        let seen: BTreeSet<&str> = word.events.iter().flat_map(of).collect();
        let listed: BTreeSet<&str> = word.ours.iter().copied().collect();
        assert_eq!(listed, seen, "{}, which is {:?} here", word.theirs, word.events);
        checked += 1;
    }
    assert_eq!(checked, 14, "words of the seeds that are events of ours");
    let all: BTreeSet<&str> = became.values().flatten().copied().collect();
    let of_events = Trigger::NAMES.iter().copied().filter(|name| !name.starts_with("Auto"));
    assert_eq!(all, of_events.collect(), "every trigger that an event can become was seen");
}

/// What is refused became nothing.
fn play_scenarios(became: &mut Became) {
    for path in files("session/scenarios") {
        let mut script = Script::default();
        for line in fs::read_to_string(path).unwrap().lines() {
            if line.starts_with("==") {
                script = Script::default();
            }
            let Some(line) = line.strip_prefix("> ") else { continue };
            let Command::Take(event) = script.read(line) else { continue };
            if let Some(actions) = took(&mut script.session, script.now_ms, event, became) {
                script.note(&actions);
            }
        }
    }
}

fn replay_witnesses(became: &mut Became) {
    let text = fs::read_to_string(tests().join("witnesses/session.json")).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    for way in kept["ways"].as_array().unwrap() {
        let config: SessionConfig =
            serde_json::from_value(kept["configs"][way["config"].as_str().unwrap()].clone()).unwrap();
        let mut session = Session::new(config);
        for step in way["steps"].as_array().unwrap() {
            let event: Event = serde_json::from_value(step["event"].clone()).unwrap();
            assert!(took(&mut session, 0, event, became).is_some(), "{way}");
        }
    }
}

/// Takes an event and writes down what it became: the first trigger of its step. A step without a transition is that of a transient event,
/// whose trigger has its name.
fn took(session: &mut Session, now_ms: u64, event: Event, became: &mut Became) -> Option<Vec<Action>> {
    let (name, is_transient) = (event.name(), event.is_transient());
    // A timer that came late became nothing.
    let step = session.step(now_ms, event).ok().filter(|step| is_transient || !step.is_empty())?;
    assert_eq!(step.transitions.is_empty(), is_transient, "{name}");
    let transient = || Trigger::NAMES.iter().copied().find(|trigger| *trigger == name).unwrap();
    let trigger = step.transitions.first().map_or_else(transient, |first| first.on.name());
    became.entry(name.to_owned()).or_default().insert(trigger);
    Some(step.actions)
}

fn files(below: &str) -> Vec<PathBuf> {
    let paths: Vec<_> = fs::read_dir(tests().join(below)).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!paths.is_empty());
    paths
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}
