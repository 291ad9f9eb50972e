//! Rendered secrets on their way to the disk: encrypted in memory, and left alone where the
//! plaintext is what is there already.
//!
//! A file that exists keeps its data key and every value that did not change, so its
//! difference in version control is as small as the change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::keyring::{Keyring, OpenedFile, is_sealed};
use super::sops::{CreationRule, CreationRules, Input, encrypt_new};
use crate::error::{Error, Kind, Result, io};

/// Returns the encrypted form of a rendered file; `existing` is what lies in its place.
pub async fn seal_output(
    keyring: &Keyring<'_>,
    input: Input<'_>,
    rule: &CreationRule,
    existing: Option<&[u8]>,
    now: Timestamp,
) -> Result<Vec<u8>> {
    let path = Path::new(input.name);
    if is_sealed(path, input.bytes) {
        return Ok(input.bytes.to_vec());
    }
    let Some(existing) = existing.filter(|bytes| is_sealed(path, bytes)) else {
        return encrypt_new(input, rule, now);
    };
    match keyring.open_bytes(path, existing, Some(input.format)).await {
        Ok(OpenedFile::Sops(file)) => Ok(file.edited(input.bytes, now)?.unwrap_or_else(|| existing.to_vec())),
        Ok(OpenedFile::Vault(_)) => Err(Error::new(
            Kind::Refused,
            format!("`{}` is an Ansible Vault; a rendered secret is written with SOPS", input.name),
        )),
        Err(error) => Err(error
            .hint("without its key nobody can tell whether the secrets changed")
            .hint("encrypt it anew, whatever is in it: `infra configure --force`")),
    }
}

/// Returns the creation rules for a rendered file: those of the nearest `.sops.yaml` above it.
///
/// `rendered` has the `.sops.yaml` files of the same run by their path below the root; they
/// count before what lies on the disk.
pub fn rules_above(
    root: &Path,
    output: &Path,
    rendered: &BTreeMap<PathBuf, Vec<u8>>,
) -> Result<Option<CreationRules>> {
    for folder in output.ancestors().skip(1) {
        let file = folder.join(".sops.yaml");
        let path = root.join(&file);
        if let Some(bytes) = rendered.get(&file) {
            return CreationRules::parse(path, &String::from_utf8_lossy(bytes)).map(Some);
        }
        if path.is_file() {
            let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
            return CreationRules::parse(path, &text).map(Some);
        }
    }
    CreationRules::find(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z";

    fn rules(key: &str) -> String {
        format!("creation_rules:\n  - age: {key}\n")
    }

    #[test]
    fn the_nearest_rules_count_and_rendered_ones_before_those_on_disk() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("a")).unwrap();
        std::fs::write(root.path().join("a/.sops.yaml"), "creation_rules: [").unwrap();
        std::fs::write(root.path().join(".sops.yaml"), rules(KEY)).unwrap();
        let rendered = BTreeMap::from([(PathBuf::from("a/.sops.yaml"), rules(KEY).into_bytes())]);

        let found = |path: &str| rules_above(root.path(), Path::new(path), &rendered).unwrap().unwrap();

        assert_eq!(found("a/b/x.sops.yaml").path(), root.path().join("a/.sops.yaml"));
        assert_eq!(found("b/x.sops.yaml").path(), root.path().join(".sops.yaml"));
    }
}
