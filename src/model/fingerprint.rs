//! A digest of what something was made from, to tell whether it changed since.

use std::fmt;
use std::io::{ErrorKind, Read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How much of a file is in memory at once; larger buffers come from the system and go back to it each time.
const PIECE: usize = 64 * 1024;

/// A SHA-256 over labelled parts, in hex.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Digests the parts in the given order; lengths keep neighbours apart.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        Self(hex(&digest.finalize()))
    }

    /// Digests bytes as [`Self::of_reader`] does.
    pub fn of_content(bytes: &[u8]) -> Self {
        Self(hex(&Sha256::digest(bytes)))
    }

    /// Digests what a reader gives, a piece at a time: it may be larger than the memory.
    pub fn of_reader(mut reader: impl Read) -> std::io::Result<Self> {
        let mut digest = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(Self(hex(&digest.finalize()))),
                Ok(count) => digest.update(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_byte_between_parts_changes_the_fingerprint() {
        let one = Fingerprint::of([b"ab".as_slice(), b"c"]);
        let other = Fingerprint::of([b"a".as_slice(), b"bc"]);

        assert_ne!(one, other);
    }

    #[test]
    fn a_reader_is_digested_to_its_end_however_it_is_cut() {
        let bytes = vec![7; 3 * PIECE + 5];

        let whole = Fingerprint::of_reader(bytes.as_slice()).expect("memory can be read");
        let cut = Fingerprint::of_reader(bytes[..9].chain(&bytes[9..])).expect("memory can be read");

        assert_eq!(whole, cut);
        assert_eq!(whole, Fingerprint::of_content(&bytes));
        assert_ne!(whole, Fingerprint::of_reader(&bytes[1..]).expect("memory can be read"));
    }
}
