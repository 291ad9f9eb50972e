//! What happens while a tofu is found or installed, as data; `report` shows it.

use std::path::PathBuf;

use semver::Version;

use super::found::PassedOver;

/// A step on the way to a tofu.
#[derive(Clone, Debug)]
pub enum Progress {
    /// A tofu was found but cannot be used.
    PassedOver(PassedOver),
    /// Another run installs the same version; this one waits for it.
    Waiting {
        /// The version that is being installed.
        version: Version,
    },
    /// Bytes arrive.
    Downloading {
        /// The file's name.
        name: String,
        /// How many bytes are here.
        done: u64,
        /// How many bytes there are, where the server says so.
        total: Option<u64>,
    },
    /// A signature or a digest is checked.
    Verifying {
        /// The file's name.
        name: String,
    },
    /// The release cannot be fetched, so OpenTofu is built from its Go module.
    Unreachable {
        /// Why it cannot be fetched.
        why: String,
    },
    /// Go works; the first report has no line.
    Building {
        /// The version that is being built.
        version: Version,
        /// What Go said last.
        line: Option<String>,
    },
    /// A tofu is in its place.
    Installed {
        /// Where it is.
        path: PathBuf,
        /// Its version.
        version: Version,
    },
}
