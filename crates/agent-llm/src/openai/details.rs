//! Reasoning in the form in which some routers want it back: a list of details that arrive in pieces.

use crate::seam::Seam;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The details of one answer.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Detail>);

#[derive(Debug, Default)]
struct Detail {
    members: Map<String, Value>,
    /// Where the texts among them may be cut within a character.
    seams: BTreeMap<String, Seam>,
}

/// A detail, or a piece of one.
type Piece<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

impl Details {
    /// Takes in the pieces of one chunk. What is not a list of objects says nothing.
    pub(super) fn add(&mut self, pieces: Option<&RawValue>) -> Result<(), String> {
        let pieces = pieces.and_then(|raw| serde_json::from_str::<Vec<Piece<'_>>>(raw.get()).ok());
        for piece in pieces.into_iter().flatten() {
            let value = |name: &str| piece.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
            let (index, kind) = (value("index"), value("type"));
            let same = |detail: &Detail| {
                index.is_some()
                    && detail.members.get("index") == index.as_ref()
                    && detail.members.get("type") == kind.as_ref()
            };
            let position = self.0.iter().rposition(same).unwrap_or_else(|| {
                self.0.push(Detail::default());
                self.0.len() - 1
            });
            if let Some(detail) = self.0.get_mut(position) {
                detail.grow(&piece)?;
            }
        }
        Ok(())
    }

    /// Whether half of a character is missing in a text.
    pub(super) fn is_open(&self) -> bool {
        self.0.iter().flat_map(|detail| detail.seams.values()).any(Seam::is_open)
    }

    /// The details as the seal of the reasoning; `None` if there are none.
    pub(super) fn finish(&mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let details = core::mem::take(&mut self.0).into_iter().map(|detail| Value::Object(detail.members)).collect();
        Some(Value::Object(Map::from_iter([(MEMBER.to_owned(), Value::Array(details))])).to_string())
    }
}

impl Detail {
    /// Texts grow, anything else is replaced by what is said later. What cannot be read is an error: a seal would not fit what is left.
    fn grow(&mut self, piece: &Piece<'_>) -> Result<(), String> {
        for (name, raw) in piece {
            let is_text = matches!(name.as_ref(), "text" | "summary" | "data") && raw.get().starts_with('"');
            if is_text {
                let seam = self.seams.entry(name.to_string()).or_default();
                let more = seam.piece(Some(raw))?;
                match self.members.get_mut(name.as_ref()) {
                    Some(Value::String(whole)) => whole.push_str(&more),
                    _ => drop(self.members.insert(name.to_string(), Value::String(more.into_owned()))),
                }
                continue;
            }
            match serde_json::from_str(raw.get()) {
                Ok(Value::Null) if self.members.contains_key(name.as_ref()) => {}
                Ok(value) => drop(self.members.insert(name.to_string(), value)),
                Err(_) => return Err("a piece of reasoning that is not valid text".to_owned()),
            }
        }
        Ok(())
    }
}

/// The list in a seal, as JSON text; nothing for a seal of another format.
pub(super) fn of_seal(seal: &str) -> Option<&str> {
    seal.strip_prefix(SEAL_START)?.strip_suffix('}')
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
            details.add(Some(&raw)).unwrap();
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
