//! The `stacks:` section: two reserved keys beside patterns. It is read by hand because
//! flattening would lose line and column of every mistake inside.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_saphyr::Spanned;

use super::stack_config::StackConfig;
use crate::model::Layers;

/// `stacks:` as written: where they are, whether numbers order them, settings by pattern.
#[derive(Debug, Default)]
pub struct StacksConfig {
    /// Folders below which stacks are looked for.
    pub roots: Vec<Spanned<String>>,
    /// Whether numeric prefixes order the stacks.
    pub layers: Layers,
    /// Settings by pattern, in the order of the file.
    pub patterns: Vec<(Spanned<String>, StackConfig)>,
}

impl<'de> Deserialize<'de> for StacksConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StacksVisitor)
    }
}

struct StacksVisitor;

impl<'de> Visitor<'de> for StacksVisitor {
    type Value = StacksConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of `roots`, `layers` and patterns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StacksConfig, A::Error> {
        let mut stacks = StacksConfig::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            match key.value.as_str() {
                "roots" => stacks.roots = map.next_value()?,
                "layers" => stacks.layers = map.next_value()?,
                _ => stacks.patterns.push((key, map.next_value()?)),
            }
        }
        Ok(stacks)
    }
}

impl JsonSchema for StacksConfig {
    fn schema_name() -> Cow<'static, str> {
        "Stacks".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let roots = generator.subschema_for::<Vec<String>>();
        let layers = generator.subschema_for::<Layers>();
        let settings = generator.subschema_for::<StackConfig>();
        json_schema!({
            "type": "object",
            "description": "Where stacks are; any other key is a stack id or a glob over ids.",
            "properties": {"roots": roots, "layers": layers},
            "additionalProperties": settings,
        })
    }
}
