//! The objects of tofu's own `s3` backend, as they lie in the bucket.
//!
//! Reads only. Settings are those of the backend that is handed in; who asks is found out as tofu
//! does; nothing is decrypted.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

use crate::aws::{AwsSource, refusal};
use crate::error::{Error, Result};
use crate::model::Backend;
use crate::state::{StorePlace, open_bucket};

/// Returns the state of an `s3` backend as it lies in the bucket, where there is one.
pub async fn read_s3_state(backend: &Backend, source: &AwsSource) -> Result<Option<Bytes>> {
    let key = backend.attribute("key").ok_or_else(|| unknown("key"))?;
    read_object(backend, key, source).await
}

/// Returns an object of the backend's bucket, where it exists.
pub(super) async fn read_object(backend: &Backend, key: &str, source: &AwsSource) -> Result<Option<Bytes>> {
    let name = backend.attribute("bucket").ok_or_else(|| unknown("bucket"))?;
    let endpoint = backend.attribute("endpoints.s3").or_else(|| backend.attribute("endpoint"));
    let query = endpoint.map(|endpoint| format!("?endpoint={endpoint}")).unwrap_or_default();
    let place = StorePlace::parse(&format!("s3://{name}{query}"), std::path::Path::new("/"))?;
    let StorePlace::Bucket(place) = place else { return Ok(None) };
    let store = open_bucket(&place, source)?;
    let path = Path::parse(key)
        .map_err(|error| Error::invalid(format!("`{key}` is no key of an object")).because(error))?;
    match read(store.as_ref(), &path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(refusal(&error).unwrap_or_else(|| {
            let failed = Error::unavailable(format!("cannot read `{path}` in `{name}`"));
            failed.detail(source.masked(&error.to_string()))
        })),
    }
}

async fn read(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Bytes> {
    store.get(path).await?.bytes().await
}

fn unknown(attribute: &str) -> Error {
    Error::invalid(format!("the s3 backend does not say its `{attribute}`")).hint("`infra init` resolves it")
}
