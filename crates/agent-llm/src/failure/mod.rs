//! Failed calls: what happened, described for people and classified for the machine.
//!
//! Every text that leaves this module says what was attempted, what was found and, where that is known, what the user can do. Control
//! characters are taken out, secrets replaced, and only then is it cut to size, so that no half of a key is left at the cut.

#[cfg(feature = "tls")]
mod certificate;
mod classify;
mod detail;
mod overflow;
mod rate_limits;
mod retry_after;

pub(crate) use detail::Detail;

use crate::cassette::NotRecorded;
use crate::client::Broke;
use crate::config::WaitSettings;
use crate::secret::Secrets;
use agent_types::llm::{LlmError, LlmErrorFacts, LlmErrorKind, Wait};
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
    pub(crate) wait_settings: WaitSettings,
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
        let now = SystemTime::now();
        let rate_limits = rate_limits::of(headers, now);
        error.retry_after_ms = retry_after::milliseconds(headers, now)
            .or_else(|| if kind == LlmErrorKind::RateLimited { rate_limits::wait_ms(&rate_limits) } else { None });
        with_facts(error, LlmErrorFacts { rate_limits, ..facts_of(kind, &detail) })
    }

    /// The server reported an error inside an answer that had begun well.
    pub(crate) fn in_answer(&self, attempted: &str, detail: &Detail) -> LlmError {
        let kind = classify(None, detail);
        let found = if detail.message.is_empty() {
            format!("the server ended the answer with an error `{}`", detail.kind)
        } else {
            format!("the server ended the answer with an error: {}", detail.message)
        };
        let mut error = self.error(kind, attempted, &found);
        error.status = detail.status;
        with_facts(error, facts_of(kind, detail))
    }

    /// The request did not reach the server, or the connection broke.
    pub(crate) fn transport(&self, attempted: &str, error: &reqwest::Error) -> LlmError {
        if error.is_timeout() {
            let error = self.error(LlmErrorKind::Timeout, attempted, "the connection timed out");
            return with_facts(error, LlmErrorFacts { wait: Some(Wait::Connect), ..LlmErrorFacts::default() });
        }
        #[cfg(feature = "tls")]
        if let Some(found) = certificate::found(error) {
            // The server will show the same certificate again.
            let found = format!(
                "the server's certificate is not trusted ({found}); if it is right for {}, add its authority to the system's \
                 certificate store",
                self.base_url
            );
            return self.error(LlmErrorKind::InvalidRequest, attempted, &found);
        }
        // The outermost text repeats the URL; the causes say what happened.
        let mut causes: Vec<String> = Vec::new();
        let mut cause = error.source();
        while let Some(inner) = cause {
            causes.push(inner.to_string());
            cause = inner.source();
        }
        if causes.iter().any(|cause| cause.starts_with(NOT_HTTP)) {
            let found = format!("the server at {} does not speak HTTP ({})", self.base_url, causes.join(": "));
            return self.error(LlmErrorKind::InvalidRequest, attempted, &found);
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

    /// The rest of an answer cannot be had.
    pub(crate) fn broke(&self, attempted: &str, broke: Broke) -> LlmError {
        match broke {
            Broke::Network(error) => self.transport(attempted, &error),
            // The server is not to blame, and asking it again is no use.
            Broke::Unrecorded(NotRecorded(found)) => LlmError::new(LlmErrorKind::InvalidRequest, found),
            Broke::Played(error) => error,
        }
    }

    /// Nothing came for too long, or nothing but signs that the connection is alive.
    pub(crate) fn timeout(&self, attempted: &str, wait: Wait, limit: Duration, has_signs_of_life: bool) -> LlmError {
        let limit_ms = limit.as_millis();
        let found = match wait {
            Wait::Total => format!("the answer was not complete after {limit_ms} ms"),
            _ if has_signs_of_life => format!("the server sent only keep-alives for {limit_ms} ms"),
            _ => format!("the server sent nothing for {limit_ms} ms"),
        };
        let mut error = self.error(LlmErrorKind::Timeout, attempted, &found);
        let setting = match wait {
            Wait::FirstByte => &self.wait_settings.first_byte,
            Wait::Idle => &self.wait_settings.idle,
            _ => "",
        };
        if !setting.is_empty() {
            error.message.push_str(&format!("; to wait longer, use {setting}"));
        }
        with_facts(error, LlmErrorFacts { wait: Some(wait), ..LlmErrorFacts::default() })
    }

    /// The response does not follow the protocol, or was cut.
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
            LlmErrorKind::Permission if self.has_key => {
                format!("; check the permissions of the key in {}", self.key_variable)
            }
            LlmErrorKind::Permission => {
                format!("; no key was sent: set {} if the server needs one", self.key_variable)
            }
            LlmErrorKind::Billing => "; check the account's credit and limits".to_owned(),
            LlmErrorKind::NotFound => {
                format!("; check the model's name and the base URL {}", self.base_url)
            }
            _ => String::new(),
        }
    }
}

/// What the client says about a response that does not begin like HTTP.
const NOT_HTTP: &str = "invalid HTTP version";

/// What the server's words say beyond the class.
fn facts_of(kind: LlmErrorKind, detail: &Detail) -> LlmErrorFacts {
    let mut facts = LlmErrorFacts::default();
    if kind == LlmErrorKind::ContextOverflow {
        (facts.requested_tokens, facts.limit_tokens) = overflow::numbers(detail);
    }
    facts
}

fn with_facts(mut error: LlmError, facts: LlmErrorFacts) -> LlmError {
    error.facts = (!facts.is_empty()).then(|| Box::new(facts));
    error
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
