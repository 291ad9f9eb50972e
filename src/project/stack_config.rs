//! The settings of the stacks of one pattern in `infra.yaml`. Doc comments here become the
//! descriptions of the JSON schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::backend_entry::BackendEntry;
use super::output_ref::OutputRefConfig;

/// Settings for the stacks of one pattern; later patterns win.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StackConfig {
    /// The pool that limits how many run at once.
    #[schemars(with = "Option<String>")]
    pub pool: Option<Spanned<String>>,
    /// Labels to select by.
    pub tags: Vec<String>,
    /// Stacks that are applied before.
    pub depends_on: Vec<String>,
    /// Plain variable files, relative to the stack.
    pub var_files: Vec<String>,
    /// Variable files encrypted with SOPS or Ansible Vault, relative to the stack.
    pub secrets: Vec<String>,
    /// Variables fed from other stacks' outputs, as `STACK.output`.
    pub inputs: BTreeMap<String, OutputRefConfig>,
    /// Variables of the environment.
    pub env: BTreeMap<String, String>,
    /// What is given to the backend beside its block, as tofu's `-backend-config`: files relative to the
    /// stack, and settings by name.
    pub backend_config: Vec<BackendEntry>,
    /// Whether a plan that destroys anything here always asks.
    pub protect: Option<bool>,
    /// The id that the stack had before; its state comes along.
    #[schemars(with = "Option<String>")]
    pub was: Option<Spanned<String>>,
    /// The workspaces that it is run in: each is a stack of its own, `STACK@NAME`, with what is set here
    /// beside or instead of the stack's own settings.
    pub workspaces: BTreeMap<String, Option<StackConfig>>,
    /// The variable that gets the name of the workspace.
    pub workspace_variable: Option<String>,
}
