//! The serialised machine.

use super::Children;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Children {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function, which is not a method of the trait.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Children {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}
