//! Text: what kind it is, and cuts that never split a character.

use std::borrow::Cow;

/// What the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
    Binary,
    /// Some eight-bit encoding, or damaged.
    Unknown,
}

/// Judges by the bytes given.
pub(crate) fn encoding(bytes: &[u8]) -> Encoding {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Encoding::Utf16;
    }
    if bytes.contains(&0) {
        return Encoding::Binary;
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Encoding::Utf8,
        Err(error) if error.error_len().is_none() => Encoding::Utf8,
        Err(_) => Encoding::Unknown,
    }
}

/// The beginning of a text, at most so many characters.
pub(crate) fn first_chars(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// A head and a tail that were cut from a longer output: the pieces of characters at the cut are left out.
pub(crate) fn join_cut(head: &[u8], dropped_bytes: u64, tail: &[u8]) -> String {
    if dropped_bytes == 0 {
        return String::from_utf8_lossy(head).into_owned();
    }
    let (head, head_rest) = split_incomplete(head);
    let tail_rest = tail.iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
    let dropped = dropped_bytes + (head_rest.len() + tail_rest) as u64;
    let tail = tail.get(tail_rest..).unwrap_or_default();
    format!("{}\n[… {dropped} bytes left out here …]\n{}", lossy(head), lossy(tail))
}

/// Splits off the beginning of a character at the end.
pub(crate) fn split_incomplete(bytes: &[u8]) -> (&[u8], &[u8]) {
    let from = bytes.len().saturating_sub(3);
    for start in (from..bytes.len()).rev() {
        let rest = bytes.get(start..).unwrap_or_default();
        if rest.first().is_some_and(|&byte| !is_continuation(byte)) {
            let is_incomplete = std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
            let at = if is_incomplete { start } else { bytes.len() };
            return bytes.split_at(at);
        }
    }
    (bytes, &[])
}

pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(encoding(b""), Encoding::Utf8);
        assert_eq!(encoding("é".as_bytes()), Encoding::Utf8);
        assert_eq!(encoding(b"caf\xe9 au lait"), Encoding::Unknown);
        assert_eq!(encoding(b"\xff\xfea\0"), Encoding::Utf16);
        assert_eq!(encoding(b"\x7fELF\0"), Encoding::Binary);
        // Cut in the middle of a character.
        assert_eq!(encoding(b"a\xc3"), Encoding::Utf8);
    }

    const BROKEN: char = '\u{fffd}';

    proptest! {
        #[test]
        fn a_cut_makes_no_broken_character(text in "\\PC{0,60}", from in 0usize..80, to in 0usize..80) {
            let bytes = text.as_bytes();
            let head = &bytes[..from.min(bytes.len())];
            let tail = &bytes[to.clamp(head.len(), bytes.len())..];
            let dropped = (bytes.len() - head.len() - tail.len()) as u64;
            if dropped > 0 {
                let joined = join_cut(head, dropped, tail);
                prop_assert!(!joined.contains(BROKEN) || text.contains(BROKEN));
            }
            let (whole, rest) = split_incomplete(head);
            prop_assert!(std::str::from_utf8(whole).is_ok());
            prop_assert!(rest.len() < 4);
        }

        #[test]
        fn any_bytes_can_be_cut(head in prop::collection::vec(any::<u8>(), 0..20), tail in prop::collection::vec(any::<u8>(), 0..20)) {
            join_cut(&head, 5, &tail);
        }
    }
}
