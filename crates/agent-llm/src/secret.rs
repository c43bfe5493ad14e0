//! Keeps keys out of texts that people, logs and models read.

use agent_types::redact::{REDACTED, Redactor};

/// What must not be shown: the key, and the values of further headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Redactor);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        self.0 = self.0.and(&Redactor::new([secret]));
    }

    pub(crate) fn add_all(&mut self, others: &Self) {
        self.0 = self.0.and(&others.0);
    }

    /// The text with every secret replaced.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.0.redacted(text)
    }

    /// The bytes with every secret replaced, and apart from them their end if a secret may begin there.
    pub(crate) fn redact_beginning(&self, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let cut = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            // A character that continues in the next bytes.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return self.redact_beginning_of_bytes(bytes),
        };
        let (text, rest) = bytes.split_at(cut);
        let mut clean = self.redact(&String::from_utf8_lossy(text));
        let mut held = clean.split_off(self.0.settled_bytes(&clean)).into_bytes();
        held.extend_from_slice(rest);
        (clean.into_bytes(), held)
    }

    /// The same of bytes that are no text: escapes are not read there.
    fn redact_beginning_of_bytes(&self, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut clean = bytes.to_vec();
        for secret in self.0.forms() {
            if memchr::memmem::find(&clean, secret.as_bytes()).is_some() {
                clean = replaced(&clean, secret.as_bytes());
            }
        }
        let begins = |secret: &str| {
            let longest = clean.len().min(secret.len() - 1);
            (1..=longest).rev().find(|length| clean.ends_with(secret.as_bytes().get(..*length).unwrap_or_default()))
        };
        let held = self.0.forms().filter_map(begins).max().unwrap_or(0);
        let held = clean.split_off(clean.len() - held);
        (clean, held)
    }
}

fn replaced(bytes: &[u8], secret: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(place) = memchr::memmem::find(rest, secret) {
        let (before, from) = rest.split_at(place);
        clean.extend_from_slice(before);
        clean.extend_from_slice(REDACTED.as_bytes());
        rest = from.get(secret.len()..).unwrap_or_default();
    }
    clean.extend_from_slice(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_every_secret_and_never_shows_one() {
        let mut secrets = Secrets::default();
        secrets.add("sk-123456");
        secrets.add("Bearer sk-123456");
        secrets.add("on");
        assert_eq!(secrets.redact("on: Bearer sk-123456, sk-123456, sk-12345"), "on: [redacted], [redacted], sk-12345");
        assert_eq!(format!("{secrets:?}"), "Secrets(Redactor(..))");
    }

    #[test]
    fn a_secret_is_found_wherever_the_bytes_are_cut() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12\"456");
        let text = "s sk-12\"456 and sk-12\\\"456, sk-12%22456\u{e9}sk\\u002D12\"456, sk-12\"45.".as_bytes();
        for place in 0..=text.len() {
            let (mut clean, mut held) = secrets.redact_beginning(&text[..place]);
            held.extend_from_slice(&text[place..]);
            let (more, held) = secrets.redact_beginning(&held);
            clean.extend(more);
            clean.extend(held);
            assert_eq!(
                clean,
                "s [redacted] and [redacted], [redacted]\u{e9}[redacted], sk-12\"45.".as_bytes(),
                "{place}"
            );
        }
    }
}
