//! Reads the escapes of URLs, of JSON and shells, and of HTML, and leaves out what only a terminal acts on, each by itself or mixed. So a
//! secret is found whichever of its characters are escaped and in whichever way, and wherever a colour begins or ends in it.
//!
//! ```text
//! %2f %2F                                 URL, either case
//! \u002b \u{2b} \x2b \053 \/ \n           JSON, programming languages, shells
//! &amp; &#43; &#x2b;                      HTML
//! ESC [ 31 m, ESC ] … BEL, a BS a         terminals, overstriking, other control characters: `controls.rs`
//! ```
//!
//! A text is read from left to right once, so the cost is linear. What is not an escape is taken as it is. A value above one byte is taken
//! as its UTF-8.

mod controls;

use alloc::string::String;
use alloc::vec::Vec;
use controls::{control, ignored, is_control, open_control, overstruck};
use core::ops::Range;

/// A text without its escapes. Bytes above ASCII stand for themselves as the characters of these numbers, so that halves of a character are
/// comparable too.
#[derive(Debug)]
pub(super) struct Unescaped {
    pub(super) text: String,
    /// For each byte of it where its origin begins and ends in the text that was read.
    origins: Vec<(usize, usize)>,
    /// The length of the text that was read.
    end: usize,
}

impl Unescaped {
    /// As it is.
    pub(super) fn of(text: &str) -> Self {
        let mut out = Self::empty(text.len(), text.len());
        text.bytes().enumerate().for_each(|(at, byte)| out.push(byte, (at, at + 1)));
        out
    }

    fn empty(bytes: usize, end: usize) -> Self {
        Self { text: String::with_capacity(bytes), origins: Vec::with_capacity(bytes), end }
    }

    /// The same with one level of escapes read; `None` if it has none.
    fn next(&self) -> Option<Self> {
        self.read(escape)
    }

    /// The same without what a terminal shows nothing of; `None` if there is none of it.
    fn shown(&self) -> Option<Self> {
        self.read(|rest| {
            let byte = |at: usize| rest.get(at).map(|(byte, _)| *byte);
            Some((Value::Nothing, overstruck(byte).or_else(|| control(byte)).or_else(|| ignored(byte))?))
        })
    }

    /// The same on one line; `None` if it is on one.
    fn joined(&self) -> Option<Self> {
        if !self.text.contains(ENDS_OF_LINES) {
            return None;
        }
        self.read(|rest| rest.first().filter(|(byte, _)| matches!(byte, b'\n' | b'\r')).map(|_| (Value::Nothing, 1)))
    }

    fn read(&self, escape: impl Fn(&[Origin]) -> Option<(Value, usize)>) -> Option<Self> {
        let byte = |sign: char| u8::try_from(u32::from(sign)).unwrap_or(b'?');
        let bytes: Vec<Origin> = self.text.char_indices().map(|(at, sign)| (byte(sign), self.origin(at))).collect();
        let mut out = Self::empty(self.text.len(), self.end);
        let (mut rest, mut is_changed) = (&*bytes, false);
        while let Some(((first, origin), behind)) = rest.split_first() {
            let Some((value, length)) = escape(rest) else {
                out.push(*first, *origin);
                rest = behind;
                continue;
            };
            is_changed = true;
            let last = rest.get(length - 1).map_or(origin.1, |(_, (_, end))| *end);
            let whole = (origin.0, last);
            match value {
                Value::Byte(byte) => out.push(byte, whole),
                Value::Sign(sign) => sign.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push(byte, whole)),
                Value::Nothing => {}
            }
            rest = rest.get(length..).unwrap_or_default();
        }
        is_changed.then_some(out)
    }

    /// Where a part of it is in the text that was read.
    pub(super) fn origin_of(&self, part: Range<usize>) -> Range<usize> {
        let start = self.origin(part.start).0;
        let end = part.end.checked_sub(1).filter(|last| *last >= part.start).map_or(start, |last| self.origin(last).1);
        start..end
    }

    fn origin(&self, at: usize) -> (usize, usize) {
        self.origins.get(at).copied().unwrap_or((self.end, self.end))
    }

    fn push(&mut self, byte: u8, origin: (usize, usize)) {
        let sign = char::from(byte);
        self.text.push(sign);
        self.origins.extend(core::iter::repeat_n(origin, sign.len_utf8()));
    }
}

/// A byte, and where its origin begins and ends.
type Origin = (u8, (usize, usize));

/// Every level of escapes of a text, the plain text not among them; and what a terminal shows of each of these and of the text, whose
/// escapes are read once more. What it does not show is looked at as well: a link may have a secret in its address. Each of them also on
/// one line: what is wide is broken into lines.
pub(super) fn levels(text: &str) -> Vec<Unescaped> {
    let has_escapes = text.contains(|sign| BEGINNINGS.contains(&sign) || is_control(sign));
    if !has_escapes && !text.contains(ENDS_OF_LINES) {
        return Vec::new();
    }
    let plain = Unescaped::of(text);
    let mut all = if has_escapes { levels_of(&plain) } else { Vec::new() };
    let shown: Vec<Unescaped> = all.iter().filter_map(Unescaped::shown).collect();
    all.extend(shown);
    if let Some(plain) = has_escapes.then(|| plain.shown()).flatten() {
        all.extend(levels_of(&plain));
        all.push(plain);
    }
    let joined: Vec<Unescaped> = all.iter().chain([&plain]).filter_map(Unescaped::joined).collect();
    all.extend(joined);
    all
}

fn levels_of(plain: &Unescaped) -> Vec<Unescaped> {
    core::iter::successors(plain.next(), Unescaped::next).take(MOST_LEVELS).collect()
}

/// Where escapes begin near the end of a text, also of other escapes, that may not be all there.
pub(super) fn open_escapes(text: &str) -> Vec<usize> {
    let tail = (0..=text.len().saturating_sub(LONGEST_OPEN)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let signs = text.get(tail..).unwrap_or_default().match_indices(BEGINNINGS);
    let mut all: Vec<usize> = signs.map(|(at, _)| tail + at).chain(open_control(text)).collect();
    all.sort_unstable();
    all
}

enum Value {
    Byte(u8),
    Sign(char),
    /// For what a terminal shows nothing of.
    Nothing,
}

/// What the escape at the beginning stands for, and its length.
fn escape(rest: &[Origin]) -> Option<(Value, usize)> {
    let byte = |at: usize| rest.get(at).map(|(byte, _)| *byte);
    match byte(0)? {
        b'%' => {
            let value = number(rest, 1, 2, 16).filter(|(_, digits)| *digits == 2)?.0;
            Some((Value::Byte(u8::try_from(value).ok()?), 3))
        }
        b'&' => entity(rest),
        b'\\' => match byte(1)? {
            b'u' if byte(2) == Some(b'{') => {
                let (value, digits) = number(rest, 3, 6, 16)?;
                let is_closed = byte(3 + digits) == Some(b'}');
                is_closed.then_some((Value::Sign(char::from_u32(value)?), 4 + digits))
            }
            b'u' => unit(rest),
            b'U' => {
                let (value, _) = number(rest, 2, 8, 16).filter(|(_, digits)| *digits == 8)?;
                Some((Value::Sign(char::from_u32(value)?), 10))
            }
            b'x' => {
                let (value, _) = number(rest, 2, 2, 16).filter(|(_, digits)| *digits == 2)?;
                Some((Value::Byte(u8::try_from(value).ok()?), 4))
            }
            b'0'..=b'3' => {
                let (value, _) = number(rest, 1, 3, 8).filter(|(_, digits)| *digits == 3)?;
                Some((Value::Byte(u8::try_from(value).ok()?), 4))
            }
            b'e' | b'E' => Some((Value::Byte(0x1b), 2)),
            b'b' => Some((Value::Byte(0x08), 2)),
            b'n' => Some((Value::Byte(b'\n'), 2)),
            b'r' => Some((Value::Byte(b'\r'), 2)),
            b't' => Some((Value::Byte(b'\t'), 2)),
            sign if sign.is_ascii_punctuation() || sign == b' ' => Some((Value::Byte(sign), 2)),
            _ => None,
        },
        _ => None,
    }
}

/// `\u002b`, and two of them for one character.
fn unit(rest: &[Origin]) -> Option<(Value, usize)> {
    let four = |at: usize| number(rest, at, 4, 16).filter(|(_, digits)| *digits == 4).map(|(value, _)| value);
    let first = four(2)?;
    if let Some(sign) = char::from_u32(first) {
        return Some((Value::Sign(sign), 6));
    }
    let is_pair = [rest.get(6), rest.get(7)].map(|found| found.map(|(byte, _)| *byte)) == [Some(b'\\'), Some(b'u')];
    let second = four(8).filter(|_| is_pair)?;
    let value = 0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
    Some((Value::Sign(char::from_u32(value)?), 12))
}

/// `&amp;`, `&#43;`, `&#x2b;`; the number also without its semicolon.
fn entity(rest: &[Origin]) -> Option<(Value, usize)> {
    let byte = |at: usize| rest.get(at).map(|(byte, _)| *byte);
    if byte(1) == Some(b'#') {
        let is_hex = matches!(byte(2), Some(b'x' | b'X'));
        let from = if is_hex { 3 } else { 2 };
        let (value, digits) = number(rest, from, 8, if is_hex { 16 } else { 10 })?;
        let end = from + digits;
        return Some((Value::Sign(char::from_u32(value)?), end + usize::from(byte(end) == Some(b';'))));
    }
    let name: Vec<u8> = rest.iter().skip(1).map(|(byte, _)| *byte).take(LONGEST_NAME + 1).collect();
    let end = name.iter().position(|byte| *byte == b';')?;
    let (_, sign) = ENTITIES.iter().find(|(known, _)| Some(known.as_bytes()) == name.get(..end))?;
    Some((Value::Byte(*sign), end + 2))
}

/// A number of some digits at most, and how many there are.
fn number(rest: &[Origin], from: usize, most: usize, radix: u32) -> Option<(u32, usize)> {
    let digits = rest.iter().skip(from).take(most).map_while(|(byte, _)| char::from(*byte).to_digit(radix));
    let (mut value, mut count) = (0_u32, 0);
    for digit in digits {
        value = value.checked_mul(radix)?.checked_add(digit)?;
        count += 1;
    }
    (count > 0).then_some((value, count))
}

const ENDS_OF_LINES: [char; 2] = ['\n', '\r'];
/// What every escape begins with.
const BEGINNINGS: [char; 3] = ['%', '\\', '&'];
/// Escapes of escapes: JSON in JSON, a URL in HTML.
const MOST_LEVELS: usize = 3;
/// The longest that is waited for: half of a pair, of an escape's escape, or of a colour whose first sign is escaped.
const LONGEST_OPEN: usize = 32;
const LONGEST_NAME: usize = 6;
/// The signs of ASCII that have names in HTML.
#[rustfmt::skip]
const ENTITIES: &[(&str, u8)] = &[
    ("amp", b'&'), ("lt", b'<'), ("gt", b'>'), ("quot", b'"'), ("apos", b'\''), ("sol", b'/'), ("bsol", b'\\'), ("plus", b'+'), ("equals", b'='),
    ("num", b'#'), ("percnt", b'%'), ("commat", b'@'), ("colon", b':'), ("semi", b';'), ("comma", b','), ("period", b'.'), ("excl", b'!'),
    ("quest", b'?'), ("dollar", b'$'), ("ast", b'*'), ("lpar", b'('), ("rpar", b')'), ("lsqb", b'['), ("rsqb", b']'), ("lcub", b'{'),
    ("rcub", b'}'), ("lowbar", b'_'), ("verbar", b'|'), ("grave", b'`'), ("Hat", b'^'), ("Tab", b'\t'), ("AMP", b'&'),
];
