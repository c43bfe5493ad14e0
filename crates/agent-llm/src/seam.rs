//! Texts that come in pieces. Some servers cut between the two halves of one character: a JSON escape such as `\ud83d` at the end of a
//! piece and its other half at the beginning of the next one.

use crate::wire::text;
use core::fmt;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What one text keeps between its pieces.
#[derive(Debug, Default)]
pub(crate) struct Seam {
    /// The first half of a character whose second half must come next.
    half: Option<u32>,
}

impl Seam {
    /// The text of a piece; empty if it has none. A piece that cannot be read is an error: what the others make without it would be
    /// something else than the model wrote.
    pub(crate) fn piece<'a>(&mut self, raw: Option<&'a RawValue>) -> Result<Cow<'a, str>, String> {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
            return Ok(Cow::Borrowed(""));
        };
        if self.half.is_none()
            && let Some(text) = text(Some(raw))
        {
            return Ok(text);
        }
        let Units(units) = serde_json::from_str(raw.get()).map_err(|_| NO_TEXT.to_owned())?;
        self.joined(units).map(Cow::Owned).ok_or_else(|| NO_TEXT.to_owned())
    }

    /// Whether half of a character is missing.
    pub(crate) const fn is_open(&self) -> bool {
        self.half.is_some()
    }

    /// An error while half of a character is missing: the text may not end here.
    pub(crate) fn check_closed(&self) -> Result<(), String> {
        if self.is_open() { Err(NO_TEXT.to_owned()) } else { Ok(()) }
    }

    /// The text of these bytes, in which a half of a character stands as it would in UTF-8.
    fn joined(&mut self, mut bytes: Vec<u8>) -> Option<String> {
        let mut whole = String::with_capacity(bytes.len() + 4);
        if let Some(high) = self.half {
            match bytes.as_slice() {
                [] => return Some(whole),
                [0xED, second @ 0xB0..=0xBF, third, ..] => {
                    let low = unit(*second, *third);
                    whole.push(char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))?);
                    bytes.drain(..3);
                    self.half = None;
                }
                _ => return None,
            }
        }
        if let [.., 0xED, second @ 0xA0..=0xAF, third] = bytes.as_slice() {
            self.half = Some(unit(*second, *third));
            bytes.truncate(bytes.len() - 3);
        }
        whole.push_str(core::str::from_utf8(&bytes).ok()?);
        Some(whole)
    }
}

/// The code of half a character. Its first byte is always the same.
fn unit(second: u8, third: u8) -> u32 {
    0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F)
}

/// The bytes of a JSON string, halves of characters included.
struct Units(Vec<u8>);

impl<'de> Deserialize<'de> for Units {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Units;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Units, E> {
                Ok(Units(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

const NO_TEXT: &str = "a piece of text that is not valid text";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> (Result<String, String>, bool) {
        let mut seam = Seam::default();
        let mut whole = String::new();
        for json in pieces {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            match seam.piece(Some(&raw)) {
                Ok(piece) => whole.push_str(&piece),
                Err(found) => return (Err(found), seam.is_open()),
            }
        }
        (Ok(whole), seam.is_open())
    }

    #[test]
    fn halves_of_a_character_are_joined() {
        for pieces in [
            &[r#""a \ud83d""#, r#""\ude00 b""#][..],
            &[r#""a ""#, r#""\uD83D""#, r#""""#, "null", r#""\uDE00""#, r#"" b""#],
            &[r#""a \ud83d\ude00 b""#],
        ] {
            assert_eq!(read(pieces), (Ok("a \u{1F600} b".to_owned()), false), "{pieces:?}");
        }
        assert_eq!(
            read(&[r#""\ud83d""#, r#""\ude00\n\ud83c""#, r#""\udf89""#]),
            (Ok("\u{1F600}\n\u{1F389}".into()), false)
        );
    }

    #[test]
    fn a_half_without_its_other_is_an_error_and_not_left_out() {
        for pieces in [
            &[r#""\ud83d""#, r#""x""#][..],
            &[r#""\ude00 x""#],
            &[r#""\ud83d x""#],
            &[r#""\ud83d""#, r#""\ud83d""#],
            &["5"],
            &["{}"],
        ] {
            assert!(read(pieces).0.is_err(), "{pieces:?}");
        }
        assert_eq!(read(&[r#""x\ud83d""#]), (Ok("x".to_owned()), true));
        assert_eq!(read(&["null", r#""half""#]), (Ok("half".to_owned()), false));
    }
}
