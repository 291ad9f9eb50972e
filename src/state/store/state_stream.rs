//! A state on its way out of the store: part after part, never whole in memory.
//!
//! An entry never changes, so its parts belong together whenever they are read. A file is
//! kept open, and can be read to its end even if the entry is pruned meanwhile. From a
//! bucket each part is a request of its own, so that a slow reader holds none open.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _, try_unfold};
use object_store::path::Path;
use object_store::{GetOptions, GetResultPayload, ObjectStore};

use super::log_entry::{Unreadable, header_length};
use super::places::OpenedFile;

/// How much of a file is read at once.
pub(super) const FILE_PART: u64 = 128 * 1024;

/// How much of an object is asked for at once.
const OBJECT_PART: u64 = 1024 * 1024;

/// A state to be read.
pub(in crate::state) struct StateStream {
    /// Its size in bytes.
    pub size: u64,
    /// Its bytes.
    pub parts: BoxStream<'static, object_store::Result<Bytes>>,
}

/// Why an entry cannot be read.
#[derive(Debug)]
pub(super) enum OpenError {
    Store(object_store::Error),
    Entry(Unreadable),
}

impl From<object_store::Error> for OpenError {
    fn from(error: object_store::Error) -> Self {
        Self::Store(error)
    }
}

/// Where the parts come from.
#[derive(Clone, Debug)]
enum StreamSource {
    File(Arc<File>),
    Object(Arc<dyn ObjectStore>, Path),
}

/// Opens the state that follows the header of an entry.
pub(super) async fn open(store: &Arc<dyn ObjectStore>, key: &Path) -> Result<StateStream, OpenError> {
    let options = GetOptions::new().with_range(Some(0..OBJECT_PART));
    let found = store.get_opts(key, options).await?;
    let end = found.meta.size;
    let (source, start) = match found.payload {
        GetResultPayload::File(file, _) => {
            let source = StreamSource::File(Arc::new(file));
            let start = source.read(0..end.min(FILE_PART)).await?;
            (source, start)
        }
        GetResultPayload::Stream(_) => {
            (StreamSource::Object(Arc::clone(store), key.clone()), found.bytes().await?)
        }
    };
    source.behind_header(start, end).await
}

/// Makes a stream of the state in a file whose start has been read.
pub(super) async fn of_file(opened: OpenedFile) -> Result<StateStream, OpenError> {
    StreamSource::File(Arc::new(opened.file)).behind_header(opened.start, opened.size).await
}

impl StreamSource {
    /// Finds the end of the header, and returns what follows.
    async fn behind_header(self, mut start: Bytes, end: u64) -> Result<StateStream, OpenError> {
        loop {
            match header_length(&start) {
                Ok(length) => return Ok(self.after(start, length, end)),
                Err(Unreadable::Unfinished) if (start.len() as u64) < end => {
                    let more = self.read(self.part_at(start.len() as u64, end)).await?;
                    start = [start, more].concat().into();
                }
                Err(flaw) => return Err(OpenError::Entry(flaw)),
            }
        }
    }

    /// Returns what follows the header, whose part of the entry has been read.
    fn after(self, start: Bytes, header: usize, end: u64) -> StateStream {
        let first = start.slice(header..);
        let rest = try_unfold(start.len() as u64, move |position| {
            let source = self.clone();
            async move {
                if position >= end {
                    return Ok(None);
                }
                let part = source.read(source.part_at(position, end)).await?;
                let next = position + part.len() as u64;
                Ok(Some((part, next)))
            }
        });
        let parts = futures::stream::iter((!first.is_empty()).then_some(Ok(first))).chain(rest).boxed();
        StateStream { size: end - header as u64, parts }
    }

    fn part_at(&self, position: u64, end: u64) -> Range<u64> {
        let length = match self {
            Self::File(_) => FILE_PART,
            Self::Object(..) => OBJECT_PART,
        };
        position..end.min(position + length)
    }

    /// Reads a part; one that is cut off is an error, since the size has been told.
    async fn read(&self, range: Range<u64>) -> object_store::Result<Bytes> {
        let length = range.end - range.start;
        let part = match self {
            Self::File(file) => read_at(Arc::clone(file), range).await?,
            Self::Object(store, key) => {
                store.get_opts(key, GetOptions::new().with_range(Some(range))).await?.bytes().await?
            }
        };
        if part.len() as u64 == length { Ok(part) } else { Err(broken("the entry is cut off")) }
    }
}

async fn read_at(file: Arc<File>, range: Range<u64>) -> object_store::Result<Bytes> {
    let length = usize::try_from(range.end - range.start).map_err(broken)?;
    let read = tokio::task::spawn_blocking(move || {
        let mut part = vec![0; length];
        file.read_exact_at(&mut part, range.start).map(|()| Bytes::from(part))
    });
    read.await.map_err(broken)?.map_err(broken)
}

fn broken(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> object_store::Error {
    object_store::Error::Generic { store: "state", source: cause.into() }
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt as _;
    use object_store::local::LocalFileSystem;
    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt as _, PutPayload};

    use super::*;
    use crate::state::store::log_entry::{Header, LogEntry, Version};

    /// Stores an entry with a long header and returns what comes out again.
    async fn through(store: Arc<dyn ObjectStore>, body: &[u8]) -> (u64, Vec<u8>) {
        let version = |number| Version { number, at: jiff::Timestamp::UNIX_EPOCH, size: 1 };
        let header = Header { versions: (0..4000).map(version).collect(), ..Header::default() };
        let entry = LogEntry { header, body: Bytes::copy_from_slice(body) };
        let (key, payload) = (Path::from("entry"), entry.to_payload().expect("JSON"));
        store.put(&key, payload).await.expect("stored");

        let outgoing = open(&store, &key).await.expect("an entry");
        let parts: Vec<Bytes> = outgoing.parts.try_collect().await.expect("all parts");
        (outgoing.size, parts.concat())
    }

    #[tokio::test]
    async fn a_state_comes_out_of_a_folder_and_of_a_bucket_as_it_went_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let bytes: Vec<u8> = (0..3_000_001_u32).map(|number| (number % 251) as u8).collect();

        for body in [&bytes[..], &bytes[..1], b""] {
            let local = LocalFileSystem::new_with_prefix(folder.path()).expect("a store");
            for store in [Arc::new(local) as Arc<dyn ObjectStore>, Arc::new(InMemory::new())] {
                assert!(through(store, body).await == (body.len() as u64, body.to_vec()));
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_entry_is_not_served() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let key = Path::from("entry");
        for bytes in ["infra-state-1 {\"lock\":", "{\"version\":4}\n"] {
            store.put(&key, PutPayload::from_static(bytes.as_bytes())).await.expect("stored");

            assert!(matches!(open(&store, &key).await, Err(OpenError::Entry(_))), "{bytes}");
        }
        let missing = open(&store, &Path::from("missing")).await;
        assert!(matches!(missing, Err(OpenError::Store(object_store::Error::NotFound { .. }))));
    }
}
