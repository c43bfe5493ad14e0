//! What a provider says about a block that the normalised form has no place for: citations, callers, ids.
//!
//! A frame is stored directly after its block, as an opaque block of the same dialect, and is joined to it again when the block goes back.
//! A frame whose block was changed or left out by the session fits nothing any more and is dropped: it is never needed for a history to be
//! valid.

use agent_types::llm::ResponseBlock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The members of a block beyond the normalised ones.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Frame {
    /// The type of the block, in the dialect's word.
    #[serde(rename = "frame_of")]
    pub(crate) of: String,
    pub(crate) members: Map<String, Value>,
}

impl Frame {
    /// The frame as the block after its own; `None` if it is empty.
    pub(crate) fn into_block(self, dialect: &str) -> Option<ResponseBlock> {
        if self.members.is_empty() {
            return None;
        }
        let json = serde_json::to_string(&self).ok()?;
        Some(ResponseBlock::Opaque { dialect: dialect.to_owned(), json })
    }

    /// Reads an opaque block; `None` if it is no frame but a block of the provider's own.
    pub(crate) fn of_block(json: &str) -> Option<Self> {
        if !json.starts_with(START) {
            return None;
        }
        serde_json::from_str(json).ok()
    }

    /// Adds the members to the JSON object that `out` ends with.
    pub(crate) fn join(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        if self.members.is_empty() || !out.ends_with(b"}") {
            return Ok(());
        }
        out.pop();
        let members = serde_json::to_vec(&self.members)?;
        out.push(b',');
        // Without its opening brace, it continues the object.
        out.extend_from_slice(members.get(1..).unwrap_or_default());
        Ok(())
    }
}

/// The value without members that are null: servers refuse some of the nulls that they send. `required` are members that a request must
/// have, null or not.
pub(crate) fn without_nulls(value: Value, required: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.filter(|(name, value)| !value.is_null() || required.contains(&name.as_str()));
            Value::Object(members.map(|(name, value)| (name, without_nulls(value, required))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(|value| without_nulls(value, required)).collect()),
        other => other,
    }
}

/// How a frame's JSON begins, and no block of a provider's own.
const START: &str = r#"{"frame_of":"#;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame(members: &Value) -> Frame {
        Frame { of: "text".to_owned(), members: members.as_object().cloned().unwrap_or_default() }
    }

    #[test]
    fn a_frame_is_told_from_a_block_and_survives_being_kept() {
        let block = frame(&json!({"citations": [1.50]})).into_block("d");
        let Some(ResponseBlock::Opaque { dialect, json }) = block else { panic!("no block") };
        assert_eq!(dialect, "d");
        let read = Frame::of_block(&json).unwrap();
        assert_eq!((read.of.as_str(), Value::Object(read.members)), ("text", json!({"citations": [1.5]})));
        assert!(Frame::of_block(r#"{"type":"text","frame_of":1}"#).is_none());
        assert!(frame(&json!({})).into_block("d").is_none());
    }

    #[test]
    fn it_is_joined_to_the_object_before_it() {
        let mut out = br#"[{"a":1}"#.to_vec();
        frame(&json!({"b": 2, "c": []})).join(&mut out).unwrap();
        assert_eq!(out, br#"[{"a":1,"b":2,"c":[]}"#);
        frame(&json!({})).join(&mut out).unwrap();
        assert_eq!(out, br#"[{"a":1,"b":2,"c":[]}"#);
    }

    #[test]
    fn nulls_are_left_out_at_every_depth() {
        let value = json!({"a": null, "b": [{"c": null, "d": 1}, null]});
        assert_eq!(without_nulls(value, &[]), json!({"b": [{"d": 1}, null]}));
        let cited = json!([{"document_title": null, "file_id": null}, {"title": null}]);
        assert_eq!(
            without_nulls(cited.clone(), &["document_title", "title"]),
            json!([{"document_title": null}, {"title": null}])
        );
        assert_eq!(without_nulls(cited, &[]), json!([{}, {}]));
    }
}
