//! The characters of a terminal whose locale names another set than UTF-8. What is written to it is put into that set, and what is typed
//! into it is read from that set. Files, pipes and other programs get UTF-8 in any case.

use super::queue::Kind;
use encoding_rs::{EncoderResult, Encoding, UTF_8};
use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use std::sync::LazyLock;

/// The set that the locale names, where that is not UTF-8. A locale without one, such as `C`, says nothing about the terminal: today's
/// terminals show UTF-8.
pub(crate) fn foreign() -> Option<&'static Encoding> {
    *FOREIGN
}

/// A text in the characters of the place it is written to. What the terminal has no character for becomes a `?`, what draws a plain sign.
pub(super) fn encoded(kind: Kind, text: &str) -> Cow<'_, [u8]> {
    let is_terminal = || match kind {
        Kind::Answer | Kind::Aside => io::stdout().is_terminal(),
        Kind::Remark => io::stderr().is_terminal(),
    };
    match foreign().filter(|_| !text.is_ascii() && is_terminal()) {
        Some(encoding) => Cow::Owned(put_into(encoding, text)),
        None => Cow::Borrowed(text.as_bytes()),
    }
}

/// What was typed, as text; nothing where it is none.
pub(crate) fn typed(bytes: &[u8]) -> Option<Cow<'_, str>> {
    foreign().unwrap_or(UTF_8).decode_without_bom_handling_and_without_replacement(bytes)
}

fn put_into(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
    loop {
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len()).unwrap_or(rest.len());
        bytes.reserve(room);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            EncoderResult::InputEmpty => return bytes,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(missing) => bytes.extend_from_slice(plain(missing).as_bytes()),
        }
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
        '“' | '”' => "\"",
        '→' => "->",
        '✓' => "+",
        '✗' => "x",
        _ => "?",
    }
}

/// The set that these variables name, as setlocale(3) reads them: the first that has a value counts.
fn named(value: impl Fn(&str) -> Option<String>) -> Option<&'static Encoding> {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| value(name).filter(|text| !text.is_empty()))?;
    let charset = locale.split_once('.')?.1;
    let charset = charset.split_once('@').map_or(charset, |(charset, _)| charset);
    // glibc also writes `eucJP`, which the standard does not know.
    let standard = charset.to_ascii_lowercase().replace("euc", "euc-").replace("--", "-");
    Encoding::for_label(standard.as_bytes()).filter(|encoding| encoding.is_ascii_compatible() && *encoding != UTF_8)
}

static FOREIGN: LazyLock<Option<&'static Encoding>> = LazyLock::new(|| named(|name| std::env::var(name).ok()));

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<&'static str> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        named(value).map(Encoding::name)
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
        let latin = Encoding::for_label(b"iso-8859-2").unwrap();
        assert_eq!(put_into(latin, "a · é … 修│"), b"a - \xe9 ... ?|");
        assert_eq!(put_into(latin, "plain"), b"plain");
    }
}
