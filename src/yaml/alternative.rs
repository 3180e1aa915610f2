//! Enums written as a word (`always`) or as a mapping with one key (`paths: […]`).
//!
//! Read by the YAML parser itself, a bare word for an alternative that needs a value would take the
//! next item of the list or the next key as that value: `[runtime, argument]` was one binding. So the
//! shape is read first and the derived code gets exactly that much.

/// Implements `Deserialize` for enums that derive it with `#[serde(remote = "Self")]`.
macro_rules! alternatives {
    ($($name:ident),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::{Error, IgnoredAny, IntoDeserializer, MapAccess, Visitor, value::MapAccessDeserializer};

                struct Shape;
                impl<'de> Visitor<'de> for Shape {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a word or a mapping with one key")
                    }

                    fn visit_str<E: Error>(self, word: &str) -> Result<$name, E> {
                        // The inherent function that `remote` derives, not this one.
                        $name::deserialize(word.into_deserializer())
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let value = $name::deserialize(MapAccessDeserializer::new(&mut map))?;
                        match map.next_key::<IgnoredAny>()? {
                            Some(_) => Err(A::Error::custom("only one of these keys can be given")),
                            None => Ok(value),
                        }
                    }
                }
                deserializer.deserialize_any(Shape)
            }
        }
    )+};
}
pub(crate) use alternatives;
