//! The project: its root, its name and what `infra.yaml` says, already validated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{LintSettings, StackId};

/// A project as loaded; stacks are discovered from it.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The absolute path of the root folder.
    pub root: PathBuf,
    /// The name from `infra.yaml`, or the folder's.
    pub name: String,
    /// Whether the name stands in `infra.yaml`, so that every checkout has it.
    pub is_named: bool,
    /// Which tofu to run.
    pub tofu: TofuSettings,
    /// How the generated tree is rendered.
    pub configure: ConfigureSettings,
    /// Where secrets and their keys are.
    pub secrets: SecretsSettings,
    /// Where embedded state lives.
    pub state: StateSettings,
    /// Folders below which stacks are looked for; empty means the conventional ones.
    pub stack_roots: Vec<PathBuf>,
    /// Whether numeric prefixes order the stacks.
    pub layers: Layers,
    /// Settings by pattern, in the order of the file; later patterns win.
    pub stack_settings: Vec<(String, StackSettings)>,
    /// The ids of stacks that run in a workspace which `infra.yaml` does not declare, with those of
    /// their folders.
    pub undeclared: BTreeMap<StackId, StackId>,
    /// The stacks in declared workspaces of which the command line says that they are new.
    pub begun: BTreeSet<StackId>,
    /// How runs behave.
    pub run: RunSettings,
    /// Who can open the bundles that are made of plans: age or ssh public keys.
    pub bundle_recipients: Vec<String>,
    /// How many stacks of a pool run at once.
    pub pools: BTreeMap<String, usize>,
    /// Where types of resources keep what an inventory wants, beside those that are known.
    pub inventory: BTreeMap<String, InventoryRule>,
    /// How grave the findings of `infra lint` are.
    pub lint: LintSettings,
    /// Where this program keeps its own for one run, in place of `.infra`.
    pub borrowed_dir: Option<PathBuf>,
}

impl Project {
    /// Returns the folder for what this program keeps beside the project.
    pub fn infra_dir(&self) -> PathBuf {
        self.borrowed_dir.clone().unwrap_or_else(|| self.root.join(".infra"))
    }

    /// Returns the folder of saved plans.
    pub fn plans_dir(&self) -> PathBuf {
        self.infra_dir().join("plans")
    }

    /// Returns the folder of run records.
    pub fn runs_dir(&self) -> PathBuf {
        self.infra_dir().join("runs")
    }

    /// Returns a path below the root as a person would write it.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

/// `tofu:` in `infra.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TofuSettings {
    /// An exact version or a constraint; `None` is the built-in pin.
    pub version: Option<String>,
    /// A program name or path.
    pub binary: Option<String>,
}

/// `state:` in `infra.yaml`.
#[derive(Clone, Debug, Default)]
pub struct StateSettings {
    /// A folder relative to the root, or a URL; `None` is `.infra/state`.
    pub store: Option<String>,
    /// A remote http server that replaces the embedded one.
    pub url: Option<String>,
    /// Whether state and plans are encrypted.
    pub encryption: Encryption,
    /// How many old versions of a state are kept however old they are; `None` is 50.
    pub keep_versions: Option<u32>,
    /// For how many days more of them are kept; `None` is 30.
    pub keep_days: Option<u32>,
    /// Whether the project remembers its states in `infra.lock`.
    pub lock_file: LockFile,
    /// Whether the newest version of each state is also kept in the user's own folder.
    pub copies: Copies,
}

/// Whether there is an `infra.lock`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LockFile {
    /// It is read, and written when a state is made, moved or removed.
    #[default]
    On,
    /// The project does without.
    Off,
}

/// Which states are copied into the user's own folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Copies {
    /// None.
    Off,
    /// Those of at most so many bytes.
    UpTo(u64),
}

impl Default for Copies {
    fn default() -> Self {
        Self::UpTo(10 << 20)
    }
}

impl StateSettings {
    /// Returns whether others may have the states too: they are not in the project's own folder.
    pub const fn shared(&self) -> bool {
        self.store.is_some() || self.url.is_some()
    }
}

/// Whether tofu encrypts state and plans.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// On when `state_encryption_passphrase` is among the secrets.
    #[default]
    Auto,
    /// Nothing runs without a passphrase.
    Required,
    /// Never.
    Off,
}

/// `configure:` in `infra.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigureSettings {
    /// Template folders, the first that has a path wins; empty means the conventional ones.
    pub inputs: Vec<String>,
    /// Where the tree is written, relative to the root; `None` is the root.
    pub output: Option<String>,
    /// Data files; empty means the conventional ones.
    pub data: Vec<String>,
    /// A file of derived values.
    pub derive: Option<String>,
    /// Whether an existing Python plugin may run; `None` where `infra.yaml` does not say.
    pub python_plugins: Option<PythonPlugins>,
    /// What marks blocks, variables and comments; `None` where `infra.yaml` does not say.
    pub delimiters: Option<Delimiters>,
    /// What an undefined value does; `None` where `infra.yaml` does not say.
    pub undefined: Option<Undefined>,
    /// Patterns of templates that are not written.
    pub exclude: Vec<String>,
}

/// Whether `data()` of an existing makejinja plugin may run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum PythonPlugins {
    /// It never runs.
    Deny,
    /// Nothing is rendered without it; it runs where this person trusts the project with it.
    Allow,
}

/// What an undefined value in a template does.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// It is an error.
    #[default]
    Strict,
    /// It is empty, and so is everything below it.
    Chainable,
}

/// What marks blocks, variables and comments in a template.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Delimiters {
    /// `#% … %#`, `#{ … }#`, `#| … #|`.
    #[default]
    Hash,
    /// `{% … %}`, `{{ … }}`, `{# … #}`.
    Jinja,
    /// Start and end of each, as the project says.
    Custom {
        /// Around statements.
        block: (String, String),
        /// Around values.
        variable: (String, String),
        /// Around comments.
        comment: (String, String),
    },
}

/// `secrets:` in `infra.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SecretsSettings {
    /// Encrypted files, relative to the root; empty means the conventional ones.
    pub files: Vec<String>,
    /// The age key file.
    pub age_key: Option<String>,
    /// The file with the Ansible Vault password.
    pub ansible_vault_password_file: Option<String>,
}

/// Whether numeric prefixes are dependencies.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Layers {
    /// `01-` is applied before `02-`.
    #[default]
    Strict,
    /// Prefixes are labels; only declared dependencies count.
    Loose,
}

/// `run:` in `infra.yaml`.
#[derive(Clone, Debug, Default)]
pub struct RunSettings {
    /// How many stacks run at once; `None` is decided from the machine.
    pub parallelism: Option<usize>,
    /// How often a transient error is tried again.
    pub retries: u32,
    /// Texts that mark an error as transient.
    pub transient_errors: Vec<String>,
}

/// What `infra.yaml` says about the stacks of one pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackSettings {
    /// The pool that limits how many run at once.
    pub pool: Option<String>,
    /// Labels to select by.
    pub tags: Vec<String>,
    /// Names of the stacks that come before.
    pub depends_on: Vec<String>,
    /// Plain variable files, relative to the stack.
    pub var_files: Vec<String>,
    /// Encrypted variable files, relative to the stack.
    pub secrets: Vec<String>,
    /// Variables fed from other stacks' outputs.
    pub inputs: BTreeMap<String, OutputRef>,
    /// Variables of the environment.
    pub env: BTreeMap<String, String>,
    /// What is given to the backend beside its block.
    pub backend_config: Vec<BackendConfig>,
    /// Whether destroying anything here always asks; `None` says nothing, so that a later pattern can.
    pub protect: Option<bool>,
    /// The id that the stack had before; its state comes along.
    pub was: Option<StackId>,
    /// The workspaces that it is run in, each a stack of its own, with what is different there.
    pub workspaces: BTreeMap<String, StackSettings>,
    /// The variable that gets the name of the workspace.
    pub workspace_variable: Option<String>,
}

impl StackSettings {
    /// Returns whether destroying anything here always asks.
    pub fn is_protected(&self) -> bool {
        self.protect.unwrap_or(false)
    }
}

/// Where the resources of one type keep what an inventory wants: paths with dots into their attributes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InventoryRule {
    /// The machine's name.
    pub name: Option<String>,
    /// By what it is reached.
    pub address: Option<String>,
    /// Its tags: words, or pairs.
    pub tags: Option<String>,
}

/// Something that is given to a backend beside its block.
#[derive(Clone, Debug, PartialEq)]
pub enum BackendConfig {
    /// A file, relative to the stack.
    File(String),
    /// Settings by name.
    Values(BTreeMap<String, Value>),
}

/// An output of another stack: `01-hypervisors/pve1.api_token`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputRef {
    /// The stack that has the output, as it was written.
    pub stack: StackId,
    /// The output's name.
    pub output: String,
}
