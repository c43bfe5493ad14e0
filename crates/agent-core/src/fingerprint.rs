//! A number for texts, to tell them apart without keeping them.
//!
//! The same on every machine and in every version that reads the same sessions. Eight bytes at a time, because results of tools are long.
//! It is not cryptographic: texts that share a number can be found on purpose, and callers must tolerate that.

/// A number for these texts. What is in one text and what in the next makes a difference.
pub(crate) fn of(texts: &[&str]) -> u64 {
    let mut print = SEED;
    for text in texts {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        print = words.iter().fold(print, |print, word| mixed(print, u64::from_le_bytes(*word)));
        let last = rest.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        print = mixed(mixed(print, last), text.len() as u64);
    }
    print
}

/// Both halves of a product, folded: every bit of the word reaches every bit of the number.
const fn mixed(print: u64, word: u64) -> u64 {
    let product = ((print ^ word) as u128).wrapping_mul(FACTOR as u128);
    (product >> 64) as u64 ^ product as u64
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

#[cfg(test)]
mod tests {
    use super::of;
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::string::String;

    #[test]
    fn texts_that_differ_have_other_numbers() {
        let long: String = (0..40).map(|number| format!("{number},")).collect();
        let mut texts: alloc::vec::Vec<String> = (0..2_000).map(|number| format!("toolu_{number:06}")).collect();
        texts.extend((0..long.len()).map(|end| String::from(&long[..end])));
        let prints: BTreeSet<u64> = texts.iter().map(|text| of(&[text])).collect();
        assert_eq!(prints.len(), texts.len());
    }

    #[test]
    fn where_a_text_ends_makes_a_difference() {
        let split = [&["ab", "c"][..], &["a", "bc"], &["abc"], &["abc", ""], &["", "abc"], &["abc\0"], &[]];
        let prints: BTreeSet<u64> = split.into_iter().map(of).collect();
        assert_eq!(prints.len(), split.len());
        assert_eq!(of(&["the same", "again"]), of(&["the same", "again"]));
    }
}
