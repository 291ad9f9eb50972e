//! The locks of tofu's own `s3` backend: a `.tflock` object, or an item in a DynamoDB table.
//!
//! Only looks; releasing is left to tofu, which compares the id. Settings are those of the
//! backend that is handed in; who asks is found out as tofu does.

use super::dynamodb::lock_item;
use super::s3_object::read_object;
use crate::aws::AwsSource;
use crate::error::Result;
use crate::model::Backend;
use crate::state::HeldLock;

/// Returns who holds the state of an `s3` backend; `None` if the block does not say enough.
pub async fn lock_of_s3(backend: &Backend, source: &AwsSource) -> Result<Option<HeldLock>> {
    let (Some(name), Some(key)) = (backend.attribute("bucket"), backend.attribute("key")) else {
        return Ok(None);
    };
    if backend.attribute("use_lockfile") == Some("true")
        && let Some(lock) = lock_file(backend, key, source).await?
    {
        return Ok(Some(lock));
    }
    match backend.attribute("dynamodb_table") {
        Some(table) => lock_item(backend, table, &format!("{name}/{key}"), source).await,
        None => Ok(None),
    }
}

async fn lock_file(backend: &Backend, key: &str, source: &AwsSource) -> Result<Option<HeldLock>> {
    let found = read_object(backend, &format!("{key}.tflock"), source).await?;
    Ok(found.and_then(|bytes| HeldLock::from_client(&bytes, None).ok()))
}
