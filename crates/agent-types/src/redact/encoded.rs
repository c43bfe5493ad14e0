//! A secret as it stands in a text that was encoded as a whole: in base64 with what came before it, and in hexadecimal digits.
//!
//! Three bytes make four signs of base64, so what a secret becomes depends on where among three it begins. For each of the three beginnings
//! the signs that the secret alone decides are the same whatever stands around it.

use alloc::string::String;
use alloc::vec::Vec;

/// The forms of a secret; none of one that is too short to be told from words, or so long that it is a file.
pub(super) fn forms(secret: &str) -> Vec<String> {
    if !(LEAST_BYTES..=MOST_BYTES).contains(&secret.len()) {
        return Vec::new();
    }
    let bytes = secret.as_bytes();
    let mut forms: Vec<String> = [HEX_LOWER, HEX_UPPER].iter().map(|signs| hexadecimal(bytes, signs)).collect();
    for alphabet in [STANDARD, FOR_URLS] {
        forms.extend((0..3).map(|before| base64(bytes, before, alphabet)));
    }
    forms.sort();
    forms.dedup();
    forms
}

fn hexadecimal(bytes: &[u8], signs: &[u8; 16]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| signs.get(usize::from(nibble))).map(|sign| char::from(*sign)).collect()
}

/// The signs that the bytes alone decide, with so many other bytes before them.
fn base64(bytes: &[u8], before: usize, alphabet: &[u8; 64]) -> String {
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).copied().unwrap_or_default();
        usize::from(byte >> (7 - at % 8) & 1)
    };
    // The first sign of which no bit belongs to what is before.
    let skipped = (8 * before).div_ceil(6) * 6 - 8 * before;
    let count = (8 * bytes.len()).saturating_sub(skipped) / 6;
    let signs = (0..count).map(|sign| (0..6).fold(0, |value, at| value << 1 | bit(skipped + sign * 6 + at)));
    signs.filter_map(|value| alphabet.get(value)).map(|sign| char::from(*sign)).collect()
}

/// Eight bytes are ten signs of base64 or more, which no word is by chance.
const LEAST_BYTES: usize = 8;
const MOST_BYTES: usize = 4 * 1024;
const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_those_of_the_standard() {
        let bytes = b"Many hands make light work.";
        assert_eq!(base64(bytes, 0, STANDARD), "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu");
        // `xMany …` and `xyMany …`, without what the bytes before decide.
        assert!("eE1hbnkgaGFuZHMgbWFrZSBsaWdodCB3b3JrLg==".contains(&base64(bytes, 1, STANDARD)));
        assert!("eHlNYW55IGhhbmRzIG1ha2UgbGlnaHQgd29yay4=".contains(&base64(bytes, 2, STANDARD)));
        assert_eq!(hexadecimal(b"\x00\xffA", HEX_LOWER), "00ff41");
        assert!(forms("short").is_empty() && forms(&"x".repeat(MOST_BYTES + 1)).is_empty());
    }
}
