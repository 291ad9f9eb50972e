//! The JSON schemas of `cluster.yaml` and `nodes.yaml`, for editors and for our own check.

mod cluster;
mod forms;
mod nodes;

pub use cluster::{ENABLING, NEEDED};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use self::cluster::ClusterData;
use self::nodes::NodesData;

/// Returns the schema that editors check `cluster.yaml` with.
pub fn cluster_schema() -> Value {
    titled(schema_of::<ClusterData>(), "cluster.yaml")
}

/// Returns the schema that editors check `nodes.yaml` with.
pub fn nodes_schema() -> Value {
    titled(schema_of::<NodesData>(), "nodes.yaml")
}

/// Returns a schema without references, so that every rule stands where it applies.
fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

fn titled(mut schema: Schema, title: &str) -> Value {
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}
