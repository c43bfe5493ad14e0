//! What the quick way reads is what the usual way reads; how much it leaves to the usual way is looked at, too.

use super::super::{Entry, Format, Record};
use super::read;
use crate::agent;
use crate::hook::GitReport;
use crate::lifecycle::{self, CheckEnd, CheckReport, Commitment, CommitmentId, LifecycleConfig, TaskMode};
use crate::session::{Event, Ticket};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Journals with every kind of event, of a session and of an agent.
const JOURNAL: &str = concat!(
    include_str!("../../../tests/golden/journal/v5/session.jsonl"),
    include_str!("../../../tests/golden/journal/v5/follow_up.jsonl"),
    include_str!("../../../tests/golden/journal/v5/hooks.jsonl"),
    include_str!("../../../tests/golden/journal/v5/agent.jsonl"),
);

/// Whether the quick way read it. What it reads has to be what the usual way reads.
fn is_usual(line: &str) -> bool {
    let Some(record) = read(line) else { return false };
    assert_eq!(serde_json::from_str::<Record>(line).ok(), Some(record), "{line}");
    true
}

fn line(event: impl Into<agent::Event>) -> String {
    let record = Record { seq: 7, at_ms: 1_767_268_800_000, entry: Entry::Event(event.into()) };
    serde_json::to_string(&record).unwrap()
}

#[test]
fn every_kind_of_event_is_read_quickly_but_a_configuration() {
    for line in JOURNAL.lines() {
        // Schemas of tools may be any JSON, and a rule is a text or says who said it.
        let expected = !line.contains("input_schema") && !line.contains("\"scope\":{\"Session\"");
        assert_eq!(is_usual(line), expected, "{line}");
        assert_eq!(is_usual(&format!("{line}\n")), expected, "{line}");
    }
    for line in JOURNAL.lines() {
        assert_eq!(Format::TODAY.read(line).unwrap(), serde_json::from_str(line).unwrap());
    }
}

/// Every event of an agent, in a line as it is written.
#[test]
fn every_event_of_an_agent_is_read_quickly() {
    let config = LifecycleConfig { max_work_ms: Some(7), ..LifecycleConfig::headless(Vec::new()) };
    let report = CheckReport { end: CheckEnd::Broke { found: "\"\n".into() }, output: "é\u{1F600}\t".into() };
    let commitment = Commitment::of_command("cargo test", 60_000);
    let of_lifecycle = [
        lifecycle::Event::CommitmentAdded { commitment: commitment.clone() },
        lifecycle::Event::ModeChanged { mode: TaskMode::BreakUp },
        lifecycle::Event::CheckCompleted { ticket: Ticket(3), commitment: CommitmentId(0), report },
        lifecycle::Event::CancelRequested,
        lifecycle::Event::TimedOut { ticket: Ticket(0) },
        lifecycle::Event::BudgetExceeded,
        lifecycle::Event::Dismissed,
        lifecycle::Event::CleanupCompleted { ticket: Ticket(4) },
    ];
    let bound = LifecycleConfig { commitments: [commitment].into(), is_renewed: true, ..config };
    let of_agent = [bound, config].map(|config| agent::Event::Bound(Box::new(config)));
    let others = [agent::Event::Released, agent::Event::Attended];
    for event in of_agent.into_iter().chain(others).chain(of_lifecycle.map(agent::Event::from)) {
        let line = line(event.clone());
        assert!(is_usual(&line), "{line}");
        assert_eq!(read(&line).map(|record| record.entry), Some(Entry::Event(event)));
    }
}

/// An event that nobody knows is named by the usual way.
#[test]
fn an_event_of_tomorrow_is_named() {
    for wrong in ["\"Danced\"", "{\"Danced\":{}}", "{\"Lifecycle\":\"Danced\"}"] {
        let line = line(Event::Started).replacen("\"Started\"", wrong, 1);
        assert!(!is_usual(&line));
        let told = format!("{}", Format::TODAY.read(&line).unwrap_err());
        assert!(told.contains("`Danced`"), "{told}");
    }
}

#[test]
fn a_line_that_is_unusual_reads_as_ever() {
    let usual = line(Event::RetryTimeout { ticket: Ticket(3) });
    assert!(is_usual(&usual));
    for unusual in [
        usual.replacen(':', ": ", 1),
        usual.replacen("seq", "s\\u0065q", 1),
        format!("{usual} "),
        usual.replacen('{', "{\"more\":1,", 1),
    ] {
        assert!(!is_usual(&unusual), "{unusual}");
        assert_eq!(Format::TODAY.read(&unusual).unwrap(), serde_json::from_str(&usual).unwrap(), "{unusual}");
    }
    for wrong in
        ["", "{", "null", "[]", "{}", &usual[..usual.len() - 1], &format!("{usual}}}"), &usual.replacen('7', "07", 1)]
    {
        let expected = serde_json::from_str::<Record>(wrong).unwrap_err();
        assert_eq!(format!("{}", Format::TODAY.read(wrong).unwrap_err()), format!("{expected}"), "{wrong}");
    }
}

#[test]
fn a_value_that_is_left_out_is_an_error_and_no_default() {
    let report = GitReport::default();
    let git = line(Event::GitChecked { ticket: Ticket(3), report });
    let started = line(Event::Started);
    for usual in [&git, &started] {
        assert!(is_usual(usual), "{usual}");
    }
    for wrong in [git.replacen("false", "", 1), started.replacen("\"Started\"", "{\"Started\":}", 1)] {
        assert!(!is_usual(&wrong) && Format::TODAY.read(&wrong).is_err(), "{wrong}");
    }
}

/// Each byte left out, doubled, and replaced by each of a few: mostly not read at all, and never read as something else.
#[test]
fn a_spoilt_line_is_never_read_as_something_else() {
    let mut spoilt = 0;
    for (number, line) in JOURNAL.lines().filter(|line| line.len() < 400).enumerate() {
        for at in 0..line.len() {
            let (Some(head), Some(tail)) = (line.get(..at), line.get(at + 1..)) else { continue };
            let other = OTHERS[(at + number) % OTHERS.len()];
            for text in [
                format!("{head}{tail}"),
                format!("{head}{}{tail}", &line[at..=at].repeat(2)),
                format!("{head}{other}{tail}"),
            ] {
                is_usual(&text);
                spoilt += 1;
            }
        }
    }
    assert!(spoilt > 5_000, "{spoilt}");
}

const OTHERS: &[&str] = &[
    "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "9", "-", ".", "e", " ", "\n", "\u{1}", "\\u00", "é", "null", "true",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_quickly(text in any::<String>(), more in "[\\x00-\\x7f]{0,40}") {
        for text in [text, more] {
            let line = line(Event::UserInput { text });
            prop_assert!(is_usual(&line), "{}", line);
        }
    }

    #[test]
    fn any_escape_is_read_as_ever(escapes in prop::collection::vec("\\\\[\"\\\\/bfnrtuUx0][0-9a-fA-F]{0,5}|[a-zé😀]{0,9}", 0..6)) {
        let text: Vec<String> = escapes;
        is_usual(&line(Event::UserInput { text: "@".into() }).replacen('@', &text.concat(), 1));
    }

    #[test]
    fn any_exit_code_is_read_quickly(code in any::<i32>()) {
        let check = |code| {
            let report = CheckReport { end: CheckEnd::Exited { code }, output: String::new() };
            line(lifecycle::Event::CheckCompleted { ticket: Ticket(3), commitment: CommitmentId(0), report })
        };
        for code in [code, 0, -1, i32::MIN, i32::MAX] {
            prop_assert!(is_usual(&check(code)), "{}", check(code));
        }
        for unusual in ["-0", "-01", "--1", "-", "-2147483649", "2147483648", "1.0", "-9999999999999999999"] {
            let line = check(77_777).replacen("77777", unusual, 1);
            prop_assert!(!is_usual(&line), "{}", line);
            prop_assert_eq!(Format::TODAY.read(&line).ok(), serde_json::from_str(&line).ok());
        }
    }

    #[test]
    fn any_number_is_read_quickly(number in any::<u64>(), small in any::<u16>()) {
        for ticket in [number >> 1, number >> 32, u64::from(small), 0, 9_999_999_999_999_999_999] {
            let line = line(Event::RetryTimeout { ticket: Ticket(ticket) });
            prop_assert!(is_usual(&line), "{}", line);
        }
        // Twenty digits may be too many: the usual way knows.
        let beyond = line(Event::RetryTimeout { ticket: Ticket(number | 1 << 63) });
        is_usual(&beyond);
        let far_beyond = beyond.replacen("\"ticket\":", "\"ticket\":99", 1);
        prop_assert!(!is_usual(&far_beyond));
    }
}
