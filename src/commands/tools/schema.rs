//! `infra schema`.

use clap::{Args, ValueEnum};
use schemars::schema_for;
use serde_json::Value;

use crate::commands::Context;
use crate::error::Exit;
use crate::events::NumberedEvent;
use crate::model::RunReport;
use crate::project;

/// Print the JSON schema of a file or of an output
///
/// Examples:
///   infra schema > infra.schema.json
///   infra schema cluster > cluster.schema.json
///   infra schema report
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct SchemaArgs {
    /// Of what
    #[arg(default_value = "infra")]
    of: SchemaOf,
}

/// What can be described.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum SchemaOf {
    /// `infra.yaml`.
    Infra,
    /// `cluster.yaml`.
    Cluster,
    /// `nodes.yaml`.
    Nodes,
    /// What `--json` of a run prints.
    Report,
    /// What `--jsonl` of a run prints, line by line.
    Events,
}

/// Runs the command.
pub fn run(args: &SchemaArgs, context: &Context) -> Exit {
    let schema: Value = match args.of {
        SchemaOf::Infra => project::infra_schema(),
        SchemaOf::Cluster => project::cluster_schema(),
        SchemaOf::Nodes => project::nodes_schema(),
        SchemaOf::Report => schema_for!(RunReport).into(),
        SchemaOf::Events => schema_for!(NumberedEvent).into(),
    };
    context.terminal.data_line(&serde_json::to_string_pretty(&schema).unwrap_or_default());
    Exit::OK
}
