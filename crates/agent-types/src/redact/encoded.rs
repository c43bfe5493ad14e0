//! A secret as it stands in a text that was encoded as a whole: in base64 or base32 with what came before it, and in hexadecimal digits.
//!
//! Three bytes make four signs of base64, and five bytes eight of base32, so what a secret becomes depends on where among them it begins.
//! For each of these beginnings the signs that the secret alone decides are the same whatever stands around it.

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
        forms.extend((0..3).map(|before| digits::<6>(bytes, before, alphabet)));
    }
    for alphabet in [CAPITALS, SMALL] {
        forms.extend((0..5).map(|before| digits::<5>(bytes, before, alphabet)));
    }
    forms.sort();
    forms.dedup();
    forms
}

fn hexadecimal(bytes: &[u8], signs: &[u8; 16]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.filter_map(|nibble| signs.get(usize::from(nibble))).map(|sign| char::from(*sign)).collect()
}

/// The signs of so many bits each that the bytes alone decide, with so many other bytes before them.
fn digits<const BITS: usize>(bytes: &[u8], before: usize, alphabet: &[u8]) -> String {
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).copied().unwrap_or_default();
        usize::from(byte >> (7 - at % 8) & 1)
    };
    // The first sign of which no bit belongs to what is before.
    let skipped = (8 * before).div_ceil(BITS) * BITS - 8 * before;
    let count = (8 * bytes.len()).saturating_sub(skipped) / BITS;
    let signs = (0..count).map(|sign| (0..BITS).fold(0, |value, at| value << 1 | bit(skipped + sign * BITS + at)));
    signs.filter_map(|value| alphabet.get(value)).map(|sign| char::from(*sign)).collect()
}

/// Eight bytes are ten signs of base64 or more, which no word is by chance.
const LEAST_BYTES: usize = 8;
const MOST_BYTES: usize = 4 * 1024;
const HEX_LOWER: &[u8; 16] = b"0123456789abcdef";
const HEX_UPPER: &[u8; 16] = b"0123456789ABCDEF";
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CAPITALS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const SMALL: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const FOR_URLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_those_of_the_standard() {
        let bytes = b"Many hands make light work.";
        assert_eq!(digits::<6>(bytes, 0, STANDARD), "TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsu");
        // `xMany …` and `xyMany …`, without what the bytes before decide.
        assert!("eE1hbnkgaGFuZHMgbWFrZSBsaWdodCB3b3JrLg==".contains(&digits::<6>(bytes, 1, STANDARD)));
        assert!("eHlNYW55IGhhbmRzIG1ha2UgbGlnaHQgd29yay4=".contains(&digits::<6>(bytes, 2, STANDARD)));
        assert_eq!(digits::<5>(b"fooba", 0, CAPITALS), "MZXW6YTB", "RFC 4648");
        assert_eq!(digits::<5>(b"foobar", 0, SMALL), "mzxw6ytbo", "and the rest of `r` is padded");
        assert!("PBWWC3TZEBUGC3TEOM======".contains(&digits::<5>(b"many hands", 1, CAPITALS)), "xmany hands");
        assert_eq!(hexadecimal(b"\x00\xffA", HEX_LOWER), "00ff41");
        assert!(forms("short").is_empty() && forms(&"x".repeat(MOST_BYTES + 1)).is_empty());
    }
}
