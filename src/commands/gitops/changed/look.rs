//! From the repository and the project's files to affected stacks: what `changed` and `--changed` share.
//!
//! git is asked in a fixed number of processes while the stacks are read beside it. Begin at [`look`].

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::base::{Base, find_base};
use super::earlier_contents::{fill, or_partial};
use super::rendering;
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::is_tofu_file;
use crate::model::{Project, StackId};
use crate::process::{Difference, FileKind, Git};
use crate::project;
use crate::stacks::{
    Affected, Before, Comparison, Earlier, Layout, Now, PathChange, Side, SideParts, Survey,
};

/// What a change means for the stacks of a project.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Looked {
    /// What it is measured from.
    pub base: Base,
    /// The stacks that it concerns.
    pub affected: Affected,
    /// How many stacks there are.
    pub all: Vec<StackId>,
    /// What is worth telling beside it.
    pub notes: Vec<String>,
}

/// What git says.
struct Told {
    base: Base,
    differences: Vec<Difference>,
    untracked: Vec<PathBuf>,
}

/// Finds the stacks that changed since a base.
pub(in crate::commands) async fn look(
    project: &Project,
    base: Option<&str>,
    context: &Context,
) -> Result<Looked> {
    let root = real_root(project)?;
    let git = Git::around(&root, &context.env, &context.interrupts).ok_or_else(|| no_repository(&root))?;
    let reading = {
        let (project, root) = (project.clone(), root.clone());
        tokio::task::spawn_blocking(move || Survey::take(&project, &root))
    };
    let told = ask(&git, base, context).await?;
    let mut changes = changes(git.top(), &told);
    let again = made_again(git.top(), &told.differences, &changes);
    let is_wanted = |path: &Path| is_always_read(&root, path) || again.contains(path);
    fill(&git, (&told.base.commit, &told.differences), &mut changes, is_wanted).await?;
    changes.retain(|path, change| {
        !again.contains(path) || !is_as_it_was(path, change, &told.differences, git.top())
    });
    let survey = reading.await.map_err(|error| Error::bug("the stacks were not read").because(error))?;
    let mut notes = Vec::new();
    if told.base.others > 0 {
        let (name, count) = (&told.base.name, told.base.others + 1);
        notes.push(format!(
            "`{name}` and this branch have {count} merge bases; the one that git takes first counts"
        ));
    }
    let looking = Looking { project, root: &root, git: &git, told: &told, context };
    looking.compare(survey, changes, notes).await
}

/// What the comparison needs beside the changes.
struct Looking<'a> {
    project: &'a Project,
    root: &'a Path,
    git: &'a Git,
    told: &'a Told,
    context: &'a Context,
}

impl Looking<'_> {
    async fn compare(
        &self,
        survey: Survey,
        mut changes: BTreeMap<PathBuf, PathChange>,
        mut notes: Vec<String>,
    ) -> Result<Looked> {
        let Survey { tree: disk, layout, links } = survey;
        let git_only: Vec<PathChange> = changes.values().cloned().collect();
        let (settings, old_project) = self.earlier_project(&Earlier::new(&disk, &git_only));
        let unclear = old_project.is_err();
        let old_project = old_project.unwrap_or_else(|()| self.project.clone());
        let rendering = rendering::Question {
            projects: (&old_project, self.project),
            root: self.root,
            git: self.git,
            base: &self.told.base.commit,
            differences: &self.told.differences,
            disk: &disk,
            context: self.context,
        };
        let rendered = rendering.answer(&mut changes).await?;
        notes.extend(rendered.notes);
        let changes: Vec<PathChange> = changes.into_values().chain(rendered.changes).collect();
        let old_tree = Earlier::new(&disk, &changes);
        let parts = |project, tree| SideParts { project, root: self.root, top: self.git.top(), tree };
        let moved = changes.iter().filter(|change| change.is_link()).map(|change| &change.path);
        let links: Vec<&Path> = links.iter().chain(moved).map(PathBuf::as_path).collect();
        let projects = (&old_project, self.project);
        let old_layout = Layout::before(projects, self.root, &old_tree, &layout);
        let now = Side::new(parts(self.project, &disk), layout).with_links(links.iter().copied());
        let before = Side::new(parts(&old_project, &old_tree), old_layout).with_links(links.iter().copied());
        let affected = Affected::find(&Comparison {
            before: &before,
            old_tree: &old_tree,
            now: &now,
            tree: &disk,
            changes: &changes,
            settings: settings.as_deref(),
            unclear,
        });
        let all = now.stacks().flat_map(|(_, ids)| ids.to_vec()).collect();
        Ok(Looked { base: self.told.base.clone(), affected, all, notes })
    }

    /// Returns `infra.yaml` if it says something else than it did, and the project as it was.
    fn earlier_project(&self, tree: &Earlier<'_>) -> (Option<PathBuf>, std::result::Result<Project, ()>) {
        let file = self.root.join("infra.yaml");
        let (old, new) = (tree.text_of(&file), std::fs::read(&file).unwrap_or_default());
        if old == new {
            return (None, Ok(self.project.clone()));
        }
        let text = String::from_utf8(old).map_err(|_| ());
        let old = text.and_then(|text| project::parse(&self.project.root, &text).map_err(|_| ()));
        (Some(file), old)
    }
}

/// Asks git everything that needs no content.
async fn ask(git: &Git, base: Option<&str>, context: &Context) -> Result<Told> {
    let comparing = async {
        let base = find_base(git, base, &context.env).await?;
        let differences =
            git.differences(&base.commit).await.map_err(|error| or_partial(error, &base.commit))?;
        Ok((base, differences))
    };
    let ((base, differences), untracked) = tokio::try_join!(comparing, git.untracked())?;
    Ok(Told { base, differences, untracked })
}

/// Turns what git says into changes; a path may be gone for git and still be there.
fn changes(top: &Path, told: &Told) -> BTreeMap<PathBuf, PathChange> {
    let mut changes = BTreeMap::new();
    for Difference { path, before, now } in &told.differences {
        let before = before.as_ref().map_or(Before::Nothing, |file| match file.kind {
            FileKind::Plain | FileKind::Executable | FileKind::Link => Before::File(None),
            FileKind::Submodule => Before::Repository,
        });
        let now = now.map_or(Now::Nothing, |kind| match kind {
            FileKind::Plain | FileKind::Executable => Now::File,
            FileKind::Link => Now::Link,
            FileKind::Submodule => Now::Repository,
        });
        add(&mut changes, PathChange { path: top.join(path), before, now, because: Vec::new() });
    }
    for path in &told.untracked {
        let path = top.join(path);
        let is_repository = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let is_link = || path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let now = match () {
            () if is_repository => Now::Repository,
            () if is_link() => Now::Link,
            () => Now::File,
        };
        // A slash at the end is no part of a path.
        let path = path.components().collect();
        add(&mut changes, PathChange { path, before: Before::Nothing, now, because: Vec::new() });
    }
    changes
}

fn add(changes: &mut BTreeMap<PathBuf, PathChange>, change: PathChange) {
    let Some(known) = changes.get_mut(&change.path) else {
        changes.insert(change.path.clone(), change);
        return;
    };
    if change.before != Before::Nothing {
        known.before = change.before;
    }
    if change.now != Now::Nothing {
        known.now = change.now;
    }
}

/// Returns what git does not hold any more and does not ignore: taken out of the index, or made again.
fn made_again(
    top: &Path,
    differences: &[Difference],
    changes: &BTreeMap<PathBuf, PathChange>,
) -> BTreeSet<PathBuf> {
    let gone = differences.iter().filter(|difference| difference.now.is_none());
    let is_there = |path: &PathBuf| changes.get(path).is_some_and(|change| change.now != Now::Nothing);
    gone.map(|difference| top.join(&difference.path)).filter(is_there).collect()
}

/// Returns whether a path holds what it held, where git itself does not compare.
fn is_as_it_was(path: &Path, change: &PathChange, differences: &[Difference], top: &Path) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    let below = path.strip_prefix(top).unwrap_or(path);
    let kind = differences.iter().find(|file| file.path == below).and_then(|file| file.before.as_ref());
    let was_run = kind.is_some_and(|file| file.kind == FileKind::Executable);
    match &change.before {
        Before::Link(target) => std::fs::read_link(path).is_ok_and(|now| now == *target),
        Before::File(Some(bytes)) if found.is_file() && was_run == (found.mode() & 0o100 != 0) => {
            std::fs::read(path).is_ok_and(|now| now == **bytes)
        }
        _ => false,
    }
}

/// Returns whether what stood in a file decides how everything else is read.
fn is_always_read(root: &Path, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_of_root = path.parent() == Some(root) && ["infra.yaml", "makejinja.toml"].contains(&name);
    is_tofu_file(name) || is_of_root || name == ".gitignore"
}

fn real_root(project: &Project) -> Result<PathBuf> {
    std::fs::canonicalize(&project.root).map_err(crate::error::io("open the project", &project.root))
}

fn no_repository(root: &Path) -> Error {
    Error::unavailable(format!("`{}` is in no git repository, so nothing tells what changed", root.display()))
        .hint("make it one: `git init && git add . && git commit -m first`")
        .hint("without git choose stacks by name, or all: `--all`")
}
