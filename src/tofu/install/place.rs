//! Where a version lives in the cache, and the folder in which it is put together.
//!
//! `tofu/VERSION/` holds the finished binary and its receipt, `tofu/VERSION.partial/` an
//! install on its way, `tofu/VERSION.lock` who may work there. Only files of these three
//! names are written.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use semver::Version;

use super::receipt::{RECEIPT, Receipt};
use crate::error::{Error, Result, io};
use crate::model::Environment;

/// The name of the binary, in an archive as in the cache.
pub(super) const BINARY: &str = "tofu";

/// The place of one version.
#[derive(Clone, Debug)]
pub(super) struct InstallPlace {
    folder: PathBuf,
    version: String,
}

impl InstallPlace {
    /// Returns the place of a version in this environment's cache.
    pub(super) fn of(env: &Environment, version: &Version) -> Result<Self> {
        let folder = env.cache_dir().ok_or_else(|| {
            Error::unavailable("there is no cache folder to install OpenTofu in")
                .hint("set `HOME` or `XDG_CACHE_HOME`")
        })?;
        Ok(Self { folder: folder.join("tofu"), version: version.to_string() })
    }

    /// Returns the path of the finished binary.
    pub(super) fn binary(&self) -> PathBuf {
        self.finished().join(BINARY)
    }

    /// Returns the file that is locked during an install.
    pub(super) fn lock_file(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.version))
    }

    /// Moves a staged binary and its receipt here; the binary comes last and makes it whole.
    pub(super) fn take_over(&self, staging: &Staging, receipt: &Receipt) -> Result<()> {
        let finished = self.finished();
        std::fs::create_dir_all(&finished).map_err(io("create", &finished))?;
        receipt.write(&staging.path(RECEIPT))?;
        make_durable(&staging.binary())?;
        for name in [RECEIPT, BINARY] {
            let target = finished.join(name);
            std::fs::rename(staging.path(name), &target).map_err(io("write", &target))?;
        }
        sync(&finished)
    }

    fn finished(&self) -> PathBuf {
        self.folder.join(&self.version)
    }

    fn partial(&self) -> PathBuf {
        self.folder.join(format!("{}.partial", self.version))
    }
}

/// Returns the versions that have a folder in the cache.
pub(super) fn versions(env: &Environment) -> Vec<Version> {
    let Some(entries) = env.cache_dir().and_then(|dir| std::fs::read_dir(dir.join("tofu")).ok()) else {
        return Vec::new();
    };
    entries.flatten().filter_map(|entry| Version::parse(entry.file_name().to_str()?).ok()).collect()
}

/// The folder of an install on its way; it is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Staging {
    folder: PathBuf,
}

impl Staging {
    /// Makes an empty folder; what a killed run left is removed, which the lock makes safe.
    pub(super) fn begin(place: &InstallPlace) -> Result<Self> {
        let folder = place.partial();
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("clean", &folder)(error));
            }
            Ok(()) | Err(_) => {}
        }
        std::fs::create_dir_all(&folder).map_err(io("create", &folder))?;
        Ok(Self { folder })
    }

    /// Returns the path of a file in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns where the binary is put together.
    pub(super) fn binary(&self) -> PathBuf {
        self.path(BINARY)
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next install.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes a file executable for all and sure to survive a power cut.
fn make_durable(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).map_err(io("make executable", path))?;
    sync(path)
}

fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(io("write", path))
}
