//! What the server remembers of a request.

use serde_json::Value;

/// A request as it reached the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// Which connection it came on, counted from 1.
    pub connection: usize,
    /// Its method, such as `POST`.
    pub method: String,
    /// Its path and query.
    pub path: String,
    /// Its headers as they came, names in lower case. Values that are no text are left out.
    pub headers: Vec<(String, String)>,
    /// Its body; null when it is empty or no JSON.
    pub body: Value,
    /// Its body byte for byte: what a provider's prompt cache goes by.
    pub bytes: Vec<u8>,
    /// What is wrong with it, if anything; such a request was answered with an error and used no step.
    pub violation: Option<String>,
}

impl RecordedRequest {
    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(present, _)| present == name).map(|(_, value)| value.as_str())
    }
}
