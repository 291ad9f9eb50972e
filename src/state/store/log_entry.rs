//! One entry of a state's log, as bytes: a line that says how things stand, then the
//! state itself, untouched.
//!
//! Every entry repeats the whole situation (who holds the lock, which entry is the
//! current state, which versions are kept), so the newest one alone answers every
//! question and no two objects can contradict each other.

use bytes::Bytes;
use jiff::Timestamp;
use object_store::PutPayload;
use serde::{Deserialize, Serialize};

use crate::state::{HeldLock, Moved};

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
    /// Where the state went; nothing is read from here or written any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The name of the project that wrote it last, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whether a project gave it up, so that nobody asks about it any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_behind: bool,
}

impl Header {
    /// Returns where the state went, with the lock that stands for it; `None` while it is here.
    pub fn moved_away(&self) -> Option<(HeldLock, Moved)> {
        let moved = self.moved.as_ref()?;
        let lock = self.lock.clone().unwrap_or_else(|| HeldLock::of_move(moved, "moved", "infra"));
        Some((lock, moved.clone()))
    }

    /// Returns the header of a state that is here again, if it was moved.
    pub fn brought_back(&self) -> Self {
        match self.moved {
            Some(_) => Self { moved: None, lock: None, ..self.clone() },
            None => self.clone(),
        }
    }
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
pub(super) struct LogEntry {
    pub header: Header,
    pub body: Bytes,
}

impl LogEntry {
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

/// Returns how many bytes the header at the start of an entry takes.
pub(super) fn header_length(bytes: &[u8]) -> Result<usize, Unreadable> {
    read_header(bytes).map(|(_, length)| length)
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

    fn stored(entry: &LogEntry) -> Bytes {
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
            ..Header::default()
        };
        let body = Bytes::from_static(b"\n\xff\0\r\n");

        let read = LogEntry::from_bytes(&stored(&LogEntry { header: header.clone(), body: body.clone() }))
            .expect("a whole entry");

        assert_eq!(read.header, header);
        assert_eq!(read.body, body);
    }

    #[test]
    fn a_header_of_an_earlier_version_reads_and_one_without_marks_has_none_of_their_keys() {
        let old = br#"infra-state-1 {"lock":null,"released":null,"state":3,"versions":[],"writer":"w"}"#;
        let line = [old.as_slice(), b"\n"].concat();

        let (header, _) = read_header(&line).expect("an old header");

        assert_eq!((header.moved.clone(), header.project.clone(), header.left_behind), (None, None, false));
        assert_eq!(stored(&LogEntry::marker(header)), line);
    }

    #[test]
    fn an_earlier_version_sees_a_moved_state_as_one_that_somebody_holds() {
        #[derive(Deserialize)]
        struct OldHeader {
            lock: Option<OldLock>,
        }
        #[derive(Deserialize)]
        struct OldLock {
            id: String,
            info: String,
        }
        let moved = Moved { to: "s3://states".to_owned(), at: Timestamp::UNIX_EPOCH };
        let lock = Some(HeldLock::of_move(&moved, "m1", "dana@laptop"));
        let json = serde_json::to_string(&Header { lock, moved: Some(moved), ..Header::default() });

        let old: OldHeader = serde_json::from_str(&json.expect("JSON")).expect("what an old reader knows");

        let lock = old.lock.expect("a held lock");
        assert_eq!(lock.id, "m1");
        let info: serde_json::Value = serde_json::from_str(&lock.info).expect("a LockInfo");
        assert_eq!((&info["Operation"], &info["Info"]), (&"moved".into(), &"s3://states".into()));
        assert_eq!((&info["Who"], &info["Created"]), (&"dana@laptop".into(), &"1970-01-01T00:00:00Z".into()));
    }

    #[test]
    fn a_cut_or_foreign_entry_is_recognised() {
        let bytes = stored(&LogEntry::marker(Header::default()));

        assert_eq!(read_header(&bytes[..bytes.len() - 1]), Err(Unreadable::Unfinished));
        assert_eq!(read_header(b"infra-state-2 {}\n"), Err(Unreadable::Foreign));
        assert_eq!(read_header(b"{\"version\":4}\n"), Err(Unreadable::Foreign));
    }
}
