//! Where a line was typed: the stacks around it, for commands that are about one of them.

use std::path::{Path, PathBuf};

use super::line::Line;
use crate::commands::shell_folder;
use crate::model::{Environment, Project, Stack, StackId};
use crate::project;
use crate::stacks;
use crate::stacks::{Selection, discover};

/// The project around a line that was typed, if there is one.
#[derive(Debug, Default)]
pub struct ProjectAround {
    cwd: PathBuf,
    found: Option<(Project, Vec<Stack>)>,
}

impl ProjectAround {
    /// Looks from the folder that the line would work in.
    pub fn of(line: &Line, env: &Environment) -> Self {
        let shell = shell_folder().unwrap_or_default();
        let named = folder_named(line).or_else(|| env.path("INFRA_DIR"));
        let cwd = named.map_or(shell.clone(), |named| shell.join(named));
        let found = load(&cwd);
        Self { cwd, found }
    }

    /// Returns whether the project's root is where one stands, as far as is known.
    pub fn is_root(&self) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        self.found.as_ref().is_none_or(|(project, _)| real(&project.root) == real(&self.cwd))
    }

    /// Returns the one stack that a name means.
    pub fn stack_called(&self, name: &str) -> Option<StackId> {
        self.one(&Selection { names: vec![name.to_owned()], ..Selection::default() })
    }

    /// Returns the stack that one stands in, or the only one.
    pub fn stack_here(&self) -> Option<StackId> {
        self.one(&Selection::default())
    }

    /// Returns the ids of all stacks.
    pub fn stacks(&self) -> Vec<&StackId> {
        self.found.iter().flat_map(|(_, stacks)| stacks).map(|stack| &stack.id).collect()
    }

    fn one(&self, selection: &Selection) -> Option<StackId> {
        let (project, stacks) = self.found.as_ref()?;
        let mut chosen = stacks::select(project, stacks, selection, &self.cwd).ok()?;
        chosen.pop().filter(|_| chosen.is_empty())
    }
}

/// Somebody who mistyped wants a hint, not what is wrong with the project.
fn load(cwd: &Path) -> Option<(Project, Vec<Stack>)> {
    let project = project::load(&project::find_root(cwd).ok()?).ok()?;
    let stacks = discover(&project).ok()?.stacks;
    Some((project, stacks))
}

/// Returns the folder that a line names to work in.
fn folder_named(line: &Line) -> Option<PathBuf> {
    let words: Vec<&String> = line.globals.iter().chain(&line.rest).collect();
    let next =
        |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1).copied());
    let joined = |flag: &str| words.iter().find_map(|word| word.strip_prefix(flag));
    let named = next("-C").map(String::as_str).or_else(|| joined("-C")).or_else(|| joined("-chdir="));
    named.map(PathBuf::from)
}
