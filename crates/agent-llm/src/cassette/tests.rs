//! Tests of reading what was recorded, and what was damaged since.

use super::*;

const HEAD: &str =
    r#"{"cassette":{"version":1,"dialect":"openai","base_url":"http://h/v1","key_variable":"K","has_key":true}}"#;
const REQUEST: &str = r#"{"request":{"call":1,"url":"http://h/v1/chat/completions","body":{"model":"m","n":1}}}"#;
const ANSWER: &str = r#"{"answer":{"call":1,"at_ms":5,"status":200,"headers":[["content-type","text/event-stream"]]}}"#;
const TEXT: &str = r#"{"piece":{"call":1,"at_ms":6,"text":"data: [DO"}}"#;
const HEX: &str = r#"{"piece":{"call":1,"at_ms":7,"hex":"c3a9ff"}}"#;
const END: &str = r#"{"end":{"call":1,"at_ms":9,"how":"complete"}}"#;

fn parse(lines: &[&str]) -> Result<Cassette, CassetteError> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Cassette::parse(text.as_bytes(), "c.jsonl")
}

#[test]
fn a_whole_one() {
    let cassette = parse(&[HEAD, REQUEST, ANSWER, TEXT, HEX, END]).unwrap();
    assert_eq!(
        (cassette.dialect(), cassette.calls(), cassette.models(), cassette.is_cut()),
        ("openai", 1, vec!["m"], false)
    );
    let call = &cassette.calls[0];
    assert_eq!(call.pieces, [(6, Bytes::from_static(b"data: [DO")), (7, Bytes::from_static(b"\xc3\xa9\xff"))]);
    assert_eq!(call.answer.as_ref().unwrap().status, 200);
    assert!(matches!(call.end, Some((9, How::Complete))));
}

#[test]
fn what_a_crash_leaves_is_read_up_to_there() {
    let whole = [HEAD, REQUEST, ANSWER, TEXT, HEX, END].map(|line| format!("{line}\n")).concat();
    let first = HEAD.len() + 1;
    for end in 0..whole.len() {
        match Cassette::parse(&whole.as_bytes()[..end], "c.jsonl") {
            Ok(cassette) => {
                assert!(end >= first && cassette.calls.iter().all(|call| call.end.is_none()), "{end}");
                assert_eq!(cassette.is_cut(), !whole[..end].ends_with('\n'));
            }
            Err(error) => assert!(end < first && matches!(error, CassetteError::NoCassette { .. }), "{end}: {error}"),
        }
    }
}

#[test]
fn what_is_none() {
    for text in ["", "\n", "x\n", "[1]\n", "{}\n", "{\"type\":\"session\"}\n", "\u{0}\u{1}\n"] {
        let error = Cassette::parse(text.as_bytes(), "c.jsonl").unwrap_err();
        assert!(matches!(error, CassetteError::NoCassette { .. }), "{error}");
        assert!(error.to_string().starts_with("read the cassette c.jsonl: it"), "{error}");
    }
    assert!(matches!(parse(&[REQUEST]), Err(CassetteError::NoCassette { .. })));
    assert!(matches!(parse(&[&HEAD.replace("openai", "morse")]), Err(CassetteError::NoCassette { .. })));
    let newer = parse(&[&HEAD.replace(":1,", ":2,")]).unwrap_err();
    assert_eq!(newer.to_string(), "read the cassette c.jsonl: its version is 2, and this program knows version 1");
}

#[test]
fn damage_is_told_with_its_line() {
    let odd = HEX.replace("ff", "f");
    let no_text = TEXT.replace("\"text\"", "\"words\"");
    let later = REQUEST.replace(":1,", ":3,");
    for (lines, line, says) in [
        (vec![HEAD, "{", REQUEST], 2, "EOF"),
        (vec![HEAD, HEAD], 2, "a second first record"),
        (vec![HEAD, ANSWER], 2, "call 1 has not started"),
        (vec![HEAD, &later], 2, "the request of call 3, but call 1 comes next"),
        (vec![HEAD, REQUEST, REQUEST], 3, "the request of call 1, but call 2 comes next"),
        (vec![HEAD, REQUEST, TEXT], 3, "before the answer"),
        (vec![HEAD, REQUEST, ANSWER, ANSWER], 4, "a second answer"),
        (vec![HEAD, REQUEST, ANSWER, &odd], 4, "whose `hex` is not hexadecimal"),
        (vec![HEAD, REQUEST, ANSWER, &no_text], 4, "no variant"),
        (vec![HEAD, REQUEST, END, ANSWER], 4, "call 1 has already ended"),
        (vec![HEAD, REQUEST, "\u{0}"], 3, "expected"),
        (vec![HEAD, REQUEST, ""], 3, "EOF"),
    ] {
        match parse(&lines) {
            Err(CassetteError::Line { line: at, found, .. }) => {
                assert!(at == line && found.contains(says), "{line} {says}: {at} {found}");
            }
            other => panic!("{line} {says}: {other:?}"),
        }
    }
}

#[test]
fn files_that_are_none() {
    let missing = Cassette::read(Path::new("/nowhere/c.jsonl")).unwrap_err();
    assert!(missing.to_string().starts_with("use the cassette /nowhere/c.jsonl: "), "{missing}");
    let folder = Cassette::read(&std::env::temp_dir()).unwrap_err();
    assert!(folder.to_string().ends_with("it is not a file"), "{folder}");
}
