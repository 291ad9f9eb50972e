//! `configure.delimiters`: a name or a map, read by hand so that a mistake in either
//! form is reported where it stands.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::model::Delimiters;

/// The delimiters as written in `infra.yaml`.
#[derive(Debug, Default)]
pub struct DelimitersConfig(pub Delimiters);

/// The long form: start and end of each.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CustomDelimiters {
    /// Around statements.
    block: (String, String),
    /// Around values.
    variable: (String, String),
    /// Around comments.
    comment: (String, String),
}

impl<'de> Deserialize<'de> for DelimitersConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelimitersVisitor).map(Self)
    }
}

struct DelimitersVisitor;

impl<'de> Visitor<'de> for DelimitersVisitor {
    type Value = Delimiters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`hash`, `jinja` or a map of block, variable and comment")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Delimiters, E> {
        match name {
            // `seed` is what earlier versions called it.
            "hash" | "seed" => Ok(Delimiters::Hash),
            "jinja" => Ok(Delimiters::Jinja),
            _ => Err(E::unknown_variant(name, &["hash", "jinja"])),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<Delimiters, E> {
        Ok(Delimiters::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Delimiters, A::Error> {
        let CustomDelimiters { block, variable, comment } =
            Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Delimiters::Custom { block, variable, comment })
    }
}

impl JsonSchema for DelimitersConfig {
    fn schema_name() -> Cow<'static, str> {
        "Delimiters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let custom = generator.subschema_for::<CustomDelimiters>();
        json_schema!({"oneOf": [{"type": "string", "enum": ["hash", "jinja"]}, custom]})
    }
}
