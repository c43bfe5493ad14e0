//! Characters that a person does not see: the one list of them, for all who show texts of models, tools, files and servers.

/// Whether programs are to ignore a character where they cannot show it (`Default_Ignorable_Code_Point` of Unicode 17): nobody sees it.
/// Joiners and selectors of variants are among them.
#[must_use]
pub const fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character deceives who reads a text: it is invisible, or breaks lines where others do not, or annotates between them.
#[must_use]
pub const fn is_deceptive(character: char) -> bool {
    is_invisible(character) || matches!(character, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
}

/// Whether a character joins letters of a script that needs it, or chooses how the one before it looks. Emoji and some scripts have them in
/// honest texts.
#[must_use]
pub const fn is_joiner(character: char) -> bool {
    matches!(character, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether a text is shown with a character spelt out: it is a control character, or deceives and is no joiner.
#[must_use]
pub fn is_unclear(character: char) -> bool {
    character.is_control() || (is_deceptive(character) && !is_joiner(character))
}

#[cfg(test)]
mod tests {
    use super::{is_deceptive, is_invisible, is_joiner, is_unclear};

    #[test]
    fn each_is_in_its_place() {
        for shown in ['a', ' ', 'ö', '漢', '👩', '\u{2026}'] {
            assert!(!is_deceptive(shown) && !is_unclear(shown), "{shown:?}");
        }
        for joiner in ['\u{200c}', '\u{200d}', '\u{fe0f}', '\u{180b}'] {
            assert!(is_invisible(joiner) && is_joiner(joiner) && !is_unclear(joiner), "{joiner:?}");
        }
        for hidden in
            ['\u{ad}', '\u{34f}', '\u{180e}', '\u{202e}', '\u{2066}', '\u{3164}', '\u{feff}', '\u{1bca0}', '\u{e0041}']
        {
            assert!(is_invisible(hidden) && is_unclear(hidden), "{hidden:?}");
        }
        for breaks in ['\u{2028}', '\u{2029}', '\u{fffa}'] {
            assert!(!is_invisible(breaks) && is_deceptive(breaks) && is_unclear(breaks), "{breaks:?}");
        }
        assert!(['\n', '\t', '\u{1b}', '\u{9b}'].into_iter().all(is_unclear));
        // Whatever joins is invisible.
        assert!((0..=0x0010_ffff).filter_map(char::from_u32).filter(|c| is_joiner(*c)).all(is_invisible));
    }
}
