//! Reasoning in the form in which some routers want it back: a list of details that arrive in pieces.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The details of one answer.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Map<String, Value>>);

impl Details {
    /// Takes in the pieces of one chunk. What is no list of objects says nothing.
    pub(super) fn add(&mut self, pieces: Option<&RawValue>) {
        let pieces: Option<Vec<Map<String, Value>>> = pieces.and_then(|raw| serde_json::from_str(raw.get()).ok());
        for piece in pieces.into_iter().flatten() {
            let same = |detail: &&mut Map<String, Value>| {
                piece.contains_key("index")
                    && detail.get("index") == piece.get("index")
                    && detail.get("type") == piece.get("type")
            };
            match self.0.iter_mut().rev().find(same) {
                Some(detail) => grow(detail, piece),
                None => self.0.push(piece),
            }
        }
    }

    /// The details as the seal of the reasoning; nothing when there are none.
    pub(super) fn finish(&mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let details = core::mem::take(&mut self.0).into_iter().map(Value::Object).collect();
        Some(Value::Object(Map::from_iter([(MEMBER.to_owned(), Value::Array(details))])).to_string())
    }
}

/// The list in a seal, as JSON text; nothing for a seal of another format.
pub(super) fn of_seal(seal: &str) -> Option<&str> {
    seal.strip_prefix(SEAL_START)?.strip_suffix('}')
}

/// Texts grow, anything else is replaced by what is said later.
fn grow(detail: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (name, value) in piece {
        match (name.as_str(), detail.get_mut(&name), value) {
            (_, _, Value::Null) => {}
            ("text" | "summary" | "data", Some(Value::String(whole)), Value::String(more)) => whole.push_str(&more),
            (_, _, value) => {
                detail.insert(name, value);
            }
        }
    }
}

const MEMBER: &str = "reasoning_details";

/// How a seal of this kind begins.
const SEAL_START: &str = r#"{"reasoning_details":"#;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seal(chunks: &[Value]) -> Option<String> {
        let mut details = Details::default();
        for chunk in chunks {
            let raw = RawValue::from_string(chunk.to_string()).unwrap();
            details.add(Some(&raw));
        }
        details.finish()
    }

    #[test]
    fn texts_grow_and_seals_are_kept() {
        let seal = seal(&[
            json!([{"type": "reasoning.text", "text": "a", "format": "f", "signature": null, "index": 0}]),
            json!([{"type": "reasoning.text", "text": "b", "format": "f", "index": 0}]),
            json!([{"type": "reasoning.text", "signature": "s", "index": 0}, {"type": "reasoning.encrypted", "data": "x", "index": 1}]),
            json!("odd"),
        ]);
        let seal = seal.unwrap();
        let list: Value = serde_json::from_str(of_seal(&seal).unwrap()).unwrap();
        assert_eq!(
            list,
            json!([
                {"type": "reasoning.text", "text": "ab", "format": "f", "signature": "s", "index": 0},
                {"type": "reasoning.encrypted", "data": "x", "index": 1},
            ])
        );
    }

    #[test]
    fn nothing_is_no_seal_and_other_seals_are_none_of_this() {
        assert_eq!(seal(&[]), None);
        assert_eq!(seal(&[json!(null), json!([1])]), None);
        assert_eq!(of_seal("c2VhbA=="), None);
        assert_eq!(of_seal(r#"{"type":"reasoning"}"#), None);
    }
}
