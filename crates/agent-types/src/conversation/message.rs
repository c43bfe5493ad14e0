//! A message of the user: a text, and what belongs to it. Or one that the agent itself puts among them.

use super::Attachment;
use crate::picture::Picture;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the user said. Where it has nothing but a text it is written as that alone, as every message was at first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserMessage {
    /// The text, as it was typed.
    pub text: String,
    /// The files whose texts go with it. They are not the user's own words.
    pub attached: Box<[Attachment]>,
    /// Whose words the text is.
    pub author: Author,
    /// The pictures, in the order in which they were given.
    pub pictures: Box<[Picture]>,
}

/// Whose words a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The user's, or what stands for the user.
    #[default]
    User,
    /// The agent's own, which tells the model something.
    Agent,
}

impl UserMessage {
    /// What a model reads between the text and the files that go with it.
    pub const ATTACHED: &str = "\n\n[The user attached these files:]\n";

    /// A message with pictures.
    pub fn new(text: impl Into<String>, pictures: Vec<Picture>) -> Self {
        Self { pictures: pictures.into(), ..Self::from(text) }
    }

    /// A message of the agent's own.
    pub fn of_agent(text: impl Into<String>) -> Self {
        Self { author: Author::Agent, ..Self::from(text) }
    }

    /// All of its text, as a model reads it.
    #[must_use]
    pub fn whole(&self) -> Cow<'_, str> {
        if self.attached.is_empty() {
            return Cow::Borrowed(&self.text);
        }
        let mut whole = self.text.clone();
        whole.push_str(Self::ATTACHED);
        self.attached.iter().for_each(|file| whole.push_str(&file.framed()));
        Cow::Owned(whole)
    }

    const fn is_text_alone(&self) -> bool {
        self.pictures.is_empty() && self.attached.is_empty() && matches!(self.author, Author::User)
    }

    /// Its size in estimates: that of the texts, and what the pictures are worth.
    #[must_use]
    pub fn weight(&self) -> u64 {
        let attached: u64 = self.attached.iter().map(Attachment::weight).sum();
        self.text.len() as u64 + attached + self.pictures.iter().map(Picture::weight).sum::<u64>()
    }
}

impl Deref for UserMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Its text.
impl fmt::Display for UserMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T: Into<String>> From<T> for UserMessage {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl PartialEq<str> for UserMessage {
    fn eq(&self, text: &str) -> bool {
        self.is_text_alone() && self.text == text
    }
}

impl PartialEq<&str> for UserMessage {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

#[derive(Serialize)]
struct WithMoreOut<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    attached: &'a [Attachment],
    #[serde(skip_serializing_if = "is_users")]
    author: Author,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pictures: &'a [Picture],
}

#[derive(Deserialize)]
struct WithMore {
    text: String,
    #[serde(default)]
    attached: Vec<Attachment>,
    #[serde(default)]
    author: Author,
    #[serde(default)]
    pictures: Vec<Picture>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_users(author: &Author) -> bool {
    matches!(author, Author::User)
}

impl Serialize for UserMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_text_alone() {
            return serializer.serialize_str(&self.text);
        }
        let Self { text, attached, author, pictures } = self;
        WithMoreOut { text, attached, author: *author, pictures }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for UserMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = UserMessage;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a text with what belongs to it")
    }

    fn visit_str<E>(self, text: &str) -> Result<UserMessage, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<UserMessage, E> {
        Ok(text.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UserMessage, A::Error> {
        let WithMore { text, attached, author, pictures } = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(UserMessage { text, attached: attached.into(), author, pictures: pictures.into() })
    }
}
