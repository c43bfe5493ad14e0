//! What a server says about a failure, out of the many shapes in which servers say it.

use serde_json::Value;

/// The server's words. Empty where it said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// The class of the error in the server's terms.
    pub(crate) kind: String,
    /// Its code, as text.
    pub(crate) code: String,
    /// A status inside the body: routers pass on their upstream's.
    pub(crate) status: Option<u16>,
    /// For people.
    pub(crate) message: String,
    /// Tokens of the request and of the context window, where the server gives them as numbers.
    pub(crate) prompt_tokens: Option<u64>,
    pub(crate) window_tokens: Option<u64>,
}

impl Detail {
    /// Reads the body of an error answer: JSON, HTML or plain text.
    pub(crate) fn of_body(body: &[u8]) -> Self {
        if let Ok(json) = serde_json::from_slice::<Value>(body) {
            return Self::of_json(&json);
        }
        if body.starts_with(GZIP_MAGIC) {
            return Self::with_message("(a compressed body)".to_owned());
        }
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        if text.starts_with('<') {
            let title = html_title(text).unwrap_or("no title");
            return Self::with_message(format!("an HTML page: {title}"));
        }
        Self::with_message(text.to_owned())
    }

    /// Reads an error object, or a body with one in it.
    pub(crate) fn of_json(json: &Value) -> Self {
        match json {
            Value::String(message) => Self::with_message(message.clone()),
            Value::Array(list) => list.first().map(Self::of_json).unwrap_or_default(),
            Value::Object(_) => match json.get("error") {
                // One server family marks a flat error object with `"object": "error"`, another with `"error": true`.
                Some(error @ (Value::Object(_) | Value::String(_))) => Self::of_json(error),
                _ => Self::of_flat(json),
            },
            _ => Self::default(),
        }
    }

    fn of_flat(error: &Value) -> Self {
        let mut message = ["message", "msg", "detail", "title"]
            .iter()
            .find_map(|name| error.get(name))
            .map(text_of)
            .unwrap_or_default();
        // A router's own message says less than that of the provider behind it.
        if let Some(raw) = error.pointer("/metadata/raw") {
            message = format!("{message}: {}", text_of(raw));
        }
        let code = error.get("code").map(text_of).unwrap_or_default();
        let status = ["status_code", "raw_status_code", "code", "status"]
            .iter()
            .filter_map(|name| error.get(name)?.as_u64())
            .find_map(|number| u16::try_from(number).ok().filter(|status| *status >= 400));
        Self {
            kind: error.get("type").map(text_of).unwrap_or_default(),
            code,
            status,
            message,
            // llama-server
            prompt_tokens: error.get("n_prompt_tokens").and_then(Value::as_u64),
            window_tokens: error.get("n_ctx").and_then(Value::as_u64),
        }
    }

    fn with_message(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// A text as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn html_title(page: &str) -> Option<&str> {
    let (_, after) = page.split_once("<title>")?;
    let (title, _) = after.split_once("</title>")?;
    Some(title.trim())
}

const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
