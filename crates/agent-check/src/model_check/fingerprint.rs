//! A value as 128 bits: everything that it serialises, but for what the rules leave out.
//!
//! What is left out is a list of exceptions, so a new field of a machine belongs to its state unless it is listed.

use serde::ser::{self, Serialize};
use std::any::type_name;
use std::fmt::{self, Write as _};

/// Gathers words into 128 bits.
#[derive(Clone, Debug)]
pub(crate) struct Fingerprint {
    low: u64,
    high: u64,
}

/// What of a field belongs to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Nothing.
    Out,
    /// How many there are, or whether there is one.
    Count,
    /// How a text begins.
    Beginning,
    /// How long texts are.
    Sizes,
}

/// What of a field belongs to a state, by the names of its struct (or variant) and its own.
pub(crate) type Rules = fn(of: &str, field: &str) -> Part;

impl Fingerprint {
    pub(crate) const fn new() -> Self {
        Self { low: 0x9E37_79B9_7F4A_7C15, high: 0xC2B2_AE3D_27D4_EB4F }
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.low = folded(self.low ^ word, 0xA076_1D64_78BD_642F);
        self.high = folded(self.high ^ word.rotate_left(32), 0xE703_7ED1_A0B4_28DB) ^ word;
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.word(count as u64);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        for piece in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..piece.len()].copy_from_slice(piece);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    /// Takes a value in, as the rules say.
    pub(crate) fn value<T: Serialize>(&mut self, value: &T, rules: Rules) {
        let path = type_name::<T>();
        let of = path.rsplit("::").next().unwrap_or(path);
        // What is not understood must not merge states.
        let absorbed = value.serialize(Absorb { print: self, rules, of, part: Part::Whole });
        absorbed.unwrap_or_else(|error| panic!("{path}: {error}"));
    }

    pub(crate) fn finish(&self) -> u128 {
        u128::from(folded(self.low, 0x8EBC_6AF0_9C88_C6E3)) << 64 | u128::from(folded(self.high, 0x5899_65CC_7537_4CC3))
    }
}

/// Both halves of a product: every bit of the word reaches every bit of the result.
fn folded(word: u64, by: u64) -> u64 {
    let product = u128::from(word ^ 0x2D35_8DCC_AA6C_78A5) * u128::from(by);
    (product as u64) ^ (product >> 64) as u64
}

/// Writes what is serialised into a fingerprint.
struct Absorb<'a> {
    print: &'a mut Fingerprint,
    rules: Rules,
    /// The struct or variant whose fields come.
    of: &'static str,
    part: Part,
}

/// Bytes of a beginning.
const BEGINNING: usize = 7;

impl Absorb<'_> {
    fn inner<T: Serialize + ?Sized>(&mut self, value: &T, part: Part) -> Result<(), Never> {
        value.serialize(Absorb { print: self.print, rules: self.rules, of: "", part })
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Never> {
        match (self.rules)(self.of, name) {
            Part::Out => Ok(()),
            part => self.inner(value, part),
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        if self.part == Part::Count { Ok(()) } else { self.inner(value, self.part) }
    }
}

macro_rules! words {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Never> {
            self.print.word(value as u64);
            Ok(())
        })*
    };
}

impl<'a> ser::Serializer for Absorb<'a> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    words! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char
    }

    fn serialize_f32(self, _: f32) -> Result<(), Never> {
        Err(Never)
    }

    fn serialize_f64(self, _: f64) -> Result<(), Never> {
        Err(Never)
    }

    fn serialize_str(self, value: &str) -> Result<(), Never> {
        match self.part {
            Part::Beginning => self.print.text(value.get(..BEGINNING).unwrap_or(value)),
            Part::Whole => self.print.text(value),
            Part::Sizes => self.print.count(value.len()),
            Part::Count | Part::Out => {}
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> {
        value.iter().for_each(|byte| self.print.word(u64::from(*byte)));
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Never> {
        self.print.word(0);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), Never> {
        self.print.word(1);
        self.element(value)
    }

    fn serialize_unit(self) -> Result<(), Never> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Never> {
        self.print.word(u64::from(index));
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(mut self, _: &'static str, value: &T) -> Result<(), Never> {
        self.element(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        self.print.word(u64::from(index));
        self.element(value)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Never> {
        self.print.count(length.ok_or(Never)?);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self, Never> {
        self.print.word(u64::from(index));
        Ok(self)
    }

    /// A struct with flattened fields is written as a map. It knows no length; a map does.
    fn serialize_map(self, length: Option<usize>) -> Result<Entries<'a>, Never> {
        let is_struct = !self.of.is_empty();
        if !is_struct {
            self.print.count(length.ok_or(Never)?);
        }
        Ok(Entries { absorb: self, key: String::new(), is_struct })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, Never> {
        Ok(Self { of: name, ..self })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.print.word(u64::from(index));
        Ok(Self { of: variant, ..self })
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident),*) => {
        $(impl ser::$trait for Absorb<'_> {
            type Ok = ();
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                self.element(value)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        })*
    };
}

elements! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}

macro_rules! fields {
    ($($trait:ident),*) => {
        $(impl ser::$trait for Absorb<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Never> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

/// The entries of a map, or of a struct that is written as one.
struct Entries<'a> {
    absorb: Absorb<'a>,
    key: String,
    is_struct: bool,
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.key.clear();
        write!(self.key, "{}", Key(key)).map_err(|_| Never)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        if self.is_struct {
            return self.absorb.field(&self.key, value);
        }
        if self.absorb.part != Part::Count {
            self.absorb.print.text(&self.key);
        }
        self.absorb.element(value)
    }

    fn end(self) -> Result<(), Never> {
        Ok(())
    }
}

/// A key of a map, which is a text.
struct Key<'a, T: ?Sized>(&'a T);

impl<T: Serialize + ?Sized> fmt::Display for Key<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

/// What no machine's state has: floats, and lists or maps of unknown length.
#[derive(Debug)]
struct Never;

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state has no floats, and no lists or maps of unknown length")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    struct Sample {
        kept: Vec<u8>,
        counted: Vec<&'static str>,
        dropped: u64,
        begun: Option<&'static str>,
        sized: Vec<&'static str>,
    }

    fn print(sample: &Sample) -> u128 {
        let mut print = Fingerprint::new();
        print.value(sample, |_, field| match field {
            "counted" => Part::Count,
            "dropped" => Part::Out,
            "begun" => Part::Beginning,
            "sized" => Part::Sizes,
            _ => Part::Whole,
        });
        print.finish()
    }

    #[derive(serde::Serialize)]
    struct Flattened {
        dropped: u64,
        kept: u64,
    }

    #[derive(serde::Serialize)]
    struct Whole {
        #[serde(flatten)]
        part: Flattened,
    }

    #[test]
    fn fields_of_a_flattened_part_are_fields_of_the_whole() {
        let print = |dropped, kept| {
            let mut print = Fingerprint::new();
            print.value(&Whole { part: Flattened { dropped, kept } }, |of, field| match (of, field) {
                ("Whole", "dropped") => Part::Out,
                _ => Part::Whole,
            });
            print.finish()
        };
        assert_eq!(print(1, 1), print(2, 1));
        assert_ne!(print(1, 1), print(1, 2));
    }

    #[test]
    fn the_rules_decide_what_counts() {
        let sample =
            |kept, counted, dropped, begun| print(&Sample { kept, counted, dropped, begun, sized: vec!["ab"] });
        let base = sample(vec![1, 2], vec!["a"], 1, Some("not run: a"));
        assert_eq!(base, sample(vec![1, 2], vec!["b"], 2, Some("not run: b")));
        assert_ne!(base, sample(vec![2, 1], vec!["a"], 1, Some("not run: a")));
        assert_ne!(base, sample(vec![1, 2], vec!["a", "b"], 1, Some("not run: a")));
        assert_ne!(base, sample(vec![1, 2], vec!["a"], 1, Some("done")));
        assert_ne!(base, sample(vec![1, 2], vec!["a"], 1, None));
        let sized = |sized| print(&Sample { kept: vec![], counted: vec![], dropped: 0, begun: None, sized });
        assert_eq!(sized(vec!["ab", "c"]), sized(vec!["xy", "z"]));
        assert_ne!(sized(vec!["ab", "c"]), sized(vec!["a", "bc"]));
    }
}
