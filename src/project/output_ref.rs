//! `STACK.output` as text, split at the last dot: stack names may contain dots,
//! output names may not.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected};

use crate::model::{OutputRef, StackId};

/// An output of another stack, as written in `infra.yaml`.
#[derive(Debug)]
pub struct OutputRefConfig(pub OutputRef);

impl<'de> Deserialize<'de> for OutputRefConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(output) = parse(&text) else {
            return Err(Error::invalid_value(Unexpected::Str(&text), &"`STACK.output`"));
        };
        Ok(Self(output))
    }
}

/// Splits `STACK.output`; the output must be an identifier.
fn parse(text: &str) -> Option<OutputRef> {
    let (stack, output) = text.rsplit_once('.')?;
    // `..x` and `.x` are the output `x` of the stack `.`, the one that is its own root.
    let stack = if stack.is_empty() { "." } else { stack };
    is_identifier(output).then(|| OutputRef { stack: StackId::new(stack), output: output.to_owned() })
}

/// Returns whether the text is a name that OpenTofu accepts for an output.
fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
}

impl JsonSchema for OutputRefConfig {
    fn schema_name() -> Cow<'static, str> {
        "OutputRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "An output of another stack: `STACK.output`.",
            "pattern": r"^.*\.[^\s.\d][^\s.]*$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Option<(String, String)> {
        parse(text).map(|found| (found.stack.to_string(), found.output))
    }

    #[test]
    fn the_output_follows_the_last_dot() {
        let found = split("01-hypervisors/pve.local.api_token");

        assert_eq!(found, Some(("01-hypervisors/pve.local".into(), "api_token".into())));
        assert_eq!(split("..token"), Some((".".into(), "token".into())));
    }

    #[test]
    fn without_a_dot_or_an_identifier_there_is_no_output() {
        for text in ["", "k8s", "k8s.", "k8s.9lives", "k8s.a b", "k8s.a/b"] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
