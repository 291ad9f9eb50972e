//! The lock table of tofu's `s3` backend: one item for each state, in DynamoDB.
//!
//! See `dynamodb_table` of [the backend](https://opentofu.org/docs/language/settings/backends/s3/).

use std::time::Duration;

use axum::http::Request;
use object_store::aws::AwsAuthorizer;
use object_store::client::HttpRequestBody;
use serde_json::{Value, json};

use crate::aws::AwsSource;
use crate::error::{Error, Result};
use crate::model::Backend;
use crate::state::HeldLock;

/// How long a table may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the lock in the item with this id, if there is one.
pub(super) async fn lock_item(
    backend: &Backend,
    table: &str,
    id: &str,
    source: &AwsSource,
) -> Result<Option<HeldLock>> {
    let region = source.region().unwrap_or_else(|| "us-east-1".to_owned());
    let own = format!("https://dynamodb.{region}.amazonaws.com");
    let given = backend.attribute("endpoints.dynamodb").or_else(|| backend.attribute("dynamodb_endpoint"));
    let given = given.or_else(|| source.endpoint("DYNAMODB"));
    let asked = json!({"TableName": table, "Key": {"LockID": {"S": id}}, "ConsistentRead": true});
    let answer = ask(given.unwrap_or(&own), &region, asked.to_string(), source).await?;
    let info = answer["Item"]["Info"]["S"].as_str();
    Ok(info.and_then(|info| HeldLock::from_client(info.as_bytes(), None).ok()))
}

/// Sends a signed request to DynamoDB.
async fn ask(endpoint: &str, region: &str, body: String, source: &AwsSource) -> Result<Value> {
    let failed = || Error::unavailable(format!("cannot look at the lock table at `{endpoint}`"));
    let credential = source.credential().await?;
    let mut request = Request::post(format!("{}/", endpoint.trim_end_matches('/')))
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", "DynamoDB_20120810.GetItem")
        .body(HttpRequestBody::from(body.clone()))
        .map_err(|error| failed().because(error))?;
    let signed = AwsAuthorizer::new(&credential, "dynamodb", region).try_authorize(&mut request, None);
    signed.map_err(|error| failed().because(error))?;
    let client =
        reqwest::Client::builder().timeout(TIMEOUT).build().map_err(|error| failed().because(error))?;
    let sent =
        client.post(request.uri().to_string()).headers(request.headers().clone()).body(body).send().await;
    let answer = sent.map_err(|error| failed().because(error))?;
    let status = answer.status();
    let bytes = answer.bytes().await.map_err(|error| failed().because(error))?;
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if status.is_success() {
        return Ok(value);
    }
    let said = value["message"].as_str().or_else(|| value["Message"].as_str()).unwrap_or_default();
    Err(failed().detail(source.masked(&format!("{status} {said}"))))
}
