//! Where plaintext may lie for an editor: in memory, never on a disk.

use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::error::{Error, Kind, Result};
use crate::model::Environment;

/// A folder in which folders for editing are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlace {
    base: PathBuf,
    warning: Option<String>,
}

impl EditPlace {
    /// Finds a folder in memory: `XDG_RUNTIME_DIR`, then `/dev/shm`.
    ///
    /// Where none is, Linux refuses; systems that have no such folders use the one for temporary
    /// files, with a warning.
    pub fn find(env: &Environment) -> Result<Self> {
        choose(&candidates(env), is_in_memory)
    }

    /// Returns the folder.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns what a person should know before plaintext is written there.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Returns where folders for editing may be, the best first.
pub(super) fn candidates(env: &Environment) -> Vec<PathBuf> {
    let runtime = env.path("XDG_RUNTIME_DIR").filter(|path| path.is_absolute());
    let mut all: Vec<PathBuf> = runtime.into_iter().collect();
    if cfg!(target_os = "linux") {
        all.push("/dev/shm".into());
    } else {
        all.push(env.path("TMPDIR").unwrap_or_else(|| "/tmp".into()));
    }
    all
}

fn choose(candidates: &[PathBuf], in_memory: impl Fn(&Path) -> bool) -> Result<EditPlace> {
    let writable = |path: &&PathBuf| access(path.as_path(), AccessFlags::W_OK | AccessFlags::X_OK).is_ok();
    let mut usable = candidates.iter().filter(writable);
    if let Some(base) = usable.clone().find(|path| in_memory(path)) {
        return Ok(EditPlace { base: base.clone(), warning: None });
    }
    match usable.next_back() {
        Some(base) if !cfg!(target_os = "linux") => {
            let warning =
                format!("`{}` may be on a disk: plaintext is written there for the editor", base.display());
            Ok(EditPlace { base: base.clone(), warning: Some(warning) })
        }
        _ => Err(nowhere(candidates)),
    }
}

fn nowhere(candidates: &[PathBuf]) -> Error {
    let tried: Vec<String> = candidates.iter().map(|path| format!("`{}`", path.display())).collect();
    Error::new(Kind::Refused, "there is no folder in memory for the plaintext of an editor")
        .fact("tried", tried.join(", "))
        .detail("expected a writable tmpfs, so that plaintext never reaches a disk")
        .hint("set `XDG_RUNTIME_DIR` to a tmpfs, or mount one: `mount -t tmpfs tmpfs /dev/shm`")
}

#[cfg(target_os = "linux")]
fn is_in_memory(path: &Path) -> bool {
    use nix::sys::statfs::{FsType, TMPFS_MAGIC, statfs};
    /// Not named by the library.
    const RAMFS_MAGIC: FsType = FsType(0x8584_58f6);
    statfs(path).is_ok_and(|found| [TMPFS_MAGIC, RAMFS_MAGIC].contains(&found.filesystem_type()))
}

#[cfg(not(target_os = "linux"))]
const fn is_in_memory(_: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_folder_comes_first_and_must_be_in_memory() {
        let (runtime, shared) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let both = [runtime.path().to_owned(), shared.path().to_owned()];

        let first = choose(&both, |_| true).expect("a place");
        let second = choose(&both, |path| path == shared.path()).expect("a place");

        assert_eq!((first.base(), second.base()), (runtime.path(), shared.path()));
        assert_eq!(first.warning(), None);
    }

    #[test]
    fn a_disk_or_a_missing_folder_is_refused_and_named() {
        let disk = tempfile::tempdir().expect("a folder");

        let error =
            choose(&[disk.path().to_owned(), "/nowhere/at/all".into()], |_| false).expect_err("no place");

        assert_eq!(error.kind(), Kind::Refused);
        let text = error.to_string();
        assert!(
            text.contains(&disk.path().display().to_string()) && text.contains("/nowhere/at/all"),
            "{text}"
        );
    }

    #[test]
    fn proc_is_no_memory_to_write_in_and_relative_folders_do_not_count() {
        let env = Environment::default().with("XDG_RUNTIME_DIR", "relative");

        assert!(!is_in_memory(Path::new("/proc")) && !is_in_memory(Path::new("/nowhere")));
        assert_eq!(candidates(&env), [PathBuf::from("/dev/shm")]);
    }
}
