//! Reads what programs show of bytes as numbers, so that a secret in a dump is found.
//!
//! ```text
//! 00000000: 736b 2d6c 6976 652d  sk-live-                xxd, in groups of any width
//! 00000000  73 6b 2d 6c 69 76 65 2d  |sk-live-|          hexdump -C, od -t x1
//! 0000000 6b73 6c2d 7669 2d65                            hexdump, od -x: the bytes of a group in the other order
//! 0000000   s   k   -   l   i   v   e   -                od -c, hexdump -c
//! 0000000 163 153 055                                    od -b
//! 0000000 065563 066055                                  od
//! ```
//!
//! A line begins with an offset or without one. Groups of the same width follow, up to a word that is none; what is behind them is the same
//! again, as text. So the origin of a byte reaches to the end of its line, but not beyond a quotation mark.
//!
//! Absent: bytes as decimal numbers, dumps that are escaped themselves.

use super::Unescaped;
use alloc::vec::Vec;
use core::ops::Range;

/// A text as the bytes of which it is a dump, with each order of the bytes in a group; nothing where it is none.
pub(super) fn read(text: &str) -> Vec<Unescaped> {
    let mut all = Vec::new();
    for is_turned in [false, true] {
        let mut out = Unescaped::empty(0, text.len());
        let mut is_wide = false;
        for line in lines(text) {
            let mut groups = groups(text, line.clone()).peekable();
            if groups.peek().is_none() {
                continue;
            }
            let end = text.get(line.clone()).and_then(|text| text.find('"')).map_or(line.end, |at| line.start + at);
            for group in groups {
                let mut bytes = group.bytes(text);
                is_wide |= bytes.len() > 1;
                if is_turned != group.is_turned_by_itself() {
                    bytes.reverse();
                }
                bytes.into_iter().for_each(|byte| out.push(byte, (group.place.start, end)));
            }
        }
        if !out.text.is_empty() && (is_wide || !is_turned) {
            all.push(out);
        }
    }
    all
}

/// Where the last group, or offset, begins, if what follows may belong to it.
pub(super) fn open(text: &str) -> Option<usize> {
    let line = lines(text).last()?;
    let last = words(text, line.clone()).last().filter(|last| last.end == text.len())?;
    let is_number = |place: &Range<usize>| {
        let word = text.get(place.clone()).unwrap_or_default();
        word.len() <= LONGEST_OFFSET && word.trim_end_matches(':').bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    words(text, line).all(|place| is_number(&place)).then_some(last.start)
}

/// A word that stands for some bytes.
struct Group {
    place: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A character.
    Sign,
    Hexadecimal,
    OctalByte,
    /// Two bytes, the second one first.
    OctalPair,
}

impl Kind {
    /// What a word of this width may be.
    fn of(word: &str) -> Option<Self> {
        let is_octal = || word.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        let is_hexadecimal = || word.bytes().all(|byte| byte.is_ascii_hexdigit());
        match word.len() {
            1 => Some(Self::Sign),
            2 | 4 | 8 | 16 if is_hexadecimal() => Some(Self::Hexadecimal),
            3 if is_octal() => Some(Self::OctalByte),
            6 if is_octal() => Some(Self::OctalPair),
            _ => None,
        }
    }
}

impl Group {
    const fn is_turned_by_itself(&self) -> bool {
        matches!(self.kind, Kind::OctalPair)
    }

    fn bytes(&self, text: &str) -> Vec<u8> {
        let word = text.get(self.place.clone()).unwrap_or_default();
        let number = |digits: &str, radix| u16::from_str_radix(digits, radix).unwrap_or_default();
        match self.kind {
            Kind::Sign => word.bytes().collect(),
            Kind::Hexadecimal => {
                let pairs = (0..word.len()).step_by(2).filter_map(|at| word.get(at..at + 2));
                pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
            }
            Kind::OctalByte => number(word, 8).to_be_bytes().into_iter().skip(1).collect(),
            Kind::OctalPair => number(word, 8).to_be_bytes().to_vec(),
        }
    }
}

/// The groups of a line: of the kind and at most of the width of the first one.
fn groups(text: &str, line: Range<usize>) -> impl Iterator<Item = Group> {
    let word = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
    let mut words = words(text, line).peekable();
    let second = words.clone().nth(1);
    let is_offset = |first: &Range<usize>| {
        let width = word(first).len();
        let is_long = width >= SHORTEST_OFFSET && second.as_ref().is_some_and(|next| next.len() != width);
        word(first).ends_with(':') || is_long && Kind::of(word(first)) != Some(Kind::Sign)
    };
    words.next_if(|first| is_offset(first));
    let first = words.peek().map(|first| (Kind::of(word(first)), first.len()));
    words.map_while(move |place| {
        let (first, width) = first?;
        let kind = Kind::of(text.get(place.clone())?)?;
        (Some(kind) == first && place.len() <= width).then_some(Group { place, kind })
    })
}

/// The places of the words of a line.
fn words(text: &str, line: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone {
    let start = line.start;
    let pieces = text.get(line).unwrap_or_default().split([' ', '\t']);
    let places = pieces.scan(start, |at, piece| {
        let place = *at..*at + piece.len();
        *at = place.end + 1;
        Some(place)
    });
    places.filter(|place| !place.is_empty())
}

fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split('\n').scan(0, |at, line| {
        let place = *at..*at + line.trim_end_matches('\r').len();
        *at += line.len() + 1;
        Some(place)
    })
}

/// `od` has seven digits, others have eight.
const SHORTEST_OFFSET: usize = 7;
/// Sixteen digits and a colon.
const LONGEST_OFFSET: usize = 17;
