//! A bucket of S3, or of a store that speaks its protocol, as an object store.
//!
//! Who asks is found out by `aws` when the first request is made. Requests are bounded in time and
//! repeated with jitter where that is safe; whether an entry was created after all is found out by
//! the log.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};

use super::bucket_address::{Addressing, Bucket, CredentialSource};
use super::opened_store::{OpenedStore, Reach};
use crate::aws::{AwsSettings, AwsSource, AwsSources};
use crate::error::{Error, Result, io};
use crate::model::{Clock, Environment};
use crate::process::Interrupts;

/// A host that does not even answer is not worth waiting for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns who asks a bucket where only the environment says it.
pub fn source(bucket: &Bucket, env: &Environment, clock: Clock) -> AwsSource {
    let settings = AwsSettings::of_environment(env, FilePath::new("."));
    let settings = match bucket.credentials {
        CredentialSource::Environment => settings,
        CredentialSource::Instance => settings.without_profiles(),
    };
    AwsSources::new(clock, Interrupts::none()).of(settings)
}

/// Opens a bucket; nothing is requested yet.
pub fn open(bucket: &Bucket, source: &AwsSource) -> Result<OpenedStore> {
    let store = build(bucket, source)?;
    let prefix = Path::parse(&bucket.prefix).map_err(|error| {
        Error::invalid(format!("`{}` is no prefix of keys", bucket.prefix)).because(error)
    })?;
    let store: Arc<dyn ObjectStore> = Arc::new(PrefixStore::new(store, prefix));
    Ok(OpenedStore { flushed: Arc::clone(&store), quick: store, reach: Reach::Remote })
}

/// Opens a bucket to read single objects of it.
pub fn open_bucket(bucket: &Bucket, source: &AwsSource) -> Result<Arc<dyn ObjectStore>> {
    open(bucket, source).map(|opened| opened.flushed)
}

fn build(bucket: &Bucket, source: &AwsSource) -> Result<AmazonS3> {
    let mut builder = AmazonS3Builder::new().with_credentials(Arc::new(source.clone()));
    if let Some(endpoint) = endpoint(bucket, source) {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = region(bucket, source) {
        builder = builder.with_region(region);
    }
    builder
        .with_bucket_name(&bucket.name)
        .with_virtual_hosted_style_request(bucket.addressing == Addressing::VirtualHost)
        // The single deletion is what every compatible store offers.
        .with_disable_bulk_delete(true)
        .with_retry(retries())
        .with_client_options(client_options(bucket, source)?)
        .build()
        .map_err(|error| Error::invalid(format!("cannot use the bucket `{}`", bucket.name)).because(error))
}

fn endpoint<'a>(bucket: &'a Bucket, source: &'a AwsSource) -> Option<&'a str> {
    bucket.endpoint.as_deref().or_else(|| source.endpoint("S3"))
}

/// Other stores than Amazon's take any region, but a request must be signed for one.
fn region(bucket: &Bucket, source: &AwsSource) -> Option<String> {
    let given = bucket.region.clone().or_else(|| source.region());
    given.or_else(|| endpoint(bucket, source).map(|_| "us-east-1".to_owned()))
}

fn client_options(bucket: &Bucket, source: &AwsSource) -> Result<ClientOptions> {
    let is_plain = endpoint(bucket, source).is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut options = ClientOptions::new()
        .with_allow_http(is_plain)
        .with_timeout(bucket.timeout)
        .with_connect_timeout(CONNECT_TIMEOUT.min(bucket.timeout));
    if let Some(file) = bucket.ca.clone().or_else(|| source.ca()) {
        let pem = std::fs::read(&file).map_err(io("read", &file))?;
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
    use super::*;
    use crate::error::Kind;
    use crate::state::store::places::store_place::StorePlace;

    fn bucket(url: &str) -> Bucket {
        match StorePlace::parse(url, std::path::Path::new("/")).expect("a place") {
            StorePlace::Bucket(bucket) => bucket,
            StorePlace::Folder(_) => panic!("a folder"),
        }
    }

    fn source_of(url: &str, env: &Environment) -> AwsSource {
        source(&bucket(url), env, Clock::new(|| jiff::Timestamp::UNIX_EPOCH))
    }

    #[tokio::test]
    async fn a_bucket_without_credentials_says_where_they_were_looked_for() {
        let env = Environment::default().with("AWS_EC2_METADATA_DISABLED", "true");

        let error = source_of("s3://states?endpoint=http://127.0.0.1:1", &env).credential().await;

        let error = error.expect_err("no credentials");
        assert_eq!(error.kind(), Kind::Refused);
        assert!(error.to_string().contains("tried environment: AWS_ACCESS_KEY_ID"), "{error}");
        assert!(error.hints().iter().any(|hint| hint.contains("aws_access_key_id")), "{error}");
    }

    #[test]
    fn a_bucket_opens_with_a_key_pair_and_needs_no_region_beside_an_endpoint() {
        let env = Environment::default().with("AWS_ACCESS_KEY_ID", "a").with("AWS_SECRET_ACCESS_KEY", "b");
        let url = "s3://states/lab?endpoint=http://127.0.0.1:1";

        open(&bucket(url), &source_of(url, &env)).expect("a bucket");
    }
}
