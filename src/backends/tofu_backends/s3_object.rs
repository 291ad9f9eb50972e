//! The objects of tofu's own `s3` backend, as they lie in the bucket.
//!
//! Reads only. Settings are those of the backend that is handed in; who asks is found out as tofu
//! does; nothing is decrypted.

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
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
    let (name, store) = open(backend, source)?;
    let path = parsed(key)?;
    match read(store.as_ref(), &path).await {
        Ok(bytes) => Ok(Some(bytes)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(failed(&error, &format!("cannot read `{path}` in `{name}`"), source)),
    }
}

/// Returns the workspaces that have a state in the bucket of an `s3` backend, as tofu lists them; nothing
/// where the block does not say enough, or names places that only tofu can spell.
pub async fn s3_workspaces(backend: &Backend, source: &AwsSource) -> Result<Option<Vec<String>>> {
    let prefix = backend.attribute("workspace_key_prefix").unwrap_or("env:");
    let (Some(_), Some(key)) = (backend.attribute("bucket"), backend.attribute("key")) else {
        return Ok(None);
    };
    let Ok(folder) = Path::parse(prefix) else { return Ok(None) };
    if prefix.is_empty() || folder.as_ref() != prefix {
        return Ok(None);
    }
    let (name, store) = open(backend, source)?;
    let objects = store.list(Some(&folder)).map_ok(|object| object.location.to_string());
    let objects: Vec<String> = objects
        .try_collect()
        .await
        .map_err(|error| failed(&error, &format!("cannot list `{prefix}/` in `{name}`"), source))?;
    let workspace = |object: &String| {
        let (name, rest) = object.strip_prefix(prefix)?.strip_prefix('/')?.split_once('/')?;
        (rest == key).then(|| name.to_owned())
    };
    Ok(Some(objects.iter().filter_map(workspace).collect()))
}

/// Opens the bucket of a backend, and returns its name too.
fn open<'a>(backend: &'a Backend, source: &AwsSource) -> Result<(&'a str, Arc<dyn ObjectStore>)> {
    let name = backend.attribute("bucket").ok_or_else(|| unknown("bucket"))?;
    let endpoint = backend.attribute("endpoints.s3").or_else(|| backend.attribute("endpoint"));
    let query = endpoint.map(|endpoint| format!("?endpoint={endpoint}")).unwrap_or_default();
    match StorePlace::parse(&format!("s3://{name}{query}"), std::path::Path::new("/"))? {
        StorePlace::Bucket(place) => Ok((name, open_bucket(&place, source)?)),
        StorePlace::Folder(_) => Err(Error::bug("a bucket was taken for a folder")),
    }
}

fn parsed(key: &str) -> Result<Path> {
    Path::parse(key).map_err(|error| Error::invalid(format!("`{key}` is no key of an object")).because(error))
}

fn failed(error: &object_store::Error, what: &str, source: &AwsSource) -> Error {
    refusal(error).unwrap_or_else(|| Error::unavailable(what).detail(source.masked(&error.to_string())))
}

async fn read(store: &dyn ObjectStore, path: &Path) -> object_store::Result<Bytes> {
    store.get(path).await?.bytes().await
}

fn unknown(attribute: &str) -> Error {
    Error::invalid(format!("the s3 backend does not say its `{attribute}`")).hint("`infra init` resolves it")
}
