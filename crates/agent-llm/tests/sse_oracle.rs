//! The scanner against another one: `sse-core` follows the standard to the letter.
//!
//! A long run: `PROPTEST_CASES=1000000 cargo nextest run -p agent-llm --test sse_oracle`.

use agent_llm::sse::{Event, Scanner, TooLarge};
use proptest::prelude::*;
use sse_core::{SseDecoder, SseEvent};

/// Name and data of an event; an event without a name is a `message` to the standard.
type Seen = (String, String);

fn ours(pieces: &[&[u8]]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut sink = |event: Event<'_>| {
        let name = if event.name.is_empty() { b"message" } else { event.name };
        seen.push((String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(event.data).into_owned()));
        Ok::<(), TooLarge>(())
    };
    let mut scanner = Scanner::default();
    for piece in pieces {
        scanner.feed(piece, &mut sink).unwrap();
    }
    // Not finished: an event that the end cuts through is dropped by the standard, and given out by us on purpose.
    seen
}

fn theirs(pieces: &[&[u8]]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut decoder = SseDecoder::new();
    for piece in pieces {
        let mut piece: &[u8] = piece;
        while let Some(event) = decoder.next(&mut piece) {
            if let SseEvent::Message(message) = event.unwrap() {
                seen.push((message.event.into_owned(), message.data));
            }
        }
    }
    seen
}

/// The text cut at these places.
fn cut(text: &[u8], places: Vec<usize>) -> Vec<&[u8]> {
    let mut ends: Vec<usize> = places.into_iter().map(|place| place % (text.len() + 1)).collect();
    ends.push(text.len());
    ends.sort_unstable();
    let starts = std::iter::once(0).chain(ends.clone());
    starts.zip(ends.clone()).map(|(start, end)| &text[start..end]).collect()
}

/// What event streams are made of, and what they should not be made of.
fn part() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::sample::select(vec![
            &b"data"[..],
            b"data:",
            b"data: ",
            b"data:  x",
            b"event: a",
            b"event:",
            b"event",
            b"id: 7",
            b"id",
            b"retry: 9",
            b":",
            b": c",
            b"datas: x",
            b"Data: x",
            b" data: x",
            b"\n",
            b"\n",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"\r\r",
            b"\r\n\r\n",
            b"\xef\xbb\xbf",
            b"\xef\xbb",
            b"\xbf",
            b"\0",
            b"\xff",
            b"{\"a\":\"\xc3\xa9\"}",
            b"\xc3",
            b" ",
            b"a:b",
        ])
        .prop_map(<[u8]>::to_vec),
        proptest::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #[test]
    fn both_see_the_same_events_however_the_bytes_come(
        parts in proptest::collection::vec(part(), 0..40),
        places in proptest::collection::vec(any::<usize>(), 0..10),
        has_mark in any::<bool>(),
    ) {
        let mut text = if has_mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        text.extend(parts.concat());
        let whole = ours(&[&text]);
        prop_assert_eq!(&whole, &theirs(&[&text]));
        let pieces = cut(&text, places);
        prop_assert_eq!(&ours(&pieces), &whole);
        prop_assert_eq!(&theirs(&pieces), &whole);
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        prop_assert_eq!(&ours(&bytes), &whole);
    }
}

/// Every text of up to seven of the signs that matter: none is too small to be wrong.
#[test]
fn both_see_the_same_events_in_every_short_text() {
    const SIGNS: [&[u8]; 7] = [b"data", b":", b" ", b"\n", b"\r", b"x", b"event"];
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    let mut checked = 0;
    for length in 0..=6 {
        for text in &texts {
            // What is not ended by a blank line shows nothing: end it in both.
            let ended = [text, &b"\n\n"[..]].concat();
            assert_eq!(ours(&[&ended]), theirs(&[&ended]), "{:?}", String::from_utf8_lossy(&ended));
            checked += 1;
        }
        if length < 6 {
            texts = texts.iter().flat_map(|text| SIGNS.map(|sign| [text, sign].concat())).collect();
        }
    }
    assert_eq!(checked, (0..=6).map(|length| 7_usize.pow(length)).sum::<usize>());
}
