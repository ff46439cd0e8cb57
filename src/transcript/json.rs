//! Fields of any type: the small tolerant readers that entries are put together from.
//!
//! Every field of a transcript may be missing, or of another JSON type than yesterday (transcripts.md §3). So no
//! reader here fails on a type: a string that is an object is "no string". Strings are borrowed from the line
//! where they hold no escape, and whatever is not wanted is read over without being built.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl<'a> Text<'a> {
    /// The string, if it was one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The string, if it was one and is not empty.
    pub fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }

    /// Whether it is this string.
    pub fn is(&self, text: &str) -> bool {
        self.get() == Some(text)
    }
}

/// Any value as true or false, in the way of a scripting language: `false`, `null`, 0 and empty are false.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flag(pub bool);

/// A number that counts something, or nothing. Fractions are cut, negative numbers are nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count(pub Option<u64>);

/// The strings of an array, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts<'a>(pub Vec<Cow<'a, str>>);

/// A visitor method for each scalar that is not wanted.
macro_rules! unwanted {
    ($value:expr; $($kind:ident)*) => { $(unwanted!(@ $value, $kind);)* };
    (@ $value:expr, bool) => { fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok($value) } };
    (@ $value:expr, number) => {
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok($value) }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok($value) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok($value) }
    };
    (@ $value:expr, null) => { fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok($value) } };
    (@ $value:expr, string) => { fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok($value) } };
    (@ $value:expr, array) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
    (@ $value:expr, object) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
}
pub(super) use unwanted;

/// The names of an object's fields that are wanted, as an enum read without building a string.
macro_rules! fields {
    ($name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        enum $name { $($variant,)* Other }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Name;
                impl serde::de::Visitor<'_> for Name {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a field name")
                    }
                    fn visit_str<E>(self, name: &str) -> Result<$name, E> {
                        Ok(match name { $($text => $name::$variant,)* _ => $name::Other })
                    }
                }
                deserializer.deserialize_identifier(Name)
            }
        }
    };
}
pub(super) use fields;

struct AnyText;

impl<'de> Visitor<'de> for AnyText {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    unwanted!(Text(None); bool number null array object);
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyText)
    }
}

struct AnyFlag;

impl<'de> Visitor<'de> for AnyFlag {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Flag, E> {
        Ok(Flag(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Flag, E> {
        Ok(Flag(value != 0))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Flag, E> {
        Ok(Flag(value != 0))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Flag, E> {
        Ok(Flag(value != 0.0))
    }

    fn visit_str<E>(self, text: &str) -> Result<Flag, E> {
        Ok(Flag(!text.is_empty()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Flag, A::Error> {
        let mut filled = false;
        while seq.next_element::<IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(Flag(filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Flag, A::Error> {
        let mut filled = false;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            filled = true;
        }
        Ok(Flag(filled))
    }

    unwanted!(Flag(false); null);
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyFlag)
    }
}

struct AnyCount;

impl<'de> Visitor<'de> for AnyCount {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Count, E> {
        Ok(Count(Some(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Count, E> {
        Ok(Count(u64::try_from(value).ok()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Count, E> {
        Ok(Count((value >= 0.0).then_some(value as u64))) // saturates
    }

    unwanted!(Count(None); bool null string array object);
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyCount)
    }
}

struct AnyTexts;

impl<'de> Visitor<'de> for AnyTexts {
    type Value = Texts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts<'de>, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = seq.next_element::<Text<'de>>()? {
            texts.extend(text.0);
        }
        Ok(Texts(texts))
    }

    unwanted!(Texts(Vec::new()); bool number null string object);
}

impl<'de> Deserialize<'de> for Texts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyTexts)
    }
}
