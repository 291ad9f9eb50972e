//! A stack: one directory of OpenTofu files with a state of its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Backend;

/// The path of a stack below its stack root, with `/` between segments; `.` for the root itself.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct StackId(String);

impl StackId {
    /// Makes an id from the path below the stack root.
    pub fn new(id: impl Into<String>) -> Self {
        let id = id.into();
        Self(if id.is_empty() { ".".to_owned() } else { id })
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last segment, which is enough to name a stack where it is unique.
    pub fn short_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the name its state and plans are kept under: the id, or `_root` for the root itself.
    pub fn state_name(&self) -> Cow<'_, str> {
        match self.0.strip_prefix('.') {
            Some(rest) if rest.is_empty() || rest.starts_with('@') => Cow::Owned(format!("_root{rest}")),
            _ => Cow::Borrowed(&self.0),
        }
    }

    /// Returns the id that the stack has in one of its workspaces.
    #[must_use]
    pub fn in_workspace(&self, name: &str) -> Self {
        Self(format!("{}@{name}", self.0))
    }

    /// Returns a name of one segment, for a file or folder of its own.
    pub fn file_name(&self) -> String {
        self.state_name().replace('%', "%25").replace('/', "%2F")
    }

    /// Returns the id whose state has this name.
    pub fn of_state_name(name: &str) -> Self {
        match name.strip_prefix("_root") {
            Some(rest) if rest.is_empty() || rest.starts_with('@') => Self(format!(".{rest}")),
            _ => Self::new(name),
        }
    }

    /// Returns the numeric prefixes of the segments: `01-a/02-b` is `[1, 2]`, `a/03-b` is `[3]`.
    pub fn numbers(&self) -> Vec<u32> {
        self.0.split('/').filter_map(leading_number).collect()
    }

    /// Returns the layer: the first numeric prefix on the path.
    pub fn layer(&self) -> Option<u32> {
        self.numbers().first().copied()
    }
}

impl fmt::Display for StackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the number before the first `-` or `_` of a segment, if that is all digits.
pub fn leading_number(segment: &str) -> Option<u32> {
    let (digits, _) = segment.split_once(['-', '_'])?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The workspace of tofu that a stack runs in, where that is not the one that every backend begins with.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackWorkspace {
    /// Its name.
    pub name: String,
    /// Who says so.
    pub origin: WorkspaceOrigin,
}

/// Who says that a stack runs in a workspace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WorkspaceOrigin {
    /// `workspaces` in `infra.yaml`: it is made where it is missing.
    Declared,
    /// `TF_WORKSPACE` of the caller or in `infra.yaml`, or `--workspace`: it must be there already.
    Asked {
        /// Whether it is made all the same.
        create: bool,
    },
    /// What was selected in the stack's folder; tofu knows it itself.
    Selected,
}

impl StackWorkspace {
    /// The workspace that every backend begins with.
    pub const DEFAULT: &'static str = "default";

    /// Returns whether tofu takes a text as a name, and it stays one part of a path: what a folder brings
    /// along, or a person types, becomes the name of files.
    pub fn is_name(text: &str) -> bool {
        let is_safe = |sign: char| sign.is_ascii_alphanumeric() || "-_.~$&+:=@".contains(sign);
        let is_part = !text.is_empty() && text != "." && text != ".." && !text.starts_with('-');
        is_part && text.len() <= 200 && text.chars().all(is_safe)
    }
}

/// Everything that was read about a stack before anything runs.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its id below the stack root.
    pub id: StackId,
    /// Its directory, relative to the project root.
    pub path: PathBuf,
    /// The workspace that it runs in; its id ends with `@` and its name.
    pub workspace: Option<StackWorkspace>,
    /// Labels from `infra.yaml`.
    pub tags: Vec<String>,
    /// The stacks that must be applied before it: declared, or taken from its inputs. Layers are not listed.
    pub depends_on: BTreeSet<StackId>,
    /// The stacks whose states it reads with `terraform_remote_state`, each with file and line.
    pub reads: Vec<(StackId, String)>,
    /// The local modules it uses, directly or through others, relative to the project root.
    pub modules: Vec<PathBuf>,
    /// Where its state lives.
    pub backend: Backend,
    /// File and line of the backend block, where there is one.
    pub backend_place: Option<String>,
    /// The names of the variables it declares.
    pub variables: BTreeSet<String>,
    /// The names of the outputs it declares.
    pub outputs: BTreeSet<String>,
    /// The addresses of its managed resources as they would stand in a state, without instance keys;
    /// `module.NAME.*` for a module whose content is not in the project.
    pub addresses: BTreeSet<String>,
    /// What `init` depends on, as sorted lines: providers, module sources, the backend block.
    pub init_facts: BTreeSet<String>,
    /// What is odd about it, each with file and line; shown by `stacks` and `doctor`.
    pub warnings: Vec<String>,
    /// Files that infra itself cannot read, with file, line and column; OpenTofu judges them.
    ///
    /// While there are any, its backend, variables and modules are those that could be found:
    /// any change of an OpenTofu file in its folder, or of any module, may concern it.
    pub unread: Vec<String>,
    /// Why it cannot be run, such as a file that is encrypted; it stays listed.
    pub problems: Vec<String>,
    /// Why nobody can run it in the workspace that its settings or its folder name; it stays listed.
    pub wrong_workspace: Option<String>,
}

impl Stack {
    /// Returns the id without the workspace: that of the folder.
    pub fn base_id(&self) -> StackId {
        let name = self.workspace.as_ref().map(|workspace| workspace.name.as_str());
        let base = name.and_then(|name| self.id.0.strip_suffix(name)?.strip_suffix('@'));
        base.map_or_else(|| self.id.clone(), StackId::new)
    }

    /// Returns the name of the workspace, where it is not the one that every backend begins with.
    pub fn workspace_name(&self) -> Option<&str> {
        self.workspace.as_ref().map(|workspace| workspace.name.as_str())
    }

    /// Returns the workspace that `infra.yaml` declares for it.
    pub fn declared_workspace(&self) -> Option<&str> {
        let declared = self.workspace.as_ref().filter(|own| own.origin == WorkspaceOrigin::Declared);
        declared.map(|workspace| workspace.name.as_str())
    }

    /// Returns how many providers its folder and its local modules name; each is a process of its own.
    pub fn provider_count(&self) -> usize {
        self.provider_lines().filter_map(|line| line.split_whitespace().next()).collect::<BTreeSet<_>>().len()
    }

    /// Returns the providers that its folder and its local modules name, but for the one that is built in:
    /// nothing is installed for it.
    pub fn installed_providers(&self) -> BTreeSet<&str> {
        let installed = self.provider_lines().filter(|line| !line.contains("\"terraform.io/builtin/"));
        let names: BTreeSet<&str> = installed.filter_map(|line| line.split_whitespace().next()).collect();
        names.into_iter().filter(|name| *name != "terraform").collect()
    }

    fn provider_lines(&self) -> impl Iterator<Item = &str> {
        self.init_facts.iter().filter_map(|line| Some(line.split_once(": provider ")?.1))
    }

    /// Returns whether all that its files say is known: its modules, above all.
    pub fn is_known(&self) -> bool {
        self.unread.is_empty() && self.problems.is_empty()
    }

    /// Returns what is wrong with its files, whether that keeps it from being run or not.
    pub fn file_remarks(&self) -> impl Iterator<Item = &String> {
        self.problems.iter().chain(&self.wrong_workspace).chain(&self.unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_is_the_first_number_on_the_path() {
        assert_eq!(StackId::new("01-hypervisors/02-srv01").numbers(), [1, 2]);
        assert_eq!(StackId::new("onprem/03-legacy").layer(), Some(3));
        assert_eq!(StackId::new("2fast/x").layer(), None);
        assert_eq!(StackId::new("-x/99999999999-y").layer(), None);
    }

    #[test]
    fn the_root_stack_is_a_dot_with_a_state_name_of_its_own() {
        let root = StackId::new("");

        assert_eq!(root.as_str(), ".");
        assert_eq!(root.state_name(), "_root");
        assert_eq!(StackId::of_state_name("_root"), root);
        assert_eq!(StackId::of_state_name("a/b"), StackId::new("a/b"));
    }
}
