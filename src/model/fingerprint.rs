//! A digest of what something was made from, to tell whether it changed since.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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

    /// Digests a file piece by piece, however large it is.
    pub fn of_file(path: &std::path::Path) -> std::io::Result<Self> {
        let mut digest = Sha256::new();
        std::io::copy(&mut std::fs::File::open(path)?, &mut digest)?;
        Ok(Self(hex(&digest.finalize())))
    }

    /// Digests one part of this many bytes as it is read: equal to that of the part in memory.
    pub fn of_reader(size: u64, mut part: impl std::io::Read) -> std::io::Result<Self> {
        let mut digest = Sha256::new();
        digest.update(size.to_le_bytes());
        let mut piece = vec![0; 1 << 16];
        loop {
            match part.read(&mut piece)? {
                0 => return Ok(Self(hex(&digest.finalize()))),
                read => digest.update(&piece[..read]),
            }
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    fn what_is_read_piece_by_piece_has_the_same_fingerprint() {
        let bytes = vec![7; 200_000];

        let read = Fingerprint::of_reader(200_000, bytes.as_slice()).expect("bytes");

        assert_eq!(read, Fingerprint::of([bytes.as_slice()]));
    }
}
