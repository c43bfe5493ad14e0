//! Letters of a text that comes in pieces: one that the next piece may go on with waits for it, so that no joined letter is shown apart.

use std::mem;
use unicode_segmentation::UnicodeSegmentation as _;

/// The last letter, while more of it may come.
#[derive(Debug, Default)]
pub(crate) struct Letters(String);

impl Letters {
    /// Takes a piece, and returns what can be shown.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut text = mem::take(&mut self.0);
        text.push_str(piece);
        let last = text.grapheme_indices(true).next_back().map(|(at, letter)| (at, letter.len(), letter.is_ascii()));
        if let Some((at, length, false)) = last
            && length <= LONGEST
        {
            self.0 = text.split_off(at);
        }
        text
    }

    /// Nothing more comes for now: what waited, as it is.
    pub(crate) fn rest(&mut self) -> String {
        mem::take(&mut self.0)
    }
}

/// What is longer is no letter that anybody writes, and is not waited for.
const LONGEST: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::markdown::{Markdown, Marks};
    use crate::screen::terminal::inline;

    /// What is shown of a text in pieces of so many characters, in wide rows.
    fn shown(text: &str, piece: usize) -> String {
        let (mut letters, mut markdown) = (Letters::default(), Markdown::new(Marks::Looks));
        let characters: Vec<char> = text.chars().collect();
        let mut spans = Vec::new();
        for piece in characters.chunks(piece) {
            spans.extend(markdown.push(&letters.push(&piece.iter().collect::<String>()), 80));
        }
        spans.extend(markdown.push(&letters.rest(), 80));
        spans.extend(markdown.end());
        spans.into_iter().map(|span| span.text).collect()
    }

    #[test]
    fn joined_letters_stay_joined_however_they_come() {
        for text in [
            "a family 👨\u{200d}👩\u{200d}👧\u{200d}👦 here",
            "a flag 🇩🇪🇫🇷.",
            "a heart \u{2764}\u{fe0f}!",
            "a hand 👍🏽",
            "e\u{301}a\u{308} and ı\u{307}",
            "修正👩\u{200d}💻して",
            "क\u{94d}\u{200d}ष",
        ] {
            for piece in [1, 2, 3, 100] {
                assert_eq!(shown(text, piece), format!("{text}\n"), "in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_waits_is_bounded_and_nothing_is_lost() {
        let mut letters = Letters::default();
        let text = format!("ä{}", "\u{301}".repeat(1_000));
        let mut out = String::new();
        for c in text.chars() {
            out += &letters.push(c.encode_utf8(&mut [0; 4]));
            assert!(letters.0.len() <= LONGEST);
        }
        out += &letters.rest();
        assert_eq!(out, text);
        assert_eq!(inline("👨\u{200d}👩"), "👨\u{200d}👩", "control: what joins is no trick");
    }
}
