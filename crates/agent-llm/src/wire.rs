//! Small things that both wire formats need: writing JSON into a body, and reading what servers write with some freedom.

use agent_core::llm::Usage;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Appends a value as JSON.
pub(crate) fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    serde_json::to_writer(out, value)
}

/// Appends the elements of a list, separated by commas, behind what `out` holds.
pub(crate) fn push_element<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    if !out.is_empty() {
        out.push(b',');
    }
    push_json(out, value)
}

/// A number of tokens. What is no such number (negative, a fraction, beyond 64 bits, a word) counts as not given.
pub(crate) fn count(raw: Option<&RawValue>) -> Option<u64> {
    raw?.get().parse().ok()
}

/// The token counts of a server whose input includes what came from its cache. Nothing when there is neither an input nor an output.
pub(crate) fn overlapping_usage(
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
) -> Option<Usage> {
    input.or(output)?;
    let input = input.unwrap_or(0);
    let cache_read_tokens = cache_read.unwrap_or(0).min(input);
    let cache_write_tokens = cache_write.unwrap_or(0).min(input - cache_read_tokens);
    Some(Usage {
        input_tokens: input - cache_read_tokens - cache_write_tokens,
        output_tokens: output.unwrap_or(0),
        cache_read_tokens,
        cache_write_tokens,
    })
}

/// A JSON string; nothing for anything else.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let Text(text) = serde_json::from_str(raw?.get()).ok()?;
    Some(text)
}

/// A JSON string that is read in place where it has no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// A piece of a text that is put together from pieces: empty when there is none. A piece that cannot be read must not be left out, for
/// what the others make without it would be something else than the model wrote.
pub(crate) fn piece(raw: Option<&RawValue>) -> Result<Cow<'_, str>, String> {
    match raw {
        None => Ok(Cow::Borrowed("")),
        Some(null) if null.get() == "null" => Ok(Cow::Borrowed("")),
        Some(_) => text(raw).ok_or_else(|| "a piece of text that is no text".to_owned()),
    }
}

/// Whether a text is one complete JSON object.
pub(crate) fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(json).is_ok()
}

/// A name or an id that the providers accept: they refuse a whole history for one odd character that some model once wrote.
pub(crate) fn identifier(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if text.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if text.len() <= limit_bytes && text.bytes().all(fits) {
        return Cow::Borrowed(text);
    }
    let clean = text.bytes().take(limit_bytes);
    let clean = clean.map(|byte| if fits(byte) { char::from(byte) } else { '_' });
    Cow::Owned(clean.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_none_are_not_zero() {
        let read = |json: &str| count(Some(serde_json::from_str(json).unwrap()));
        assert_eq!(read("12"), Some(12));
        assert_eq!(read("9223372036854775808"), Some(1 << 63));
        for json in ["-1", "1.5", "18446744073709551616", "null", "\"3\"", "{}"] {
            assert_eq!(read(json), None, "{json}");
        }
    }

    #[test]
    fn texts_are_unescaped_and_anything_else_is_none() {
        let read = |json: &str| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            text(Some(&raw)).map(Cow::into_owned)
        };
        assert_eq!(read(r#""plain""#).as_deref(), Some("plain"));
        assert_eq!(read(r#""a\nb""#).as_deref(), Some("a\nb"));
        assert_eq!(read("7"), None);
        assert_eq!(read("null"), None);
    }

    #[test]
    fn a_piece_that_cannot_be_read_is_not_left_out() {
        let read = |json: &str| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            piece(Some(&raw)).map(Cow::into_owned)
        };
        assert_eq!(read(r#""half""#).as_deref(), Ok("half"));
        assert_eq!(read("null").as_deref(), Ok(""));
        assert_eq!(piece(None).as_deref(), Ok(""));
        // Half of a pair that was cut between two events, and what is no text at all.
        for json in [r#""\ud83d""#, r#""\ude00 x""#, "5", "{}"] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn identifiers_are_made_acceptable() {
        assert_eq!(identifier("call_1-a", 64), "call_1-a");
        assert_eq!(identifier("functions.read:0", 64), "functions_read_0");
        assert_eq!(identifier("é", 64), "__");
        assert_eq!(identifier("", 64), "unnamed");
        assert_eq!(identifier("abcdef", 3), "abc");
    }
}
