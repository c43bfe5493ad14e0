//! Failed calls: what happened, told to people and classified for the machine.
//!
//! Every text that leaves this module says what was attempted, what was found and, where that is known, what the user can do. Control
//! characters are taken out, secrets replaced, and only then is it cut to size, so that no half of a key is left at the cut.

mod classify;
mod detail;
mod retry_after;

pub(crate) use detail::Detail;

use crate::secret::Secrets;
use agent_core::llm::{LlmError, LlmErrorKind};
use classify::classify;
use core::time::Duration;
use reqwest::header::HeaderMap;
use std::error::Error as _;
use std::time::SystemTime;

/// Makes the errors of one provider.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    /// The base URL without user, password and query.
    pub(crate) base_url: String,
    /// The environment variable that the user keeps the key in.
    pub(crate) key_variable: String,
    /// Whether a key was given at all.
    pub(crate) has_key: bool,
    pub(crate) secrets: Secrets,
}

impl Reporter {
    /// The server answered with a status that is not success.
    pub(crate) fn status(&self, attempted: &str, status: u16, headers: &HeaderMap, body: &[u8]) -> LlmError {
        let detail = Detail::of_body(body);
        let kind = classify(Some(status), &detail);
        let mut found = format!("HTTP {status}");
        if let Some(location) = headers.get("location").and_then(|value| value.to_str().ok()) {
            found.push_str(&format!(" (redirect to {location})"));
        }
        if !detail.message.is_empty() {
            found.push_str(": ");
            found.push_str(&detail.message);
        }
        let mut error = self.error(kind, attempted, &found);
        error.status = Some(status);
        error.retry_after_ms = retry_after::milliseconds(headers, SystemTime::now());
        error
    }

    /// The server reported an error inside an answer that had begun well.
    pub(crate) fn in_answer(&self, attempted: &str, detail: &Detail) -> LlmError {
        let kind = classify(None, detail);
        let found = if detail.message.is_empty() {
            format!("the server broke off with an error `{}`", detail.kind)
        } else {
            format!("the server broke off: {}", detail.message)
        };
        let mut error = self.error(kind, attempted, &found);
        error.status = detail.status;
        error
    }

    /// The request did not reach the server, or the connection broke.
    pub(crate) fn transport(&self, attempted: &str, error: &reqwest::Error) -> LlmError {
        if error.is_timeout() {
            let kind = LlmErrorKind::Timeout;
            return self.error(kind, attempted, "the connection was not made in time");
        }
        // The outermost text repeats the URL; the causes say what happened.
        let mut causes: Vec<String> = Vec::new();
        let mut cause = error.source();
        while let Some(inner) = cause {
            causes.push(inner.to_string());
            cause = inner.source();
        }
        let what = if error.is_connect() {
            "cannot connect"
        } else if error.is_body() || error.is_decode() {
            "the connection broke in the middle of the answer"
        } else {
            "the connection broke"
        };
        let mut found = what.to_owned();
        if !causes.is_empty() {
            found.push_str(&format!(" ({})", causes.join(": ")));
        }
        if error.is_connect() {
            found.push_str(&format!("; is the server running at {}?", self.base_url));
        }
        self.error(LlmErrorKind::Network, attempted, &found)
    }

    /// Nothing came for too long.
    pub(crate) fn timeout(&self, attempted: &str, waited: Duration) -> LlmError {
        let found = format!("nothing came for {} ms", waited.as_millis());
        self.error(LlmErrorKind::Timeout, attempted, &found)
    }

    /// What came is not the protocol, or was cut.
    pub(crate) fn protocol(&self, attempted: &str, found: &str) -> LlmError {
        self.error(LlmErrorKind::Protocol, attempted, found)
    }

    pub(crate) fn error(&self, kind: LlmErrorKind, attempted: &str, found: &str) -> LlmError {
        let found = shorten(&self.secrets.redact(&without_controls(found)), SHOWN_CHARS);
        let attempted = self.secrets.redact(attempted);
        let advice = self.advice(kind);
        LlmError::new(kind, format!("{attempted}: {found}{advice}"))
    }

    /// What the user can do about it, where that is not plain from the server's words.
    fn advice(&self, kind: LlmErrorKind) -> String {
        match kind {
            LlmErrorKind::Authentication if self.has_key => {
                format!("; check the key in {}", self.key_variable)
            }
            LlmErrorKind::Authentication => {
                format!("; no key was given: set {}", self.key_variable)
            }
            LlmErrorKind::Permission => {
                format!("; check what the key in {} may do", self.key_variable)
            }
            LlmErrorKind::Billing => "; check the account's credit and limits".to_owned(),
            LlmErrorKind::NotFound => {
                format!("; check the model's name and the base URL {}", self.base_url)
            }
            _ => String::new(),
        }
    }
}

/// The text in one line: control characters and line breaks become spaces, runs of white space one space.
pub(crate) fn without_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_whitespace() {
            if !clean.ends_with(' ') {
                clean.push(' ');
            }
        } else if !character.is_control() && !is_invisible(character) {
            clean.push(character);
        }
    }
    clean.trim().to_owned()
}

/// Characters that change how the rest of a line is shown without being seen.
const fn is_invisible(character: char) -> bool {
    matches!(character, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FFFD}')
}

/// At most so many characters, with a mark where something was cut.
fn shorten(text: &str, limit_chars: usize) -> String {
    match text.char_indices().nth(limit_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// How much of a server's words is shown.
const SHOWN_CHARS: usize = 500;

/// How much of an error answer is read.
pub(crate) const ERROR_BODY_LIMIT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
