//! Reading a shared text from what is serialised: copied once, to where it stays.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use serde::Deserializer;
use serde::de::{Error, Visitor};

/// For `#[serde(deserialize_with = …)]`. What `serde` does by itself copies twice: into a `String`, and from there.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    deserializer.deserialize_str(Text)
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Arc<str>, E> {
        Ok(Arc::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Arc<str>, E> {
        Ok(Arc::from(text))
    }
}

#[cfg(test)]
mod tests {
    use crate::conversation::CallId;
    use alloc::string::ToString;

    #[test]
    fn what_is_no_text_is_refused_with_what_was_expected() {
        let told = serde_json::from_str::<CallId>("1").unwrap_err().to_string();
        assert!(told.starts_with("invalid type: integer `1`, expected a string"), "{told}");
    }
}
