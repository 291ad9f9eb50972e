//! Turns a project into its stacks, sorted by id. A stack that cannot be read stays
//! listed with its problems; only contradictions in `infra.yaml` and two stacks of one id
//! are errors. Begin at [`discover`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::backend::{StateOwners, backend, complete_backends, partial_collisions, reads_itself, relative};
use super::choice::{ignored_selection, in_workspaces};
use super::files::{Facts, Library, ReadFolder, RemoteState, addresses_in};
use super::order::declare;
use super::roots::{StackFolder, search};
use super::settings::SettingsBook;
use super::unused_modules::FolderUse;
use crate::error::{Error, Result, io};
use crate::model::{Backend, Project, Stack, StackId};

/// The stacks of a project and what was noticed while finding them.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The stacks, sorted by id.
    pub stacks: Vec<Stack>,
    /// Remarks for stderr.
    pub notes: Vec<String>,
}

/// A stack with the states it reads, which become edges once all stacks are known.
struct Found {
    stack: Stack,
    reads: Vec<RemoteState>,
}

/// Finds the stacks of a project.
pub fn discover(project: &Project) -> Result<Discovery> {
    let base = fs::canonicalize(&project.root).map_err(io("open the project", &project.root))?;
    let found = search(project, &base);
    let mut notes = found.notes;
    let mut stacks = assemble(project, &base, &found.stacks, &found.library, &mut notes)?;
    notes.extend(declare(project, &mut stacks)?);
    warn_of_partial_collisions(&mut stacks);
    if stacks.is_empty() {
        notes.extend(unrendered(&base));
    }
    Ok(Discovery { stacks, notes })
}

/// Builds the stacks, sorted by id, with an edge to each stack whose state is read.
fn assemble(
    project: &Project,
    base: &Path,
    folders: &[StackFolder],
    library: &Library,
    notes: &mut Vec<String>,
) -> Result<Vec<Stack>> {
    let mut found = folders.iter().map(|folder| build(base, folder, library)).collect::<Vec<_>>();
    let suspicion = FolderUse::of(project, folders, library);
    for (Found { stack, .. }, at) in found.iter_mut().zip(folders) {
        stack.warnings.extend(suspicion.warning(stack, &at.folder));
    }
    found = expand(project, found, notes)?;
    found.sort_by(|one, other| one.stack.id.cmp(&other.stack.id));
    check_ids(&found)?;
    let reads = found.iter().map(|found| found.reads.clone()).collect::<Vec<_>>();
    let mut stacks = found.into_iter().map(|found| found.stack).collect::<Vec<_>>();
    complete_backends(project, &mut stacks);
    connect(&mut stacks, &reads);
    Ok(stacks)
}

/// Makes one stack of each workspace of a folder that has any.
fn expand(project: &Project, found: Vec<Found>, notes: &mut Vec<String>) -> Result<Vec<Found>> {
    if project.stack_settings.iter().all(|(_, settings)| settings.workspaces.is_empty()) {
        return Ok(found);
    }
    let book = SettingsBook::of(project);
    let mut expanded = Vec::new();
    for Found { stack, reads } in found {
        let settings = book.settings_for(&stack.id);
        if settings.workspaces.is_empty() {
            expanded.push(Found { stack, reads });
            continue;
        }
        notes.extend(ignored_selection(&project.root, &stack));
        let each = in_workspaces(&stack, &settings)?.into_iter();
        expanded.extend(each.map(|stack| Found { stack, reads: reads.clone() }));
    }
    Ok(expanded)
}

fn check_ids(found: &[Found]) -> Result<()> {
    let Some(pair) = found.windows(2).find(|pair| pair[0].stack.id == pair[1].stack.id) else {
        return Ok(());
    };
    if let Some(workspace) = pair.iter().find_map(|found| found.stack.declared_workspace()) {
        return Err(Error::invalid(format!(
            "`{}` is a folder, and a workspace that infra.yaml declares",
            pair[0].stack.id
        ))
        .at("infra.yaml")
        .fact("key", format!("stacks: `{workspace}` under `workspaces` of `{}`", workspace_owner(pair)))
        .hint("rename the folder, or the workspace"));
    }
    Err(Error::invalid(format!("two stacks have the id `{}`", pair[0].stack.id))
        .at("infra.yaml")
        .fact("first", pair[0].stack.path.display().to_string())
        .fact("second", pair[1].stack.path.display().to_string())
        .hint("name one stack root in `stacks: { roots: […] }`, or rename one of the folders"))
}

/// Returns the folder whose workspace has the id of another.
fn workspace_owner(pair: &[Found]) -> StackId {
    let owner = pair.iter().find(|found| found.stack.workspace.is_some()).unwrap_or(&pair[0]);
    owner.stack.base_id()
}

fn build(base: &Path, StackFolder { root, folder }: &StackFolder, library: &Library) -> Found {
    let modules = library.modules_of(&folder.path);
    let parts = std::iter::once(folder.path.as_path()).chain(modules.iter().copied());
    let parts = parts.filter_map(|path| Some((path, library.folder(path)?))).collect::<Vec<_>>();
    let own = library.folder(&folder.path).map(|read| &read.facts);
    let mut stack = Stack {
        id: id_of(root, &folder.path),
        path: below(base, &folder.path),
        workspace: None,
        tags: Vec::new(),
        depends_on: BTreeSet::new(),
        reads: Vec::new(),
        modules: modules.iter().map(|module| below(base, module)).collect(),
        backend: backend_of(own),
        backend_place: own.and_then(|facts| Some(facts.backend.as_ref()?.place.clone())),
        variables: own.map(|facts| facts.variables.clone()).unwrap_or_default(),
        outputs: own.map(|facts| facts.outputs.clone()).unwrap_or_default(),
        addresses: addresses_in(library, &folder.path),
        init_facts: init_facts(base, &parts),
        warnings: parts.iter().flat_map(|(_, read)| read.dead_ends.clone()).collect(),
        unread: parts.iter().flat_map(|(_, read)| unread_in(&read.facts)).collect(),
        problems: parts.iter().flat_map(|(_, read)| read.facts.problems.clone()).collect(),
        wrong_workspace: None,
    };
    let reads = parts.iter().flat_map(|(path, read)| reads_in(&stack.path, &below(base, path), read));
    let reads = reads.collect::<Vec<_>>();
    stack.problems.extend(reads.iter().filter_map(|read| reads_itself(read, &stack.backend)));
    stack.problems.extend(library.cycle_from(&folder.path));
    Found { stack, reads }
}

/// Returns the states that a folder reads, as they are seen from the stack that uses it.
fn reads_in(stack: &Path, folder: &Path, read: &ReadFolder) -> Vec<RemoteState> {
    let way = if folder.is_absolute() { folder.display().to_string() } else { relative(stack, folder) };
    read.facts.remote_states.iter().map(|read| read.with_paths(&way)).collect()
}

/// Returns the backend of a folder; what cannot be read may hold the block that was not found.
pub fn backend_of(facts: Option<&Facts>) -> Backend {
    let found = backend(facts.and_then(|facts| facts.backend.as_ref()));
    let is_readable = facts.is_some_and(|facts| facts.problems.is_empty() && facts.unread.is_empty());
    if found == Backend::None && !is_readable { Backend::Unknown } else { found }
}

fn unread_in(facts: &Facts) -> impl Iterator<Item = String> {
    facts.unread.iter().map(|file| file.note.clone())
}

/// Returns the id: the path below the stack root, with `/` between segments.
///
/// A line end or an escape in a folder's name stands there as its number: an id is one line, on every
/// screen and as the name of a state.
pub fn id_of(root: &Path, path: &Path) -> StackId {
    let visible = |sign: char| match sign.is_control() {
        true => format!("\\u{:04x}", u32::from(sign)),
        false => sign.to_string(),
    };
    let segments = below(root, path);
    let segments =
        segments.iter().map(|segment| segment.to_string_lossy().chars().map(visible).collect::<String>());
    StackId::new(segments.collect::<Vec<_>>().join("/"))
}

/// Returns a path relative to a folder above it, `.` for that folder, or as it is where it lies elsewhere.
fn below(base: &Path, path: &Path) -> PathBuf {
    let below = path.strip_prefix(base).unwrap_or(path);
    if below.as_os_str().is_empty() { PathBuf::from(".") } else { below.to_path_buf() }
}

fn init_facts(base: &Path, parts: &[(&Path, &ReadFolder)]) -> BTreeSet<String> {
    let lines =
        parts.iter().flat_map(|(path, read)| read.facts.init_lines(&below(base, path).display().to_string()));
    lines.collect()
}

/// Adds an edge from each stack to those whose state it reads.
fn connect(stacks: &mut [Stack], reads: &[Vec<RemoteState>]) {
    let owners = StateOwners::new(stacks);
    for (stack, reads) in stacks.iter_mut().zip(reads) {
        let read_from = reads.iter().filter_map(|read| Some((owners.owner(read, stack)?, read)));
        let others = read_from.filter(|(owner, _)| **owner != stack.id);
        stack.reads = others.map(|(owner, read)| (owner.clone(), read.place.clone())).collect();
        stack.depends_on.extend(stack.reads.iter().map(|(owner, _)| owner.clone()));
    }
}

fn warn_of_partial_collisions(stacks: &mut [Stack]) {
    for (first, second, key) in partial_collisions(stacks) {
        let warning = |other: &StackId| format!("`{other}` has the same {key}, and neither gives the bucket");
        let (first_id, second_id) = (stacks[first].id.clone(), stacks[second].id.clone());
        stacks[first].warnings.push(warning(&second_id));
        stacks[second].warnings.push(warning(&first_id));
    }
}

/// Returns the hint for a project whose stacks only templates would render.
fn unrendered(base: &Path) -> Option<String> {
    let has_templates = base.join("makejinja.toml").is_file() || base.join("templates/config").is_dir();
    has_templates
        .then(|| "no stack is there yet; `infra configure` renders them from the templates".to_owned())
}
