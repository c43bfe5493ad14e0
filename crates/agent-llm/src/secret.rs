//! Keeps keys out of texts that people, logs and models read.

use core::fmt;

/// What must not be shown: the key, and the values of further headers.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        // Within JSON it looks otherwise if it has signs that are escaped there.
        let quoted = serde_json::Value::from(secret).to_string();
        let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        for form in [secret, escaped] {
            if !self.0.iter().any(|known| known == form) {
                self.0.push(form.to_owned());
            }
        }
        // The longest first, so that a secret that contains another one goes as a whole.
        self.0.sort_by_key(|secret| core::cmp::Reverse(secret.len()));
    }

    pub(crate) fn add_all(&mut self, others: &Self) {
        others.0.iter().for_each(|secret| self.add(secret));
    }

    /// The text with every secret replaced.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.0 {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), REDACTED);
            }
        }
        clean
    }

    /// The bytes with every secret replaced, and apart from them their end if a secret may begin there.
    pub(crate) fn redact_beginning(&self, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut clean = bytes.to_vec();
        for secret in &self.0 {
            if memchr::memmem::find(&clean, secret.as_bytes()).is_some() {
                clean = replaced(&clean, secret.as_bytes());
            }
        }
        let begins = |secret: &String| {
            let longest = clean.len().min(secret.len() - 1);
            (1..=longest).rev().find(|length| clean.ends_with(secret.as_bytes().get(..*length).unwrap_or_default()))
        };
        let held = self.0.iter().filter_map(begins).max().unwrap_or(0);
        let held = clean.split_off(clean.len() - held);
        (clean, held)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
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

const REDACTED: &str = "[redacted]";

/// Shorter ones are not secrets but words such as `true`: replacing them would garble every text.
const SHORTEST: usize = 6;

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
        assert_eq!(format!("{secrets:?}"), "Secrets(..)");
    }

    #[test]
    fn a_secret_is_found_wherever_the_bytes_are_cut() {
        let mut secrets = Secrets::default();
        secrets.add("sk-12\"456");
        let text = b"s sk-12\"456 and sk-12\\\"456, sk-12\"45.".as_slice();
        for place in 0..=text.len() {
            let (mut clean, mut held) = secrets.redact_beginning(&text[..place]);
            held.extend_from_slice(&text[place..]);
            let (more, held) = secrets.redact_beginning(&held);
            clean.extend(more);
            clean.extend(held);
            assert_eq!(clean, b"s [redacted] and [redacted], sk-12\"45.", "{place}");
        }
    }
}
