//! JSON in which each object has each key once. Of two values, one reader takes the first and another the last: what is shown, trusted and
//! used would not be the same.

use crate::text::{beginning, plain};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// Any JSON with each key once; nothing of it is kept.
pub(crate) struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Each)
    }
}

struct Each;

impl<'de> Visitor<'de> for Each {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                let key = beginning(&plain(&key), SHOWN_BYTES);
                return Err(A::Error::custom(format!("the key `{key}` is there twice: leave one")));
            }
            seen.insert(key);
            map.next_value::<Once>()?;
        }
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Once, A::Error> {
        while seq.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_unit<E: Error>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }
}

/// How much of a key is shown.
const SHOWN_BYTES: usize = 100;
