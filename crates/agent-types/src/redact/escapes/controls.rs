//! What a terminal acts on and shows nothing of: `grep --color` puts it in the middle of a word, `man` strikes letters over.
//!
//! 1. A sequence of the ECMA-48 standard counts as a whole: colours, links, titles. Its first sign may be one (C1) or two (`ESC`).
//! 2. A letter with a backspace behind it counts for nothing: another one is struck over it.
//! 3. Any other control character counts for nothing by itself. Tabs and ends of lines are text.
//! 4. A quotation mark is in no sequence. So what is found in JSON never goes beyond the end of a string.
//!
//! 5. A code point that Unicode has programs ignore (a soft hyphen, a zero-width space) counts for nothing.
//!
//! A sequence that is not whole is only its first sign, so every byte is looked at a bounded number of times.

use crate::unseen::is_invisible;

/// Whether a character is for terminals, and no text.
pub(super) const fn is_control(sign: char) -> bool {
    is_invisible(sign) || matches!(sign, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// The length of the letter and the backspace that are at the beginning.
pub(super) fn overstruck(byte: impl Fn(usize) -> Option<u8>) -> Option<usize> {
    let length = match byte(0)? {
        b'\n' | b'\r' | b'\t' | b'"' => return None,
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        0x80..0xc0 => return None,
    };
    (byte(length)? == BACKSPACE).then_some(length + 1)
}

/// The length of the code point at the beginning that programs ignore.
pub(super) fn ignored(byte: impl Fn(usize) -> Option<u8>) -> Option<usize> {
    let length = match byte(0)? {
        0xc2 | 0xcd | 0xd8 => 2,
        0xe1..=0xe3 | 0xef => 3,
        0xf0 | 0xf3 => 4,
        _ => return None,
    };
    let mut bytes = [0; 4];
    for (at, place) in bytes.iter_mut().enumerate().take(length) {
        *place = byte(at)?;
    }
    let sign = core::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
    is_invisible(sign).then_some(length)
}

/// The length of the control character or sequence at the beginning.
pub(super) fn control(byte: impl Fn(usize) -> Option<u8>) -> Option<usize> {
    let first = introduced(&byte)?;
    match sequence(&byte, first) {
        Sequence::Whole(length) => Some(length),
        Sequence::Open | Sequence::None => Some(first.length),
    }
}

/// Where something begins at the end of a text that is no sequence yet but may become one with what follows.
pub(super) fn open_control(text: &str) -> Option<usize> {
    // What may be struck over: underlining puts this sign first.
    let underline = || text.ends_with('_').then(|| text.len() - 1);
    let tail = text.len().saturating_sub(LONGEST_STRING + 1);
    let bytes = text.as_bytes().get(tail..).unwrap_or_default();
    let is_open = |at: &usize| {
        let byte = |offset: usize| bytes.get(at + offset).copied();
        // The first byte of a C1 character that is cut does not occur: texts are cut between characters.
        introduced(byte).is_some_and(|first| matches!(sequence(byte, first), Sequence::Open))
    };
    // `ESC` at the very end may begin a sequence, or end the string that is open before it: the earlier counts.
    let begins =
        |at: &usize| introduced(|offset| bytes.get(at + offset).copied()).is_some_and(|first| first.kind != ALONE);
    (0..bytes.len()).rev().filter(begins).take(2).filter(is_open).last().map(|at| tail + at).or_else(underline)
}

/// How a sequence begins: its kind as the byte that follows `ESC`, and how long that beginning is.
#[derive(Clone, Copy)]
struct First {
    kind: u8,
    length: usize,
}

enum Sequence {
    Whole(usize),
    /// What is there may begin one.
    Open,
    None,
}

/// A control character at the beginning. Above ASCII its byte in UTF-8 is that of its two-sign form and `0x40`.
fn introduced(byte: impl Fn(usize) -> Option<u8>) -> Option<First> {
    match (byte(0)?, byte(1)) {
        (0xc2, Some(second @ 0x80..=0x9f)) => Some(First { kind: second - 0x40, length: 2 }),
        (ESCAPE, _) => Some(First { kind: ESCAPE, length: 1 }),
        (first, _) if first < 0x80 && is_control(char::from(first)) => Some(First { kind: ALONE, length: 1 }),
        _ => None,
    }
}

fn sequence(byte: impl Fn(usize) -> Option<u8>, first: First) -> Sequence {
    let (kind, start) = match (first.kind, byte(1)) {
        (ESCAPE, None) => return Sequence::Open,
        (ESCAPE, Some(kind)) => (kind, 2),
        (kind, _) => (kind, first.length),
    };
    match kind {
        b'[' => ended(&byte, start, |sign| matches!(sign, b' '..=b'?'), LONGEST_NUMBERS),
        b']' | b'P' | b'X' | b'^' | b'_' => string(&byte, start),
        b' '..=b'/' if first.kind == ESCAPE => {
            ended(&byte, first.length, |sign| matches!(sign, b' '..=b'/'), LONGEST_NUMBERS)
        }
        b'0'..=b'~' if first.kind == ESCAPE => Sequence::Whole(start),
        _ if first.kind == ESCAPE => Sequence::None,
        _ => Sequence::Whole(first.length),
    }
}

/// Signs of one kind, and one more that ends them.
fn ended(byte: impl Fn(usize) -> Option<u8>, start: usize, is_within: impl Fn(u8) -> bool, most: usize) -> Sequence {
    for at in start..start + most {
        match byte(at) {
            None => return Sequence::Open,
            Some(b'"') => return Sequence::None,
            Some(sign) if is_within(sign) => {}
            Some(b'0'..=b'~') => return Sequence::Whole(at + 1),
            Some(_) => return Sequence::None,
        }
    }
    Sequence::None
}

/// Text up to `BEL` or the string terminator. Another sequence in it ends it without a terminator: then it is none.
fn string(byte: impl Fn(usize) -> Option<u8>, start: usize) -> Sequence {
    for at in start..start + LONGEST_STRING {
        match (byte(at), byte(at + 1)) {
            (None, _) | (Some(ESCAPE), None) => return Sequence::Open,
            (Some(BELL), _) => return Sequence::Whole(at + 1),
            (Some(ESCAPE), Some(b'\\')) | (Some(0xc2), Some(0x9c)) => return Sequence::Whole(at + 2),
            (Some(b'"' | ESCAPE), _) | (Some(0xc2), Some(0x80..=0x9f)) => return Sequence::None,
            (Some(_), _) => {}
        }
    }
    Sequence::None
}

const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
const ESCAPE: u8 = 0x1b;
/// Of a control character that is no part of a sequence.
const ALONE: u8 = 0;
/// A colour of text and ground in full, with room to spare.
const LONGEST_NUMBERS: usize = 64;
/// A link with a long address.
const LONGEST_STRING: usize = 2048;
