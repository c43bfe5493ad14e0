//! A value that a server asks for: what it is, how it is typed, and whether it fits.

use crate::text::{beginning, plain};
use serde_json::{Value, json};

/// A value that a server asks for. But for the name, all texts are only for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Under which it is sent.
    pub name: String,
    /// What the server calls it.
    pub title: String,
    /// What the server says of it; may be empty.
    pub description: String,
    /// Whether there is no answer without it.
    pub is_needed: bool,
    /// What it is.
    pub kind: FieldKind,
    /// What is sent where nothing is said.
    pub default: Option<Value>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A text of so many letters.
    Text {
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
        /// What it looks like.
        format: Option<TextFormat>,
    },
    /// A number, without a fraction where it is whole.
    Number {
        /// Whether it has no fraction.
        is_whole: bool,
        /// At least.
        min: Option<f64>,
        /// At most.
        max: Option<f64>,
    },
    /// Yes or no.
    YesNo,
    /// One of these.
    One(Vec<Choice>),
    /// Some of these, so many.
    Several {
        /// Of which.
        choices: Vec<Choice>,
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
}

/// What a text looks like. It is looked at roughly: the server knows better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// An address of mail.
    Email,
    /// An address of the web, or any other URI.
    Uri,
    /// `2026-01-31`.
    Date,
    /// `2026-01-31T23:59:00Z`.
    DateTime,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What the server calls it.
    pub title: String,
}

impl Field {
    /// The field of this schema.
    ///
    /// # Errors
    /// Why it cannot be asked for.
    pub(super) fn of(
        name: &str,
        schema: &Value,
        is_needed: bool,
        clean: &dyn Fn(&str) -> String,
    ) -> Result<Self, String> {
        if name.is_empty() || name.len() > NAME_LIMIT_BYTES || clean(name) != name {
            return Err("the name of a value is empty, too long, or has a secret in it".to_owned());
        }
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        let words = |key: &str| beginning(&clean(text(key)), WORDS_LIMIT_BYTES);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let kind = match text("type") {
            "string" if schema.get("enum").is_some() || schema.get("oneOf").is_some() => {
                FieldKind::One(choices(schema, "oneOf", clean)?)
            }
            "string" => FieldKind::Text {
                min: count("minLength"),
                max: count("maxLength"),
                format: match text("format") {
                    "email" => Some(TextFormat::Email),
                    "uri" => Some(TextFormat::Uri),
                    "date" => Some(TextFormat::Date),
                    "date-time" => Some(TextFormat::DateTime),
                    _ => None,
                },
            },
            "integer" | "number" => FieldKind::Number {
                is_whole: text("type") == "integer",
                min: number("minimum"),
                max: number("maximum"),
            },
            "boolean" => FieldKind::YesNo,
            "array" => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                let choices = choices(items, "anyOf", clean)?;
                FieldKind::Several { choices, min: count("minItems"), max: count("maxItems") }
            }
            _ => return Err(format!("`{name}` is of a kind that cannot be asked for")),
        };
        let title = words("title");
        let title = if title.trim().is_empty() { name.to_owned() } else { title };
        let mut field =
            Self { name: name.to_owned(), title, description: words("description"), is_needed, kind, default: None };
        // One that does not fit is none; nor is one that would fill the screen and hide who asks.
        let is_short = |value: &&Value| value.as_str().is_none_or(|text| text.len() <= MOST_DEFAULT_BYTES);
        field.default = schema.get("default").filter(|value| field.check(value).is_ok()).filter(is_short).cloned();
        Ok(field)
    }

    /// The field as a JSON schema, as the protocol writes it; what cannot be seen in the words of the server is spelt out.
    pub(super) fn schema(&self) -> Value {
        let titled = |choices: &[Choice]| -> Value {
            choices.iter().map(|choice| json!({"const": choice.value, "title": plain(&choice.title)})).collect()
        };
        let mut schema = match &self.kind {
            FieldKind::Text { min, max, format } => json!({
                "type": "string", "minLength": min, "maxLength": max, "format": format.map(TextFormat::word)
            }),
            FieldKind::Number { is_whole: true, min, max } => {
                json!({"type": "integer", "minimum": whole(*min), "maximum": whole(*max)})
            }
            FieldKind::Number { is_whole: false, min, max } => {
                json!({"type": "number", "minimum": min, "maximum": max})
            }
            FieldKind::YesNo => json!({"type": "boolean"}),
            FieldKind::One(choices) => json!({"type": "string", "oneOf": titled(choices)}),
            FieldKind::Several { choices, min, max } => {
                json!({"type": "array", "items": {"anyOf": titled(choices)}, "minItems": min, "maxItems": max})
            }
        };
        schema["title"] = plain(&self.title).into();
        if !self.description.is_empty() {
            schema["description"] = plain(&self.description).into();
        }
        schema["default"] = self.default.clone().unwrap_or_default();
        if let Value::Object(fields) = &mut schema {
            fields.retain(|_, value| !value.is_null());
        }
        schema
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match (&self.kind, value) {
            (FieldKind::Text { min, max, format }, Value::String(text)) => {
                within(text.chars().count() as u64, *min, *max, "letters")?;
                format.map_or(Ok(()), |format| format.check(text))
            }
            (FieldKind::Number { is_whole, min, max }, Value::Number(number)) => {
                let is_fraction = number.as_f64().is_none_or(|number| number.fract() != 0.0);
                if *is_whole && is_fraction {
                    return Err("it has to be a whole number".to_owned());
                }
                let number = number.as_f64().unwrap_or_default();
                match (min, max) {
                    (Some(min), _) if number < *min => Err(format!("it has to be {min} at least")),
                    (_, Some(max)) if number > *max => Err(format!("it has to be {max} at most")),
                    _ => Ok(()),
                }
            }
            (FieldKind::YesNo, Value::Bool(_)) => Ok(()),
            (FieldKind::One(choices), Value::String(text)) => is_among(choices, text),
            (FieldKind::Several { choices, min, max }, Value::Array(values)) => {
                within(values.len() as u64, *min, *max, "choices")?;
                values.iter().enumerate().try_for_each(|(at, value)| match value {
                    Value::String(_) if values.iter().take(at).any(|before| before == value) => {
                        Err("one is there twice".to_owned())
                    }
                    Value::String(text) => is_among(choices, text),
                    _ => Err("it has to be a list of texts".to_owned()),
                })
            }
            (kind, _) => Err(format!("it has to be {}", kind.noun())),
        }
    }

    /// What was typed as a value; nothing where nothing was typed and nothing is needed. Choices are typed by their number, their value or
    /// their title; several with commas between them.
    ///
    /// # Errors
    /// Why it does not fit, in words.
    pub fn typed(&self, text: &str) -> Result<Option<Value>, String> {
        let text = text.trim();
        if text.is_empty() {
            return match (&self.default, self.is_needed) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, true) => Err("an answer is needed".to_owned()),
                (None, false) => Ok(None),
            };
        }
        let value = match &self.kind {
            FieldKind::Text { .. } => Value::from(text),
            FieldKind::Number { is_whole: true, .. } => {
                text.parse::<i64>().map(Value::from).map_err(|_| "it has to be a whole number".to_owned())?
            }
            FieldKind::Number { .. } => {
                let number = text.replace(',', ".").parse::<f64>().map_err(|_| "it has to be a number".to_owned())?;
                serde_json::Number::from_f64(number).map(Value::Number).ok_or("it has to be a number")?
            }
            FieldKind::YesNo => match text.to_lowercase().as_str() {
                "y" | "yes" | "true" => Value::Bool(true),
                "n" | "no" | "false" => Value::Bool(false),
                _ => return Err("y or n".to_owned()),
            },
            FieldKind::One(choices) => chosen(choices, text)?.into(),
            FieldKind::Several { choices, .. } => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(|word| chosen(choices, word).map(Value::from)).collect::<Result<Vec<_>, _>>()?.into()
            }
        };
        self.check(&value)?;
        Ok(Some(value))
    }
}

impl FieldKind {
    /// What it is, in words with an article.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Text { format: None, .. } => "a text",
            Self::Text { format: Some(TextFormat::Email), .. } => "an e-mail address",
            Self::Text { format: Some(TextFormat::Uri), .. } => "a URI",
            Self::Text { format: Some(TextFormat::Date), .. } => "a date as 2026-01-31",
            Self::Text { format: Some(TextFormat::DateTime), .. } => "a time as 2026-01-31T23:59:00Z",
            Self::Number { is_whole: true, .. } => "a whole number",
            Self::Number { is_whole: false, .. } => "a number",
            Self::YesNo => "yes or no",
            Self::One(_) => "one of the choices",
            Self::Several { .. } => "some of the choices",
        }
    }
}

impl TextFormat {
    /// The word of the protocol.
    const fn word(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    fn check(self, text: &str) -> Result<(), String> {
        let digits = |form: &str| {
            text.len() >= form.len()
                && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                    b'0' => byte.is_ascii_digit(),
                    form => byte == form,
                })
        };
        let (fits, noun) = match self {
            Self::Email => {
                let parts = text.split_once('@').filter(|_| !text.contains(char::is_whitespace));
                let fits =
                    parts.is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'));
                (fits, "an e-mail address")
            }
            Self::Uri => (reqwest::Url::parse(text).is_ok(), "a URI"),
            Self::Date => (digits("0000-00-00") && text.len() == 10, "a date as 2026-01-31"),
            Self::DateTime => (digits("0000-00-00T00:00:00") && text.len() > 19, "a time as 2026-01-31T23:59:00Z"),
        };
        if fits { Ok(()) } else { Err(format!("it has to be {noun}")) }
    }
}

/// A bound of whole numbers without a fraction, as some readers want it.
#[expect(clippy::cast_possible_truncation, reason = "it saturates, and beyond that no number is whole")]
fn whole(bound: Option<f64>) -> Option<i64> {
    bound.map(|bound| bound as i64)
}

fn within(count: u64, min: Option<u64>, max: Option<u64>, noun: &str) -> Result<(), String> {
    match (min, max) {
        (Some(min), _) if count < min => Err(format!("it has to have {min} {noun} at least")),
        (_, Some(max)) if count > max => Err(format!("it has to have {max} {noun} at most")),
        _ => Ok(()),
    }
}

fn is_among(choices: &[Choice], text: &str) -> Result<(), String> {
    let is_there = choices.iter().any(|choice| choice.value == text);
    if is_there { Ok(()) } else { Err("it has to be one of the choices".to_owned()) }
}

/// The value of what was typed: as it is, as it is called, or by its number among them.
fn chosen(choices: &[Choice], text: &str) -> Result<String, String> {
    let exact = choices.iter().find(|choice| choice.value == text);
    let called = || choices.iter().find(|choice| choice.title.to_lowercase() == text.to_lowercase());
    let numbered = || choices.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    let found = exact.or_else(called).or_else(numbered);
    found.map(|choice| choice.value.clone()).ok_or_else(|| format!("a number from 1 to {}", choices.len()))
}

/// What can be chosen: plain values (`enum`), perhaps with names, or values with titles.
fn choices(schema: &Value, titled: &str, clean: &dyn Fn(&str) -> String) -> Result<Vec<Choice>, String> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names = list("enumNames");
    let plain = list("enum").iter().enumerate().map(|(at, value)| (Some(value), names.get(at)));
    let titled = list(titled).iter().map(|choice| (choice.get("const"), choice.get("title")));
    let all = plain.chain(titled).map(|(value, title)| {
        let value = value.and_then(Value::as_str).ok_or("a choice is no text")?;
        if value.len() > NAME_LIMIT_BYTES || clean(value) != value {
            return Err("a choice is too long, or has a secret in it".to_owned());
        }
        let title = beginning(&clean(title.and_then(Value::as_str).unwrap_or(value)), NAME_LIMIT_BYTES);
        Ok(Choice { value: value.to_owned(), title })
    });
    let all: Vec<Choice> = all.take(MOST_CHOICES + 1).collect::<Result<_, String>>()?;
    match all.len() {
        0 => Err("there is nothing to choose from".to_owned()),
        count if count > MOST_CHOICES => Err(format!("it has more than {MOST_CHOICES} choices")),
        _ => Ok(all),
    }
}

const NAME_LIMIT_BYTES: usize = 200;
const WORDS_LIMIT_BYTES: usize = 1_000;
const MOST_CHOICES: usize = 100;

/// Of the text that a server proposes.
const MOST_DEFAULT_BYTES: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_written_as_it_was_read() {
        for schema in [
            json!({"type": "string", "title": "T", "description": "d", "minLength": 1, "maxLength": 9, "format": "email"}),
            json!({"type": "integer", "title": "T", "minimum": 1, "maximum": 9, "default": 3}),
            json!({"type": "number", "title": "T", "minimum": 0.5}),
            json!({"type": "boolean", "title": "T", "default": false}),
            json!({"type": "string", "title": "T", "oneOf": [{"const": "a", "title": "A"}], "default": "a"}),
            json!({"type": "array", "title": "T", "maxItems": 1, "items": {"anyOf": [{"const": "a", "title": "A"}]}}),
        ] {
            assert_eq!(field(&schema).schema(), schema);
        }
    }

    fn field(schema: &Value) -> Field {
        Field::of("f", schema, false, &|text| text.to_owned()).unwrap()
    }

    #[test]
    fn what_is_typed_is_a_value_of_its_kind() {
        let colours =
            json!({"type": "string", "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "2", "title": "Two"}]});
        let several = json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b", "c"]}});
        let named = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]});
        for (schema, text, value) in [
            (json!({"type": "string"}), " x y ", json!("x y")),
            (json!({"type": "integer", "minimum": 1}), "7", json!(7)),
            (json!({"type": "number"}), "1,5", json!(1.5)),
            (json!({"type": "boolean"}), "Y", json!(true)),
            (json!({"type": "boolean"}), "no", json!(false)),
            (colours.clone(), "red", json!("#f00")),
            // A value before a number.
            (colours.clone(), "2", json!("2")),
            (colours.clone(), "1", json!("#f00")),
            (named, "green", json!("g")),
            (several.clone(), "1, c", json!(["a", "c"])),
            (json!({"type": "string", "format": "email"}), "a@b.c", json!("a@b.c")),
            (json!({"type": "string", "format": "date"}), "2026-01-31", json!("2026-01-31")),
            (json!({"type": "string", "format": "date-time"}), "2026-01-31T10:00:00Z", json!("2026-01-31T10:00:00Z")),
            (json!({"type": "string", "format": "uri"}), "https://e.com", json!("https://e.com")),
        ] {
            assert_eq!(field(&schema).typed(text).unwrap(), Some(value), "{schema} {text}");
        }
        for (schema, text, said) in [
            (json!({"type": "string", "minLength": 3}), "ab", "3 letters at least"),
            (json!({"type": "string", "maxLength": 3}), "öööö", "3 letters at most"),
            (json!({"type": "integer"}), "1.5", "a whole number"),
            (json!({"type": "integer", "maximum": 5}), "6", "5 at most"),
            (json!({"type": "number"}), "NaN", "a number"),
            (json!({"type": "boolean"}), "maybe", "y or n"),
            (colours, "3", "a number from 1 to 2"),
            (several.clone(), "a,b,c", "2 choices at most"),
            (several.clone(), "a,a", "there twice"),
            (several, ",", "1 choices at least"),
            (json!({"type": "string", "format": "email"}), "a b@c", "an e-mail address"),
            (json!({"type": "string", "format": "date"}), "31.1.2026", "a date"),
            (json!({"type": "string", "format": "uri"}), "here", "a URI"),
        ] {
            let why = field(&schema).typed(text).unwrap_err();
            assert!(why.contains(said), "{schema} {text}: {why}");
        }
    }

    #[test]
    fn nothing_typed_is_the_default_or_nothing_where_nothing_is_needed() {
        let with = |schema: Value, needed| Field::of("f", &schema, needed, &|text| text.to_owned()).unwrap().typed("");
        assert_eq!(with(json!({"type": "string", "default": "d"}), true), Ok(Some(json!("d"))));
        assert_eq!(with(json!({"type": "string"}), false), Ok(None));
        assert_eq!(with(json!({"type": "string"}), true), Err("an answer is needed".to_owned()));
        let long = "d".repeat(1_001);
        assert_eq!(with(json!({"type": "string", "default": long}), false), Ok(None));
        // A default that does not fit is none.
        assert_eq!(with(json!({"type": "integer", "maximum": 3, "default": 9}), false), Ok(None));
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        let clean = |text: &str| text.replace("s3cr3t", "[redacted]");
        let many: Vec<String> = (0..200).map(|n| n.to_string()).collect();
        for (name, schema) in [
            ("", json!({"type": "string"})),
            ("s3cr3t", json!({"type": "string"})),
            ("f", json!({"type": "object"})),
            ("f", json!({"type": "string", "enum": []})),
            ("f", json!({"type": "string", "enum": [1]})),
            ("f", json!({"type": "string", "enum": ["s3cr3t"]})),
            ("f", json!({"type": "string", "enum": many})),
            ("f", json!({"type": "array", "items": {"type": "string"}})),
        ] {
            assert!(Field::of(name, &schema, false, &clean).is_err(), "{name} {schema}");
        }
        let told = Field::of("f", &json!({"type": "string", "title": "s3cr3t"}), false, &clean).unwrap();
        assert_eq!(told.title, "[redacted]");
    }
}
