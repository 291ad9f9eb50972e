//! Settings that are on or off, and the one that may be a size in their place. `on` and `off`
//! are texts to some readers of YAML and truth values to others; both are taken.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

use crate::model::{Copies, LockFile};

/// `state.lock_file` as written.
#[derive(Debug, Default)]
pub struct LockFileConfig(pub LockFile);

/// `state.copies` as written.
#[derive(Debug, Default)]
pub struct CopiesConfig(pub Copies);

/// What stands there, in whatever form.
enum Written {
    Nothing,
    Switch(bool),
    Size(u64),
}

impl<'de> Deserialize<'de> for LockFileConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = deserializer.deserialize_any(WrittenVisitor { sizes: false })?;
        Ok(Self(match written {
            Written::Switch(false) => LockFile::Off,
            Written::Switch(true) | Written::Nothing | Written::Size(_) => LockFile::On,
        }))
    }
}

impl<'de> Deserialize<'de> for CopiesConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = deserializer.deserialize_any(WrittenVisitor { sizes: true })?;
        Ok(Self(match written {
            Written::Switch(false) => Copies::Off,
            Written::Switch(true) | Written::Nothing => Copies::default(),
            Written::Size(bytes) => Copies::UpTo(bytes),
        }))
    }
}

struct WrittenVisitor {
    sizes: bool,
}

impl Visitor<'_> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.sizes { "`on`, `off` or a size such as `50MiB`" } else { "`on` or `off`" })
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Written, E> {
        Ok(Written::Switch(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Written, E> {
        Ok(Written::Nothing)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        match (text, size(text).filter(|_| self.sizes)) {
            ("on" | "true", _) => Ok(Written::Switch(true)),
            ("off" | "false", _) => Ok(Written::Switch(false)),
            (_, Some(bytes)) => Ok(Written::Size(bytes)),
            _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
    }
}

/// Returns the bytes of a size with its unit: `50MiB`, `1 GiB`.
fn size(text: &str) -> Option<u64> {
    let digits = text.find(|sign: char| !sign.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let bytes = match unit.trim_start() {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(bytes).filter(|size| *size > 0)
}

impl JsonSchema for LockFileConfig {
    fn schema_name() -> Cow<'static, str> {
        "LockFile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": ["on", "off", true, false, null]})
    }
}

impl JsonSchema for CopiesConfig {
    fn schema_name() -> Cow<'static, str> {
        "Copies".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"enum": ["on", "off", true, false, null]},
            {"type": "string", "pattern": "^[0-9]+ ?[KMG]iB$"},
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit_and_fits() {
        assert_eq!(size("50MiB"), Some(50 << 20));
        assert_eq!(size("1 GiB"), Some(1 << 30));
        for text in ["", "50", "MiB", "0MiB", "-1MiB", "1.5MiB", "50MB", "99999999999999999999GiB"] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
