//! The other names by which a file system may find the same file. Which file system a name is for is not known here, so all of them count:
//!
//! * letter case, and letters that fold to others (`ſ` to `s`, a ligature to its letters, full width to ASCII): case-insensitive ext4,
//!   APFS, NTFS, ZFS;
//! * code points that show nothing: case-insensitive ext4 and HFS+;
//! * dots and blanks at the end, and what follows a colon: FAT and NTFS;
//! * short names, `GIT~1` for `.git`: FAT and NTFS.

use crate::unseen::is_invisible;
use alloc::string::String;
use alloc::vec::Vec;

/// A name as the lists spell it: in lower case, without what some file system does not see.
pub(super) struct Name {
    folded: String,
    may_be_short: bool,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        let folded = folded(name);
        let may_be_short = folded.contains('~');
        Self { folded, may_be_short }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.folded
    }

    /// Whether it ends so, or may be the short name of one that does.
    pub(super) fn ends_with(&self, ending: &str) -> bool {
        let short: String = ending.trim_start_matches('.').chars().take(3).collect();
        self.folded.ends_with(ending) || self.is_short_with_ending(&short)
    }

    /// Whether it may be a short name, with this ending of at most three letters.
    pub(super) fn is_short_with_ending(&self, ending: &str) -> bool {
        self.may_be_short
            && self.folded.rsplit_once('.').is_some_and(|(start, last)| start.contains('~') && last == ending)
    }

    /// Whether it is this name of the lists, or may be its short name.
    pub(super) fn is(&self, known: &str) -> bool {
        self.folded == known || self.may_be_short && is_short_for(&self.folded, known)
    }
}

fn folded(name: &str) -> String {
    let mut folded = letters(name);
    let end = folded.find(':').filter(|end| *end > 0).unwrap_or(folded.len());
    folded.truncate(end);
    // `..` is not a name of a file, and stays what it is.
    let kept = folded.trim_end_matches(['.', ' ']).len();
    if kept > 0 {
        folded.truncate(kept);
    }
    folded
}

/// A path, each of its names folded.
pub(crate) fn path(path: &str) -> String {
    path.split('/').map(folded).collect::<Vec<_>>().join("/")
}

/// A text with its letters folded, and without what is invisible.
pub(crate) fn letters(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !is_invisible(*letter)) {
        match letter {
            'ſ' => folded.push('s'),
            'ς' => folded.push('σ'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            'ﬀ' => folded.push_str("ff"),
            'ﬁ' => folded.push_str("fi"),
            'ﬂ' => folded.push_str("fl"),
            'ﬃ' => folded.push_str("ffi"),
            'ﬄ' => folded.push_str("ffl"),
            'ﬅ' | 'ﬆ' => folded.push_str("st"),
            '\u{ff01}'..='\u{ff5e}' => {
                folded.extend(char::from_u32(u32::from(letter) - 0xfee0).map(|ascii| ascii.to_ascii_lowercase()));
            }
            _ => folded.extend(letter.to_lowercase()),
        }
    }
    folded
}

/// Whether a folded name may be the short name of a file with this long one: six letters or fewer, or two and four hexadecimal digits, then
/// `~` and a number, then three letters of the ending.
pub(crate) fn is_short_for(name: &str, long: &str) -> bool {
    let Some((start, rest)) = name.split_once('~') else { return false };
    let (number, ending) = rest.split_once('.').unwrap_or((rest, ""));
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let plain = long.trim_start_matches('.');
    let (stem, long_ending) = plain.rsplit_once('.').unwrap_or((plain, ""));
    let letters = |text: &str, most: usize| -> String {
        text.chars().filter(|letter| *letter != '.' && *letter != ' ').take(most).collect()
    };
    // In a short name `_` stands for what is in no code page, and for some signs.
    let is_letter = |(short, long): (char, char)| {
        short == long || short == '_' && (!long.is_ascii() || matches!(long, '+' | ',' | ';' | '=' | '[' | ']'))
    };
    let is_of = |short: &str, long: &str| {
        short.chars().count() == long.chars().count() && short.chars().zip(long.chars()).all(is_letter)
    };
    let is_numbered = is_of(start, &letters(stem, 7usize.saturating_sub(number.len())));
    let is_hashed = start.chars().count() == 6
        && is_of(&start.chars().take(2).collect::<String>(), &letters(stem, 2))
        && start.chars().skip(2).all(|letter| letter.is_ascii_hexdigit());
    (is_numbered || is_hashed) && is_of(ending, &letters(long_ending, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spellings_of_a_name_are_that_name() {
        for name in [
            ".git",
            ".GIT",
            ".gIt",
            ".git.",
            ".git ",
            ".git. .",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".git\u{ad}",
            ".git::$INDEX_ALLOCATION",
            "．ｇｉｔ",
            "．ＧＩＴ",
        ] {
            assert_eq!(folded(name), ".git", "{name:?}");
        }
        assert_eq!(
            (folded(".ſſh"), folded(".ßh"), folded(".\u{fb05}x")),
            (".ssh".into(), ".ssh".into(), ".stx".into())
        );
        assert_eq!((folded(".\u{212a}shrc"), folded(".huſky")), (".kshrc".into(), ".husky".into()));
        for name in ["..", ".", "", " ", ":x"] {
            assert_eq!(folded(name), name, "{name:?}");
        }
        assert_eq!((folded("a.b"), folded("ä")), ("a.b".into(), "ä".into()), "the control");
    }

    #[test]
    fn short_names_are_known() {
        for (short, long) in [
            ("git~1", ".git"),
            ("gitmod~1", ".gitmodules"),
            ("gi7eba~1", ".gitmodules"),
            ("vscode~2", ".vscode"),
            ("opencod~1.jso", "opencode.json"),
            ("openc~12.jso", "opencode.json"),
            ("mcp~1.jso", ".mcp.json"),
            ("geh_im~1", "geh\u{e9}imnis"),
            ("geh\u{e9}im~1", "geh\u{e9}imnis"),
            ("a_b~1.t_t", "a+b.t\u{fc}t"),
            ("__1a2b~1", "\u{4e2d}\u{6587}x"),
        ] {
            assert_eq!(is_short_for(short, long), !short.starts_with("opencod~"), "{short} {long}");
        }
        for (short, long) in [
            ("git", ".git"),
            ("git~", ".git"),
            ("git~x", ".git"),
            ("gitx~1", ".git"),
            ("mcp~1.txt", ".mcp.json"),
            ("~1", ".git"),
            ("g_t~1", ".git"),
            ("geh_im~1", "geheimnis"),
        ] {
            assert!(!is_short_for(short, long), "{short} {long}");
        }
    }
}
