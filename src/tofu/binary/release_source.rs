//! Where releases of OpenTofu come from, and whose signature counts.

use std::borrow::Cow;

use semver::Version;

use crate::model::Environment;

const RELEASES: &str = "https://github.com/opentofu/opentofu/releases/download";
const INDEX: &str = "https://get.opentofu.org/tofu/api.json";

/// OpenTofu's release key.
const RELEASE_KEY: &str = include_str!("release-key.asc");

/// Where releases come from, and whose signature counts.
#[derive(Clone, Debug)]
pub struct ReleaseSource {
    base_url: String,
    /// The address of the index of all releases.
    pub index_url: String,
    /// The armored public key that signs the releases.
    pub key: Cow<'static, str>,
}

impl ReleaseSource {
    /// Returns the official source, or the mirror that `INFRA_TOFU_MIRROR` names; the key stays the same.
    pub fn official(env: &Environment) -> Self {
        let key = Cow::Borrowed(RELEASE_KEY);
        match env.get("INFRA_TOFU_MIRROR") {
            Some(mirror) => Self { key, ..Self::at(mirror, String::new()) },
            None => Self { base_url: RELEASES.to_owned(), index_url: INDEX.to_owned(), key },
        }
    }

    /// Returns a source at a URL whose releases an armored public key signs.
    pub fn at(base_url: &str, key: impl Into<String>) -> Self {
        let base_url = base_url.trim_end_matches('/').to_owned();
        let index_url = format!("{base_url}/api.json");
        Self { base_url, index_url, key: Cow::Owned(key.into()) }
    }

    /// Returns the address of a file of a release.
    pub fn url(&self, version: &Version, file: &str) -> String {
        format!("{}/v{version}/{file}", self.base_url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_changes_the_urls_and_never_the_key() {
        let mirror = Environment::default().with("INFRA_TOFU_MIRROR", "https://mirror.example/tofu/");
        let version = Version::new(1, 12, 6);

        let source = ReleaseSource::official(&mirror);

        assert_eq!(source.url(&version, "x"), "https://mirror.example/tofu/v1.12.6/x");
        assert_eq!(source.index_url, "https://mirror.example/tofu/api.json");
        assert_eq!(source.key, ReleaseSource::official(&Environment::default()).key);
    }
}
