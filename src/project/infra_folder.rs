//! The folder `.infra` beside a project. What lies in it can be made again and proves nothing:
//! a repository may bring one.
//!
//! A link in it would lead what is written and removed there to a place outside of the
//! project, so nothing is done with a folder that has one. Everybody who reads a project
//! comes through here first. Begin at [`refuse_links`].

use std::fs::FileType;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::model::quoted;

/// Folders in which others put links of their own: tofu below a data folder, whose providers are linked
/// from a cache. So many folders below them are this program's; of all others every one is.
const SHARED: [(&str, usize); 3] = [("applied", 2), ("runs", 2), ("validate", 2)];

/// Refuses a `.infra` that is a link, or in which there is one where this program reads and writes.
pub(super) fn refuse_links(root: &Path) -> Result<()> {
    let dir = root.join(".infra");
    let kind = match std::fs::symlink_metadata(&dir) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(io("read", &dir)(error)),
    };
    match kind {
        // The later write reports that it cannot be done.
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => check_folder(&dir),
        kind => Err(refusal(&dir, kind)),
    }
}

fn check_folder(dir: &Path) -> Result<()> {
    check_entries(dir, &|name| {
        let depth = SHARED.iter().find(|(shared, _)| name == *shared);
        depth.map_or(usize::MAX, |(_, depth)| *depth)
    })
}

/// Checks what is in a folder; `depth_of` says how deep a folder in it is looked into.
fn check_entries(dir: &Path, depth_of: &dyn Fn(&str) -> usize) -> Result<()> {
    // A folder that cannot be read cannot be used either, which is reported where it is needed.
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(io("read", &path))?;
        if !kind.is_dir() && !kind.is_file() {
            return Err(refusal(&path, kind));
        }
        let depth = depth_of(&name.to_string_lossy());
        if kind.is_dir() && depth > 0 {
            check_entries(&path, &|_| depth - 1)?;
        }
    }
    Ok(())
}

fn refusal(path: &Path, kind: FileType) -> Error {
    let what = if kind.is_symlink() { "a link" } else { "neither a file nor a folder" };
    let error = Error::invalid(format!("`{}` is {what}", path.display()))
        .detail("what is kept below `.infra` stays in the project; nothing was written or removed");
    let here = quoted(&path.display().to_string());
    match states_behind(path) {
        // Without the link, everything that was applied would look new.
        Some((target, states)) => error
            .detail(format!("states lie behind it, in `{}`", states.display()))
            .hint(format!(
                "bring them back: `rm {here} && mv {} {here}`",
                quoted(&target.display().to_string())
            ))
            .hint(format!("or say where they are in infra.yaml: `state: {{store: {}}}`", states.display())),
        None if path.ends_with(".infra/state") => error
            .hint("to keep states elsewhere, say where in infra.yaml: `state: {store: PATH}`")
            .hint(format!("then remove it: `rm {here}`")),
        None => error.hint(format!("remove it: `rm {here}`")),
    }
}

/// Returns where a link leads, and the states there, if it leads to any.
fn states_behind(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let target = std::fs::canonicalize(path).ok()?;
    let states = match path.file_name()?.to_str()? {
        ".infra" => target.join("state"),
        "state" => target.clone(),
        _ => return None,
    };
    let any = std::fs::read_dir(&states).is_ok_and(|mut entries| entries.next().is_some());
    any.then_some((target, states))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn project(folders: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for folder in folders {
            std::fs::create_dir_all(root.path().join(".infra").join(folder)).expect("a folder");
        }
        root
    }

    #[test]
    fn a_folder_without_links_and_no_folder_at_all_are_fine() {
        assert!(refuse_links(project(&[]).path()).is_ok());
        assert!(refuse_links(project(&["plans/01-a", "state/x/versions", "runs/1/logs"]).path()).is_ok());
    }

    #[test]
    fn a_link_is_refused_wherever_something_is_written() {
        for place in [
            "staging",
            "plans/01-a",
            "state/x/y/z",
            "working/x",
            "runs/1/abandoned",
            "applied/x/tree",
            "validate/x/providers",
            "configure.lock",
        ] {
            let root = project(&["plans", "state/x/y", "working", "runs/1", "applied/x", "validate/x"]);
            symlink("/nowhere", root.path().join(".infra").join(place)).expect("a link");

            let error = refuse_links(root.path()).expect_err(place);

            assert!(error.message().contains(place) && error.message().contains("a link"), "{error}");
        }
    }

    #[test]
    fn links_that_tofu_makes_in_its_own_folders_are_left_alone() {
        let root = project(&["validate/x/providers/host", "applied/x/tree/a/.terraform"]);
        for place in ["validate/x/providers/host/name", "applied/x/tree/a/.terraform/y"] {
            symlink("/nowhere", root.path().join(".infra").join(place)).expect("a link");
        }

        assert!(refuse_links(root.path()).is_ok());
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_refused() {
        let root = project(&[]);
        symlink("/tmp", root.path().join(".infra")).expect("a link");

        let error = refuse_links(root.path()).expect_err("a link");

        assert!(error.message().ends_with("is a link"), "{error}");
    }
}
