//! The project: its root, its name and what `infra.yaml` says, already validated.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::StackId;

/// A project as loaded; stacks are discovered from it.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The absolute path of the root folder.
    pub root: PathBuf,
    /// The name from `infra.yaml`, or the folder's.
    pub name: String,
    /// Which tofu to run.
    pub tofu: TofuSettings,
    /// Where embedded state lives.
    pub state: StateSettings,
    /// Folders below which stacks are looked for; empty means the conventional ones.
    pub stack_roots: Vec<PathBuf>,
    /// Whether numeric prefixes order the stacks.
    pub layers: Layers,
    /// Settings by pattern, in the order of the file; later patterns win.
    pub stack_settings: Vec<(String, StackSettings)>,
    /// How runs behave.
    pub run: RunSettings,
    /// How many stacks of a pool run at once.
    pub pools: BTreeMap<String, usize>,
}

impl Project {
    /// Returns the folder for what this program keeps beside the project.
    pub fn infra_dir(&self) -> PathBuf {
        self.root.join(".infra")
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
#[derive(Clone, Debug, Default)]
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
}

/// Whether numeric prefixes are dependencies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
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
#[derive(Clone, Debug, Default)]
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
    /// Whether destroying anything here always asks.
    pub protect: bool,
}

/// An output of another stack: `01-hypervisors/pve1.api_token`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutputRef {
    /// The stack that has the output, as it was written.
    pub stack: StackId,
    /// The output's name.
    pub output: String,
}
