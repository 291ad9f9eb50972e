//! The difference between the generated files and the tree as it is: pure reading.
//!
//! Says for each file whether it is new, changed, the same, or gone, and which changes would
//! undo what a person did. Nothing is written here. Begin at [`compare`].

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use super::GeneratedFile;
use super::manifest::Manifest;
use crate::error::{Error, Result, io};

/// What a `configure` would do to the tree.
#[derive(Debug, Default)]
pub struct Changes {
    /// What is written or removed, by path.
    pub files: Vec<FileChange>,
    /// What a person did that stays, by path.
    pub conflicts: Vec<Conflict>,
    /// How many files are as they should be.
    pub unchanged: usize,
    /// What the tree will have been made of.
    pub(super) manifest: Manifest,
}

impl Changes {
    /// Returns whether the tree is as the templates say.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.conflicts.is_empty()
    }
}

/// One file that is not as it should be.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Where, relative to the root.
    pub path: PathBuf,
    /// What the file holds; none where there is none.
    pub before: Option<Vec<u8>>,
    /// What it will hold; none where it goes.
    pub after: Option<Vec<u8>>,
    /// Its permission bits afterwards.
    pub mode: u32,
}

/// A file that only `--force` replaces.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What would happen to it.
    pub change: FileChange,
    /// Why it stays.
    pub reason: Reason,
}

/// Why a file is not replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// It was generated, and edited since.
    Edited,
    /// It was there before anything was generated.
    Foreign,
}

/// Whether what a person did may be undone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Overwrite {
    /// Yes.
    Force,
    /// No.
    Never,
}

/// What a comparison is made with.
pub struct Comparison<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// What was written last time.
    pub manifest: &'a Manifest,
    /// Whether what a person did may be undone.
    pub overwrite: Overwrite,
    /// Tells whether version control has a file as it is, so that replacing it loses nothing.
    pub recorded: &'a dyn Fn(&Path) -> bool,
}

impl std::fmt::Debug for Comparison<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Comparison").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Compares the tree with what it should be.
pub fn compare(with: &Comparison<'_>, files: &[GeneratedFile]) -> Result<Changes> {
    let mut changes = Changes::default();
    let rendered: HashMap<&Path, &GeneratedFile> =
        files.iter().map(|file| (file.path.as_path(), file)).collect();
    refuse_impossible(files, &rendered)?;
    let leftover = |path: &PathBuf| !rendered.contains_key(path.as_path()) && !is_not_ours(path);
    for path in with.manifest.paths().filter(leftover) {
        with.compare_leftover(&path, &mut changes)?;
    }
    let going: HashSet<PathBuf> = changes.files.iter().map(|change| change.path.clone()).collect();
    for file in files {
        refuse_links(with.root, &file.path)?;
        with.compare_file(file, &going, &mut changes)?;
    }
    changes.files.sort_by(|a, b| a.path.cmp(&b.path));
    changes.conflicts.sort_by(|a, b| a.change.path.cmp(&b.change.path));
    Ok(changes)
}

impl Comparison<'_> {
    /// `going` are the files that are removed before anything is written.
    fn compare_file(
        &self,
        file: &GeneratedFile,
        going: &HashSet<PathBuf>,
        changes: &mut Changes,
    ) -> Result<()> {
        let before = self.before(&file.path, going)?;
        changes.manifest.add(&file.path, &file.bytes);
        if before.as_ref().is_some_and(|(bytes, mode)| *bytes == file.bytes && *mode == file.mode) {
            changes.unchanged += 1;
            return Ok(());
        }
        let before = before.map(|(bytes, _)| bytes);
        let reason = before.as_deref().filter(|before| *before != file.bytes);
        let reason = reason.and_then(|before| self.reason_to_keep(&file.path, before));
        let after = Some(file.bytes.clone());
        let change = FileChange { path: file.path.clone(), before, after, mode: file.mode };
        self.decide(change, reason, changes);
        Ok(())
    }

    /// Looks at a file that was generated and no longer is.
    fn compare_leftover(&self, path: &Path, changes: &mut Changes) -> Result<()> {
        refuse_links(self.root, path)?;
        // Something else may be there by now; it was not generated, and is nobody's business here.
        let Found::File(before, mode) = look(&self.root.join(path))? else { return Ok(()) };
        let reason = (!self.manifest.wrote(path, &before)).then_some(Reason::Edited);
        let change = FileChange { path: path.to_owned(), before: Some(before), after: None, mode };
        self.decide(change, reason, changes);
        Ok(())
    }

    /// Reads what is in the place of a file; what is about to be removed does not count.
    fn before(&self, path: &Path, going: &HashSet<PathBuf>) -> Result<Option<(Vec<u8>, u32)>> {
        if path.ancestors().skip(1).any(|above| going.contains(above)) {
            return Ok(None);
        }
        let place = self.root.join(path);
        let what = match look(&place)? {
            Found::Nothing => return Ok(None),
            Found::File(bytes, mode) => return Ok(Some((bytes, mode))),
            Found::Folder if self.is_emptied(path, going) => return Ok(None),
            Found::Folder => "a folder",
            Found::Other => "a link",
            Found::Below(file) => return Err(in_the_way(path, "a file", &file)),
        };
        Err(in_the_way(path, what, &place))
    }

    /// Returns whether everything in a folder is about to be removed.
    fn is_emptied(&self, folder: &Path, going: &HashSet<PathBuf>) -> bool {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else { return false };
        entries.flatten().all(|entry| {
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { self.is_emptied(&path, going) } else { going.contains(&path) }
        })
    }

    fn decide(&self, change: FileChange, reason: Option<Reason>, changes: &mut Changes) {
        match reason {
            Some(reason) if self.overwrite == Overwrite::Never => {
                changes.manifest.keep(&change.path, self.manifest);
                changes.conflicts.push(Conflict { change, reason });
            }
            _ => changes.files.push(change),
        }
    }

    fn reason_to_keep(&self, path: &Path, before: &[u8]) -> Option<Reason> {
        if self.manifest.wrote(path, before) {
            return None;
        }
        if self.manifest.knows(path) {
            return Some(Reason::Edited);
        }
        (!(self.recorded)(path)).then_some(Reason::Foreign)
    }
}

/// What is in the place of a file.
enum Found {
    Nothing,
    File(Vec<u8>, u32),
    Folder,
    /// A link, or something stranger.
    Other,
    /// A file where a folder would have to be.
    Below(PathBuf),
}

fn look(path: &Path) -> Result<Found> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let file = path.ancestors().skip(1).find(|above| above.is_file()).unwrap_or(path);
            return Ok(Found::Below(file.to_owned()));
        }
        Err(error) => return Err(io("read", path)(error)),
    };
    if metadata.is_dir() {
        return Ok(Found::Folder);
    }
    if !metadata.is_file() {
        return Ok(Found::Other);
    }
    let bytes = std::fs::read(path).map_err(io("read", path))?;
    Ok(Found::File(bytes, metadata.permissions().mode() & 0o7777))
}

fn in_the_way(path: &Path, what: &str, place: &Path) -> Error {
    Error::invalid(format!("`{}` would be generated, but {what} is there", path.display()))
        .at(place.display())
        .hint("move it out of the way")
}

/// Refuses files of which one would have to be the folder of another, and those that are not ours to write.
fn refuse_impossible(files: &[GeneratedFile], rendered: &HashMap<&Path, &GeneratedFile>) -> Result<()> {
    for file in files {
        if let Some(above) = file.path.ancestors().skip(1).find_map(|above| rendered.get(above)) {
            return Err(Error::invalid(format!(
                "`{}` would be a file and a folder: `{}` and `{}` are rendered to it",
                above.path.display(),
                above.origin,
                file.origin
            )));
        }
        if is_not_ours(&file.path) {
            return Err(Error::invalid(format!("`{}` is no place for generated files", file.path.display()))
                .detail(format!("`{}` is rendered to it", file.origin)));
        }
    }
    Ok(())
}

/// Returns whether a path is in a repository's own folder or in `.infra`: nothing is generated there, and
/// a list of generated files that says so did not come from here.
fn is_not_ours(path: &Path) -> bool {
    let is = |part: Component<'_>, name: &str| part.as_os_str().eq_ignore_ascii_case(name);
    path.components().any(|part| is(part, ".git"))
        || path.components().next().is_some_and(|part| is(part, ".infra"))
}

/// Refuses a path whose folders lead through a link: what it leads to may be outside the project.
fn refuse_links(root: &Path, path: &Path) -> Result<()> {
    let mut place = root.to_owned();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else {
            return Err(Error::invalid(format!("`{}` leaves the project", path.display())));
        };
        place.push(name);
        if place.is_symlink() {
            return Err(Error::invalid(format!(
                "`{}` would be generated through the link `{}`",
                path.display(),
                place.display()
            ))
            .hint("replace the link by a folder"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(path: &str, text: &str) -> GeneratedFile {
        let origin = format!("templates/{path}.j2");
        GeneratedFile { path: path.into(), bytes: text.into(), mode: 0o644, origin }
    }

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        root
    }

    fn known(files: &[(&str, &str)]) -> Manifest {
        let mut manifest = Manifest::default();
        files.iter().for_each(|(path, text)| manifest.add(Path::new(path), text.as_bytes()));
        manifest
    }

    fn changes(root: &Path, manifest: &Manifest, files: &[GeneratedFile]) -> Changes {
        let with = Comparison { root, manifest, overwrite: Overwrite::Never, recorded: &|_| false };
        compare(&with, files).unwrap()
    }

    #[test]
    fn new_changed_same_and_gone_are_told_apart() {
        let root = tree(&[("same", "1"), ("old", "1"), ("gone", "1")]);
        let manifest = known(&[("same", "1"), ("old", "1"), ("gone", "1")]);

        let found = changes(
            root.path(),
            &manifest,
            &[generated("same", "1"), generated("old", "2"), generated("new", "3")],
        );

        let files: Vec<_> =
            found.files.iter().map(|file| (file.path.to_str().unwrap(), file.after.is_some())).collect();
        assert_eq!(files, [("gone", false), ("new", true), ("old", true)]);
        assert_eq!((found.unchanged, found.conflicts.len()), (1, 0));
    }

    #[test]
    fn what_a_person_did_is_a_conflict_unless_it_is_forced() {
        let root = tree(&[("edited", "mine"), ("foreign", "mine"), ("kept", "mine")]);
        let manifest = known(&[("edited", "1"), ("kept", "1")]);
        let files = [generated("edited", "2"), generated("foreign", "2")];

        let found = changes(root.path(), &manifest, &files);
        let forced = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Force,
            recorded: &|_| false,
        };

        let reasons: Vec<_> = found.conflicts.iter().map(|conflict| conflict.reason).collect();
        assert_eq!(reasons, [Reason::Edited, Reason::Foreign, Reason::Edited]);
        assert!(found.files.is_empty() && found.manifest.wrote(Path::new("edited"), b"1"));
        assert_eq!(compare(&forced, &files).unwrap().files.len(), 3);
    }

    #[test]
    fn a_file_that_version_control_has_may_be_replaced_the_first_time() {
        let root = tree(&[("main.tf", "from a colleague")]);
        let manifest = Manifest::default();
        let recorded = |_: &Path| true;
        let with = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Never,
            recorded: &recorded,
        };

        let found = compare(&with, &[generated("main.tf", "new")]).unwrap();

        assert_eq!((found.files.len(), found.conflicts.len()), (1, 0));
    }

    #[test]
    fn nothing_is_generated_through_a_link_or_over_one() {
        let root = tree(&[]);
        std::os::unix::fs::symlink("/tmp", root.path().join("link")).unwrap();
        let manifest = Manifest::default();
        let with = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Force,
            recorded: &|_| false,
        };

        let through = compare(&with, &[generated("link/x", "1")]).unwrap_err();
        let over = compare(&with, &[generated("link", "1")]).unwrap_err();

        assert!(through.to_string().contains("through the link"), "{through}");
        assert!(over.to_string().contains("a link is there"), "{over}");
    }

    #[test]
    fn what_cannot_be_written_side_by_side_or_is_not_ours_is_refused_before_anything() {
        let root = tree(&[]);
        let manifest = Manifest::default();
        let with = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Force,
            recorded: &|_| false,
        };

        let both = compare(&with, &[generated("dd", "1"), generated("dd/x", "2")]).unwrap_err();
        let own = compare(&with, &[generated(".infra/generated.json", "1")]).unwrap_err();
        let git = compare(&with, &[generated(".git/hooks/pre-commit", "1")]).unwrap_err();

        assert!(both.to_string().contains("templates/dd.j2` and `templates/dd/x.j2"), "{both}");
        assert!(own.to_string().contains("no place") && git.to_string().contains("no place"));
    }

    #[test]
    fn a_list_that_names_files_which_were_never_generated_removes_none_of_them() {
        let root = tree(&[(".git/HEAD", "main"), ("sub/.git/HEAD", "main"), (".infra/x", "main")]);
        let manifest = known(&[(".git/HEAD", "main"), ("sub/.git/HEAD", "main"), (".infra/x", "main")]);
        let with = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Force,
            recorded: &|_| false,
        };

        let found = compare(&with, &[]).unwrap();
        let outside = compare(&Comparison { manifest: &known(&[("../x", "1")]), ..with }, &[]).unwrap_err();

        assert!(found.is_empty() && !found.manifest.knows(Path::new(".git/HEAD")));
        assert!(outside.to_string().contains("leaves the project"), "{outside}");
    }

    #[test]
    fn a_folder_of_generated_files_may_become_a_file_and_the_other_way_round() {
        let root = tree(&[("q/x", "1"), ("r", "1"), ("s/mine", "1"), ("s/x", "1")]);
        let manifest = known(&[("q/x", "1"), ("r", "1"), ("s/x", "1")]);

        let found = changes(root.path(), &manifest, &[generated("q", "2"), generated("r/y", "2")]);
        let with = Comparison {
            root: root.path(),
            manifest: &manifest,
            overwrite: Overwrite::Never,
            recorded: &|_| false,
        };
        let refused = compare(&with, &[generated("s", "2")]).unwrap_err();

        let paths: Vec<_> = found.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["q", "q/x", "r", "r/y", "s/x"]);
        assert!(refused.to_string().contains("a folder is there"), "{refused}");
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_that_is_no_longer_generated_is_left_alone() {
        let root = tree(&[("dd/mine", "1")]);

        let found = changes(root.path(), &known(&[("dd", "1")]), &[]);

        assert!(found.is_empty());
    }

    #[test]
    fn another_mode_alone_is_a_change_and_never_a_conflict() {
        let root = tree(&[("run.sh", "1")]);
        let file = GeneratedFile { mode: 0o755, ..generated("run.sh", "1") };

        let found = changes(root.path(), &Manifest::default(), &[file]);

        assert_eq!((found.files.len(), found.conflicts.len()), (1, 0));
    }
}
