//! The quick way from a line to its record.
//!
//! It reads what this program writes, and nothing else that is JSON: no white space, no escapes in names, whole numbers, no values of
//! unknown shape. At the first thing that it does not know it gives up, and the line is read again in the usual way, which also finds the words
//! for what is wrong. So the one thing that matters here is that what it does read is what would have been read.
//!
//! The shape of a record stands where it always does, with the types; this is one more format for `serde` to read them from.

use super::Record;
use alloc::borrow::Cow;
use alloc::string::String;
use core::iter::Enumerate;
use core::{fmt, slice};
use serde::de::value::U64Deserializer;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// The record of a line, with or without its end, or nothing when the line is unusual.
pub(super) fn read(line: &str) -> Option<Record> {
    let mut reader = Reader { rest: line };
    let record = Record::deserialize(&mut reader).ok()?;
    matches!(reader.rest, "" | "\n").then_some(record)
}

/// What is left of a text.
struct Reader<'de> {
    rest: &'de str,
}

/// Something that is this program does not write it this way.
#[derive(Debug)]
struct Unusual;

impl<'de> Reader<'de> {
    /// Takes this if it comes next.
    fn has(&mut self, expected: &str) -> bool {
        let behind = self.rest.strip_prefix(expected);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// Takes this character of ASCII if it comes next.
    fn has_byte(&mut self, expected: u8) -> bool {
        if self.rest.as_bytes().first() != Some(&expected) {
            return false;
        }
        self.skip(1).is_ok()
    }

    fn take_byte(&mut self, expected: u8) -> Result<(), Unusual> {
        if self.has_byte(expected) { Ok(()) } else { Err(Unusual) }
    }

    /// Goes on behind so many bytes.
    fn skip(&mut self, bytes: usize) -> Result<&'de str, Unusual> {
        let (skipped, rest) = self.rest.split_at_checked(bytes).ok_or(Unusual)?;
        self.rest = rest;
        Ok(skipped)
    }

    /// A whole number of at most 19 digits, which always fits.
    fn number(&mut self) -> Result<u64, Unusual> {
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let digits = self.rest.as_bytes().iter().take_while(is_digit).count();
        let is_usual = digits == 1 || (2..=19).contains(&digits) && !self.rest.starts_with('0');
        let digits = self.skip(if is_usual { digits } else { return Err(Unusual) })?;
        Ok(digits.bytes().fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0')))
    }

    /// A text without escapes: a name.
    fn name(&mut self) -> Result<&'de str, Unusual> {
        self.take_byte(b'"')?;
        match self.run()? {
            (name, b'"') => Ok(name),
            _ => Err(Unusual),
        }
    }

    /// A text; a copy only when something in it is escaped.
    fn string(&mut self) -> Result<Cow<'de, str>, Unusual> {
        self.take_byte(b'"')?;
        match self.run()? {
            (text, b'"') => Ok(Cow::Borrowed(text)),
            (text, _) => self.unescaped(text).map(Cow::Owned),
        }
    }

    /// What comes before the next quote or backslash, and which of them it is. Both are taken.
    fn run(&mut self) -> Result<(&'de str, u8), Unusual> {
        let run = self.skip(first_special(self.rest.as_bytes()).ok_or(Unusual)?)?;
        match self.rest.as_bytes().first() {
            Some(special @ (b'"' | b'\\')) => {
                self.skip(1)?;
                Ok((run, *special))
            }
            // A control character has to be escaped.
            Some(_) | None => Err(Unusual),
        }
    }

    /// The text that begins so and goes on behind a backslash.
    fn unescaped(&mut self, start: &str) -> Result<String, Unusual> {
        let mut out = String::with_capacity(start.len() + self.escaped_length());
        out.push_str(start);
        loop {
            out.push(self.escape()?);
            let (run, special) = self.run()?;
            out.push_str(run);
            if special == b'"' {
                return Ok(out);
            }
        }
    }

    /// Bytes up to the closing quote: the text without its escapes is a little shorter.
    fn escaped_length(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let mut at = 1;
        while let Some(length) = bytes.get(at..).and_then(first_special) {
            at += length;
            match bytes.get(at) {
                Some(b'\\') => at += 2,
                _ => break,
            }
        }
        at
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Result<char, Unusual> {
        Ok(match self.skip(1)? {
            "\"" => '"',
            "\\" => '\\',
            "/" => '/',
            "n" => '\n',
            "t" => '\t',
            "r" => '\r',
            "b" => '\u{8}',
            "f" => '\u{c}',
            "u" => {
                let digits = self.skip(4)?;
                let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex);
                // Half of a pair is no character.
                code.and_then(char::from_u32).ok_or(Unusual)?
            }
            _ => return Err(Unusual),
        })
    }
}

/// Where the first quote, backslash or control character stands. Eight bytes at a time: a subtraction borrows into the highest bit of a byte that
/// was too small, and what it borrows from the bytes behind does not matter for the first.
fn first_special(bytes: &[u8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let is_zero = |word: u64| word.wrapping_sub(EACH) & !word;
    let mut at = 0;
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let controls = word.wrapping_sub(EACH * 0x20) & !word;
        let quotes = is_zero(word ^ (EACH * b'"' as u64)) | is_zero(word ^ (EACH * b'\\' as u64));
        let found = (controls | quotes) & (EACH << 7);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        (at, rest) = (at + 8, behind);
    }
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..0x20)).map(|last| at + last)
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Unusual;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        match self.has("true") {
            true => visitor.visit_bool(true),
            false if self.has("false") => visitor.visit_bool(false),
            false => Err(Unusual),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let number = self.number()?;
        visitor.visit_u64(number)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_u64(visitor)
    }

    /// A check's exit code, for one.
    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let is_negative = self.has_byte(b'-');
        match i64::try_from(self.number()?) {
            Ok(number) if !is_negative => visitor.visit_i64(number),
            Ok(number @ 1..) => visitor.visit_i64(-number),
            Ok(_) | Err(_) => Err(Unusual),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        match self.string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        let name = self.name()?;
        visitor.visit_borrowed_str(name)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        if self.has("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        self.take_byte(b'{')?;
        let mut list =
            List { reader: self, fields: fields.iter().enumerate(), end: b'}', is_begun: false, is_ended: false };
        let value = visitor.visit_map(&mut list)?;
        list.ended(value)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.take_byte(b'[')?;
        let mut list =
            List { reader: self, fields: [].iter().enumerate(), end: b']', is_begun: false, is_ended: false };
        let value = visitor.visit_seq(&mut list)?;
        list.ended(value)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        if !self.has_byte(b'{') {
            return visitor.visit_enum(Word(self));
        }
        let value = visitor.visit_enum(Tagged(self))?;
        self.take_byte(b'}')?;
        Ok(value)
    }

    forward_to_deserialize_any! {
        i8 i16 i64 i128 u8 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map ignored_any
    }
}

/// The members of an object or the items of a list.
struct List<'a, 'de> {
    reader: &'a mut Reader<'de>,
    /// Names that may come, in the order in which they are written.
    fields: Enumerate<slice::Iter<'static, &'static str>>,
    end: u8,
    is_begun: bool,
    is_ended: bool,
}

impl List<'_, '_> {
    /// Whether there is another one; takes the comma before it, or the end.
    fn has_next(&mut self) -> Result<bool, Unusual> {
        if self.reader.has_byte(self.end) {
            self.is_ended = true;
            return Ok(false);
        }
        if self.is_begun {
            self.reader.take_byte(b',')?;
        }
        self.is_begun = true;
        Ok(true)
    }

    /// The place of the name that was expected, if it is the one that comes; takes it with the colon. To compare is quicker than to look
    /// for its end, and a place is found quicker than a name.
    fn expected_name(&mut self) -> Option<u64> {
        let (place, name) = self.fields.next()?;
        let behind = self.reader.rest.strip_prefix('"')?.strip_prefix(name)?.strip_prefix("\":")?;
        self.reader.rest = behind;
        Some(place as u64)
    }

    fn ended<T>(self, value: T) -> Result<T, Unusual> {
        if self.is_ended { Ok(value) } else { Err(Unusual) }
    }
}

impl<'de> MapAccess<'de> for &mut List<'_, 'de> {
    type Error = Unusual;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unusual> {
        if !self.has_next()? {
            return Ok(None);
        }
        if let Some(place) = self.expected_name() {
            return seed.deserialize(U64Deserializer::new(place)).map(Some);
        }
        let key = seed.deserialize(&mut *self.reader)?;
        self.reader.take_byte(b':')?;
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unusual> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> SeqAccess<'de> for &mut List<'_, 'de> {
    type Error = Unusual;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unusual> {
        if self.has_next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

/// A variant without data: its name.
struct Word<'a, 'de>(&'a mut Reader<'de>);

impl<'de> EnumAccess<'de> for Word<'_, 'de> {
    type Error = Unusual;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Unusual> {
        Ok((seed.deserialize(&mut *self.0)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'_, 'de> {
    type Error = Unusual;

    fn unit_variant(self) -> Result<(), Unusual> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, Unusual> {
        Err(Unusual)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }
}

/// A variant with data: an object whose one member has its name.
struct Tagged<'a, 'de>(&'a mut Reader<'de>);

impl<'de> EnumAccess<'de> for Tagged<'_, 'de> {
    type Error = Unusual;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Unusual> {
        let variant = seed.deserialize(&mut *self.0)?;
        self.0.take_byte(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Tagged<'_, 'de> {
    type Error = Unusual;

    fn unit_variant(self) -> Result<(), Unusual> {
        Err(Unusual)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unusual> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Unusual> {
        self.0.deserialize_struct("", fields, visitor)
    }
}

impl fmt::Display for Unusual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this program does not write it this way")
    }
}

impl core::error::Error for Unusual {}

/// Nobody reads the words: those of the usual way count.
impl de::Error for Unusual {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests;
