//! Small things that both wire formats need: writing JSON into a body, and reading what servers write with some freedom.

use agent_types::llm::Usage;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Appends a value as JSON.
pub(crate) fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    serde_json::to_writer(out, value)
}

/// Appends the elements of a list to `out`, separated by commas.
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

/// The token counts of a server whose input includes what came from its cache. `None` if the server reports neither input nor output.
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

/// Whether a text is one complete JSON object.
pub(crate) fn is_object(json: &str) -> bool {
    json.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(json).is_ok()
}

/// Whether the arguments of a call are whole: an object, or the null that some servers send for a call without arguments.
pub(crate) fn is_whole(arguments: &str) -> bool {
    is_object(arguments) || arguments.trim() == "null"
}

/// Whether an event marks the end of the stream. Some servers write blanks after it.
pub(crate) fn is_done(data: &[u8]) -> bool {
    data.trim_ascii_start().starts_with(b"[DONE]")
}

/// The tokens of the output with the reasoning in it. Some servers count reasoning beside the output, and some only in the total: the total
/// tells.
pub(crate) fn output_tokens(
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    total: Option<u64>,
) -> Option<u64> {
    let (Some(input), Some(total)) = (input, total) else { return output };
    let (stated, reasoning) = (output.unwrap_or(0), reasoning.unwrap_or(0));
    let beyond = total.saturating_sub(input).saturating_sub(stated);
    // With a stated count of reasoning, anything else in the total is not output.
    if beyond > 0 && (reasoning == 0 || beyond == reasoning) { Some(stated.saturating_add(beyond)) } else { output }
}

/// A name that the providers accept: they refuse a whole history for one odd character that some model once wrote.
pub(crate) fn name(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    if text.is_empty() {
        return Cow::Borrowed("unnamed");
    }
    if text.len() <= limit_bytes && text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(plain(text, limit_bytes))
}

/// An id of a call of plain signs and at most so many bytes. Ids that differ stay different, the same id is always the same.
pub(crate) fn plain_id(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    if !text.is_empty() && text.bytes().all(is_plain) {
        short_id(text, limit_bytes)
    } else {
        told_apart(text, limit_bytes)
    }
}

/// An id of a call of at most so many bytes, whatever its signs. Ids that differ stay different, the same id is always the same.
pub(crate) fn short_id(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    if text.len() <= limit_bytes { Cow::Borrowed(text) } else { told_apart(text, limit_bytes) }
}

/// The beginning of an id, followed by what distinguishes it from others with the same beginning.
fn told_apart(text: &str, limit_bytes: usize) -> Cow<'_, str> {
    let beginning = plain(text, limit_bytes.saturating_sub(DIGEST_DIGITS + 1));
    Cow::Owned(format!("{beginning}_{}", digest(text, DIGEST_DIGITS)))
}

/// Letters and digits that stand for a text: well spread, and the same in every run.
pub(crate) fn digest(text: &str, digits: usize) -> String {
    // FNV-1a.
    let mut hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut out = String::with_capacity(digits);
    for _ in 0..digits {
        let digit = (hash % 36) as u32;
        out.extend(char::from_digit(digit, 36));
        hash /= 36;
    }
    out
}

/// The beginning of a text with an underscore for every byte that is not plain.
fn plain(text: &str, limit_bytes: usize) -> String {
    let bytes = text.bytes().take(limit_bytes);
    bytes.map(|byte| if is_plain(byte) { char::from(byte) } else { '_' }).collect()
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// All that a hash of 64 bits has.
const DIGEST_DIGITS: usize = 13;

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
    fn names_are_made_acceptable() {
        assert_eq!(name("call_1-a", 64), "call_1-a");
        assert_eq!(name("functions.read:0", 64), "functions_read_0");
        assert_eq!(name("é", 64), "__");
        assert_eq!(name("", 64), "unnamed");
        assert_eq!(name("abcdef", 3), "abc");
    }

    #[test]
    fn ids_that_differ_stay_different_and_within_the_limit() {
        assert_eq!(plain_id("toolu_01-x", 64), "toolu_01-x");
        let long = "x".repeat(100);
        let ids = ["a.b", "a:b", "a_b", "a b", "é", "è", "", ".", &long, &format!("{long}.1"), &format!("{long}y")];
        for limit_bytes in [40, 64, 128] {
            for fit in [plain_id, short_id] {
                let fitted: std::collections::BTreeSet<_> = ids.iter().map(|id| fit(id, limit_bytes)).collect();
                assert_eq!(fitted.len(), ids.len(), "{fitted:?}");
                assert!(fitted.iter().all(|id| id.len() <= limit_bytes), "{fitted:?}");
            }
            assert!(ids.iter().all(|id| plain_id(id, limit_bytes).bytes().all(is_plain)));
            assert!(ids.iter().all(|id| plain_id(id, limit_bytes) == plain_id(id, limit_bytes)));
        }
        assert_eq!(short_id("functions.read:0", 40), "functions.read:0");
    }

    #[test]
    fn the_output_has_the_reasoning_that_only_the_total_counts() {
        let tokens = |output, reasoning, total| output_tokens(Some(35), Some(output), reasoning, total);
        assert_eq!(tokens(12, None, Some(109)), Some(74));
        assert_eq!(tokens(12, Some(0), Some(109)), Some(74));
        assert_eq!(tokens(12, Some(62), Some(109)), Some(74), "beside the output");
        assert_eq!(tokens(74, Some(62), Some(109)), Some(74), "within the output");
        assert_eq!(tokens(12, Some(9), Some(109)), Some(12), "something else is counted");
        for total in [None, Some(0), Some(47), Some(40)] {
            assert_eq!(tokens(12, None, total), Some(12), "{total:?}");
        }
        assert_eq!(output_tokens(None, Some(12), None, Some(109)), Some(12));
        assert_eq!(output_tokens(Some(35), None, None, Some(109)), Some(74));
        assert_eq!(output_tokens(Some(35), Some(u64::MAX), None, Some(u64::MAX)), Some(u64::MAX));
    }

    #[test]
    fn the_sign_of_the_end_may_have_blanks_around_it() {
        for data in ["[DONE]", "[DONE] ", " [DONE]\t"] {
            assert!(is_done(data.as_bytes()), "{data:?}");
        }
        for data in ["", "DONE", "{}", "[]", "\"[DONE]\""] {
            assert!(!is_done(data.as_bytes()), "{data:?}");
        }
    }
}
