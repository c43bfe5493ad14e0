//! Blocks that only the provider understands: kept so that they can go back as they came.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A block that arrives in pieces whose meaning is not known.
///
/// What the pieces have in common: a piece carries the members that grow or change. A text is appended to the text that is there, anything
/// else replaces it; `partial_json` is the text of the member `input`.
#[derive(Debug)]
pub(crate) struct OpaqueBlock {
    /// The block as it started; it stays the whole when no piece follows.
    start: Box<RawValue>,
    /// The members, once a piece has changed one.
    members: Option<BTreeMap<String, Member>>,
    /// The text of `input`, in pieces.
    input: String,
}

#[derive(Debug)]
enum Member {
    Text(String),
    Other(Box<RawValue>),
}

impl OpaqueBlock {
    pub(crate) fn starting_as(block: &RawValue) -> serde_json::Result<Self> {
        // A block that is not an object, or has half a character in a text, could not be sent back.
        readable(block)?;
        members_of(block)?;
        Ok(Self { start: block.to_owned(), members: None, input: String::new() })
    }

    pub(crate) fn add(&mut self, piece: &RawValue) -> serde_json::Result<()> {
        readable(piece)?;
        let members = match &mut self.members {
            Some(members) => members,
            None => self.members.insert(members_of(&self.start)?),
        };
        for (name, member) in members_of(piece)? {
            match (name.as_str(), member) {
                ("type", _) => {}
                ("partial_json", Member::Text(text)) => self.input.push_str(&text),
                (_, Member::Text(text)) => match members.get_mut(&name) {
                    Some(Member::Text(whole)) => whole.push_str(&text),
                    _ => {
                        members.insert(name, Member::Text(text));
                    }
                },
                (_, other @ Member::Other(_)) => {
                    members.insert(name, other);
                }
            }
        }
        Ok(())
    }

    /// The block as JSON text; `None` if its input was cut or cannot be read.
    pub(crate) fn finish(self) -> Option<String> {
        let Some(mut members) = self.members else {
            return Some(self.start.get().to_owned());
        };
        if !self.input.is_empty() {
            let input = RawValue::from_string(self.input).ok()?;
            readable(&input).ok()?;
            members.insert("input".to_owned(), Member::Other(input));
        }
        serde_json::to_string(&members).ok()
    }
}

impl serde::Serialize for Member {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

/// Checks what the parser leaves unread in a value that is only kept: servers refuse a request with it.
pub(crate) fn readable(value: &RawValue) -> serde_json::Result<()> {
    serde_json::from_str::<Value>(value.get()).map(|_| ())
}

fn members_of(object: &RawValue) -> serde_json::Result<BTreeMap<String, Member>> {
    let raw: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object.get())?;
    let members = raw.into_iter().map(|(name, value)| {
        let member = match crate::wire::text(Some(value)) {
            Some(text) => Member::Text(text.into_owned()),
            None => Member::Other(value.to_owned()),
        };
        (name.into_owned(), member)
    });
    Ok(members.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(start: &str, pieces: &[&str]) -> Option<String> {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut block = OpaqueBlock::starting_as(&raw(start)).unwrap();
        for piece in pieces {
            block.add(&raw(piece)).unwrap();
        }
        block.finish()
    }

    #[test]
    fn a_block_without_pieces_stays_as_it_came() {
        let start = r#"{"type":"new", "n":1.50, "list":[ ]}"#;
        assert_eq!(built(start, &[]).as_deref(), Some(start));
    }

    #[test]
    fn half_a_character_cannot_go_back() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        for odd in [r#"{"type":"new","a":["\ud83d"]}"#, r#"{"type":"new","\ud83d":1}"#] {
            assert!(OpaqueBlock::starting_as(&raw(odd)).is_err(), "{odd}");
            assert!(OpaqueBlock::starting_as(&raw("{}")).unwrap().add(&raw(odd)).is_err(), "{odd}");
        }
        let cut = r#"{"type":"input_json_delta","partial_json":"{\"q\":\"\\ud83d\"}"}"#;
        assert_eq!(built(r#"{"type":"server_tool_use"}"#, &[cut]), None);
    }

    #[test]
    fn texts_grow_and_input_is_put_together() {
        let start = r#"{"type":"server_tool_use","id":"s1","input":{}}"#;
        let pieces = [
            r#"{"type":"input_json_delta","partial_json":"{\"q\":"}"#,
            r#"{"type":"input_json_delta","partial_json":"1.0}"}"#,
        ];
        assert_eq!(built(start, &pieces).as_deref(), Some(r#"{"id":"s1","input":{"q":1.0},"type":"server_tool_use"}"#));
        assert_eq!(built(start, &pieces[..1]), None);
        let pieces =
            [r#"{"type":"compaction_delta","content":"a"}"#, r#"{"type":"compaction_delta","content":"b","n":[1]}"#];
        assert_eq!(
            built(r#"{"type":"compaction","content":null}"#, &pieces).as_deref(),
            Some(r#"{"content":"ab","n":[1],"type":"compaction"}"#)
        );
    }
}
