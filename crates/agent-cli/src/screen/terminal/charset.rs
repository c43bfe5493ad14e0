//! The characters of a terminal whose locale names another set than UTF-8. What is written to it is put into that set, and what is typed
//! into it is read from that set. Files, pipes and other programs get UTF-8 in any case.
//!
//! Of a set with a byte for each character, the bytes from 0x80 to 0x9F are never written: where one set has letters, another one and many
//! terminals have controls, such as 0x9B, which begins an escape sequence. Whoever wrote the text could act on the terminal with them.

use super::queue::Kind;
use encoding_rs::{Encoding, UTF_8};
use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::sync::LazyLock;

/// The set that the locale names, where that is not UTF-8. A locale without one, such as `C`, says nothing about the terminal: today's
/// terminals show UTF-8.
pub(crate) fn foreign() -> Option<&'static Encoding> {
    FOREIGN.map(|charset| charset.encoding)
}

/// A text in the characters of the place it is written to. What the terminal has no character for becomes a plain sign or a `?`; in what a
/// person judges it is spelt out before ([`is_lacking`]).
pub(super) fn encoded(kind: Kind, text: &str) -> Cow<'_, [u8]> {
    let is_terminal = || match kind {
        Kind::Answer | Kind::Aside => io::stdout().is_terminal(),
        Kind::Remark => io::stderr().is_terminal(),
    };
    match (*FOREIGN).filter(|_| !text.is_ascii() && is_terminal()) {
        Some(charset) => Cow::Owned(charset.put_into(text)),
        None => Cow::Borrowed(text.as_bytes()),
    }
}

/// Whether the terminal has no character for this one, and is sent a plain sign. What is asked about must not be shown by another sign: a
/// quote of typography is none to a shell.
pub(super) fn is_lacking(c: char) -> bool {
    let letter = |charset: Charset| charset.letter(c.encode_utf8(&mut [0; 4])).is_none();
    !c.is_ascii() && FOREIGN.is_some_and(letter)
}

/// What was typed, as text; nothing where it is none.
pub(crate) fn typed(bytes: &[u8]) -> Option<Cow<'_, str>> {
    foreign().unwrap_or(UTF_8).decode_without_bom_handling_and_without_replacement(bytes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Charset {
    encoding: &'static Encoding,
    /// No letter beyond this one is written: where the locale names ASCII, the standard takes it for a larger set.
    last: char,
}

impl Charset {
    fn put_into(self, text: &str) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
        while let Some(at) = rest.find(|c: char| !c.is_ascii()) {
            let (before, from) = rest.split_at(at);
            let after = from.chars().next().map_or(from.len(), char::len_utf8);
            let (letter, behind) = from.split_at(after);
            bytes.extend_from_slice(before.as_bytes());
            match self.letter(letter) {
                Some(encoded) => bytes.extend_from_slice(&encoded),
                None => bytes.extend(letter.chars().flat_map(|missing| plain(missing).bytes())),
            }
            rest = behind;
        }
        bytes.extend_from_slice(rest.as_bytes());
        bytes
    }

    /// A letter in this set, where it has one that no terminal takes for a control.
    fn letter(self, letter: &str) -> Option<Vec<u8>> {
        let (encoded, _, is_missing) = self.encoding.encode(letter);
        let is_control = encoded.len() == 1 && encoded.iter().any(|byte| (0x80..0xA0).contains(byte));
        (!is_missing && letter.chars().all(|c| c <= self.last) && !is_control).then(|| encoded.into_owned())
    }
}

/// A sign of ASCII for one that a set may not have.
const fn plain(missing: char) -> &'static str {
    match missing {
        '·' | '•' => "-",
        '…' => "...",
        '–' | '—' | '─' => "-",
        '│' => "|",
        '‘' | '’' => "'",
        '“' | '”' | '„' => "\"",
        '‹' => "<",
        '›' => ">",
        '‚' => ",",
        '€' => "EUR",
        'Š' => "S",
        'š' => "s",
        'Ž' => "Z",
        'ž' => "z",
        'Œ' => "OE",
        'œ' => "oe",
        'Ÿ' => "Y",
        '→' => "->",
        '✓' => "+",
        '✗' => "x",
        _ => "?",
    }
}

/// The set that these variables name, as setlocale(3) reads them: the first that has a value counts.
fn named(value: impl Fn(&str) -> Option<String>) -> Option<Charset> {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| value(name).filter(|text| !text.is_empty()))?;
    let charset = locale.split_once('.')?.1;
    let charset = charset.split_once('@').map_or(charset, |(charset, _)| charset);
    // glibc also writes `eucJP`, which the standard does not know.
    let standard = charset.to_ascii_lowercase().replace("euc", "euc-").replace("--", "-");
    let encoding = Encoding::for_label(standard.as_bytes())
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != UTF_8)?;
    let is_ascii = standard.contains("ascii") || standard.starts_with("ansi_x3.4");
    Some(Charset { encoding, last: if is_ascii { '\u{7f}' } else { char::MAX } })
}

static FOREIGN: LazyLock<Option<Charset>> = LazyLock::new(|| named(|name| std::env::var(name).ok()));

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<&'static str> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        named(value).map(|charset| charset.encoding.name())
    }

    fn charset(name: &str) -> Charset {
        named(|variable| (variable == "LANG").then(|| format!("xx.{name}"))).unwrap()
    }

    #[test]
    fn the_locale_names_the_set() {
        for (locale, expected) in [
            ("de_DE.ISO-8859-1", Some("windows-1252")),
            ("de_DE.iso88591", Some("windows-1252")),
            ("de_DE.iso885915@euro", Some("ISO-8859-15")),
            ("ru_RU.KOI8-R", Some("KOI8-R")),
            ("ja_JP.eucJP", Some("EUC-JP")),
            ("ja_JP.eucjp", Some("EUC-JP")),
            ("zh_CN.GB18030", Some("gb18030")),
            ("en_US.UTF-8", None),
            ("en_US.utf8", None),
            ("C.UTF-8", None),
            ("C", None),
            ("POSIX", None),
            ("en_US", None),
            ("xx.unheard-of", None),
        ] {
            assert_eq!(of(&[("LANG", locale)]), expected, "{locale}");
        }
        let both = [("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8"), ("LANG", "de_DE.ISO-8859-1")];
        assert_eq!(of(&both), None);
        assert_eq!(of(&[("LC_ALL", "de_DE.ISO-8859-1"), ("LANG", "C.UTF-8")]), Some("windows-1252"));
    }

    #[test]
    fn what_the_terminal_has_no_character_for_is_a_plain_sign() {
        let latin = charset("iso-8859-2");
        assert_eq!(latin.put_into("a · é … 修│"), b"a - \xe9 ... ?|");
        assert_eq!(latin.put_into("plain"), b"plain");
    }

    /// The standard reads the names of older sets as those of larger ones, which have letters where terminals have controls.
    #[test]
    fn no_letter_becomes_a_control() {
        let all: String = ('\u{a0}'..='\u{ffff}').collect();
        #[rustfmt::skip]
        let names = [
            "iso-8859-1", "iso88591", "us-ascii", "ANSI_X3.4-1968", "iso-8859-9", "iso-8859-11", "tis-620", "iso-8859-15", "KOI8-R", "koi8-u", "cp1251", "cp1252",
            "ibm866", "macintosh",
        ];
        for name in names {
            let bytes = charset(name).put_into(&all);
            assert!(bytes.iter().all(|byte| !(0x80..0xA0).contains(byte)), "{name}");
        }
        assert_eq!(charset("iso-8859-1").put_into("touch a ›1G›0K é š …"), b"touch a >1G>0K \xe9 s ...");
        assert_eq!(charset("us-ascii").put_into("é€"), b"?EUR");
        assert_eq!(charset("eucJP").put_into("修"), b"\xbd\xa4", "a set with several bytes for a letter has them");
    }
}
