//! The serialised form of an agent's events: those of the session are beside the others, without a name around them.

use super::Event;
use crate::session;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, VariantAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};

const NAME: &str = "Event";
const BOUND: &str = "Bound";
const RELEASED: &str = "Released";
const ATTENDED: &str = "Attended";
/// A session that was resumed, before that was an event of the session. What had been lost follows on it.
const RESUMED: &str = "Resumed";
const LIFECYCLE: &str = "Lifecycle";
const CHILD: &str = "Child";
const ORDERED: &str = "Ordered";
const HELD_BELOW: &str = "HeldBelow";

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bound(config) => serializer.serialize_newtype_variant(NAME, 0, BOUND, config),
            Self::Released => serializer.serialize_unit_variant(NAME, 1, RELEASED),
            Self::Attended => serializer.serialize_unit_variant(NAME, 4, ATTENDED),
            Self::Lifecycle(event) => serializer.serialize_newtype_variant(NAME, 3, LIFECYCLE, event),
            Self::Child { number, event } => serializer.serialize_newtype_variant(NAME, 5, CHILD, &(number, event)),
            Self::Ordered(order) => serializer.serialize_newtype_variant(NAME, 6, ORDERED, order),
            Self::HeldBelow(above) => serializer.serialize_newtype_variant(NAME, 7, HELD_BELOW, above),
            Self::Session(event) => event.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum(
            NAME,
            &[BOUND, RELEASED, ATTENDED, RESUMED, LIFECYCLE, CHILD, ORDERED, HELD_BELOW],
            OfAgent,
        )
    }
}

struct OfAgent;

impl<'de> Visitor<'de> for OfAgent {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event of an agent")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Event, A::Error> {
        let (kind, rest) = access.variant_seed(Name)?;
        match kind {
            Kind::Bound => rest.newtype_variant().map(Event::Bound),
            Kind::Released => rest.unit_variant().map(|()| Event::Released),
            Kind::Attended => rest.unit_variant().map(|()| Event::Attended),
            Kind::Resumed => {
                rest.unit_variant().map(|()| session::Event::SessionResumed { begun: false, calls: Vec::new() }.into())
            }
            Kind::Lifecycle => rest.newtype_variant().map(Event::Lifecycle),
            Kind::Child => {
                rest.newtype_variant().map(|(number, event)| Event::Child { number, event: Box::new(event) })
            }
            Kind::Ordered => rest.newtype_variant().map(Event::Ordered),
            Kind::HeldBelow => rest.newtype_variant().map(Event::HeldBelow),
            Kind::Session(name) => {
                Deserialize::deserialize(OfSession { name: &name, rest, error: PhantomData }).map(Event::Session)
            }
        }
    }
}

/// What the name of a variant says.
enum Kind {
    Bound,
    Released,
    Attended,
    Resumed,
    Lifecycle,
    Child,
    Ordered,
    HeldBelow,
    Session(alloc::string::String),
}

struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Kind;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an event")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Kind, E> {
        Ok(match name {
            BOUND => Kind::Bound,
            RELEASED => Kind::Released,
            ATTENDED => Kind::Attended,
            RESUMED => Kind::Resumed,
            LIFECYCLE => Kind::Lifecycle,
            CHILD => Kind::Child,
            ORDERED => Kind::Ordered,
            HELD_BELOW => Kind::HeldBelow,
            name => Kind::Session(name.into()),
        })
    }
}

/// An event of the session whose name has been read already.
struct OfSession<'a, A, E> {
    name: &'a str,
    rest: A,
    error: PhantomData<E>,
}

impl<'de, A: VariantAccess<'de, Error = E>, E: de::Error> Deserializer<'de> for OfSession<'_, A, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: VariantAccess<'de, Error = E>, E: de::Error> EnumAccess<'de> for OfSession<'_, A, E> {
    type Error = E;
    type Variant = A;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, A), E> {
        let name = StrDeserializer::new(self.name);
        Ok((seed.deserialize(name)?, self.rest))
    }
}
