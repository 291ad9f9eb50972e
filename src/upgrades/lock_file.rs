//! The versions that a lock file of a stack holds.

use std::collections::BTreeMap;
use std::path::Path;

use semver::Version;

use crate::syntax;
use crate::tofu::Flavour;
use crate::tofu::registry::ProviderAddress;

const NAME: &str = ".terraform.lock.hcl";

/// What a lock file holds; nothing if there is none.
#[derive(Debug, Default)]
pub(super) struct LockFile {
    pub is_there: bool,
    versions: BTreeMap<ProviderAddress, Version>,
}

impl LockFile {
    /// Reads the lock file of a folder.
    pub fn read(folder: &Path, flavour: Flavour) -> Self {
        let Ok(bytes) = std::fs::read(folder.join(NAME)) else { return Self::default() };
        Self { is_there: true, versions: versions(&syntax::decoded(&bytes), flavour) }
    }

    /// Returns the version of a provider, also one that the other program wrote down.
    pub fn version(&self, address: &ProviderAddress) -> Option<&Version> {
        let other = || self.versions.get(&address.of_other_program()?);
        self.versions.get(address).or_else(other)
    }

    /// Returns the providers in it.
    pub fn providers(&self) -> impl Iterator<Item = &ProviderAddress> {
        self.versions.keys()
    }
}

fn versions(text: &str, flavour: Flavour) -> BTreeMap<ProviderAddress, Version> {
    let document = syntax::read(text);
    let blocks = document.body.blocks_of("provider").filter_map(|block| {
        let address = ProviderAddress::parse(block.labels.first()?, flavour)?;
        let version = syntax::value(text, &block.body.attribute("version")?.value)?;
        Some((address, Version::parse(version.literal()?).ok()?))
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_of_either_program_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let read = || LockFile::read(dir.path(), Flavour::OpenTofu);
        assert!(!read().is_there);

        let text = "provider \"registry.terraform.io/bpg/proxmox\" {\n  version = \"0.80.1\"\n  hashes = [\n  ]\n}\n";
        std::fs::write(dir.path().join(NAME), text).unwrap();

        let address = ProviderAddress::parse("bpg/proxmox", Flavour::OpenTofu).unwrap();
        assert_eq!(read().version(&address), Some(&Version::new(0, 80, 1)));
        assert!(read().is_there);
    }
}
