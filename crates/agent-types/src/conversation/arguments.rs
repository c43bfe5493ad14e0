//! Arguments of a tool call: a JSON object, kept as the text the model wrote.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use serde::de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A complete JSON object, as the model wrote it.
///
/// The text is kept instead of a parsed value: it goes back to the provider byte for byte (prompt caches key on that), and numbers
/// beyond 64 bits survive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Arguments(Arc<str>);

impl Arguments {
    /// Takes the text of a JSON object. Blank text and a null mean an object without members, as models and servers send them for tools
    /// without parameters.
    ///
    /// # Errors
    /// [`ArgumentsError`] when the text is not one complete JSON object.
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        let text = text.trim();
        if text.is_empty() || text == "null" {
            return Ok(Self::empty());
        }
        match serde_json::from_str::<AnyObject>(text) {
            Ok(_) => Ok(Self(Arc::from(text))),
            Err(error) => Err(ArgumentsError { found: error.to_string() }),
        }
    }

    /// The object without members.
    #[must_use]
    pub fn empty() -> Self {
        Self(Arc::from("{}"))
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the arguments into a type.
    ///
    /// # Errors
    /// [`ArgumentsError`] with what `serde_json` missed or could not use, in words that a model can act on.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        serde_json::from_str(&self.0).map_err(|error| ArgumentsError { found: error.to_string() })
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

/// Any object, read to its end and not kept: the parser's own limits on depth, numbers and texts hold, and nothing is allocated.
struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Any("a map")).map(|_| Self)
    }
}

/// Any value, likewise. It says what would have been right in its place.
struct Any(&'static str);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self("any valid JSON value"))
    }
}

impl<'de> Visitor<'de> for Any {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        // A name is read like any text: one that cannot be read would go back as it is, and be refused.
        while members.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// Arguments that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the arguments as a JSON object: {found}")]
#[non_exhaustive]
pub struct ArgumentsError {
    /// The parser's message.
    pub found: String,
}
