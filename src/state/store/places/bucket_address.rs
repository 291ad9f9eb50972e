//! The address of a bucket: turns `s3://bucket/prefix?key=value` into settings.
//!
//! Reads text and touches nothing. A key in a URL that is not known is an error with the
//! nearest name, since a misspelt `endpoint` would send states to another company.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::model::nearest;

/// How long a request to a bucket may take: a large state over a slow line needs time.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What may stand behind the `?` of a bucket's URL.
const KEYS: [&str; 6] = ["endpoint", "region", "style", "timeout", "credentials", "ca"];

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

    /// Returns whether credentials for one may be sent to the other: both are at the same address.
    pub fn is_on_the_host_of(&self, other: &Self) -> bool {
        self.endpoint == other.endpoint
    }

    pub(super) fn parse(setting: &str, root: &Path) -> Result<Self> {
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
