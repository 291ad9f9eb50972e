//! Where states are kept: turns `state.store`, or `--store`, into a folder or a bucket.
//!
//! Reads text and touches nothing. A key in a URL that is not known is an error with the
//! nearest name, since a misspelt `endpoint` would send states to another company.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bucket;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment, nearest};

/// How long a request to a bucket may take: a large state over a slow line needs time.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What may stand behind the `?` of a bucket's URL.
const KEYS: [&str; 6] = ["endpoint", "region", "style", "timeout", "credentials", "ca"];

/// The place of a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StorePlace {
    /// A local folder.
    Folder(PathBuf),
    /// A bucket of S3 or of anything that speaks its protocol.
    Bucket(Bucket),
}

/// A bucket as its URL describes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bucket {
    pub(super) name: String,
    /// The keys of all states begin with it; empty for the whole bucket.
    pub(super) prefix: String,
    pub(super) endpoint: Option<String>,
    pub(super) region: Option<String>,
    pub(super) addressing: Addressing,
    pub(super) timeout: Duration,
    pub(super) credentials: CredentialSource,
    pub(super) ca: Option<PathBuf>,
}

/// Where the bucket's name stands in a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Addressing {
    /// In the path, which every store understands.
    Path,
    /// In the host name.
    VirtualHost,
}

/// Who gives the access key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CredentialSource {
    /// The environment with the person's profiles, or the secrets.
    Environment,
    /// The machine's metadata service.
    Instance,
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

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s3://{}/{}", self.name, self.prefix)?;
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => Ok(()),
        }
    }
}

impl Bucket {
    /// Returns whether it is the same part of the same bucket, however that is reached.
    pub fn is_same(&self, other: &Self) -> bool {
        self.is_on_the_host_of(other) && (&self.name, &self.prefix) == (&other.name, &other.prefix)
    }

    /// Returns whether whoever has credentials for one may show them to the other.
    pub fn is_on_the_host_of(&self, other: &Self) -> bool {
        self.endpoint == other.endpoint
    }

    fn parse(setting: &str, root: &Path) -> Result<Self> {
        let url = reqwest::Url::parse(setting).map_err(|error| broken(setting).because(error))?;
        if url.password().is_some() || !url.username().is_empty() {
            return Err(broken_credentials());
        }
        let name = url
            .host_str()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| broken(setting).detail("the name of the bucket is missing after `s3://`"))?;
        let mut bucket = Self {
            name: name.to_owned(),
            prefix: url.path().trim_matches('/').to_owned(),
            endpoint: None,
            region: None,
            addressing: Addressing::Path,
            timeout: TIMEOUT,
            credentials: CredentialSource::Environment,
            ca: None,
        };
        for (key, value) in url.query_pairs() {
            bucket.set(&key, &value, root)?;
        }
        Ok(bucket)
    }

    fn set(&mut self, key: &str, value: &str, root: &Path) -> Result<()> {
        match key {
            "endpoint" => self.endpoint = Some(endpoint(value)?),
            "region" => self.region = Some(value.to_owned()),
            "ca" => self.ca = Some(root.join(value)),
            "style" => {
                self.addressing = match value {
                    "path" => Addressing::Path,
                    "virtual" => Addressing::VirtualHost,
                    _ => return Err(expected(key, value, "`path` or `virtual`")),
                }
            }
            "timeout" => match value.parse() {
                Ok(seconds @ 1..=3600) => self.timeout = Duration::from_secs(seconds),
                _ => return Err(expected(key, value, "seconds, 1 to 3600")),
            },
            "credentials" => {
                self.credentials = match value {
                    "environment" => CredentialSource::Environment,
                    "instance" => CredentialSource::Instance,
                    _ => return Err(expected(key, value, "`environment` or `instance`")),
                }
            }
            _ => {
                let hint = nearest(key, KEYS).map(|name| format!("did you mean `{name}`?"));
                return Err(Error::invalid(format!("`{key}` is no setting of a bucket"))
                    .fact("expected", KEYS.join(", "))
                    .hint_if(hint));
            }
        }
        Ok(())
    }
}

fn endpoint(value: &str) -> Result<String> {
    let url = reqwest::Url::parse(value).ok();
    let url = url.filter(|url| ["http", "https"].contains(&url.scheme()) && url.host_str().is_some());
    match url {
        Some(_) => Ok(value.trim_end_matches('/').to_owned()),
        None => Err(expected("endpoint", value, "an address such as `https://s3.example.com`")),
    }
}

fn expected(key: &str, value: &str, what: &str) -> Error {
    Error::invalid(format!("the `{key}` of the bucket is `{value}`")).fact("expected", what)
}

fn broken(setting: &str) -> Error {
    Error::invalid(format!("`{setting}` is not the address of a bucket"))
        .hint("expected `s3://bucket/prefix?endpoint=https://…&region=…`")
}

/// The text is not shown: it holds a password.
fn broken_credentials() -> Error {
    Error::invalid("the address of the bucket holds credentials, which do not belong there").hint(
        "give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or as `aws_access_key_id` and \
         `aws_secret_access_key` in the secrets",
    )
}

#[cfg(test)]
mod tests {
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
