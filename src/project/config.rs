//! `infra.yaml` as users write it: one type a section. Doc comments here become the
//! descriptions of the JSON schema. Nothing is checked but shape; `load` does the rest.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use schemars::JsonSchema;
use serde::Deserialize;

use super::delimiters::DelimitersConfig;
use super::inventory_rules::InventoryConfig;
use super::lint_config::LintConfig;
use super::stacks_map::StacksConfig;
use super::switches::{CopiesConfig, LockFileConfig};
use crate::model::{Encryption, PythonPlugins, Undefined};

/// The settings of a project. Every key is optional.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InfraConfig {
    /// The project's name; the root folder's by default.
    pub name: Option<String>,
    /// Which OpenTofu runs.
    pub tofu: TofuConfig,
    /// How templates and data become the generated tree.
    pub configure: ConfigureConfig,
    /// Where secrets and their keys are.
    pub secrets: SecretsConfig,
    /// Where the state of stacks with an empty `backend "http" {}` lives.
    pub state: StateConfig,
    /// Where stacks are, and settings for them by pattern.
    pub stacks: StacksConfig,
    /// How many stacks of a pool run at once.
    pub pools: BTreeMap<String, NonZeroU16>,
    /// How runs behave.
    pub run: RunConfig,
    /// How machines are found in states.
    pub inventory: InventoryConfig,
    /// What `infra lint` judges.
    pub lint: LintConfig,
    /// Who can open the bundles that `plan --bundle` makes.
    pub bundle: BundleConfig,
}

/// Who can open the bundles that `plan --bundle` makes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BundleConfig {
    /// age or ssh public keys; each of them alone opens a bundle. `INFRA_BUNDLE_RECIPIENTS` goes before.
    pub recipients: Vec<String>,
}

/// Which OpenTofu runs.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TofuConfig {
    /// An exact version or a constraint such as `~> 1.12.0`; the built-in pin by default.
    pub version: Option<String>,
    /// A program name or a path.
    pub binary: Option<String>,
}

/// How templates and data become the generated tree.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConfigureConfig {
    /// Template folders; the first that has a path wins.
    pub inputs: Vec<String>,
    /// Where the tree is written, relative to the root.
    pub output: Option<String>,
    /// Data files.
    pub data: Vec<String>,
    /// A file of derived values.
    pub derive: Option<String>,
    /// Whether `data()` of an existing makejinja plugin may run.
    pub python_plugins: Option<PythonPlugins>,
    /// What marks blocks, variables and comments in a template.
    pub delimiters: Option<DelimitersConfig>,
    /// What an undefined value in a template does.
    pub undefined: Option<Undefined>,
    /// Patterns of templates that are not written.
    pub exclude: Vec<String>,
}

/// Where secrets and their keys are.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretsConfig {
    /// Encrypted files, relative to the root.
    pub files: Vec<String>,
    /// The age key file.
    pub age_key: Option<String>,
    /// The file with the Ansible Vault password.
    pub ansible_vault_password_file: Option<String>,
}

/// Where the state of stacks with an empty `backend "http" {}` lives.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StateConfig {
    /// A folder relative to the root, or `s3://bucket/prefix?endpoint=…&region=…`.
    pub store: Option<String>,
    /// A remote http server that replaces the embedded one.
    pub url: Option<String>,
    /// Whether state and plans are encrypted.
    pub encryption: Encryption,
    /// How many old versions of a state are kept however old they are; 50 by default.
    pub keep_versions: Option<u32>,
    /// For how many days more of them are kept; 30 by default.
    pub keep_days: Option<u32>,
    /// Whether `infra.lock` remembers which states the project has; on by default.
    pub lock_file: LockFileConfig,
    /// Whether the newest version of each state is also kept in the user's own folder, and up to which size;
    /// 10MiB by default.
    pub copies: CopiesConfig,
}

/// How runs behave.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// How many stacks run at once.
    pub parallelism: Option<NonZeroU16>,
    /// How often a transient error is tried again.
    pub retries: u32,
    /// Texts that mark an error as transient.
    pub transient_errors: Vec<String>,
}
