//! YAML, JSON and TOML files as trees in which every key and value knows its place.

mod json;
mod lines;
mod scalar;
mod toml;
mod yaml;
mod yaml_1_1;

pub use json::parse as parse_json;
pub use lines::Lines;
pub use toml::parse as parse_toml;
pub use yaml::parse as parse_yaml;
