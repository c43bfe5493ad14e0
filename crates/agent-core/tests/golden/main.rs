//! Serialised forms that were written once must be read for ever, and must not change unnoticed.
//!
//! Scripted stories of the machines, and of an agent, bring about every kind of event and action. What they write now is compared with what
//! is kept under `journal/v5` and `machines/v3`, named after the versions of the forms. `INSTA_UPDATE=always` writes the files anew:
//!
//! * After a change that old programs and old files bear (a new kind, a new optional field), the files of this version are kept anew.
//! * After any other change the version is raised first: the new files go to a new directory, and the old ones stay as they are, to be
//!   read by whatever the new version offers for them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agent;
mod earlier;
mod follow_up;
mod hooks;
mod imported;
mod job;
mod joined;
mod kept;
mod lifecycle;
mod session;
mod summaries;
mod timed;
mod words;

use agent_check::golden;
use agent_core::agent::Event;
use agent_core::job::Job;
use agent_core::journal::{self, Format, FormatError, Record, ReplayError};
use agent_core::lifecycle::Lifecycle;
use agent_core::session::{self as core_session, Session};
use agent_core::snapshot::{self, Machine, SnapshotError};
use kept::{Kept, kinds, lines};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

#[test]
fn what_is_written_today_is_what_was_kept() {
    let compare = |Kept { name, text }| golden::compare(&kept::directory().join(name), &text).err();
    let changed: Vec<String> = everything().into_iter().filter_map(compare).collect();
    assert!(
        changed.is_empty(),
        "serialised forms changed; the head of this test says what to do\n{}",
        changed.join("\n")
    );
}

#[test]
fn a_kept_journal_replays_to_the_kept_session() {
    let records: Vec<Record> = read_lines(&kept::read("journal", "session.jsonl"));
    let (header, session) = journal::replay(records.clone()).unwrap();
    let machines = kept::read("machines", "session.machines.jsonl");
    assert_eq!(session, snapshot::read(lines(&machines).last().unwrap()).unwrap(), "the story's end");
    assert_eq!((header.format_version, header.session_id.as_str()), (journal::FORMAT_VERSION, "golden"));

    // And on the way: where the session first rested in each state.
    let passed = session::machines_on_the_way(&records);
    let expected: Vec<Session> = lines(&machines).iter().map(|line| snapshot::read(line).unwrap()).collect();
    assert_eq!(passed, expected);
}

#[test]
fn a_kept_journal_with_the_users_hooks_replays_to_the_kept_sessions() {
    let records: Vec<Record> = read_lines(&kept::read("journal", "hooks.jsonl"));
    let expected: Vec<Session> = read_machines("hooks.machines.jsonl");
    assert_eq!(session::machines_on_the_way(&records), expected);
    let (_, session) = journal::replay(records).unwrap();
    assert_eq!(&session, expected.last().unwrap(), "the story's end");
}

#[test]
fn a_kept_journal_with_a_message_of_the_agents_own_replays_to_the_kept_sessions() {
    replays_to_the_kept_sessions("follow_up");
}

#[test]
fn a_kept_journal_with_a_summary_replays_to_the_kept_sessions() {
    replays_to_the_kept_sessions("summaries");
}

fn replays_to_the_kept_sessions(story: &str) {
    let records: Vec<Record> = read_lines(&kept::read("journal", &format!("{story}.jsonl")));
    let expected: Vec<Session> = read_machines(&format!("{story}.machines.jsonl"));
    assert_eq!(session::machines_on_the_way(&records), expected);
    let (_, session) = journal::replay(records).unwrap();
    assert_eq!(&session, expected.last().unwrap(), "the story's end");
}

#[test]
fn a_kept_journal_with_a_history_from_elsewhere_replays_to_a_session_that_goes_on_from_it() {
    let records: Vec<Record> = read_lines(&kept::read("journal", "imported.jsonl"));
    let (header, session) = journal::replay(records.clone()).unwrap();
    assert_eq!(header.imported.unwrap().program, "another");
    assert_eq!((session.conversation().len(), session.state()), (3, core_session::State::CallingLlm));
    // A history that comes late, or does not fit, makes no session.
    let mut late = records.clone();
    late.push(Record { seq: late.len() as u64, at_ms: 9_000, entry: records[1].entry.clone() });
    assert!(matches!(journal::replay(late), Err(ReplayError::History { seq: 6, .. })));
    let mut headless = records;
    headless.remove(1);
    headless.iter_mut().zip(0..).for_each(|(record, seq)| record.seq = seq);
    assert!(matches!(journal::replay(headless), Err(ReplayError::History { seq: 1, .. })));
}

#[test]
fn a_journal_of_every_earlier_version_is_read() {
    let expected: Vec<Session> = read_machines("session.machines.jsonl");
    for version in 1..journal::FORMAT_VERSION {
        let text = kept::read_of("journal", version, "session.jsonl");
        let format = Format::of(lines(&text)[0]).unwrap();
        assert_eq!(format.version(), version);
        let records: Vec<Record> = lines(&text).iter().map(|line| format.read(line).unwrap()).collect();
        // What is lifted is what would be written today, but for the notes that the version did not have.
        let today: Vec<Record> = read_lines(&kept::read("journal", "session.jsonl"));
        assert_eq!(records[0], today[0], "the header of version {version}");
        let (_, session) = journal::replay(records.clone()).unwrap();
        assert_eq!(&session, expected.last().unwrap(), "the story's end in version {version}");
        assert_eq!(session::machines_on_the_way(&records), expected);
    }
}

#[test]
fn a_kept_journal_tells_of_the_agent_over_its_session() {
    for version in agent::APART..=journal::FORMAT_VERSION {
        let agent = agent::replayed(agent::records(version));
        let outcome = agent.outcome().unwrap();
        assert_eq!((outcome.kind.exit_code(), agent.lifecycle().unwrap().rounds()), (63, 1), "version {version}");
        assert_eq!(
            outcome.error.unwrap(),
            "1 of 2 commitments not kept after 1 gap reports: `cargo test` ended with exit code 101"
        );
    }
}

/// What follows from an event stands in no record, and every message once.
#[test]
fn a_kept_journal_of_an_agent_has_events_from_outside_only() {
    let mut messages = 0;
    for record in agent::records(journal::FORMAT_VERSION) {
        match record.entry {
            journal::Entry::Event(Event::Lifecycle(event)) => assert!(!event.is_derived(), "{event:?}"),
            journal::Entry::Event(Event::Session(event)) => {
                messages += u32::from(matches!(event, core_session::Event::UserInput { .. }));
                assert!(!matches!(event, core_session::Event::FollowUp { .. }), "{event:?}");
            }
            journal::Entry::Lifecycle(entry) => panic!("{entry:?}"),
            _ => {}
        }
    }
    assert_eq!(messages, 1);
}

/// The agent's end and not its session's, which is a success here.
#[test]
fn a_kept_journal_tells_how_its_last_run_ended() {
    let ended = |name: &str| {
        let mut records = read_lines::<Record>(&kept::read("journal", name)).into_iter();
        let mut replayer = journal::Replayer::new(records.next().unwrap()).unwrap();
        records.for_each(|record| replayer.advance(record).unwrap());
        [replayer.outcome(), replayer.session().outcome()].map(|outcome| outcome.unwrap().kind.exit_code())
    };
    assert_eq!(ended("agent.jsonl"), [63, 0]);
    let [told, of_session] = ended("session.jsonl");
    assert_eq!(told, of_session, "no agent is over it");
}

/// Whoever performs nothing need not have it rendered: that changes nothing in the session.
#[test]
fn a_journal_that_is_only_passed_through_makes_the_same_session() {
    for name in ["session.jsonl", "hooks.jsonl", "agent.jsonl", "follow_up.jsonl", "summaries.jsonl", "imported.jsonl"]
    {
        let records: Vec<Record> = read_lines(&kept::read("journal", name));
        let (first, rest) = records.split_first().unwrap();
        let mut told = journal::Replayer::new(first.clone()).unwrap();
        let mut passed = told.clone();
        for record in rest {
            let _ = told.take(record.clone()).unwrap();
            passed.advance(record.clone()).unwrap();
            assert_eq!((told.session(), told.agent()), (passed.session(), passed.agent()), "{name}: {}", record.seq);
        }
        assert_eq!(told.finish().begun, passed.finish().begun, "{name}");
    }
}

#[test]
fn a_journal_with_the_users_hooks_is_read_since_they_are_there() {
    for version in 3..journal::FORMAT_VERSION {
        let text = kept::read_of("journal", version, "hooks.jsonl");
        let format = Format::of(lines(&text)[0]).unwrap();
        let records: Vec<Record> = lines(&text).iter().map(|line| format.read(line).unwrap()).collect();
        assert_eq!(records, read_lines::<Record>(&kept::read("journal", "hooks.jsonl")), "version {version}");
    }
}

/// A machine without what later versions count at other moments, and remember about it: failing calls and repetitions, what a run is for,
/// and the time that it took.
fn uncounted<M: Machine>(machine: &M) -> Value {
    let mut all = serde_json::to_value(machine).unwrap();
    for (place, fields) in
        [("/ledger", &["failures_in_row"][..]), ("", &["repetition"]), ("/run", &["is_summary", "used_ms"])]
    {
        if let Some(Value::Object(object)) = all.pointer_mut(place) {
            fields.iter().for_each(|field| drop(object.remove(*field)));
        }
    }
    if let Some(Value::Array(calls)) = all.pointer_mut("/batch/calls") {
        calls.iter_mut().filter_map(Value::as_object_mut).for_each(|call| drop(call.remove("counts")));
    }
    if let Some(Value::Object(batch)) = all.pointer_mut("/batch") {
        batch.remove("counted");
    }
    all
}

#[test]
fn a_machine_of_every_earlier_version_is_read() {
    for version in 1..snapshot::FORMAT_VERSION {
        check_earlier::<Session>(version, "session.machines.jsonl");
        if version >= SINCE_HOOKS {
            check_earlier::<Session>(version, "hooks.machines.jsonl");
        }
        check_earlier::<Lifecycle>(version, "lifecycle.machines.jsonl");
        check_earlier::<Job>(version, "job.machines.jsonl");
    }
}

/// The first version of kept machines with the user's hooks.
const SINCE_HOOKS: u32 = 2;

/// The same story was told in that version: what is read is what would be kept today.
fn check_earlier<M: Machine + PartialEq + Debug>(version: u32, name: &str) {
    let earlier = with_notes_of_today(&kept::read_of("machines", version, name));
    let read: Vec<M> = lines(&earlier).iter().map(|line| snapshot::read(line).unwrap()).collect();
    let today = read_machines::<M>(name);
    assert_eq!(read.len(), today.len(), "version {version}");
    for (read, today) in read.iter().zip(&today) {
        assert_eq!(uncounted(read), uncounted(today), "version {version}");
    }
    // Only with the version's own reader.
    assert!(serde_json::from_str::<M>(lines(&earlier)[0]).is_err());
}

/// A session of version 1 told the model in the answer itself that it was interrupted. Such a history stays as it is; the story of today
/// says it with the next message, in more bytes.
fn with_notes_of_today(text: &str) -> String {
    let today = [
        (r#"{"Text":"The printer is"},{"Text":"\n[interrupted]"}"#, r#"{"Text":"The printer is"}"#),
        (
            r#"{"Input":["The printer, then."]}"#,
            r#"{"Input":["[Your last answer was interrupted.]","The printer, then."]}"#,
        ),
        (r#""measured":[5280,423]"#, r#""measured":[5280,444]"#),
    ];
    let is_told = |line: &&str| line.contains(today[0].0);
    let lines = text.lines().map(|line| match Some(line).filter(is_told) {
        Some(line) => today.iter().fold(line.to_owned(), |line, (kept, today)| line.replace(kept, today)),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_journal_of_tomorrow_is_refused_by_its_number_whatever_else_is_in_it() {
    let line = r#"{"seq":0,"entry":{"Header":{"format_version":6,"everything":"is different"}}}"#;
    let error = Format::of(line).unwrap_err();
    assert_eq!(error, FormatError::Unknown { found: 6 });
    assert_eq!(
        error.to_string(),
        "it has format 6, this program reads formats 1 to 5: use the program that wrote it, or a newer one"
    );
    assert_eq!(Format::of(&line.replace(":6", ":0")), Err(FormatError::Unknown { found: 0 }));
    assert!(matches!(Format::of(r#"{"seq":0,"entry":{"Event":"Started"}}"#), Err(FormatError::Form { .. })));
}

#[test]
fn kept_events_step_to_the_kept_machines() {
    let machines: Vec<Lifecycle> = read_machines("lifecycle.machines.jsonl");
    let jobs: Vec<Job> = read_machines("job.machines.jsonl");
    // Those of earlier versions, too: the same story was told.
    for version in 1..=snapshot::FORMAT_VERSION {
        let kept = |name| kept::read_of("machines", version, name);
        assert_eq!(lifecycle::machines_of(&kept("lifecycle.events.jsonl")), machines, "version {version}");
        assert_eq!(job::machines_of(&kept("job.events.jsonl")), jobs, "version {version}");
    }
    let timed: Vec<Lifecycle> = read_machines("timed.machines.jsonl");
    assert_eq!(timed::machines_of(&kept::read("machines", "timed.events.jsonl")), timed);
}

#[test]
fn kept_actions_read_and_write_the_same() {
    check_lines::<core_session::Action>("session.actions.jsonl");
    check_lines::<core_session::Action>("hooks.actions.jsonl");
    check_lines::<core_session::Step>("session.steps.jsonl");
    check_lines::<core_session::Rejected>("session.refusals.jsonl");
    check_lines::<agent_core::lifecycle::Action>("lifecycle.actions.jsonl");
    check_lines::<agent_core::lifecycle::Action>("timed.actions.jsonl");
    check_lines::<agent_core::job::Action>("job.actions.jsonl");
}

#[test]
fn every_kind_of_event_and_action_is_kept() {
    assert_eq!(kinds::<core_session::Event>().len(), 30, "the count is in the documents too");
    let all = |form, names: &[&str]| names.iter().map(|name| kept::read(form, name)).collect::<String>();
    let journals = all(
        "journal",
        &["session.jsonl", "hooks.jsonl", "agent.jsonl", "follow_up.jsonl", "summaries.jsonl", "imported.jsonl"],
    );
    words::check_all_kinds::<core_session::Event>(&session::events(&journals));
    words::check_all_agent_events(&agent::entries());
    words::check_all_kinds::<journal::ActionStarted>(&session::begun(&journals));
    words::check_all_kinds::<journal::Entry>(&(agent::entries() + &imported::entries()));
    words::check_all_kinds::<journal::LifecycleEntry>(&agent::lifecycle_entries());
    let actions = all("machines", &["session.actions.jsonl", "hooks.actions.jsonl"]);
    words::check_all_kinds::<core_session::Action>(&actions);
    words::check_all_kinds::<agent_core::lifecycle::Event>(&format!(
        "{}{}",
        lifecycle::events("lifecycle.events.jsonl"),
        lifecycle::events("timed.events.jsonl")
    ));
    words::check_all_kinds::<agent_core::lifecycle::Action>(&all(
        "machines",
        &["lifecycle.actions.jsonl", "timed.actions.jsonl"],
    ));
    words::check_all_kinds::<agent_core::job::Event>(&job::events());
    words::check_all_kinds::<agent_core::job::Action>(&kept::read("machines", "job.actions.jsonl"));
}

#[test]
fn no_other_version_is_read() {
    let tomorrow = snapshot::FORMAT_VERSION + 1;
    for name in ["session.machines.jsonl", "lifecycle.machines.jsonl", "job.machines.jsonl"] {
        let machines = kept::read("machines", name);
        let line = lines(&machines)[0].replacen(
            &format!("\"format_version\":{}", snapshot::FORMAT_VERSION),
            &format!("\"format_version\":{tomorrow}"),
            1,
        );
        let expected = SnapshotError::Version { found: tomorrow };
        assert_eq!(snapshot::read::<Session>(&line).unwrap_err(), expected, "told before the kind of machine");
        assert!(serde_json::from_str::<Session>(&line).is_err() && serde_json::from_str::<Lifecycle>(&line).is_err());
        assert!(serde_json::from_str::<Job>(&line).is_err());
    }
    let mut records: Vec<Record> = read_lines(&kept::read("journal", "session.jsonl"));
    let journal::Entry::Header(header) = &mut records[0].entry else { panic!("no header") };
    header.format_version += 1;
    let found = journal::FORMAT_VERSION + 1;
    assert_eq!(journal::replay(records).unwrap_err(), ReplayError::Version { found });
}

#[test]
fn what_is_damaged_is_an_error_and_nothing_else() {
    check_damage::<Session>("session.machines.jsonl", r#""state":"CallingLlm""#);
    check_damage::<Lifecycle>("lifecycle.machines.jsonl", r#""state":"Working""#);
    check_damage::<Job>("job.machines.jsonl", r#""state":"Process""#);
}

/// Cut anywhere, with a state that nobody knows, with a text for a number, or another machine altogether: refused.
fn check_damage<M: Machine + Debug>(name: &str, state: &str) {
    let machines = kept::read("machines", name);
    let line = lines(&machines).into_iter().find(|line| line.contains(state)).unwrap();
    let refused = |text: &str| matches!(snapshot::read::<M>(text), Err(SnapshotError::Form { .. }));
    for end in (0..line.len()).filter(|end| line.is_char_boundary(*end)) {
        assert!(refused(&line[..end]), "cut at {end}");
    }
    for (from, to) in [(state, r#""state":"Dancing""#), (state, r#""state":7"#), (r#""now_ms":"#, r#""now_ms":-"#)] {
        let wrong = line.replacen(from, to, 1);
        assert!(wrong != line && refused(&wrong), "{to}");
    }
    let unversioned = line.replacen(&format!("\"format_version\":{},", snapshot::FORMAT_VERSION), "", 1);
    assert!(unversioned != line && refused(&unversioned) && refused("null") && refused("[]"));
    for other in ["session.machines.jsonl", "lifecycle.machines.jsonl", "job.machines.jsonl"] {
        let text = kept::read("machines", other);
        assert_eq!(other == name, snapshot::read::<M>(lines(&text)[0]).is_ok(), "{other} as {name}");
    }
}

fn everything() -> Vec<Kept> {
    let mut all = session::written();
    all.extend(hooks::written());
    all.push(agent::written());
    all.extend(follow_up::written());
    all.extend(summaries::written());
    all.push(imported::written());
    all.extend(timed::written());
    all.extend(lifecycle::written());
    all.extend(job::written());
    all.push(Kept::new("machines", "words.txt", words::all()));
    all
}

fn read_machines<M: Machine>(name: &str) -> Vec<M> {
    let text = kept::read("machines", name);
    lines(&text).iter().map(|line| snapshot::read(line).unwrap()).collect()
}

fn read_lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    lines(text).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each line reads as the type, and writes itself again.
fn check_lines<T: DeserializeOwned + serde::Serialize>(name: &str) {
    let text = kept::read("machines", name);
    assert!(!text.is_empty(), "{name}");
    for line in lines(&text) {
        let value: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}\n{line}"));
        assert_eq!(serde_json::to_string(&value).unwrap(), line, "{name}");
    }
}
