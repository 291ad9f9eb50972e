//! The official release: where its files are, and what must be true of them.
//!
//! First the signature over the list of digests, then the archive against the list: what
//! fails either is not unpacked. Begin at [`fetch`]; [`newest_release`] reads the index.

use semver::Version;
use serde::Deserialize;

use super::download::{Downloader, Failure, Limit, shown};
use super::signature::TrustedKey;
use super::{Job, archive};
use crate::error::{Error, Result};
use crate::tofu::binary::{LocateRequest, Progress};

/// The list of digests has some forty lines.
const LARGEST_LIST: Limit = Limit(1024 * 1024);

/// An archive has some thirty megabytes.
const LARGEST_ARCHIVE: Limit = Limit(512 * 1024 * 1024);

/// The index names every file of every release.
const LARGEST_INDEX: Limit = Limit(16 * 1024 * 1024);

/// Downloads and verifies a release, and unpacks its binary into the staging folder.
pub(super) async fn fetch(job: &Job<'_>) -> Result<(), Failure> {
    let downloader = Downloader::new(job.request.env, job.progress)?;
    let digests = signed_digests(job, &downloader).await?;
    let name = archive_name(job.version);
    let expected = digest_of(&digests, &name).ok_or_else(|| not_released(job.version, &name))?;
    let path = job.staging.path(&name);
    let found =
        downloader.to_file(&job.request.source.url(job.version, &name), &path, LARGEST_ARCHIVE).await?;
    (job.progress)(Progress::Verifying { name: name.clone() });
    if found != expected {
        return Err(Failure::Failed(wrong_digest(&name, &expected, &found)));
    }
    Ok(archive::extract(path, job.staging.binary()).await?)
}

/// Fetches the list of digests and believes it only with a good signature.
async fn signed_digests(job: &Job<'_>, downloader: &Downloader<'_>) -> Result<String, Failure> {
    let source = job.request.source;
    let name = format!("tofu_{}_SHA256SUMS", job.version);
    let url = source.url(job.version, &name);
    let list = downloader.bytes(&url, LARGEST_LIST).await.map_err(|failure| match failure {
        Failure::Missing(error) => Failure::Missing(no_such_version(job.version, error)),
        other => other,
    })?;
    let signature =
        downloader.bytes(&format!("{url}.gpgsig"), LARGEST_LIST).await.map_err(|failure| match failure {
            Failure::Missing(error) => {
                Failure::Missing(error.detail("a release without its signature is not installed"))
            }
            other => other,
        })?;
    (job.progress)(Progress::Verifying { name: name.clone() });
    TrustedKey::from_armor(&source.key)?.verify(&signature, &list).map_err(|error| {
        error
            .at(shown(&url))
            .detail("nothing was installed")
            .hint("the release was changed on its way or by its mirror; try again, or from another network")
    })?;
    String::from_utf8(list).map_err(|_| Error::unavailable(format!("`{name}` is no text")).into())
}

/// Returns the digest that a list in the form of `sha256sum` gives for a file.
fn digest_of(list: &str, name: &str) -> Option<String> {
    list.lines().find_map(|line| {
        let (digest, file) = line.split_once(char::is_whitespace)?;
        let file = file.trim_start();
        let same = file.strip_prefix('*').unwrap_or(file).trim_end() == name;
        let whole = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        (same && whole).then(|| digest.to_ascii_lowercase())
    })
}

fn archive_name(version: &Version) -> String {
    format!("tofu_{version}_{}.tar.gz", platform())
}

/// Returns this machine as Go names it.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{system}_{machine}")
}

fn no_such_version(version: &Version, error: Error) -> Error {
    let error = Error::unavailable(format!("there is no release of OpenTofu {version}")).because(error);
    error.hint("`tofu.version` in infra.yaml must name a version that was released; `infra deps outdated` shows the newest")
}

fn not_released(version: &Version, name: &str) -> Error {
    Error::unavailable(format!("OpenTofu {version} is not released for {}", platform()))
        .detail(format!("its list of digests has no `{name}`"))
        .hint("build OpenTofu yourself and name it as `tofu.binary` in infra.yaml")
}

fn wrong_digest(name: &str, expected: &str, found: &str) -> Error {
    Error::unavailable(format!("`{name}` is not the file that was released"))
        .fact("expected", format!("sha256 {expected}"))
        .fact("found", format!("sha256 {found}"))
        .detail("nothing was installed")
        .hint("the download was changed on its way or by its mirror; try again, or from another network")
}

/// The index of all releases.
#[derive(Debug, Deserialize)]
struct Index {
    versions: Vec<IndexEntry>,
}

#[derive(Debug, Deserialize)]
struct IndexEntry {
    id: String,
}

/// Returns the newest OpenTofu that was released; pre-releases do not count.
pub async fn newest_release(request: &LocateRequest<'_>) -> Result<Version> {
    let newest = releases(request).await?.into_iter().filter(|version| version.pre.is_empty()).max();
    newest.ok_or_else(|| no_version(&request.source.index_url))
}

/// Returns every OpenTofu that was released.
pub async fn releases(request: &LocateRequest<'_>) -> Result<Vec<Version>> {
    let url = &request.source.index_url;
    let downloader = Downloader::new(request.env, &|_| ()).map_err(Failure::into_error)?;
    let mut interrupts = request.interrupts.clone();
    let before = interrupts.count();
    let bytes = tokio::select! {
        fetched = downloader.bytes(url, LARGEST_INDEX) => fetched.map_err(Failure::into_error)?,
        _ = interrupts.beyond(before) => return Err(Error::interrupted("stopped while asking for the newest OpenTofu")),
    };
    let versions = versions_in(&bytes);
    if versions.is_empty() { Err(no_version(url)) } else { Ok(versions) }
}

fn no_version(url: &str) -> Error {
    Error::unavailable("the index of OpenTofu's releases names no version").at(shown(url))
}

fn versions_in(index: &[u8]) -> Vec<Version> {
    let index: Option<Index> = serde_json::from_slice(index).ok();
    let entries = index.into_iter().flat_map(|index| index.versions);
    entries.filter_map(|entry| Version::parse(entry.id.trim_start_matches('v')).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_found_by_the_whole_name() {
        let digest = "AB".repeat(32);
        let list = format!("{}  tofu_1.zip.sbom\n{digest} *tofu_1.zip\nshort  tofu_2.zip\n", "0".repeat(64));

        assert_eq!(digest_of(&list, "tofu_1.zip"), Some("ab".repeat(32)));
        assert_eq!(digest_of(&list, "tofu_2.zip"), None);
        assert_eq!(digest_of(&list, "tofu_3.zip"), None);
    }

    #[test]
    fn releases_are_what_the_index_names_as_versions() {
        let index = br#"{"versions":[{"id":"1.9.0","files":[]},{"id":"1.13.0-beta1"},{"id":"1.12.10"},{"id":"odd"}]}"#;

        let found: Vec<String> = versions_in(index).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["1.9.0", "1.13.0-beta1", "1.12.10"]);
        assert!(versions_in(b"<html>").is_empty());
    }
}
