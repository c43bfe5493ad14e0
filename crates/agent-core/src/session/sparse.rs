//! A value that is the default one nearly always: it takes room only while it is another.

use alloc::boxed::Box;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serialised as the value itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sparse<T>(Option<Box<T>>);

impl<T: Default + PartialEq> Sparse<T> {
    /// The value, unless it is the default one.
    pub(super) const fn get(&self) -> Option<&T> {
        match &self.0 {
            Some(value) => Some(value),
            None => None,
        }
    }

    /// Takes the value out and leaves the default one.
    pub(super) fn take(&mut self) -> T {
        self.0.take().map(|value| *value).unwrap_or_default()
    }

    /// Whether it is the default one.
    pub(super) const fn is_default(&self) -> bool {
        self.0.is_none()
    }

    /// Changes the value.
    pub(super) fn change(&mut self, how: impl FnOnce(&mut T)) {
        let mut value = self.0.take().unwrap_or_default();
        how(&mut value);
        self.0 = Some(value).filter(|value| **value != T::default());
    }
}

impl<T: Default + Serialize> Serialize for Sparse<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => T::default().serialize(serializer),
        }
    }
}

impl<'de, T: Default + PartialEq + Deserialize<'de>> Deserialize<'de> for Sparse<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        let mut rare = Self(None);
        rare.change(|place| *place = value);
        Ok(rare)
    }
}

#[cfg(test)]
mod tests {
    use super::Sparse;
    use alloc::string::ToString;

    #[test]
    fn the_default_value_takes_no_room_and_is_kept_as_itself() {
        let mut number = Sparse::<u32>::default();
        for value in [0, 7, 8, 0] {
            number.change(|place| *place = value);
            assert_eq!(number.get(), (value != 0).then_some(&value));
            let kept = serde_json::to_string(&number).unwrap();
            assert_eq!(kept, value.to_string());
            assert_eq!(serde_json::from_str::<Sparse<u32>>(&kept).unwrap(), number);
        }
    }
}
