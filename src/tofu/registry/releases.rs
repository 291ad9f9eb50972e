//! What registries and mirrors answer when they are asked for versions. Pure: bytes in, releases out.

use std::collections::BTreeMap;

use semver::Version;
use serde::Deserialize;

use crate::tofu::constraint::parse_partial;

/// One version that can be had.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Release {
    /// The version.
    pub version: Version,
    /// The platforms it is made for, such as `linux_amd64`, where that is known.
    pub platforms: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct ProviderAnswer {
    versions: Option<Vec<ProviderVersion>>,
}

#[derive(Deserialize)]
struct ProviderVersion {
    version: String,
    platforms: Option<Vec<Platform>>,
}

#[derive(Deserialize)]
struct Platform {
    os: String,
    arch: String,
}

#[derive(Deserialize)]
struct ModuleAnswer {
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    versions: Option<Vec<ModuleVersion>>,
}

#[derive(Deserialize)]
struct ModuleVersion {
    version: String,
}

#[derive(Deserialize)]
struct MirrorAnswer {
    versions: Option<BTreeMap<String, serde_json::Value>>,
}

/// Reads what a registry says of a provider; OpenTofu refuses an answer with a version that is none.
pub(super) fn of_provider(bytes: &[u8]) -> Result<Vec<Release>, String> {
    let answer: ProviderAnswer = parse(bytes)?;
    let versions = answer.versions.unwrap_or_default().into_iter();
    versions
        .map(|found| {
            let version = version(&found.version)
                .ok_or_else(|| format!("it lists `{}`, which is no version", found.version))?;
            let platforms = found.platforms.map(|platforms| {
                platforms.into_iter().map(|platform| format!("{}_{}", platform.os, platform.arch)).collect()
            });
            Ok(Release { version, platforms })
        })
        .collect()
}

/// Reads what a registry says of a module; what is no version is passed over, as by OpenTofu.
pub(super) fn of_module(bytes: &[u8]) -> Result<Vec<Release>, String> {
    let answer: ModuleAnswer = parse(bytes)?;
    let first = answer.modules.into_iter().next().ok_or("it lists no module")?;
    let versions = first.versions.unwrap_or_default().into_iter();
    Ok(versions.filter_map(|found| version(&found.version)).map(of_unknown_platform).collect())
}

/// Reads what a mirror says of a provider.
pub(super) fn of_mirror(bytes: &[u8]) -> Result<Vec<Release>, String> {
    let answer: MirrorAnswer = parse(bytes)?;
    let versions = answer.versions.unwrap_or_default().into_keys();
    Ok(versions.filter_map(|text| version(&text)).map(of_unknown_platform).collect())
}

const fn of_unknown_platform(version: Version) -> Release {
    Release { version, platforms: None }
}

fn version(text: &str) -> Option<Version> {
    parse_partial(text).map(|(version, _)| version)
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|_| "its answer is not what the protocol says".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(found: Result<Vec<Release>, String>) -> Vec<String> {
        found.unwrap().iter().map(|release| release.version.to_string()).collect()
    }

    #[test]
    fn versions_are_read_in_any_order_and_with_what_is_new_in_the_protocol() {
        let provider = br#"{"id":"a/b","warnings":null,"versions":[
            {"version":"1.10.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]},
            {"version":"1.2.0"}]}"#;
        let found = of_provider(provider).unwrap();
        assert_eq!(found[0].platforms.as_deref(), Some(&["linux_amd64".to_owned()][..]));
        assert_eq!((found[1].version.to_string(), &found[1].platforms), ("1.2.0".to_owned(), &None));

        let module = br#"{"modules":[{"source":"a","versions":[{"version":"v1.2"},{"version":"odd"}]}]}"#;
        assert_eq!(said(of_module(module)), ["1.2.0"]);
        assert_eq!(said(of_mirror(br#"{"versions":{"2.0.0":{},"x":{}}}"#)), ["2.0.0"]);
    }

    #[test]
    fn nothing_listed_is_an_answer_and_nonsense_is_none() {
        assert_eq!(said(of_provider(br#"{"versions":null}"#)), [""; 0]);
        assert_eq!(said(of_mirror(b"{}")), [""; 0]);
        for bytes in [&b"<html>"[..], b"[]", b"{\"versions\": 5}", b""] {
            assert!(of_provider(bytes).is_err());
        }
        assert!(of_provider(br#"{"versions":[{"version":"latest"}]}"#).is_err());
        assert!(of_module(br#"{"modules":[]}"#).is_err());
    }
}
