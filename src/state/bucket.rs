//! A bucket of S3, or of a store that speaks its protocol, as an object store.
//!
//! Credentials come from the environment value that is handed in, never from the process
//! or from files of other tools. Requests are bounded in time and repeated with jitter
//! where that is safe; whether an entry was created after all is settled by the log.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use super::log::{Reach, Stores};
use super::place::{Addressing, Bucket, CredentialSource};
use crate::error::{Error, Kind, Result, io};
use crate::model::Environment;

/// A host that does not even answer is not worth waiting for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The names under which clouds give short-lived credentials to a process.
const ROLE_VARIABLES: [&str; 3] = [
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// Opens a bucket; nothing is requested yet.
pub(super) fn open(bucket: &Bucket, env: &Environment) -> Result<Stores> {
    check_credentials(bucket, env)?;
    let store = build(bucket, env)?;
    let prefix = Path::parse(&bucket.prefix).map_err(|error| {
        Error::invalid(format!("`{}` is no prefix of keys", bucket.prefix)).because(error)
    })?;
    let store: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(store, prefix));
    Ok(Stores { flushed: Arc::clone(&store), quick: store, reach: Reach::Remote })
}

fn build(bucket: &Bucket, env: &Environment) -> Result<AmazonS3> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in env.iter() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        if let Some(key) = config_key(name).filter(|_| !value.is_empty()) {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(endpoint) = endpoint(bucket, env) {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = region(bucket, env) {
        builder = builder.with_region(region);
    }
    builder
        .with_bucket_name(&bucket.name)
        .with_virtual_hosted_style_request(bucket.addressing == Addressing::VirtualHost)
        // The single deletion is what every compatible store offers.
        .with_disable_bulk_delete(true)
        .with_retry(retries())
        .with_client_options(client_options(bucket, env)?)
        .build()
        .map_err(|error| Error::invalid(format!("cannot use the bucket `{}`", bucket.name)).because(error))
}

/// Returns the setting that a variable stands for; only those that say who asks.
fn config_key(name: &str) -> Option<AmazonS3ConfigKey> {
    let wanted = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN"];
    let also = ["AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"];
    if !wanted.iter().chain(&also).chain(&ROLE_VARIABLES).any(|known| *known == name) {
        return None;
    }
    name.to_lowercase().parse().ok()
}

fn endpoint<'a>(bucket: &'a Bucket, env: &'a Environment) -> Option<&'a str> {
    let given = bucket.endpoint.as_deref().or_else(|| env.get("AWS_ENDPOINT_URL_S3"));
    given.or_else(|| env.get("AWS_ENDPOINT_URL"))
}

/// Other stores than Amazon's take any region, but a request must be signed for one.
fn region<'a>(bucket: &'a Bucket, env: &'a Environment) -> Option<&'a str> {
    let given = bucket.region.as_deref().or_else(|| env.get("AWS_REGION"));
    let given = given.or_else(|| env.get("AWS_DEFAULT_REGION"));
    given.or_else(|| endpoint(bucket, env).map(|_| "us-east-1"))
}

/// Returns whether anything says who asks.
pub(super) fn has_credentials(bucket: &Bucket, env: &Environment) -> bool {
    let has = |name: &str| env.get(name).is_some();
    let by_key = has("AWS_ACCESS_KEY_ID") && has("AWS_SECRET_ACCESS_KEY");
    let by_role = ROLE_VARIABLES.iter().any(|name| has(name));
    bucket.credentials == CredentialSource::Instance || by_key || by_role
}

fn check_credentials(bucket: &Bucket, env: &Environment) -> Result<()> {
    if has_credentials(bucket, env) {
        return Ok(());
    }
    Err(Error::new(Kind::Refused, format!("there are no credentials for the bucket `{}`", bucket.name))
        .hint("put `aws_access_key_id` and `aws_secret_access_key` into the secrets")
        .hint("or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        .hint("or add `credentials=instance` to the URL, on a machine with a role"))
}

fn client_options(bucket: &Bucket, env: &Environment) -> Result<ClientOptions> {
    let is_plain = endpoint(bucket, env).is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut options = ClientOptions::new()
        .with_allow_http(is_plain)
        .with_timeout(bucket.timeout)
        .with_connect_timeout(CONNECT_TIMEOUT.min(bucket.timeout));
    if let Some(file) = &bucket.ca {
        let pem = std::fs::read(file).map_err(io("read", file))?;
        let bundle = Certificate::from_pem_bundle(&pem).map_err(|error| {
            Error::invalid(format!("`{}` holds no certificates", file.display())).because(error)
        })?;
        options = bundle.into_iter().fold(options, ClientOptions::with_root_certificate);
    }
    Ok(options)
}

/// Returns how single requests are repeated, with random pauses in between.
fn retries() -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries: 4, retry_timeout: Duration::from_secs(30) }
}

#[cfg(test)]
mod tests {
    use super::super::StorePlace;
    use super::*;

    fn opened(url: &str, env: &Environment) -> Result<Stores> {
        match StorePlace::parse(url, std::path::Path::new("/")).expect("a place") {
            StorePlace::Bucket(bucket) => open(&bucket, env),
            StorePlace::Folder(_) => panic!("a folder"),
        }
    }

    #[test]
    fn a_bucket_without_credentials_says_where_they_are_looked_for() {
        let error = opened("s3://states?endpoint=http://127.0.0.1:1", &Environment::default());

        let error = error.expect_err("no credentials");
        assert_eq!(error.kind(), Kind::Refused);
        assert!(error.hints().iter().any(|hint| hint.contains("aws_access_key_id")), "{error}");
    }

    #[test]
    fn a_bucket_opens_with_a_key_pair_and_needs_no_region_beside_an_endpoint() {
        let env = Environment::default().with("AWS_ACCESS_KEY_ID", "a").with("AWS_SECRET_ACCESS_KEY", "b");

        opened("s3://states/lab?endpoint=http://127.0.0.1:1", &env).expect("a bucket");
    }
}
