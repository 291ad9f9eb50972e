//! An entry of `backend_config`: the name of a file, or settings by name.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::model::BackendConfig;

/// An entry as it stands in `infra.yaml`.
#[derive(Debug)]
pub struct BackendEntry(pub BackendConfig);

impl<'de> Deserialize<'de> for BackendEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = BackendEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a file, or settings such as `{ bucket: states }`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(BackendEntry(BackendConfig::File(text.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let values = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(BackendEntry(BackendConfig::Values(values)))
    }
}

impl JsonSchema for BackendEntry {
    fn schema_name() -> Cow<'static, str> {
        "BackendConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A file of backend settings, relative to the stack, or settings by name.",
            "anyOf": [{ "type": "string" }, { "type": "object" }],
        })
    }
}
