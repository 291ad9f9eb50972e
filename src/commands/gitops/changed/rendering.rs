//! What a change of templates and data means: both sides are rendered in memory and compared.
//!
//! A generated file that differs counts like a changed file at its place, whether git holds it or
//! not; the reasons are the templates and data it is made from. Data that git has not held is taken
//! as it is today. Where one side cannot be rendered, everything that is rendered counts: also where
//! a plugin would have to run, for none does. Begin at [`Question::answer`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::earlier_contents::fill;
use super::render_inputs::{Outcome, RenderSide};
use crate::commands::Context;
use crate::error::Result;
use crate::model::Project;
use crate::model::is_tofu_file;
use crate::process::{Difference, FileKind, Git};
use crate::render::GeneratedFile;
use crate::stacks::{Before, Earlier, Now, PathChange, Remembered, Tree as _};

/// What is rendered and compared.
pub(super) struct Question<'a> {
    /// The project before and now.
    pub projects: (&'a Project, &'a Project),
    /// Its root, without links.
    pub root: &'a Path,
    /// The repository.
    pub git: &'a Git,
    /// The commit that is compared with.
    pub base: &'a str,
    /// What it says is different.
    pub differences: &'a [Difference],
    /// The tree now.
    pub disk: &'a Remembered,
    /// The surroundings.
    pub context: &'a Context,
}

/// What a change of templates and data means.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// The generated files that differ.
    pub changes: Vec<PathChange>,
    /// What is worth telling.
    pub notes: Vec<String>,
}

/// Both sides, and the changed files that either reads.
struct Sides<'a> {
    before: RenderSide<'a>,
    now: RenderSide<'a>,
    inputs: Vec<PathBuf>,
}

impl Question<'_> {
    /// Compares what both sides render to.
    pub async fn answer(&self, changes: &mut BTreeMap<PathBuf, PathChange>) -> Result<Rendered> {
        let is_touched = |side: &RenderSide<'_>, path: &Path| {
            let said =
                path == Path::new("infra.yaml") && self.projects.0.configure != self.projects.1.configure;
            said || side.reads(path)
        };
        let executable = BTreeMap::new();
        let inputs: Vec<PathBuf> = {
            let all: Vec<PathChange> = changes.values().cloned().collect();
            let old_tree = Earlier::new(self.disk, &all);
            let before = RenderSide::read(self.projects.0, self.root, &old_tree, &executable);
            let now = RenderSide::read(self.projects.1, self.root, self.disk, &executable);
            // Settings that make no sense are told by `configure`; here they count like all inputs.
            let sides: Vec<RenderSide<'_>> = [before, now].into_iter().flatten().collect();
            if !sides.iter().any(RenderSide::has_templates) {
                return Ok(Rendered::default());
            }
            let below = changes.keys().filter_map(|path| Some((path, path.strip_prefix(self.root).ok()?)));
            let read = below.filter(|(_, below)| sides.iter().any(|side| is_touched(side, below)));
            read.map(|(path, _)| path.clone()).collect()
        };
        if inputs.is_empty() {
            return Ok(Rendered::default());
        }
        let told = (self.base, self.differences);
        fill(self.git, told, changes, |path| {
            inputs.binary_search_by(|input| input.as_path().cmp(path)).is_ok()
        })
        .await?;
        let today = self.data_of_today(changes, &inputs).await?;
        let old: Vec<PathChange> =
            changes.values().filter(|change| !today.contains(&change.path)).cloned().collect();
        self.compare(&old, changes, inputs, &today)
    }

    fn compare(
        &self,
        old: &[PathChange],
        changes: &BTreeMap<PathBuf, PathChange>,
        inputs: Vec<PathBuf>,
        today: &BTreeSet<PathBuf>,
    ) -> Result<Rendered> {
        let old_tree = Earlier::new(self.disk, old);
        let (was, is) =
            (self.modes(|file| file.before.as_ref().map(|file| file.kind)), self.modes(|file| file.now));
        let before = RenderSide::read(self.projects.0, self.root, &old_tree, &was);
        let now = RenderSide::read(self.projects.1, self.root, self.disk, &is);
        let (before, now) = match (before, now) {
            (Ok(before), Ok(now)) => (before, now),
            (Ok(one), Err(error)) | (Err(error), Ok(one)) => {
                return Ok(everything(self.root, one.outputs(), &inputs, error.message()));
            }
            (Err(_), Err(error)) => {
                return Ok(everything(self.root, BTreeSet::new(), &inputs, error.message()));
            }
        };
        let sides = Sides { before, now, inputs };
        if let Some(why) = self.obstacle(&sides, changes, today) {
            return Ok(everything(self.root, sides.outputs(), &sides.inputs, &why));
        }
        let rendered = sides.before.render(&self.context.env);
        let outcomes = rendered.and_then(|old| Ok((old, sides.now.render(&self.context.env)?)));
        Ok(match outcomes {
            Ok((old, new)) => {
                let changes = sides.differences(self.root, &old, &new);
                let notes = changes.iter().find_map(unrendered).map(|path| self.not_here(&path));
                Rendered { changes, notes: notes.into_iter().collect() }
            }
            Err(error) => everything(self.root, sides.outputs(), &sides.inputs, error.message()),
        })
    }

    /// A stack that only templates would make is no stack yet.
    fn not_here(&self, path: &Path) -> String {
        let path = path.strip_prefix(self.root).unwrap_or(path).display();
        format!("`{path}` is not rendered yet, so no stack is seen there: `infra configure` makes it")
    }

    /// Returns why nothing can be compared.
    fn obstacle(
        &self,
        sides: &Sides<'_>,
        changes: &BTreeMap<PathBuf, PathChange>,
        today: &BTreeSet<PathBuf>,
    ) -> Option<String> {
        if sides.before.needs_plugin() || sides.now.needs_plugin() {
            return Some("a Python plugin would have to run".to_owned());
        }
        let is_new = |path: &&PathBuf| {
            let is_data = path.strip_prefix(self.root).is_ok_and(|below| sides.now.is_data(below));
            let was_not = changes.get(*path).is_some_and(|change| change.before == Before::Nothing);
            is_data && was_not && !today.contains(*path)
        };
        let new = sides.inputs.iter().find(is_new)?;
        let name = new.strip_prefix(self.root).unwrap_or(new).display();
        Some(format!("`{name}` is new in this change"))
    }

    /// Returns the data that git does not hold at the base because it was ignored there.
    async fn data_of_today(
        &self,
        changes: &BTreeMap<PathBuf, PathChange>,
        inputs: &[PathBuf],
    ) -> Result<BTreeSet<PathBuf>> {
        let executable = BTreeMap::new();
        let Ok(now) = RenderSide::read(self.projects.1, self.root, self.disk, &executable) else {
            return Ok(BTreeSet::new());
        };
        let is_data = |path: &Path| path.strip_prefix(self.root).is_ok_and(|below| now.is_data(below));
        let was_not =
            |path: &PathBuf| changes.get(path).is_some_and(|change| change.before == Before::Nothing);
        let new: Vec<&PathBuf> = inputs.iter().filter(|path| was_not(path) && is_data(path)).collect();
        if new.is_empty() {
            return Ok(BTreeSet::new());
        }
        let all: Vec<PathChange> = changes.values().cloned().collect();
        let patterns = self.earlier_patterns(&Earlier::new(self.disk, &all), &new);
        if patterns.is_empty() {
            return Ok(BTreeSet::new());
        }
        let top = self.git.top();
        let files: Vec<PathBuf> =
            new.iter().filter_map(|path| Some(path.strip_prefix(top).ok()?.to_owned())).collect();
        let ignored = self.git.matching(&patterns, &files).await?;
        Ok(ignored.iter().map(|path| top.join(path)).collect())
    }

    /// Returns the patterns of the `.gitignore` files around files as they were, all from the top.
    fn earlier_patterns(&self, tree: &Earlier<'_>, files: &[&PathBuf]) -> Vec<String> {
        let top = self.git.top();
        let folders = files.iter().flat_map(|file| file.ancestors().skip(1));
        let folders: BTreeSet<&Path> = folders.filter(|folder| folder.starts_with(top)).collect();
        let patterns = folders.into_iter().flat_map(|folder| {
            let text = tree.content(&folder.join(".gitignore")).unwrap_or_default();
            let below = folder.strip_prefix(top).unwrap_or(Path::new("")).to_string_lossy().into_owned();
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().filter_map(|line| from_top(line, &below)).collect::<Vec<_>>()
        });
        patterns.collect()
    }

    /// Returns which changed files may be run, on one side.
    fn modes(&self, kind: impl Fn(&Difference) -> Option<FileKind>) -> BTreeMap<PathBuf, bool> {
        let modes = self
            .differences
            .iter()
            .filter_map(|file| Some((self.git.top().join(&file.path), kind(file)? == FileKind::Executable)));
        modes.collect()
    }
}

/// Returns a pattern of a `.gitignore` as it would stand in that of the folder with `.git`.
fn from_top(line: &str, folder: &str) -> Option<String> {
    let line = line.trim_end_matches('\r');
    if line.trim().is_empty() || line.starts_with('#') {
        return None;
    }
    if folder.is_empty() {
        return Some(line.to_owned());
    }
    let (not, pattern) = line.strip_prefix('!').map_or(("", line), |pattern| ("!", pattern));
    let is_anchored = pattern.trim_end_matches('/').contains('/');
    let between = if is_anchored { "/" } else { "/**/" };
    Some(format!("{not}/{folder}{between}{}", pattern.trim_start_matches('/')))
}

/// Returns the place of an OpenTofu file that would be rendered and is not there.
fn unrendered(change: &PathChange) -> Option<PathBuf> {
    let name = change.path.file_name()?.to_str()?;
    let is_meant = change.now == Now::File && is_tofu_file(name) && !change.path.exists();
    is_meant.then(|| change.path.clone())
}

/// Takes every place that may be rendered to as changed: nobody knows what differs.
fn everything(root: &Path, outputs: BTreeSet<PathBuf>, inputs: &[PathBuf], why: &str) -> Rendered {
    let change = |output: &PathBuf| PathChange {
        path: root.join(output),
        before: Before::File(None),
        now: Now::File,
        because: inputs.to_vec(),
    };
    let note = format!("every rendered stack counts as affected: {why}");
    Rendered { changes: outputs.iter().map(change).collect(), notes: vec![note] }
}

impl Sides<'_> {
    /// Returns every place that either side renders to, by the names of templates.
    fn outputs(&self) -> BTreeSet<PathBuf> {
        self.before.outputs().into_iter().chain(self.now.outputs()).collect()
    }

    fn differences(&self, root: &Path, old: &Outcome, new: &Outcome) -> Vec<PathChange> {
        let paths: BTreeSet<&PathBuf> = old.files.keys().chain(new.files.keys()).collect();
        let content = |file: &GeneratedFile| (file.bytes.clone(), file.mode);
        let differs =
            |path: &&PathBuf| old.files.get(*path).map(content) != new.files.get(*path).map(content);
        let causes =
            Causes { root, inputs: &self.inputs, sides: [old, new], settings: [&self.before, &self.now] };
        let change = |path: &PathBuf| {
            let (was, is) = (old.files.get(path), new.files.get(path));
            let before =
                was.map_or(Before::Nothing, |file| Before::File(Some(Arc::from(file.bytes.as_slice()))));
            let is_there = is.is_some() || root.join(path).exists();
            let now = if is_there { Now::File } else { Now::Nothing };
            let origin = is.or(was).map(|file| file.origin.as_str()).unwrap_or_default();
            PathChange { path: root.join(path), before, now, because: causes.of(origin) }
        };
        paths.into_iter().filter(differs).map(change).collect()
    }
}

/// What is known of why a generated file differs.
struct Causes<'a> {
    root: &'a Path,
    inputs: &'a [PathBuf],
    sides: [&'a Outcome; 2],
    settings: [&'a RenderSide<'a>; 2],
}

impl Causes<'_> {
    /// Returns the changed inputs that a file of this template may differ by.
    fn of(&self, origin: &str) -> Vec<PathBuf> {
        let used = self.used_by(origin);
        let data_differs = self.sides[0].values != self.sides[1].values;
        let counts = |path: &&PathBuf| {
            let below = path.strip_prefix(self.root).unwrap_or(path);
            match self.is_template(below) {
                true => below.to_str().is_some_and(|below| used.contains(below)),
                // Settings may change how a template is read without changing a value.
                false => data_differs || !self.settings.iter().any(|side| side.is_data(below)),
            }
        };
        let found: Vec<PathBuf> = self.inputs.iter().filter(counts).cloned().collect();
        if found.is_empty() { self.inputs.to_vec() } else { found }
    }

    fn is_template(&self, path: &Path) -> bool {
        let inputs = self.settings.iter().flat_map(|side| &side.settings.inputs);
        inputs.into_iter().any(|input| path.starts_with(input))
    }

    /// Returns a template and those whose names it mentions, over any number of steps.
    fn used_by(&self, origin: &str) -> BTreeSet<String> {
        let mut used = BTreeSet::from([origin.to_owned()]);
        let mut open = vec![origin.to_owned()];
        while let Some(next) = open.pop() {
            for side in self.sides {
                let text = side.sources.iter().find(|source| source.origin == next);
                let text = text.map(|source| String::from_utf8_lossy(&source.bytes)).unwrap_or_default();
                let named = side.sources.iter().filter(|source| text.contains(source.path.as_str()));
                for source in named {
                    if used.insert(source.origin.clone()) {
                        open.push(source.origin.clone());
                    }
                }
            }
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_a_folder_below_are_read_from_the_top() {
        assert_eq!(from_top("cluster.yaml", "lab"), Some("/lab/**/cluster.yaml".to_owned()));
        assert_eq!(from_top("/cluster.yaml", "lab"), Some("/lab/cluster.yaml".to_owned()));
        assert_eq!(from_top("!a/b/", "lab"), Some("!/lab/a/b/".to_owned()));
        assert_eq!(from_top("*.yaml\r", ""), Some("*.yaml".to_owned()));
        assert_eq!(from_top("# cluster.yaml", ""), None);
    }
}
