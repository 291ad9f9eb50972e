//! Mirrors of providers in a folder, in both layouts: `HOST/NAMESPACE/NAME/1.2.3/linux_amd64` as a folder, and
//! `HOST/NAMESPACE/NAME/terraform-provider-NAME_1.2.3_linux_amd64.zip`. Reads names only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;

use super::address::ProviderAddress;
use super::host::Host;
use super::releases::Release;
use crate::error::{Error, Result};

/// Returns whether a mirror has a package of a provider.
pub(super) fn has_provider(mirror: &Path, address: &ProviderAddress) -> bool {
    !packages(&folder_of(mirror, address), &address.name).is_empty()
}

/// Returns what a mirror that the settings name has of a provider; one that is not there is a fault.
pub(super) fn releases(mirror: &Path, address: &ProviderAddress) -> Result<Vec<Release>> {
    if !mirror.is_dir() {
        return Err(Error::unavailable(format!("the mirror `{}` is no folder", mirror.display())));
    }
    let mut found: BTreeMap<Version, Release> = BTreeMap::new();
    for (version, platform) in packages(&folder_of(mirror, address), &address.name) {
        let release =
            found.entry(version.clone()).or_insert_with(|| Release { version, platforms: Some(vec![]) });
        release.platforms.get_or_insert_default().push(platform);
    }
    Ok(found.into_values().collect())
}

/// The folder of a host may be named in the form that people read.
fn folder_of(mirror: &Path, address: &ProviderAddress) -> PathBuf {
    let entries = fs::read_dir(mirror).into_iter().flatten().flatten();
    let is_host = |name: &str| Host::in_any_form(name).is_some_and(|host| host == address.host);
    let host = entries
        .map(|entry| entry.path())
        .find(|path| path.file_name().is_some_and(|name| is_host(&name.to_string_lossy())));
    let host = host.unwrap_or_else(|| mirror.join(address.host.as_str()));
    host.join(&address.namespace).join(&address.name)
}

fn packages(folder: &Path, name: &str) -> Vec<(Version, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.flat_map(|entry| {
        let (path, found) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() { unpacked(&path, &found) } else { packed(&found, name).into_iter().collect() }
    });
    found.collect()
}

fn unpacked(folder: &Path, name: &str) -> Vec<(Version, String)> {
    let Ok(version) = Version::parse(name) else { return Vec::new() };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let platforms = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
    let platforms =
        platforms.map(|name| name.to_string_lossy().into_owned()).filter(|name| is_platform(name));
    platforms.map(|platform| (version.clone(), platform)).collect()
}

fn packed(file: &str, name: &str) -> Option<(Version, String)> {
    let file = file.to_lowercase();
    let rest = file.strip_prefix("terraform-provider-")?.strip_prefix(name)?.strip_prefix('_')?;
    let (version, platform) = rest.strip_suffix(".zip")?.split_once('_')?;
    Some((Version::parse(version).ok()?, platform.to_owned())).filter(|(_, platform)| is_platform(platform))
}

fn is_platform(text: &str) -> bool {
    text.split_once('_').is_some_and(|(system, machine)| !system.is_empty() && !machine.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tofu::version::Flavour;

    #[test]
    fn both_layouts_are_read_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let address = ProviderAddress::parse("h.example/acme/thing", Flavour::OpenTofu).unwrap();
        let below = dir.path().join("h.example/acme/thing");
        for folder in ["1.2.0/linux_amd64", "1.2.0/darwin_arm64", "odd/linux_amd64", "1.3.0/odd"] {
            fs::create_dir_all(below.join(folder)).unwrap();
        }
        for file in [
            "terraform-provider-thing_1.10.0_linux_amd64.zip",
            "terraform-provider-other_9.0.0_linux_amd64.zip",
            "terraform-provider-thing_8.0.0.zip",
            "index.json",
        ] {
            fs::write(below.join(file), "").unwrap();
        }

        let found = releases(dir.path(), &address).unwrap();

        let found: Vec<_> =
            found.iter().map(|one| (one.version.to_string(), one.platforms.clone().unwrap().len())).collect();
        assert_eq!(found, [("1.2.0".to_owned(), 2), ("1.10.0".to_owned(), 1)]);
        assert!(has_provider(dir.path(), &address));
        assert!(releases(&dir.path().join("gone"), &address).is_err());
    }
}
