//! The folder that a new project goes into. Everything is written beside it first and moved in at
//! the end, so that a failure leaves nothing half made.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};

/// A file of a new project.
#[derive(Debug)]
pub struct NewFile {
    /// Where it stands below the folder.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Who may read it.
    pub access: Access,
}

/// Who may read a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Whoever the system lets.
    Usual,
    /// Its owner alone.
    Private,
}

/// A folder that is not there yet, or is empty.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Refuses a folder that holds anything but an empty repository.
    pub fn check(dir: &Path, cwd: &Path) -> Result<Self> {
        let path = cwd.join(dir);
        match std::fs::read_dir(&path) {
            Ok(mut entries) => match entries.find_map(|entry| entry.ok().filter(|e| e.file_name() != ".git"))
            {
                None => Ok(Self { path }),
                Some(entry) => Err(Error::usage(format!("the folder `{}` is not empty", dir.display()))
                    .fact("found", entry.file_name().to_string_lossy())),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { path }),
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                Err(Error::usage(format!("`{}` is no folder", dir.display())))
            }
            Err(error) => Err(io("open", &path)(error)),
        }
    }

    /// Writes the files and moves them in.
    pub fn fill(&self, files: &[NewFile]) -> Result<()> {
        let above = self.path.parent().filter(|_| !self.path.exists()).unwrap_or(&self.path);
        std::fs::create_dir_all(above).map_err(io("create", above))?;
        let staging = tempfile::Builder::new().prefix(".infra-new-").tempdir_in(above);
        let staging = staging.map_err(io("write", above))?;
        let fresh = staging.path().join("project");
        std::fs::create_dir(&fresh).map_err(io("create", &fresh))?;
        for file in files {
            write(&fresh, file)?;
        }
        self.take(&fresh)
    }

    fn take(&self, fresh: &Path) -> Result<()> {
        if !self.path.exists() {
            return std::fs::rename(fresh, &self.path).map_err(io("create", &self.path));
        }
        for entry in std::fs::read_dir(fresh).map_err(io("read", fresh))? {
            let entry = entry.map_err(io("read", fresh))?;
            let target = self.path.join(entry.file_name());
            std::fs::rename(entry.path(), &target).map_err(io("create", &target))?;
        }
        Ok(())
    }
}

fn write(dir: &Path, file: &NewFile) -> Result<()> {
    let path = dir.join(&file.path);
    let parent = path.parent().unwrap_or(dir);
    std::fs::create_dir_all(parent).map_err(io("create", parent))?;
    let mode = match file.access {
        Access::Usual => 0o666,
        Access::Private => 0o600,
    };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
    opened.and_then(|mut opened| opened.write_all(&file.bytes)).map_err(io("write", &path))
}
