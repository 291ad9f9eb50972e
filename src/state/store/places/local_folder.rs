//! A local folder as an object store: private to its owner or to a group, and durable.
//!
//! What lies in it is the business of [`PrivateFolder`]; here is the root folder itself,
//! and who may read it. Deletes are never flushed, and need not be: only superseded
//! entries are deleted.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::opened_store::{OpenedStore, Reach};
use super::private_folder::{Flushing, PrivateFolder};
use crate::atomic_file::create_private_dir;
use crate::error::{Error, Result, io};

/// Makes the folder if need be and returns it as an object store, with and without flushing.
pub fn open(root: &Path) -> Result<OpenedStore> {
    // A folder that was there keeps its rights: it may be shared on purpose.
    if !root.is_dir() {
        make_private(root)?;
    }
    let store = |flushing| {
        PrivateFolder::over(root, flushing).map_err(|error| {
            Error::unavailable(format!("cannot open the state folder `{}`", root.display())).because(error)
        })
    };
    let quick = store(Flushing::Never)?;
    Ok(OpenedStore {
        flushed: Arc::new(store(Flushing::Always)?),
        quick: Arc::new(quick.clone()),
        reach: Reach::Local(quick),
    })
}

fn make_private(root: &Path) -> Result<()> {
    let missing: Vec<&Path> = root.ancestors().take_while(|folder| !folder.exists()).collect();
    create_private_dir(root)?;
    for made in missing {
        flush(made.parent())?;
    }
    Ok(())
}

/// Flushes the folder a new folder was linked into: its link is what a power cut would lose.
fn flush(folder: Option<&Path>) -> Result<()> {
    let folder = match folder {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("flush", folder))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use object_store::ObjectStoreExt as _;

    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).expect("a usable folder").permissions().mode() & 0o777
    }

    #[test]
    fn a_new_state_folder_belongs_to_its_owner_alone() {
        let home = tempfile::tempdir().expect("a usable folder");
        let root = home.path().join("infra/state");

        open(&root).expect("a usable folder");

        assert_eq!(mode_of(&root), 0o700);
    }

    #[test]
    fn a_folder_that_was_there_keeps_its_rights() {
        let home = tempfile::tempdir().expect("a usable folder");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("a usable folder");

        open(home.path()).expect("a usable folder");

        assert_eq!(mode_of(home.path()), 0o755);
    }

    #[tokio::test]
    async fn a_folder_that_somebody_removed_is_made_again_and_belongs_to_its_owner_alone() {
        let home = tempfile::tempdir().expect("a usable folder");
        let store = open(home.path()).expect("a usable folder");
        let put = async |key: &str| store.quick.put(&key.into(), "x".into()).await.expect("stored");

        put("a/b/1").await;
        fs::remove_dir_all(home.path().join("a")).expect("a folder");
        put("a/b/2").await;

        assert_eq!([mode_of(&home.path().join("a")), mode_of(&home.path().join("a/b"))], [0o700, 0o700]);
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let home = tempfile::tempdir().expect("a usable folder");
        let root = home.path().join("state");
        fs::write(&root, "").expect("a usable folder");

        let error = open(&root).expect_err("a file is no folder");

        assert!(error.message().contains("state"), "{error}");
    }
}
