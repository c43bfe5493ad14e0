//! What the quick way reads is what the usual way reads; how much it leaves to the usual way is looked at, too.

use super::super::{Entry, Format, Record};
use super::read;
use crate::hook::GitReport;
use crate::session::{Event, Ticket};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use proptest::prelude::*;

/// A journal with every kind of event.
const JOURNAL: &str = include_str!("../../../tests/golden/journal/v4/session.jsonl");

/// Whether the quick way read it. What it reads has to be what the usual way reads.
fn is_usual(line: &str) -> bool {
    let Some(record) = read(line) else { return false };
    assert_eq!(serde_json::from_str::<Record>(line).ok(), Some(record), "{line}");
    true
}

fn line(event: Event) -> String {
    let record = Record { seq: 7, at_ms: 1_767_268_800_000, entry: Entry::Event(event) };
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
