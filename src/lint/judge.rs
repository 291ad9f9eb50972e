//! The flow: folders, files, rules, what comments let pass, how grave the rest is.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use super::files::{Reading, SourceFile};
use super::finding::{Finding, FindingPlace, in_order};
use super::folder::Folder;
use super::mending::{Mending, mendings};
use super::rules;
use super::surroundings::Surroundings;
use super::tree::{ListedFolder, is_part_of_module, is_value_file, list, walk};
use crate::model::is_tofu_file;
use crate::model::{LintLevel, LintRule, Project, Stack};
use crate::stacks::in_reading_order;

/// How many files make another thread worth its start.
const FILES_PER_THREAD: usize = 64;

/// What is judged.
#[derive(Debug)]
pub struct Request<'a> {
    /// The project.
    pub project: &'a Project,
    /// Its stacks.
    pub stacks: &'a [Stack],
    /// What the files do not tell.
    pub surroundings: &'a Surroundings,
    /// Tells whether bytes are an encrypted file.
    pub is_sealed: fn(&Path, &[u8]) -> bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Judgement {
    /// What is not as it should be, sorted by place.
    pub findings: Vec<Finding>,
    /// How many findings comments let pass.
    pub ignored: usize,
    /// How many folders were judged as stacks.
    pub stacks: usize,
    /// How many folders were judged as modules.
    pub modules: usize,
    /// What would mend findings.
    pub mendings: Vec<Mending>,
    /// What could not be looked at.
    pub notes: Vec<String>,
}

/// Judges the files of a project.
pub fn judge(request: &Request<'_>) -> Judgement {
    let root = request.project.root.canonicalize().unwrap_or_else(|_| request.project.root.clone());
    let (mut listed, notes) = walk(&root);
    listed.extend(modules_elsewhere(request.stacks, &root, &listed));
    let roles = Roles::of(request, &root);
    let files = read_all(&wanted(request, &roles, &listed));
    let files: Vec<Vec<&SourceFile>> = by_folder(&files, listed.len());
    let folders: Vec<Folder<'_>> = listed
        .iter()
        .zip(&files)
        .map(|(listed, files)| Folder { listed, files: tofu_files(files) })
        .collect();

    let mut findings = file_findings(&roles, &folders, &files);
    for folder in &folders {
        findings.extend(folder_findings(request, &roles, folder));
    }
    findings.extend(state_findings(request, &folders, &files));
    let all: Vec<&SourceFile> = files.iter().flatten().copied().collect();
    let (findings, ignored) = without_ignored(findings, &all);
    let findings = graded(in_order(findings), request.project);
    Judgement {
        mendings: all_mendings(&folders, &findings),
        findings,
        ignored,
        stacks: folders.iter().filter(|folder| roles.of_folder(folder.listed) == Role::Stack).count(),
        modules: folders.iter().filter(|folder| roles.of_folder(folder.listed) == Role::Module).count(),
        notes,
    }
}

/// Returns what would mend findings, folder by folder.
fn all_mendings(folders: &[Folder<'_>], findings: &[Finding]) -> Vec<Mending> {
    let mut by_folder: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let file = finding.place.file.as_str();
        by_folder.entry(file.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default().push(finding);
    }
    let mending = |folder: &Folder<'_>| {
        let about = by_folder.get(folder.listed.shown.as_str()).map_or(&[][..], Vec::as_slice);
        mendings(folder, about)
    };
    folders.iter().flat_map(mending).collect()
}

/// What a folder is judged as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    Stack,
    Module,
    /// Only secrets in it count.
    Other,
}

struct Roles {
    stacks: BTreeMap<PathBuf, usize>,
    used: BTreeSet<PathBuf>,
    templates: Vec<PathBuf>,
}

impl Roles {
    fn of(request: &Request<'_>, root: &Path) -> Self {
        let at = |path: &Path| if path == Path::new(".") { root.to_path_buf() } else { root.join(path) };
        let stacks = request.stacks.iter().enumerate();
        let used = request.stacks.iter().flat_map(|stack| &stack.modules);
        let inputs = request.project.configure.inputs.iter().map(String::as_str).chain(["templates/config"]);
        Self {
            // Of the workspaces of one folder the first stands for all.
            stacks: stacks.rev().map(|(index, stack)| (at(&stack.path), index)).collect(),
            used: used.map(|path| at(path)).collect(),
            templates: inputs.map(|input| root.join(input)).filter(|path| path != root).collect(),
        }
    }

    fn of_folder(&self, folder: &ListedFolder) -> Role {
        if self.stacks.contains_key(&folder.path) {
            return Role::Stack;
        }
        let is_by_place = folder.is_module_by_place && folder.has_tofu_files() && !self.is_template(folder);
        let is_used = self.used.contains(&folder.path) && !is_part_of_module(&folder.shown);
        if is_by_place || is_used { Role::Module } else { Role::Other }
    }

    fn is_template(&self, folder: &ListedFolder) -> bool {
        self.templates.iter().any(|template| folder.path.starts_with(template))
    }
}

/// Lists the modules that stacks use outside of the project's folder.
fn modules_elsewhere(stacks: &[Stack], root: &Path, known: &[ListedFolder]) -> Vec<ListedFolder> {
    let known: BTreeSet<&Path> = known.iter().map(|folder| folder.path.as_path()).collect();
    let used: BTreeSet<PathBuf> =
        stacks.iter().flat_map(|stack| &stack.modules).map(|path| root.join(path)).collect();
    let elsewhere = used.iter().filter(|path| !known.contains(path.as_path()) && *path != root);
    elsewhere.filter_map(|path| list(path, way_to(root, path)?).ok()).map(|(folder, _)| folder).collect()
}

/// Returns the way from one folder to another, with `..` for each step up.
fn way_to(root: &Path, path: &Path) -> Option<String> {
    if let Ok(below) = path.strip_prefix(root) {
        return below.to_str().map(str::to_owned);
    }
    let shared = root.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = root.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared).map(|part| part.as_os_str().to_str().map(str::to_owned));
    Some(up.chain(down.collect::<Option<Vec<_>>>()?).collect::<Vec<_>>().join("/"))
}

/// A file that is to be read.
struct WantedFile {
    folder: usize,
    path: PathBuf,
    shown: String,
    reading: Reading,
}

fn wanted(request: &Request<'_>, roles: &Roles, listed: &[ListedFolder]) -> Vec<WantedFile> {
    let wants_secrets = request.project.lint.is_on(LintRule::PlaintextSecret);
    let mut found = Vec::new();
    for (index, folder) in listed.iter().enumerate() {
        let read_by_tofu = match roles.of_folder(folder) {
            Role::Other => Vec::new(),
            Role::Stack | Role::Module => in_reading_order(&folder.names),
        };
        let rest = folder.names.iter().filter(|name| is_tofu_file(name) || is_value_file(name));
        let rest = rest.filter(|name| !read_by_tofu.contains(name));
        for name in read_by_tofu.iter().chain(rest) {
            let path = folder.path.join(name);
            let shown = folder.shown_file(name);
            // A link to a file of the project is judged where the file itself is.
            let is_elsewhere = || folder.links.contains(name) && leads_into(&path, &request.project.root);
            let is_public = !request.surroundings.ignored.holds(shown.as_ref());
            let declarations = read_by_tofu.contains(name);
            let secrets = wants_secrets && is_public && !is_elsewhere();
            if declarations || secrets {
                let reading = Reading { declarations, secrets, is_sealed: request.is_sealed };
                found.push(WantedFile { folder: index, path, shown, reading });
            }
        }
    }
    found
}

fn leads_into(link: &Path, root: &Path) -> bool {
    link.canonicalize().is_ok_and(|target| target.starts_with(root))
}

/// Reads files in their order, on as many cores as that takes.
fn read_all(wanted: &[WantedFile]) -> Vec<(usize, SourceFile)> {
    let read = |part: &[WantedFile]| -> Vec<(usize, SourceFile)> {
        let files = part.iter();
        files
            .map(|file| (file.folder, SourceFile::read(&file.path, file.shown.clone(), file.reading)))
            .collect()
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(wanted.len() / FILES_PER_THREAD);
    if threads < 2 {
        return read(wanted);
    }
    thread::scope(|scope| {
        let parts = wanted.chunks(wanted.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        let joined = running.into_iter();
        joined.flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn by_folder(files: &[(usize, SourceFile)], folders: usize) -> Vec<Vec<&SourceFile>> {
    let mut found = vec![Vec::new(); folders];
    for (folder, file) in files {
        if let Some(of_folder) = found.get_mut(*folder) {
            of_folder.push(file);
        }
    }
    found
}

/// Returns the files that declare anything; those with values do not.
fn tofu_files<'a>(files: &[&'a SourceFile]) -> Vec<&'a SourceFile> {
    files.iter().filter(|file| !is_value_file(&file.shown)).copied().collect()
}

/// Judges files one by one: whether they can be read, what stands in them, and their comments.
fn file_findings(roles: &Roles, folders: &[Folder<'_>], files: &[Vec<&SourceFile>]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, files) in folders.iter().zip(files) {
        let is_judged = roles.of_folder(folder.listed) != Role::Other;
        let is_template = roles.is_template(folder.listed);
        for file in files {
            // What nobody runs may be a template of something else.
            if is_judged || is_value_file(&file.shown) && !is_template {
                found.extend(fault(file));
            }
            found.extend(rules::secrets_in_files(file));
            for comment in &file.ignores {
                let place = file.line_place(comment.line);
                let flaws = comment.flaws().into_iter();
                found.extend(
                    flaws.map(|flaw| Finding::new(LintRule::IgnoreComment, place.clone(), "comment", flaw)),
                );
            }
        }
    }
    found
}

fn fault(file: &SourceFile) -> Option<Finding> {
    let (at, what) = file.fault.as_ref()?;
    let message = format!("this file cannot be judged as a whole: {what}");
    Some(Finding::new(LintRule::FileSyntax, file.place(*at), "file", message))
}

fn folder_findings(request: &Request<'_>, roles: &Roles, folder: &Folder<'_>) -> Vec<Finding> {
    let mut found = match roles.of_folder(folder.listed) {
        Role::Other => return Vec::new(),
        Role::Module => {
            let mut found = rules::required_files(folder);
            found.extend(rules::readme(folder));
            found.extend(rules::descriptions(folder));
            found
        }
        Role::Stack => {
            let mut found = rules::provider_pins(folder);
            let stack = roles.stacks.get(&folder.listed.path).and_then(|index| request.stacks.get(*index));
            found.extend(
                stack.and_then(|stack| rules::lock_file(folder, stack, &request.surroundings.ignored)),
            );
            found
        }
    };
    found.extend(rules::module_sources(folder));
    found
}

fn state_findings(request: &Request<'_>, folders: &[Folder<'_>], files: &[Vec<&SourceFile>]) -> Vec<Finding> {
    let known: BTreeMap<&str, &SourceFile> =
        files.iter().flatten().map(|file| (file.shown.as_str(), *file)).collect();
    let first_file = |stack: &Stack| {
        let path = request.project.root.join(&stack.path);
        let folder = folders.iter().find(|folder| folder.listed.path == path);
        let file = folder.and_then(|folder| folder.files.first());
        FindingPlace::start_of(
            file.map_or_else(|| stack.path.display().to_string(), |file| file.shown.clone()),
        )
    };
    let place_in = |stack: &Stack, place: Option<(&str, usize)>| match place {
        Some((file, line)) => known.get(file).map_or_else(
            || FindingPlace { line, ..FindingPlace::start_of(file) },
            |known| known.line_place(line),
        ),
        None => first_file(stack),
    };
    let mut found = rules::shared_states(request.stacks, place_in);
    found.extend(rules::unlocked_states(&request.surroundings.unlocked));
    found.extend(request.surroundings.lock_fault.as_ref().map(|(line, what)| {
        let place = FindingPlace { line: *line, ..FindingPlace::start_of("infra.lock") };
        Finding::new(LintRule::FileSyntax, place, "file", what.clone())
    }));
    found
}

/// Takes out what a comment lets pass, and returns how much that was.
fn without_ignored(findings: Vec<Finding>, files: &[&SourceFile]) -> (Vec<Finding>, usize) {
    let comments: BTreeMap<&str, &SourceFile> = files
        .iter()
        .filter(|file| !file.ignores.is_empty())
        .map(|file| (file.shown.as_str(), *file))
        .collect();
    let before = findings.len();
    let passes = |finding: &Finding| {
        let Some(file) = comments.get(finding.place.file.as_str()) else { return false };
        let lines = std::iter::once(finding.place.line).chain(finding.place.around);
        lines.into_iter().any(|line| file.ignores.iter().any(|comment| comment.covers(finding.rule, line)))
    };
    let left: Vec<Finding> = findings.into_iter().filter(|finding| !passes(finding)).collect();
    let ignored = before - left.len();
    (left, ignored)
}

/// Gives findings the gravity that the project wants; those of rules that are off go.
fn graded(findings: Vec<Finding>, project: &Project) -> Vec<Finding> {
    let level = |finding: Finding| Finding { level: project.lint.level(finding.rule), ..finding };
    findings.into_iter().map(level).filter(|finding| finding.level != LintLevel::Off).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_folder_elsewhere_goes_up_first() {
        let way = |path: &str| way_to(Path::new("/a/b"), Path::new(path));

        assert_eq!(way("/a/modules/x").as_deref(), Some("../modules/x"));
        assert_eq!(way("/c").as_deref(), Some("../../c"));
        assert_eq!(way("/a/b/c").as_deref(), Some("c"));
    }
}
