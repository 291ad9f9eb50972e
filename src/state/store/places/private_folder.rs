//! A local folder as an object store whose files and folders belong to their owner alone,
//! or to a group where a person has made them so.
//!
//! Reading, listing and deleting are those of [`LocalFileSystem`]. Writing is done here,
//! because that one gives every file the mode of the umask: a file is made with mode 0600
//! beside its place, flushed if that is asked for, and renamed; folders are made with mode
//! 0700. In a folder that a group shares (setgid, and writable for the group) it is 0660 and
//! 2770: what is made there gets the folder's group from the system, whoever makes it. A folder
//! that is shared in any way keeps its mode; one that an earlier version left readable for
//! others is closed on the way. Begin at [`PrivateFolder::over`].

use std::collections::HashSet;
use std::fmt;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMode,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tempfile::NamedTempFile;

use super::file_work::FileWork;

/// The group of what is made in a folder is the folder's own.
const SETGID: u32 = 0o2000;

/// The group may write.
const GROUP_WRITES: u32 = 0o020;

/// Anybody but the owner may do anything.
const OTHERS: u32 = 0o077;

/// How many folders are remembered before all are forgotten.
const MOST_SEEN: usize = 1024;

/// Folders below it come and go with what they hold.
const PASSING: &str = "@probe";

/// What a write survives once it is acknowledged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flushing {
    /// A power cut.
    Always,
    /// The end of this process.
    Never,
}

/// A folder that others cannot read.
#[derive(Clone, Debug)]
pub struct PrivateFolder {
    files: LocalFileSystem,
    root: PathBuf,
    flushing: Flushing,
    work: FileWork,
    /// The folders that this process has looked at.
    seen: Arc<SeenFolders>,
}

/// Folders that are there and closed to others, as far as this process knows.
#[derive(Debug, Default)]
struct SeenFolders(Mutex<HashSet<PathBuf>>);

impl SeenFolders {
    fn contains(&self, folder: &std::path::Path) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(folder)
    }

    fn insert(&self, folder: &std::path::Path) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST_SEEN {
            seen.clear();
        }
        seen.insert(folder.to_owned());
    }
}

/// A file that is open, with what it begins with.
#[derive(Debug)]
pub struct OpenedFile {
    pub file: File,
    pub size: u64,
    pub start: Bytes,
}

impl PrivateFolder {
    /// Makes a store of an existing folder, whose own rights stay as they are.
    pub fn over(root: &std::path::Path, flushing: Flushing) -> Result<Self> {
        let files = LocalFileSystem::new_with_prefix(root)?;
        let root = root.canonicalize().map_err(|error| told(root, error))?;
        let work = FileWork::below(&root);
        Ok(Self { files, root, flushing, work, seen: Arc::default() })
    }

    fn put_file(&self, location: &Path, payload: &PutPayload, mode: &PutMode) -> Result<PutResult> {
        let path = self.path_of(location)?;
        match self.write(&path, payload, mode) {
            Ok(()) => Ok(PutResult { e_tag: None, version: None, extensions: Default::default() }),
            Err(error) => Err(told(&path, error)),
        }
    }

    fn write(&self, path: &std::path::Path, payload: &PutPayload, mode: &PutMode) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.root);
        let mut file = self.temporary_in(folder)?;
        if is_shared(folder) {
            file.as_file().set_permissions(Permissions::from_mode(0o660))?;
        }
        payload.iter().try_for_each(|part| file.write_all(part))?;
        if self.flushing == Flushing::Always {
            file.as_file().sync_all()?;
        }
        let placed = match mode {
            PutMode::Create => file.persist_noclobber(path),
            PutMode::Overwrite | PutMode::Update(_) => file.persist(path),
        };
        drop(placed.map_err(|error| error.error)?);
        if self.flushing == Flushing::Always { flush(folder) } else { Ok(()) }
    }

    /// Makes an empty file in a folder, and the folder if need be.
    fn temporary_in(&self, folder: &std::path::Path) -> io::Result<NamedTempFile> {
        // Such a name is neither a number nor that of a copy, so nobody takes it for one.
        let make = || tempfile::Builder::new().prefix("#").tempfile_in(folder);
        if self.seen.contains(folder) {
            match make() {
                // Somebody has removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                made => return made,
            }
        }
        self.make_folders(folder)?;
        self.seen.insert(folder);
        make()
    }

    /// Makes what is missing between the root and a folder, and closes what was left open to others.
    fn make_folders(&self, folder: &std::path::Path) -> io::Result<()> {
        let below: Vec<_> = folder.ancestors().take_while(|part| *part != self.root).collect();
        for part in below.into_iter().rev() {
            match std::fs::metadata(part) {
                Ok(facts) if facts.is_dir() && is_left_open(facts.permissions().mode()) => {
                    // Somebody else's folder stays as its owner wants it.
                    let _ = std::fs::set_permissions(part, Permissions::from_mode(0o700));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => make_folder(part)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens the entry with a key, unless there is one with the key that follows it, and reads its start.
    ///
    /// One step in place of three, since every step is a change to another thread and back.
    pub async fn open_unless(&self, follower: Path, key: Path, most: u64) -> io::Result<Option<OpenedFile>> {
        let folder = self.clone();
        let bytes = usize::try_from(most).unwrap_or(usize::MAX);
        let open = move || folder.open_unless_now(&follower, &key, most);
        self.work.run(bytes, open).await.map_err(io::Error::other)?
    }

    fn open_unless_now(&self, follower: &Path, key: &Path, most: u64) -> io::Result<Option<OpenedFile>> {
        match std::fs::symlink_metadata(self.path_of(follower).map_err(io::Error::other)?) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(None),
        }
        let file = File::open(self.path_of(key).map_err(io::Error::other)?)?;
        let size = file.metadata()?.len();
        let mut start = vec![0; usize::try_from(size.min(most)).map_err(io::Error::other)?];
        file.read_exact_at(&mut start, 0)?;
        Ok(Some(OpenedFile { file, size, start: start.into() }))
    }

    /// Returns where an object lies: what [`LocalFileSystem`] says, without a URL made and taken apart.
    fn path_of(&self, location: &Path) -> Result<PathBuf> {
        let key = location.as_ref();
        // It refuses the names of its own unfinished files, and no name at all.
        if key.is_empty() || key.contains('#') {
            return self.files.path_to_filesystem(location);
        }
        Ok(self.root.join(key))
    }

    /// Removes the folders of a passing key that are empty now.
    fn remove_leftovers(&self, location: &Path) {
        if location.parts().next().is_none_or(|top| top.as_ref() != PASSING) {
            return;
        }
        let Ok(path) = self.path_of(location) else { return };
        for folder in path.ancestors().skip(1).take_while(|part| *part != self.root) {
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

/// Returns whether a group works in a folder together, so that all must be able to use what is there.
fn is_shared(folder: &std::path::Path) -> bool {
    let shared = SETGID | GROUP_WRITES;
    std::fs::metadata(folder).is_ok_and(|facts| facts.permissions().mode() & shared == shared)
}

/// Returns whether others may look into a folder although nobody can have meant to share it.
const fn is_left_open(mode: u32) -> bool {
    mode & OTHERS != 0 && mode & (SETGID | GROUP_WRITES) == 0
}

/// Makes one folder; its link survives a power cut, for no later write would flush it.
fn make_folder(folder: &std::path::Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Ok(()) if folder.parent().is_some_and(is_shared) => {
            std::fs::set_permissions(folder, Permissions::from_mode(0o2770))?;
        }
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    folder.parent().map_or(Ok(()), flush)
}

fn flush(folder: &std::path::Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn told(path: &std::path::Path, error: io::Error) -> Error {
    let (path, kind) = (path.display().to_string(), error.kind());
    match kind {
        ErrorKind::AlreadyExists => Error::AlreadyExists { path, source: error.into() },
        ErrorKind::PermissionDenied => Error::PermissionDenied { path, source: error.into() },
        _ => Error::Generic { store: "folder", source: format!("cannot write `{path}`: {error}").into() },
    }
}

impl fmt::Display for PrivateFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root.display())
    }
}

impl ObjectStore for PrivateFolder {
    fn put_opts<'s, 'l, 'f>(
        &'s self,
        location: &'l Path,
        payload: PutPayload,
        opts: PutOptions,
    ) -> BoxFuture<'f, Result<PutResult>>
    where
        's: 'f,
        'l: 'f,
        Self: 'f,
    {
        let (folder, location) = (self.clone(), location.clone());
        let bytes = payload.content_length();
        let put = move || folder.put_file(&location, &payload, &opts.mode);
        let work = &self.work;
        Box::pin(async move { work.run(bytes, put).await.map_err(|source| Error::JoinError { source })? })
    }

    fn put_multipart_opts<'s, 'l, 'f>(
        &'s self,
        _location: &'l Path,
        _opts: PutMultipartOptions,
    ) -> BoxFuture<'f, Result<Box<dyn MultipartUpload>>>
    where
        's: 'f,
        'l: 'f,
        Self: 'f,
    {
        let (operation, implementer) = ("a write in parts".to_owned(), self.to_string());
        Box::pin(async { Err(Error::NotImplemented { operation, implementer }) })
    }

    fn get_opts<'s, 'l, 'f>(
        &'s self,
        location: &'l Path,
        options: GetOptions,
    ) -> BoxFuture<'f, Result<GetResult>>
    where
        's: 'f,
        'l: 'f,
        Self: 'f,
    {
        self.files.get_opts(location, options)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let folder = self.clone();
        let tidied = move |deleted: Result<Path>| {
            if let Ok(location) = &deleted {
                folder.remove_leftovers(location);
            }
            deleted
        };
        self.files.delete_stream(locations).map(tidied).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    fn list_with_delimiter<'s, 'p, 'f>(
        &'s self,
        prefix: Option<&'p Path>,
    ) -> BoxFuture<'f, Result<ListResult>>
    where
        's: 'f,
        'p: 'f,
        Self: 'f,
    {
        self.files.list_with_delimiter(prefix)
    }

    fn copy_opts<'s, 'a, 'b, 'f>(
        &'s self,
        _from: &'a Path,
        _to: &'b Path,
        _options: CopyOptions,
    ) -> BoxFuture<'f, Result<()>>
    where
        's: 'f,
        'a: 'f,
        'b: 'f,
        Self: 'f,
    {
        let (operation, implementer) = ("a copy".to_owned(), self.to_string());
        Box::pin(async { Err(Error::NotImplemented { operation, implementer }) })
    }
}
