//! The receipt beside an installed binary: where it came from, what it hashes to, when.

use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result, io};
use crate::model::hex;
use crate::tofu::binary::Tofu;

/// The receipt's file name.
pub(super) const RECEIPT: &str = "install.json";

/// Where an installed binary came from.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The official release, its signature verified.
    Release,
    /// A build of the Go module, verified by Go's checksum database.
    Go,
}

/// What was written down at an install.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Receipt {
    /// Where the binary came from.
    pub source: Origin,
    /// The SHA-256 of the binary, in hex.
    pub sha256: String,
    /// When it was installed.
    pub installed_at: Timestamp,
}

impl Receipt {
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text =
            serde_json::to_vec_pretty(self).map_err(|e| Error::bug("a receipt is no JSON").because(e))?;
        std::fs::write(path, text).map_err(io("write", path))
    }
}

/// Returns the receipt of a tofu that this program installed.
pub fn receipt(tofu: &Tofu) -> Option<Receipt> {
    let bytes = std::fs::read(tofu.path.parent()?.join(RECEIPT)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Returns the SHA-256 of a file, in hex.
pub(super) async fn digest_of(path: &Path) -> Result<String> {
    let path = path.to_owned();
    let digest = tokio::task::spawn_blocking(move || digest(path)).await;
    digest.map_err(|e| Error::bug("hashing a file ended early").because(e))?
}

fn digest(path: PathBuf) -> Result<String> {
    let mut file = std::fs::File::open(&path).map_err(io("read", &path))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = file.read(&mut buffer).map_err(io("read", &path))?;
        if count == 0 {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(&buffer[..count]);
    }
}
