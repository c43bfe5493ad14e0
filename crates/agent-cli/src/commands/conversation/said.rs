//! What a program says in a conversation, a line each. The schema in `docs/` is made from these types.

use agent_core::picture::look;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::{Map, Value};

/// One line of `--input-format stream-json`.
#[derive(Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Said {
    /// A message for the agent. While the agent works, it goes to the model with the next results.
    User {
        /// The message.
        message: UserMessage,
    },
    /// The answer to a `question` of the output.
    Answer(Answer),
    /// The answer to a `server_question` of the output.
    ServerAnswer(ServerAnswer),
    /// Stops the turn. The conversation continues with the next message.
    Cancel {},
    /// Nothing more will be said, as at the end of the input: the agent finishes its work, and the program ends.
    End {},
}

/// A message with content as Anthropic's API has it.
#[derive(Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct UserMessage {
    /// Always `user`.
    role: Role,
    /// The text, or parts: text and pictures.
    #[cfg_attr(test, schemars(with = "Content"))]
    content: Value,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Role {
    User,
}

/// For the schema alone: what is wrong with a part is said more exactly than by trying both.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the schema is made from it")]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// The text of a message, and its pictures with their names.
pub(super) type Parts = (String, Vec<(String, Vec<u8>)>);

/// A part of a message.
#[derive(Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// Its bytes.
        source: Source,
    },
}

/// The bytes of a picture.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum Source {
    /// As base64.
    Base64 {
        /// What they are: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: String,
        /// The base64.
        data: String,
    },
}

/// The answer to a question.
#[derive(Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// The `id` of the question.
    pub(super) question: String,
    /// Whether the call may run.
    pub(super) decision: Word,
    /// For how long an `allow` holds.
    #[serde(default)]
    pub(super) scope: Scope,
    /// The rules that an `allow` for longer than once keeps; together they have to cover the call. Without them, those that the question
    /// offers.
    #[serde(default)]
    pub(super) rules: Vec<String>,
    /// Arguments that the call runs with instead of the model's.
    #[serde(default)]
    pub(super) arguments: Option<Map<String, Value>>,
    /// Why a `deny`, for the model.
    #[serde(default)]
    pub(super) reason: String,
}

/// The answer to a question of a server.
#[derive(Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct ServerAnswer {
    /// The `id` of the question.
    pub(super) question: String,
    /// What is said to it.
    pub(super) action: ServerWord,
    /// With `accept`: the values that fit the question's `schema`. What has a default and is left out has it.
    #[serde(default)]
    pub(super) values: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum ServerWord {
    /// The values are sent; of an address, that the person goes there.
    Accept,
    /// No.
    Decline,
    /// Neither: it was dismissed.
    Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    Allow,
    Deny,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum Scope {
    /// For this call.
    #[default]
    Once,
    /// For calls of this session that the rules match.
    Session,
    /// The same, and the rules are kept in the user's configuration.
    Always,
}

impl Said {
    /// Reads a line.
    ///
    /// # Errors
    /// Why it is none, in words for who writes the program.
    pub(super) fn of(line: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(line).map_err(|_| String::from("the line is not UTF-8"))?;
        if !text.trim_start().starts_with('{') {
            return Err(String::from("the line is no JSON object"));
        }
        serde_json::from_str(text).map_err(|error| match error.classify() {
            Category::Data => error.to_string(),
            Category::Io | Category::Syntax | Category::Eof => format!("the line is not JSON: {error}"),
        })
    }
}

impl UserMessage {
    /// The text, and the pictures with their names.
    ///
    /// # Errors
    /// Which part is none, and why.
    pub(super) fn parts(self) -> Result<Parts, String> {
        let Role::User = self.role;
        let parts = match self.content {
            Value::String(text) => return Ok((text, Vec::new())),
            Value::Array(parts) => parts,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                return Err(String::from("`content` is neither a text nor an array of parts"));
            }
        };
        let (mut texts, mut pictures) = (Vec::new(), Vec::new());
        for (at, part) in (1..).zip(parts) {
            let wrong = |found: String| format!("part {at} of the message: {found}");
            match Part::deserialize(part).map_err(|error| wrong(error.to_string()))? {
                Part::Text { text } => texts.push(text),
                Part::Image { source } => pictures.push((format!("picture {at}"), source.bytes().map_err(wrong)?)),
            }
        }
        Ok((texts.join("\n"), pictures))
    }
}

impl Source {
    /// The bytes, which are what the line says they are.
    fn bytes(self) -> Result<Vec<u8>, String> {
        let Self::Base64 { media_type, data } = self;
        let bytes = STANDARD.decode(data).map_err(|error| format!("`data` is not base64: {error}"))?;
        let found = look(&bytes).map_err(|fault| format!("the picture {fault}"))?.kind.media_type();
        if found != media_type {
            return Err(format!("`media_type` says {media_type}, and the picture is {found}"));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn fault(line: &str) -> String {
        Said::of(line.as_bytes()).unwrap_err()
    }

    #[test]
    fn what_is_no_line_says_why() {
        assert!(fault("{").starts_with("the line is not JSON"), "{}", fault("{"));
        let deep = format!(
            r#"{{"type":"user","message":{{"role":"user","content":{}1{}}}}}"#,
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert!(fault(&deep).contains("recursion"), "{}", fault(&deep));
        assert_eq!(fault(r#"["cancel"]"#), "the line is no JSON object");
        assert!(fault(r#"{"type":"shout"}"#).contains("`shout`"));
        assert!(fault(r#"{"type":"cancel","now":true}"#).contains("`now`"));
        assert!(fault(r#"{"type":"answer","question":"q1","decision":"maybe"}"#).contains("`maybe`"));
        assert!(fault(r#"{"type":"answer","question":"q1","decision":"allow","scop":"always"}"#).contains("`scop`"));
        assert!(fault(r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#).contains("`assistant`"));
        assert_eq!(Said::of(b"\"\xff\"").unwrap_err(), "the line is not UTF-8");
        assert!(fault(r#"{"type":"end","type":"cancel"}"#).contains("duplicate"));
    }

    #[test]
    fn a_message_has_text_and_pictures() {
        let parts = |content: Value| UserMessage { role: Role::User, content }.parts();
        assert_eq!(parts("x".into()), Ok(("x".into(), Vec::new())));
        let text = |text: &str| serde_json::json!({ "type": "text", "text": text });
        assert_eq!(parts(vec![text("a"), text("b")].into()), Ok(("a\nb".into(), Vec::new())));
        let picture = |kind: &str, data: &str| serde_json::json!([text("?"), { "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } }]);
        let (_, pictures) = parts(picture("image/png", PNG)).unwrap();
        assert_eq!(pictures[0].0, "picture 2");
        let fault = |content: Value| parts(content).unwrap_err();
        assert_eq!(
            fault(picture("image/gif", PNG)),
            "part 2 of the message: `media_type` says image/gif, and the picture is image/png"
        );
        assert!(fault(picture("image/png", "%")).starts_with("part 2 of the message: `data` is not base64"));
        assert!(fault(picture("image/png", "AAAA")).starts_with("part 2 of the message: the picture"));
        assert!(
            fault(serde_json::json!([{ "type": "audio" }])).contains("part 1 of the message: unknown variant `audio`")
        );
        assert_eq!(fault(Value::Null), "`content` is neither a text nor an array of parts");
    }

    /// `INSTA_UPDATE=always` rewrites the published file.
    #[test]
    fn the_published_schema_is_made_from_the_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stream-json-input.schema.json");
        let settings = schemars::generate::SchemaSettings::draft2020_12();
        let mut schema = settings.into_generator().into_root_schema_for::<Said>();
        schema.insert("title".into(), "A line of `agent run --input-format stream-json`".into());
        let made = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
            std::fs::write(&path, &made).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(published == made, "docs/stream-json-input.schema.json is stale: INSTA_UPDATE=always rewrites it");
    }

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
}
