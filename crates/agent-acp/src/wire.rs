//! JSON-RPC 2.0, a message a line: what a line says, and the lines that answer it.

use crate::text::one_line;
use serde_json::{Value, json};

/// Why a request is not answered with a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// One of the numbers that JSON-RPC or the protocol names.
    pub code: i32,
    /// What was attempted, what was found and what can be done, in one line.
    pub message: String,
}

#[expect(clippy::needless_pass_by_value, reason = "errors are handed over as `map_err` gives them")]
impl RpcError {
    /// A code with a message, which becomes one line.
    fn new(code: i32, message: impl ToString) -> Self {
        Self { code, message: one_line(&message.to_string()) }
    }

    /// The line is no JSON (-32700).
    pub(crate) fn parse(message: impl ToString) -> Self {
        Self::new(-32_700, message)
    }

    /// The JSON is no message that may be sent now (-32600).
    pub(crate) fn request(message: impl ToString) -> Self {
        Self::new(-32_600, message)
    }

    /// There is no such method (-32601).
    pub(crate) fn method(method: &str) -> Self {
        Self::new(-32_601, format!("there is no method `{}`", method.chars().take(100).collect::<String>()))
    }

    /// What a request says cannot be used (-32602).
    pub fn params(message: impl ToString) -> Self {
        Self::new(-32_602, message)
    }

    /// Something failed that the client has no part in (-32603).
    pub fn internal(message: impl ToString) -> Self {
        Self::new(-32_603, message)
    }

    /// There is no key, or the provider refused it (-32000).
    pub fn authentication(message: impl ToString) -> Self {
        Self::new(-32_000, message)
    }

    /// What is named is not there (-32002).
    pub fn not_found(message: impl ToString) -> Self {
        Self::new(-32_002, message)
    }
}

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    Request { id: Value, method: String, params: Value },
    Notification { method: String, params: Value },
    Answer { id: Value, result: Result<Value, RpcError> },
}

/// Reads a line.
///
/// # Errors
/// Why it is no message, with the id under which that is to be said: null where it has none that could be one.
pub(crate) fn read(line: &[u8]) -> Result<Incoming, (Value, RpcError)> {
    let whole: Value =
        serde_json::from_slice(line).map_err(|error| (Value::Null, RpcError::parse(format!("not JSON: {error}"))))?;
    let Value::Object(mut fields) = whole else {
        return Err((Value::Null, RpcError::request("a message is one object; batches are not part of the protocol")));
    };
    let id = fields.remove("id");
    let wrong = |found: &str| {
        let known = id.as_ref().filter(|id| is_id(id)).cloned();
        (known.unwrap_or_default(), RpcError::request(found))
    };
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err(wrong("an `id` is a string, a whole number or null"));
    }
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("`jsonrpc` is not \"2.0\""));
    }
    let params = fields.remove("params").unwrap_or_default();
    match (fields.remove("method"), id.clone()) {
        (Some(Value::String(method)), _) if !matches!(params, Value::Object(_) | Value::Array(_) | Value::Null) => {
            Err(wrong(&format!("`params` of `{}` is no object", method.chars().take(100).collect::<String>())))
        }
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(_), _) => Err(wrong("`method` is no string")),
        (None, Some(id)) => match (fields.remove("result"), fields.remove("error")) {
            (Some(result), None) => Ok(Incoming::Answer { id, result: Ok(result) }),
            (None, Some(error)) => Ok(Incoming::Answer { id, result: Err(error_of(&error)) }),
            _ => Err(wrong("it has neither a `method` nor one of `result` and `error`")),
        },
        (None, None) => Err(wrong("it has no `method`")),
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::Null | Value::String(_) => true,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn error_of(error: &Value) -> RpcError {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message");
    RpcError::new(code.unwrap_or(-32_603), message)
}

/// The line that answers a request.
pub(crate) fn answer(id: &Value, result: Result<Value, RpcError>) -> String {
    line(&match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(RpcError { code, message }) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    })
}

/// The line of a request.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// The line of a notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(message: &Value) -> String {
    let mut text = message.to_string();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Value, i32) {
        read(line.as_bytes()).map_or_else(|(id, error)| (id, error.code), |found| panic!("{line}: {found:?}"))
    }

    #[test]
    fn what_is_no_message_is_answered_under_the_id_that_it_has() {
        for (line, expected) in [
            ("", (Value::Null, -32_700)),
            ("nonsense", (Value::Null, -32_700)),
            ("\u{feff}{}", (Value::Null, -32_700)),
            ("[]", (Value::Null, -32_600)),
            ("7", (Value::Null, -32_600)),
            ("{}", (Value::Null, -32_600)),
            (r#"{"jsonrpc":"2.0"}"#, (Value::Null, -32_600)),
            (r#"{"jsonrpc":"1.0","id":3,"method":"x"}"#, (json!(3), -32_600)),
            (r#"{"id":"a","method":"x"}"#, (json!("a"), -32_600)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, (Value::Null, -32_600)),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, (Value::Null, -32_600)),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#, (Value::Null, -32_600)),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, (Value::Null, -32_600)),
            (r#"{"jsonrpc":"2.0","id":4,"method":5}"#, (json!(4), -32_600)),
            (r#"{"jsonrpc":"2.0","id":4,"method":"x","params":"y"}"#, (json!(4), -32_600)),
            (r#"{"jsonrpc":"2.0","id":4}"#, (json!(4), -32_600)),
            (r#"{"jsonrpc":"2.0","id":4,"result":1,"error":{}}"#, (json!(4), -32_600)),
        ] {
            assert_eq!(code(line), expected, "{line}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}1{}}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert_eq!(code(&deep), (Value::Null, -32_700));
    }

    #[test]
    fn ids_of_every_kind_come_back_as_they_were() {
        for id in [json!(null), json!(0), json!(-7), json!(u64::MAX), json!(""), json!("é \u{1}")] {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": "m" }).to_string();
            let read = read(line.as_bytes()).unwrap();
            assert_eq!(read, Incoming::Request { id: id.clone(), method: "m".into(), params: Value::Null });
            let answered: Value = serde_json::from_str(&answer(&id, Ok(json!({})))).unwrap();
            assert_eq!(answered["id"], id);
        }
    }

    #[test]
    fn an_answer_is_a_result_or_an_error() {
        let ok = read(br#"{"jsonrpc":"2.0","id":9,"result":null}"#).unwrap();
        assert_eq!(ok, Incoming::Answer { id: json!(9), result: Ok(Value::Null) });
        let Incoming::Answer { result: Err(error), .. } =
            read(br#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"a\nb"}}"#).unwrap()
        else {
            panic!("an error")
        };
        assert_eq!((error.code, error.message.as_str()), (-32_601, "a; b"));
    }
}
