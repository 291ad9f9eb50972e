//! Which of the folders that count as stacks look like modules that nobody uses. A simple stack
//! with local state looks much like one, so a sign is needed that somebody else was meant to call
//! it. Such a folder stays a stack, with a warning. Begin at [`FolderUse::of`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::choice::shortened;
use super::files::{Facts, Folder, Library};
use super::roots::StackFolder;
use super::settings::SettingsBook;
use crate::model::{Project, Stack};
use crate::syntax::Setting;

/// What is said of a folder that is perhaps a module.
const FORGOTTEN: &str = "may be a module that nothing uses";

/// Returns whether a warning says that a stack is perhaps a module.
pub fn tells_of_forgotten_module(warning: &str) -> bool {
    warning.contains(FORGOTTEN)
}

/// What is known about all folders, to judge one of them.
pub struct FolderUse<'a> {
    project: &'a Project,
    book: SettingsBook<'a>,
    library: &'a Library,
    folders: &'a [StackFolder],
    /// The folders that others use as modules.
    used: BTreeSet<&'a Path>,
    /// Paths in remote repositories that module sources name, with file and line.
    remote: BTreeMap<&'a str, &'a str>,
}

impl<'a> FolderUse<'a> {
    /// Looks at the folders of a project.
    pub fn of(project: &'a Project, folders: &'a [StackFolder], library: &'a Library) -> Self {
        let book = SettingsBook::of(project);
        let used = library.used_as_modules();
        Self { project, book, library, folders, used, remote: remote_paths(library) }
    }

    /// Returns the warning about a folder that is perhaps a module.
    pub fn warning(&self, stack: &Stack, folder: &Folder) -> Option<String> {
        let facts = &self.library.folder(&folder.path)?.facts;
        // What does not parse may hold the very block that is missed.
        if is_run(facts, folder) || !stack.is_known() || self.is_configured(stack) {
            return None;
        }
        let sign = self.sign(stack, folder, facts)?;
        Some(format!("`{}` {FORGOTTEN}: {sign}", stack.path.display()))
    }

    /// Returns what a module has and a stack has not.
    fn sign(&self, stack: &Stack, folder: &Folder, facts: &Facts) -> Option<String> {
        let takes_providers =
            |entry: &Setting| matches!(entry, Setting::Map(map) if map.contains_key("configuration_aliases"));
        if facts.required_providers.values().any(takes_providers) {
            return Some("its `configuration_aliases` are for a caller".to_owned());
        }
        if let Some(place) = stack.path.to_str().and_then(|path| self.remote.get(path)) {
            return Some(format!("{place} has a module of this path from a repository"));
        }
        if self.is_among_modules(folder) {
            return Some("the folders beside it are modules".to_owned());
        }
        let open = self.open_variables(stack, facts);
        (!open.is_empty()).then(|| {
            let (noun, has) = if open.len() == 1 { ("variable", "has") } else { ("variables", "have") };
            format!("its {noun} {} {has} neither a default nor a value", shortened(&open))
        })
    }

    /// Returns whether `infra.yaml` speaks of this very folder.
    fn is_configured(&self, stack: &Stack) -> bool {
        self.project.stack_settings.iter().any(|(text, _)| text == stack.id.as_str())
    }

    /// Returns whether folders beside it are used as modules, and none of them is run.
    fn is_among_modules(&self, folder: &Folder) -> bool {
        let is_beside = |path: &Path| path != folder.path && path.parent() == folder.path.parent();
        let is_run = |beside: &StackFolder| {
            self.library.folder(&beside.folder.path).is_some_and(|read| is_run(&read.facts, &beside.folder))
        };
        self.used.iter().any(|path| is_beside(path))
            && !self.folders.iter().any(|other| is_beside(&other.folder.path) && is_run(other))
    }

    /// Returns the variables to which nothing in the project gives a value.
    fn open_variables(&self, stack: &Stack, facts: &Facts) -> Vec<String> {
        let settings = self.book.settings_for(&stack.id);
        if !settings.var_files.is_empty() {
            return Vec::new();
        }
        let is_given = |name: &&String| {
            settings.inputs.contains_key(*name) || settings.env.contains_key(&format!("TF_VAR_{name}"))
        };
        let required = facts.variables.difference(&facts.defaults);
        required.filter(|name| !is_given(name)).cloned().collect()
    }
}

/// Returns whether something shows that OpenTofu runs in a folder.
fn is_run(facts: &Facts, folder: &Folder) -> bool {
    facts.backend.is_some() || !facts.provider_blocks.is_empty() || folder.is_run_here
}

/// Returns the paths that module sources name inside of repositories: `git::…/infra.git//network?ref=v1`.
fn remote_paths(library: &Library) -> BTreeMap<&str, &str> {
    let blocks = library.all().flat_map(|read| read.facts.modules.values());
    let path = |source: &'_ str| -> Option<(usize, usize)> {
        let start = source.find("://").map_or(0, |scheme| scheme + 3);
        let inner = start + source[start..].find("//")? + 2;
        let length = source[inner..].find('?').unwrap_or(source.len() - inner);
        (length > 0).then_some((inner, inner + length))
    };
    let found = blocks.filter_map(|block| {
        let source = block.source.as_ref()?.literal()?;
        let (start, end) = path(source)?;
        Some((source[start..end].trim_end_matches('/'), block.place.as_str()))
    });
    found.collect()
}
