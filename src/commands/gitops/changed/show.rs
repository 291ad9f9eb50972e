//! What `changed` prints: stacks with the paths that changed, as lines and as JSON.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::Looked;
use crate::commands::Context;
use crate::model::{Project, StackId, counted};
use crate::report::Tone;
use crate::stacks::{Reason, Way};

/// How many paths of a stack are listed.
const PATHS: usize = 3;

/// Prints the affected stacks as JSON.
pub(super) fn json(looked: &Looked, project: &Project, context: &Context) {
    let affected = &looked.affected;
    let reasons: BTreeMap<&StackId, Vec<String>> =
        affected.stacks.keys().map(|id| (id, paths(looked, id, project))).collect();
    let renamed: Vec<Value> =
        affected.renamed.iter().map(|renamed| json!({ "from": renamed.from, "to": renamed.to })).collect();
    let value = json!({
        "base": looked.base.commit,
        "stacks": affected.stacks.keys().collect::<Vec<_>>(),
        "removed": affected.removed,
        "renamed": renamed,
        "reasons": reasons,
    });
    context.terminal.data_line(&serde_json::to_string_pretty(&value).unwrap_or_default());
    looked.notes.iter().for_each(|note| context.terminal.note(note));
}

/// Prints the affected stacks as the jobs of a CI system, on one line: a list of texts, each with the names of
/// its stacks, one a line. Forges limit how many jobs there may be.
pub(super) fn matrix(looked: &Looked, most: Option<NonZeroUsize>, context: &Context) {
    let stacks: Vec<&str> = looked.affected.stacks.keys().map(StackId::as_str).collect();
    let size = stacks.len().div_ceil(most.map_or(1, NonZeroUsize::get)).max(1);
    let jobs: Vec<String> = stacks.chunks(size).map(|stacks| stacks.join("\n")).collect();
    context.terminal.data_line(&json!(jobs).to_string());
    looked.notes.iter().for_each(|note| context.terminal.note(note));
}

/// Prints the affected stacks, a line each.
pub(super) fn list(looked: &Looked, project: &Project, context: &Context) {
    let terminal = &context.terminal;
    let affected = &looked.affected;
    let width = affected.stacks.keys().chain(&affected.removed).map(|id| id.as_str().chars().count()).max();
    let width = width.unwrap_or_default().min(48);
    for id in affected.stacks.keys() {
        let paths = paths(looked, id, project);
        let more = paths.len().saturating_sub(PATHS);
        let shown = paths.iter().take(PATHS).map(|path| visible(path)).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let line = format!("{:width$}  {shown}{more}", id.as_str());
        terminal.data_hanging(&line, width + 2);
    }
    for id in &affected.removed {
        let line = format!("{:width$}  {}", id.as_str(), gone_words(looked, id));
        terminal.data_hanging(&line, width + 2);
    }
    let (count, all) = (affected.stacks.len(), counted(looked.all.len(), "stack"));
    let base = looked.base.commit.get(..12).unwrap_or_default();
    terminal.note(&format!("{count} of {all} affected since {base}, where {} was left", looked.base.name));
    looked.notes.iter().for_each(|note| terminal.note(note));
}

/// Returns what is told of stacks that a choice cannot hold: they are gone.
pub(in crate::commands) fn removed_notes(looked: &Looked) -> Vec<String> {
    let ids = looked.affected.removed.iter();
    ids.map(|id| format!("`{id}` is {}, so not chosen", gone_words(looked, id))).collect()
}

fn gone_words(looked: &Looked, id: &StackId) -> String {
    let renamed = looked.affected.renamed.iter().find(|renamed| renamed.from == *id);
    match renamed {
        Some(renamed) => format!("renamed to {}", renamed.to),
        None => "removed".to_owned(),
    }
}

/// Tells why one stack is affected.
pub(super) fn why(id: &StackId, looked: &Looked, project: &Project, context: &Context) {
    let terminal = &context.terminal;
    let Some(reasons) = reasons(looked, id) else {
        let words = match looked.affected.removed.contains(id) {
            true => format!("is {}: no OpenTofu file is left in its folder", gone_words(looked, id)),
            false => "is not affected".to_owned(),
        };
        return terminal.data_line(&format!("{id} {words}"));
    };
    terminal.data_line(&terminal.paint_data(Tone::Strong, id.as_str()));
    for reason in reasons {
        let (path, way) = (shown(&reason.path, project), words(&reason.way, project));
        terminal.data_hanging(&format!("  {}  {way}", visible(&path)), 4);
    }
}

/// Tells why stacks are affected, as JSON.
pub(super) fn why_json(ids: &[StackId], looked: &Looked, project: &Project, context: &Context) {
    let of = |reason: &Reason| {
        let modules: Vec<String> = match &reason.way {
            Way::Modules(modules) => modules.iter().map(|module| shown(module, project)).collect(),
            _ => Vec::new(),
        };
        json!({ "path": shown(&reason.path, project), "how": words(&reason.way, project), "modules": modules })
    };
    let rows: BTreeMap<&StackId, Vec<Value>> =
        ids.iter().map(|id| (id, reasons(looked, id).into_iter().flatten().map(of).collect())).collect();
    let value = json!({ "base": looked.base.commit, "why": rows });
    context.terminal.data_line(&serde_json::to_string_pretty(&value).unwrap_or_default());
}

/// Returns the reasons of a stack; one that runs in a workspace of its own choice has those of its folder.
fn reasons<'l>(looked: &'l Looked, id: &StackId) -> Option<&'l std::collections::BTreeSet<Reason>> {
    let stacks = &looked.affected.stacks;
    let base = id.as_str().rsplit_once('@').map(|(base, _)| StackId::new(base));
    stacks.get(id).or_else(|| stacks.get(&base?))
}

fn words(way: &Way, project: &Project) -> String {
    match way {
        Way::Own => "a file of the stack".to_owned(),
        Way::Named => "a file that the stack is given".to_owned(),
        Way::Settings => "says something else of the stack".to_owned(),
        Way::Rendered(output) => format!("renders into {}", visible(&shown(output, project))),
        Way::Became => "made this folder a stack".to_owned(),
        Way::Modules(modules) => {
            let way: Vec<String> = modules.iter().map(|module| visible(&shown(module, project))).collect();
            format!("in the module {}", way.join(" → "))
        }
    }
}

fn paths(looked: &Looked, id: &StackId, project: &Project) -> Vec<String> {
    let reasons = looked.affected.stacks.get(id).into_iter().flatten();
    let mut paths: Vec<String> = reasons.map(|reason| shown(&reason.path, project)).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns a path as it is from the project's root.
fn shown(path: &Path, project: &Project) -> String {
    relative(&project.root, path).to_string_lossy().into_owned()
}

/// Returns the way from a folder to a path, both without links and dots.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.ancestors().find(|above| to.starts_with(above)).unwrap_or(Path::new("/"));
    let up = from.strip_prefix(common).map_or(0, |rest| rest.components().count());
    let ups = std::iter::repeat_n(Component::ParentDir.as_os_str(), up);
    let down = to.strip_prefix(common).unwrap_or(to);
    ups.map(Path::new).chain([down]).collect()
}

/// Returns a path for a screen: a control character stands there as its number.
fn visible(path: &str) -> String {
    path.chars()
        .map(|sign| match sign.is_control() {
            true => format!("\\u{:04x}", u32::from(sign)),
            false => sign.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_of_the_project_lead_up() {
        let relative = |to: &str| relative(Path::new("/r/lab"), Path::new(to)).display().to_string();

        assert_eq!(relative("/r/lab/a/main.tf"), "a/main.tf");
        assert_eq!(relative("/r/modules/vm/main.tf"), "../modules/vm/main.tf");
        assert_eq!(relative("/x"), "../../x");
    }
}
