//! Where states are kept: turns `state.store`, or `--store`, into a folder or a bucket.
//!
//! Reads text and touches nothing.

use std::path::{Path, PathBuf};

use super::bucket;
use super::bucket_address::{Bucket, CredentialSource};
use crate::error::{Error, Result};
use crate::model::{Clock, Environment};

/// The place of a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StorePlace {
    /// A local folder.
    Folder(PathBuf),
    /// A bucket of S3 or of anything that speaks its protocol.
    Bucket(Bucket),
}

impl StorePlace {
    /// Reads a setting; a relative folder is below `root`.
    pub fn parse(setting: &str, root: &Path) -> Result<Self> {
        if setting.trim().is_empty() {
            return Err(Error::invalid("the place of the state store is empty")
                .hint("give a folder or `s3://bucket/prefix`, or leave it out"));
        }
        match setting.split_once("://") {
            None => Ok(Self::Folder(root.join(setting))),
            Some(("s3", _)) => Bucket::parse(setting, root).map(Self::Bucket),
            Some((scheme, _)) => Err(Error::invalid(format!("`{scheme}://` is no place for states"))
                .fact("found", setting)
                .hint("expected a folder, or `s3://bucket/prefix?endpoint=https://…&region=…`")),
        }
    }

    /// Returns whether it needs credentials that this environment does not have.
    pub fn lacks_credentials(&self, env: &Environment, clock: Clock) -> bool {
        match self {
            Self::Folder(_) => false,
            Self::Bucket(Bucket { credentials: CredentialSource::Instance, .. }) => false,
            Self::Bucket(bucket) => !bucket::source(bucket, env, clock).is_named(),
        }
    }

    /// Returns whether it is reached over the network.
    pub const fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket(_))
    }
}

impl std::fmt::Display for StorePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(path) => path.display().fmt(f),
            Self::Bucket(bucket) => bucket.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse(setting: &str) -> Result<StorePlace> {
        StorePlace::parse(setting, Path::new("/project"))
    }

    #[test]
    fn a_path_is_a_folder_below_the_root() {
        assert_eq!(
            parse(".infra/state").expect("a folder"),
            StorePlace::Folder("/project/.infra/state".into())
        );
        assert_eq!(parse("/srv/states").expect("a folder"), StorePlace::Folder("/srv/states".into()));
        assert!(parse("  ").is_err());
    }

    #[test]
    fn a_url_is_a_bucket_with_its_settings() {
        let place = parse("s3://states/lab/a?endpoint=http://127.0.0.1:9000/&region=auto&timeout=5");

        let StorePlace::Bucket(bucket) = place.expect("a bucket") else { panic!("a folder") };
        assert_eq!((bucket.name.as_str(), bucket.prefix.as_str()), ("states", "lab/a"));
        assert_eq!(bucket.endpoint.as_deref(), Some("http://127.0.0.1:9000"));
        assert_eq!(bucket.region.as_deref(), Some("auto"));
        assert_eq!(bucket.timeout, Duration::from_secs(5));
        assert_eq!(bucket.to_string(), "s3://states/lab/a at http://127.0.0.1:9000");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_nearest_name() {
        let misspelt = parse("s3://b?endpont=https://x").expect_err("a misspelt key");
        assert_eq!(misspelt.hints(), ["did you mean `endpoint`?"]);

        for setting in ["gs://b", "s3://", "s3://b?endpoint=ftp://x", "s3://b?style=x", "s3://b?timeout=0"] {
            assert!(parse(setting).is_err(), "{setting}");
        }
    }

    #[test]
    fn a_password_in_the_address_is_refused_and_not_repeated() {
        let error = parse("s3://key:hunter2@bucket").expect_err("a password");

        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
