//! A message of the user: a text, and the pictures that belong to it.

use crate::picture::Picture;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What the user said. Without pictures it is written as its text alone, as every message was before there were pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UserMessage {
    /// The text.
    pub text: String,
    /// The pictures, in the order in which they were given.
    pub pictures: Box<[Picture]>,
}

impl UserMessage {
    /// A message with pictures.
    pub fn new(text: impl Into<String>, pictures: Vec<Picture>) -> Self {
        Self { text: text.into(), pictures: pictures.into() }
    }

    /// Its size in estimates: that of the text, and what the pictures are worth.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.text.len() as u64 + self.pictures.iter().map(Picture::weight).sum::<u64>()
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
        Self { text: text.into(), pictures: Box::default() }
    }
}

impl PartialEq<str> for UserMessage {
    fn eq(&self, text: &str) -> bool {
        self.pictures.is_empty() && self.text == text
    }
}

impl PartialEq<&str> for UserMessage {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

#[derive(Serialize)]
struct WithPicturesOut<'a> {
    text: &'a str,
    pictures: &'a [Picture],
}

#[derive(Deserialize)]
struct WithPictures {
    text: String,
    #[serde(default)]
    pictures: Vec<Picture>,
}

impl Serialize for UserMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.pictures.is_empty() {
            return serializer.serialize_str(&self.text);
        }
        WithPicturesOut { text: &self.text, pictures: &self.pictures }.serialize(serializer)
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
        f.write_str("a text, or a text with pictures")
    }

    fn visit_str<E>(self, text: &str) -> Result<UserMessage, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<UserMessage, E> {
        Ok(text.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<UserMessage, A::Error> {
        let WithPictures { text, pictures } = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(UserMessage::new(text, pictures))
    }
}
