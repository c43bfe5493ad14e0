//! What a server asks of a person in the middle of a call (elicitation): values for named fields, or to go to an address.
//!
//! 1. What the server says is text of others: bounded here, and without the secrets that are known; who shows it spells it out.
//! 2. A question has one answer. It is withdrawn when its call ends, and one that is dropped without an answer is dismissed.
//! 3. What is sent fits the fields that were shown, and nothing else is sent.

mod field;

pub use field::{Choice, Field, FieldKind, TextFormat};

use crate::text::beginning;
use core::task::{Context, Poll};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

/// A question of a server to a person.
#[derive(Debug)]
pub struct Question {
    /// The server's name in the configuration.
    pub server: String,
    /// In the middle of what it asks: the full name of a tool, `@server:uri` of a resource, `/server:prompt` of a prompt.
    pub call: String,
    /// What the server says; its words.
    pub message: String,
    /// What it wants.
    pub wants: Wants,
    answer: oneshot::Sender<Reply>,
}

/// What a server wants of a person.
#[derive(Clone, Debug, PartialEq)]
pub enum Wants {
    /// Values, in the order of the server.
    Form(Vec<Field>),
    /// That the person goes to this address, which begins with `https://` or `http://` and has no letter that is not ASCII. What is done
    /// there stays between the person and the server.
    Visit(String),
}

/// What a person says to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// These values; none where an address was shown.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// Neither: it was dismissed.
    Cancel,
}

impl Reply {
    /// The reply as the protocol has it.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Accept(content) if content.is_empty() => serde_json::json!({"action": "accept"}),
            Self::Accept(content) => serde_json::json!({"action": "accept", "content": content}),
            Self::Decline => serde_json::json!({"action": "decline"}),
            Self::Cancel => serde_json::json!({"action": "cancel"}),
        }
    }
}

impl Question {
    pub(crate) fn new(server: &str, call: String, ask: Ask) -> (Self, oneshot::Receiver<Reply>) {
        let (answer, answered) = oneshot::channel();
        let Ask { message, wants } = ask;
        (Self { server: server.to_owned(), call, message, wants, answer }, answered)
    }

    /// Answers it. One that was withdrawn needs no answer.
    pub fn answer(self, reply: Reply) {
        let _ = self.answer.send(reply);
    }

    /// Whether its call has ended, or the server does not ask any more.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.answer.is_closed()
    }

    /// Resolves when it is withdrawn.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }

    /// The same for who waits with several.
    pub fn poll_withdrawn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.answer.poll_closed(context)
    }

    /// The values that it wants as a JSON schema of an object, for programs that ask in its place; none where it wants none.
    #[must_use]
    pub fn schema(&self) -> Option<Value> {
        let Wants::Form(fields) = &self.wants else { return None };
        let properties: Map<String, Value> = fields.iter().map(|field| (field.name.clone(), field.schema())).collect();
        let needed: Vec<&str> = fields.iter().filter(|field| field.is_needed).map(|field| &*field.name).collect();
        Some(serde_json::json!({"type": "object", "properties": properties, "required": needed}))
    }

    /// The values as they are sent: what has a default and is not said has it.
    ///
    /// # Errors
    /// Which value does not fit its field, is needed, or is not asked for.
    pub fn checked(&self, mut values: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let Wants::Form(fields) = &self.wants else {
            return if values.is_empty() { Ok(values) } else { Err("the server asks for no values".to_owned()) };
        };
        let mut checked = Map::new();
        for field in fields {
            let value = values.remove(&field.name).filter(|value| !value.is_null()).or_else(|| field.default.clone());
            match value {
                Some(value) => {
                    field.check(&value).map_err(|why| format!("`{}`: {why}", field.name))?;
                    checked.insert(field.name.clone(), value);
                }
                None if field.is_needed => return Err(format!("`{}` is needed", field.name)),
                None => {}
            }
        }
        match values.keys().next() {
            Some(unknown) => Err(format!("`{unknown}` is not asked for")),
            None => Ok(checked),
        }
    }

    /// Whether it seems to ask for something that the protocol forbids servers to ask for in this way: passwords, keys, tokens. Only by
    /// the words of the server, which may be other ones.
    #[must_use]
    pub fn seems_to_want_secrets(&self) -> bool {
        let Wants::Form(fields) = &self.wants else { return false };
        let words = |field: &Field| [&field.name, &field.title, &field.description].map(|text| is_of_secret(text));
        is_of_secret(&self.message) || fields.iter().any(|field| words(field).contains(&true))
    }
}

/// Whether a text names something secret.
fn is_of_secret(text: &str) -> bool {
    let text: String = text.to_lowercase().chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect();
    SECRETS.iter().any(|word| text.contains(word))
}

/// In small letters, without what may stand between two words.
const SECRETS: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "creditcard",
    "cardnumber",
    "cvv",
    "onetimecode",
    "pincode",
];

/// What is asked, before it is a question to somebody.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ask {
    pub(crate) message: String,
    pub(crate) wants: Wants,
}

impl Ask {
    /// A form. `clean` takes out of the server's words what is not to be shown.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub(crate) fn form<'a>(
        message: &str,
        properties: impl Iterator<Item = (&'a str, Value)>,
        needed: &[String],
        clean: &dyn Fn(&str) -> String,
    ) -> Result<Self, String> {
        let mut fields = Vec::new();
        for (name, schema) in properties {
            if fields.len() == MOST_FIELDS {
                return Err(format!("it asks for more than {MOST_FIELDS} values at once"));
            }
            let is_needed = needed.iter().any(|needed| needed == name);
            fields.push(Field::of(name, &schema, is_needed, clean)?);
        }
        Ok(Self { message: beginning(&clean(message), MESSAGE_LIMIT_BYTES), wants: Wants::Form(fields) })
    }

    /// An address to go to.
    ///
    /// # Errors
    /// Why it cannot be asked.
    pub(crate) fn visit(message: &str, address: &str, clean: &dyn Fn(&str) -> String) -> Result<Self, String> {
        let url = reqwest::Url::parse(address).map_err(|error| format!("the address to go to is none: {error}"))?;
        if !matches!(url.scheme(), "https" | "http") || !url.has_host() {
            return Err("the address to go to is not one of the web".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address to go to names a user, which hides whose it is".to_owned());
        }
        let url = url.to_string();
        if url.len() > ADDRESS_LIMIT_BYTES || !url.is_ascii() || clean(&url) != url {
            return Err("the address to go to is too long, or has a secret in it".to_owned());
        }
        Ok(Self { message: beginning(&clean(message), MESSAGE_LIMIT_BYTES), wants: Wants::Visit(url) })
    }
}

const MOST_FIELDS: usize = 32;
const MESSAGE_LIMIT_BYTES: usize = 4_000;
const ADDRESS_LIMIT_BYTES: usize = 4_000;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn as_it_is(text: &str) -> String {
        text.to_owned()
    }

    fn question(properties: &Value, needed: &[&str]) -> Result<Question, String> {
        let properties = properties.as_object().unwrap();
        let needed: Vec<String> = needed.iter().map(|name| (*name).to_owned()).collect();
        let all = properties.iter().map(|(name, schema)| (name.as_str(), schema.clone()));
        Ok(Question::new("s", "c".to_owned(), Ask::form("m", all, &needed, &as_it_is)?).0)
    }

    #[test]
    fn only_what_is_asked_for_is_sent_with_defaults_for_the_rest() {
        let properties =
            json!({"a": {"type": "string"}, "b": {"type": "integer", "default": 3}, "c": {"type": "boolean"}});
        let asked = question(&properties, &["a"]).unwrap();
        let checked = |values: Value| asked.checked(values.as_object().unwrap().clone()).map(Value::Object);
        assert_eq!(checked(json!({"a": "x"})).unwrap(), json!({"a": "x", "b": 3}));
        assert_eq!(checked(json!({"a": "x", "b": null, "c": true})).unwrap(), json!({"a": "x", "b": 3, "c": true}));
        assert_eq!(checked(json!({"b": 1})).unwrap_err(), "`a` is needed");
        assert_eq!(checked(json!({"a": "x", "d": 1})).unwrap_err(), "`d` is not asked for");
        assert!(checked(json!({"a": 1})).unwrap_err().starts_with("`a`: "));
    }

    #[test]
    fn what_sounds_like_a_secret_is_noticed() {
        let wants = |name: &str, title: &str| {
            question(&json!({name: {"type": "string", "title": title}}), &[]).unwrap().seems_to_want_secrets()
        };
        assert!(wants("pass_word", "x") && wants("a", "Your API key") && wants("accessToken", "x"));
        assert!(!wants("name", "Your name") && !wants("city", "Where you live"));
    }

    #[test]
    fn addresses_are_of_the_web_and_hide_nothing() {
        let visit = |address: &str| Ask::visit("m", address, &as_it_is).map(|ask| ask.wants);
        assert_eq!(visit("https://example.com/a?b=c").unwrap(), Wants::Visit("https://example.com/a?b=c".to_owned()));
        // A name in other letters is shown as what is asked for.
        let Wants::Visit(shown) = visit("https://exаmple.com/").unwrap() else { panic!() };
        assert!(shown.starts_with("https://xn--"), "{shown}");
        for bad in ["javascript:alert(1)", "file:///etc/passwd", "https://bank.com@evil.com/", "x", "data:text/html,x"]
        {
            assert!(visit(bad).is_err(), "{bad}");
        }
        let secret = |text: &str| text.replace("s3cr3t", "[redacted]");
        assert!(Ask::visit("m", "https://e.com/s3cr3t", &secret).is_err());
        assert_eq!(Ask::visit("s3cr3t", "https://e.com/", &secret).unwrap().message, "[redacted]");
    }

    #[test]
    fn a_flood_is_not_asked() {
        let many: Map<String, Value> = (0..40).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
        assert!(question(&Value::Object(many), &[]).unwrap_err().contains("more than 32"));
    }
}
