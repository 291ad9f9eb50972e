//! The JSON schema of `infra.yaml`, from the same types that read it.

use serde_json::Value;

use super::config::InfraConfig;

/// Returns the schema that editors check `infra.yaml` with.
pub fn infra_schema() -> Value {
    let mut schema = schemars::schema_for!(InfraConfig);
    schema.insert("title".to_owned(), "infra.yaml".into());
    schema.to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_described_and_unknown_keys_are_refused() {
        let schema = infra_schema();

        let sections = schema["properties"].as_object().expect("a map of sections");
        let undescribed = sections.iter().filter(|(_, section)| section["description"].is_null());
        assert_eq!(undescribed.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(sections.len(), 11);
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn the_stacks_section_takes_patterns_beside_its_reserved_keys() {
        let schema = infra_schema();

        let stacks = &schema["$defs"]["Stacks"];
        assert!(stacks["properties"]["roots"].is_object());
        assert_eq!(stacks["additionalProperties"]["$ref"], "#/$defs/StackConfig");
    }
}
