//! One entry of a state's log, as bytes: a line that says how things stand, then the
//! state itself, untouched.
//!
//! Every entry repeats the whole situation (who holds the lock, which entry is the
//! current state, which versions are kept), so the newest one alone answers every
//! question and no two objects can contradict each other.

use axum::body::Bytes;
use jiff::Timestamp;
use object_store::PutPayload;
use serde::{Deserialize, Serialize};

use super::HeldLock;

/// Opens every entry; the number is that of the format.
const MAGIC: &str = "infra-state-1 ";

/// How things stand after an entry.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Header {
    /// Who holds the state.
    pub lock: Option<HeldLock>,
    /// The id that its holder gave back last, so that a repeated unlock is recognised.
    pub released: Option<String>,
    /// The entry that holds the current state; `None` when there is none, or it was deleted.
    pub state: Option<u64>,
    /// The states that are kept, oldest first.
    pub versions: Vec<Version>,
    /// A random text for each attempt to change something, by which a writer knows its own entry again.
    #[serde(default)]
    pub writer: String,
}

/// A kept state.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Version {
    /// Its number, which only grows.
    pub number: u64,
    /// When it was written.
    pub at: Timestamp,
    /// Its size in bytes.
    pub size: u64,
}

/// A header with the state that follows it; markers such as a lock have no body.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub header: Header,
    pub body: Bytes,
}

impl Entry {
    /// Returns an entry without a body.
    pub fn marker(header: Header) -> Self {
        Self { header, body: Bytes::new() }
    }

    /// Returns the bytes to store; the body is not copied.
    pub fn to_payload(&self) -> serde_json::Result<PutPayload> {
        let line = format!("{MAGIC}{}\n", serde_json::to_string(&self.header)?);
        Ok([Bytes::from(line), self.body.clone()].into_iter().collect())
    }

    /// Reads a whole entry.
    pub fn from_bytes(bytes: &Bytes) -> Result<Self, Unreadable> {
        let (header, length) = read_header(bytes)?;
        Ok(Self { header, body: bytes.slice(length..) })
    }
}

/// Why bytes are not an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The line does not end within these bytes.
    Unfinished,
    /// It is not an entry of this format.
    Foreign,
}

/// Returns the header at the start of an entry and how many bytes it takes.
pub(super) fn read_header(bytes: &[u8]) -> Result<(Header, usize), Unreadable> {
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(Unreadable::Unfinished)?;
    let json = bytes[..end].strip_prefix(MAGIC.as_bytes()).ok_or(Unreadable::Foreign)?;
    let header = serde_json::from_slice(json).map_err(|_| Unreadable::Foreign)?;
    Ok((header, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(entry: &Entry) -> Bytes {
        entry.to_payload().expect("a whole entry").into_iter().collect::<Vec<_>>().concat().into()
    }

    #[test]
    fn an_entry_reads_back_with_its_body_untouched() {
        let lock =
            HeldLock::from_client(b"{\"ID\":\"1\",\n\"Info\":\"two\\nlines\"}", None).expect("a whole entry");
        let version = Version { number: 7, at: Timestamp::UNIX_EPOCH, size: 5 };
        let header = Header {
            lock: Some(lock),
            released: None,
            state: Some(7),
            versions: vec![version],
            writer: String::new(),
        };
        let body = Bytes::from_static(b"\n\xff\0\r\n");

        let read = Entry::from_bytes(&stored(&Entry { header: header.clone(), body: body.clone() }))
            .expect("a whole entry");

        assert_eq!(read.header, header);
        assert_eq!(read.body, body);
    }

    #[test]
    fn a_cut_or_foreign_entry_is_recognised() {
        let bytes = stored(&Entry::marker(Header::default()));

        assert_eq!(read_header(&bytes[..bytes.len() - 1]), Err(Unreadable::Unfinished));
        assert_eq!(read_header(b"infra-state-2 {}\n"), Err(Unreadable::Foreign));
        assert_eq!(read_header(b"{\"version\":4}\n"), Err(Unreadable::Foreign));
    }
}
