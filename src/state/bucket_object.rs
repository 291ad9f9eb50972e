//! The objects of tofu's own `s3` backend, as they lie in the bucket.
//!
//! Reads only. Settings are those of the backend that is handed in, credentials are its own
//! or come from the environment; nothing is decrypted.

use axum::body::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

use super::bucket;
use super::place::StorePlace;
use crate::error::{Error, Result};
use crate::model::{Backend, Environment};

/// Returns the state of an `s3` backend as it lies in the bucket, where there is one.
pub async fn read_s3_state(backend: &Backend, env: &Environment) -> Result<Option<Bytes>> {
    let key = backend.attribute("key").ok_or_else(|| unknown("key"))?;
    read_object(backend, key, &with_block_credentials(backend, env)).await
}

/// Returns the environment with what the backend says about who asks, and where.
pub(super) fn with_block_credentials(backend: &Backend, env: &Environment) -> Environment {
    let mut env = env.clone();
    for (attribute, variable) in [
        ("access_key", "AWS_ACCESS_KEY_ID"),
        ("secret_key", "AWS_SECRET_ACCESS_KEY"),
        ("token", "AWS_SESSION_TOKEN"),
        ("region", "AWS_REGION"),
    ] {
        if let Some(value) = backend.attribute(attribute) {
            env.set(variable, value);
        }
    }
    env
}

/// Returns an object of the backend's bucket, where it exists.
pub(super) async fn read_object(backend: &Backend, key: &str, env: &Environment) -> Result<Option<Bytes>> {
    let name = backend.attribute("bucket").ok_or_else(|| unknown("bucket"))?;
    let endpoint = backend.attribute("endpoints.s3").or_else(|| backend.attribute("endpoint"));
    let query = endpoint.map(|endpoint| format!("?endpoint={endpoint}")).unwrap_or_default();
    let place = StorePlace::parse(&format!("s3://{name}{query}"), std::path::Path::new("/"))?;
    let StorePlace::Bucket(place) = place else { return Ok(None) };
    let store = bucket::open(&place, env)?.flushed;
    let path = Path::parse(key)
        .map_err(|error| Error::invalid(format!("`{key}` is no key of an object")).because(error))?;
    match read(store.as_ref(), &path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(Error::unavailable(format!("cannot read `{path}` in `{name}`")).because(error)),
    }
}

async fn read(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Bytes> {
    store.get(path).await?.bytes().await
}

fn unknown(attribute: &str) -> Error {
    Error::invalid(format!("the s3 backend does not say its `{attribute}`")).hint("`infra init` resolves it")
}
