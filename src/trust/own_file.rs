//! A file of this person alone: what others could have written, or could read, is not believed.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use zeroize::Zeroizing;

use crate::error::{Error, Result, io};
use crate::model::quoted;

/// More than any file here has.
const LARGEST: u64 = 16 << 20;

/// Reads a small file, if it is there.
pub(super) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>> {
    read_own_file(path, LARGEST)
}

/// Reads a file of this person alone, if it is there and not larger than this.
pub fn read_own_file(path: &Path, largest: u64) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", path)(error)),
    };
    let me = nix::unistd::geteuid();
    let is_mine = me.is_root() || facts.uid() == me.as_raw();
    // A pipe would be waited for without end.
    if !facts.is_file() || facts.mode() & 0o077 != 0 || !is_mine {
        return Err(not_own(path));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let file = std::fs::File::open(path).map_err(io("read", path))?;
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes).map_err(io("read", path))?;
    if bytes.len() as u64 > largest {
        return Err(Error::unavailable(format!("a file of this user's own is larger than {largest} bytes"))
            .at(path.display()));
    }
    Ok(Some(bytes))
}

fn not_own(path: &Path) -> Error {
    Error::unavailable("a file of this user's own is no file, can be read by others, or is not theirs")
        .at(path.display())
        .hint(format!("remove it; it is made again: `rm -r {}`", quoted(&path.display().to_string())))
}
