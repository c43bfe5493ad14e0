//! Keeps keys out of texts that people, logs and models read.

use core::fmt;

/// What must not be shown: the key, and the values of further headers.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
            // The longest first, so that a secret that contains another one goes as a whole.
            self.0.sort_by_key(|secret| core::cmp::Reverse(secret.len()));
        }
    }

    /// The text with every secret replaced.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.0 {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), "[redacted]");
            }
        }
        clean
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

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
}
