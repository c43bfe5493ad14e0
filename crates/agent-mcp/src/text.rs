//! Text of servers: for models and people, without what cannot be seen.

use agent_core::unseen::is_unclear;

/// The text with control characters and invisible ones spelt out (`\u{202e}`), but for line breaks and tabs: what a model or a person reads
/// is all that is there.
#[must_use]
pub fn plain(text: &str) -> String {
    if !text.contains(is_hidden) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    is_unclear(c) && !matches!(c, '\n' | '\t')
}

/// The beginning of a text, at most that many bytes, with a mark where it was cut.
pub(crate) fn beginning(text: &str, limit_bytes: usize) -> String {
    if text.len() <= limit_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit_bytes);
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{beginning, plain};

    #[test]
    fn what_cannot_be_seen_is_spelt_out() {
        assert_eq!(plain("a\tb\nc"), "a\tb\nc");
        assert_eq!(plain("\u{1b}[31m\r\u{202e}x\u{e0041}"), "\\u{1b}[31m\\u{d}\\u{202e}x\\u{e0041}");
        assert_eq!(plain("👩\u{200d}💻 ö 漢"), "👩\u{200d}💻 ö 漢");
    }

    #[test]
    fn a_beginning_ends_between_letters() {
        assert_eq!(beginning("öö", 3), "ö…");
        assert_eq!(beginning("öö", 4), "öö");
    }
}
