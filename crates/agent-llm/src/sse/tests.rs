//! Tests of the scanner.

use super::*;
use proptest::prelude::*;

fn events(pieces: &[&[u8]]) -> Result<Vec<(String, String)>, TooLarge> {
    scan(Scanner::default(), pieces)
}

fn scan(mut scanner: Scanner, pieces: &[&[u8]]) -> Result<Vec<(String, String)>, TooLarge> {
    let mut seen = Vec::new();
    let mut sink = |event: Event<'_>| {
        seen.push((String::from_utf8_lossy(event.name).into_owned(), String::from_utf8_lossy(event.data).into_owned()));
        Ok::<(), TooLarge>(())
    };
    for piece in pieces {
        scanner.feed(piece, &mut sink)?;
    }
    scanner.finish(&mut sink)?;
    Ok(seen)
}

fn data(text: &str) -> Vec<String> {
    events(&[text.as_bytes()]).unwrap().into_iter().map(|(_, data)| data).collect()
}

#[test]
fn line_ends_may_be_lf_cr_or_crlf() {
    for end in ["\n", "\r", "\r\n"] {
        let text = format!("event: a{end}data: 1{end}data: 2{end}{end}data: 3{end}{end}");
        assert_eq!(
            events(&[text.as_bytes()]).unwrap(),
            [("a".to_owned(), "1\n2".to_owned()), (String::new(), "3".to_owned())],
            "{end:?}"
        );
    }
}

#[test]
fn one_space_after_the_colon_is_dropped_and_no_more() {
    assert_eq!(data("data:a\n\ndata: b\n\ndata:  c\n\n"), ["a", "b", " c"]);
}

#[test]
fn comments_and_other_fields_are_no_events() {
    assert_eq!(data(": hello\n\nid: 1\nretry: 5\n\ndatas: x\n\n:\n\n"), [""; 0]);
}

#[test]
fn a_field_without_colon_has_an_empty_value() {
    assert_eq!(data("data\n\ndata\ndata\n\n"), ["", "\n"]);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
}

#[test]
fn the_end_of_the_stream_ends_the_last_event() {
    assert_eq!(data("data: a\n\ndata: b\n"), ["a", "b"]);
    assert_eq!(data("data: a\n\ndata: b"), ["a", "b"]);
    assert_eq!(data("data: a\n\n"), ["a"]);
}

#[test]
fn an_event_name_lasts_for_one_event() {
    let seen = events(&[b"event: error\ndata: 1\n\nevent: lost\n\ndata: 2\n\n"]).unwrap();
    assert_eq!(seen, [("error".to_owned(), "1".to_owned()), (String::new(), "2".to_owned())]);
}

#[test]
fn an_event_or_a_line_beyond_its_limit_is_an_error_however_it_grows() {
    let scan_within = |line_bytes: usize, pieces: &[&[u8]]| {
        scan(Scanner::with_limits(Limits { line_bytes, event_bytes: 10 }), pieces).map_err(|error| error.part)
    };
    assert_eq!(scan_within(99, &[b"data: 01234567890123\n"]), Err(Part::Event));
    assert_eq!(scan_within(99, &[b"data:123\ndata:456\ndata:789\n"]), Err(Part::Event));
    assert_eq!(scan_within(99, &[b"event:0123456789\ndata:0\n"]), Err(Part::Event));
    assert_eq!(scan_within(10, &[b"data: 0", b"123", b"456", b"789"]), Err(Part::Line));
    assert_eq!(scan_within(10, &[b": 0", b"123", b"456", b"789"]), Err(Part::Line));
    assert!(scan_within(10, &[b"data:12\n\ndata:34\n\n"]).is_ok());
    let error = scan(Scanner::with_limits(Limits { line_bytes: 1, event_bytes: 1 }), &[b"data"]).unwrap_err();
    assert_eq!(error.to_string(), "read an event stream: a line is larger than 1 bytes");
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("data: "), Just("data"), Just("event:"), Just(":"), Just("\n"), Just("\r"), Just("\r\n"),
                Just("\n\n"), Just("\u{feff}"), Just("é{\"a\":1}"), Just(" "), Just("x"),
            ],
            0..40,
        ),
        cuts in proptest::collection::vec(0usize..200, 0..12),
    ) {
        let text = parts.concat().into_bytes();
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        ends.push(text.len());
        ends.sort_unstable();
        let mut start = 0;
        let mut pieces: Vec<&[u8]> = Vec::new();
        for end in ends {
            pieces.push(&text[start..end]);
            start = end;
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        let whole = events(&[&text]).unwrap();
        prop_assert_eq!(&events(&pieces).unwrap(), &whole);
        prop_assert_eq!(&events(&bytes).unwrap(), &whole);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = events(&[&bytes]);
    }
}
