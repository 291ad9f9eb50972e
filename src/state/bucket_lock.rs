//! The locks of tofu's own `s3` backend: a `.tflock` object, or an item in a DynamoDB table.
//!
//! Only looks; releasing is left to tofu, which compares the id. Settings are those of the
//! backend that is handed in, credentials come from the environment.

use std::time::Duration;

use axum::http::Request;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::HttpRequestBody;
use serde_json::{Value, json};

use super::HeldLock;
use super::bucket_object::{read_object, with_block_credentials};
use crate::error::{Error, Result};
use crate::model::{Backend, Environment};

/// How long a table may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Returns who holds the state of an `s3` backend; nothing where the block does not say enough.
pub async fn lock_of_s3(backend: &Backend, env: &Environment) -> Result<Option<HeldLock>> {
    let (Some(name), Some(key)) = (backend.attribute("bucket"), backend.attribute("key")) else {
        return Ok(None);
    };
    let env = with_block_credentials(backend, env);
    if backend.attribute("use_lockfile") == Some("true")
        && let Some(lock) = lock_file(backend, key, &env).await?
    {
        return Ok(Some(lock));
    }
    match backend.attribute("dynamodb_table") {
        Some(table) => lock_item(backend, table, &format!("{name}/{key}"), &env).await,
        None => Ok(None),
    }
}

async fn lock_file(backend: &Backend, key: &str, env: &Environment) -> Result<Option<HeldLock>> {
    let found = read_object(backend, &format!("{key}.tflock"), env).await?;
    Ok(found.and_then(|bytes| HeldLock::from_client(&bytes, None).ok()))
}

async fn lock_item(backend: &Backend, table: &str, id: &str, env: &Environment) -> Result<Option<HeldLock>> {
    let region = env.get("AWS_REGION").or_else(|| env.get("AWS_DEFAULT_REGION")).unwrap_or("us-east-1");
    let own = format!("https://dynamodb.{region}.amazonaws.com");
    let given = backend.attribute("endpoints.dynamodb").or_else(|| backend.attribute("dynamodb_endpoint"));
    let given =
        given.or_else(|| env.get("AWS_ENDPOINT_URL_DYNAMODB")).or_else(|| env.get("AWS_ENDPOINT_URL"));
    let asked = json!({"TableName": table, "Key": {"LockID": {"S": id}}, "ConsistentRead": true});
    let answer = ask(given.unwrap_or(&own), region, asked.to_string(), env).await?;
    let info = answer["Item"]["Info"]["S"].as_str();
    Ok(info.and_then(|info| HeldLock::from_client(info.as_bytes(), None).ok()))
}

/// Sends a signed request to DynamoDB.
async fn ask(endpoint: &str, region: &str, body: String, env: &Environment) -> Result<Value> {
    let failed = || Error::unavailable(format!("cannot look at the lock table at `{endpoint}`"));
    let (Some(key_id), Some(secret_key)) = (env.get("AWS_ACCESS_KEY_ID"), env.get("AWS_SECRET_ACCESS_KEY"))
    else {
        return Err(failed().detail("there are no credentials").hint("`aws_access_key_id` in the secrets"));
    };
    let credential = AwsCredential {
        key_id: key_id.to_owned(),
        secret_key: secret_key.to_owned(),
        token: env.get("AWS_SESSION_TOKEN").map(str::to_owned),
    };
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
    Err(failed().detail(format!("{status} {said}")))
}
