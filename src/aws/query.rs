//! Requests to those who give credentials.

use std::time::Duration;

use axum::http::Request;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::HttpRequestBody;
use reqwest::{Certificate, Client, Response};
use serde::Deserialize;

use super::settings::AwsSettings;
use super::source::Found;
use crate::error::{Error, Result, io};

/// How long a service may take to answer.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A service of the machine answers at once, or is not there.
const NEAR: Duration = Duration::from_secs(1);

/// More than any answer with credentials has.
const LARGEST: usize = 1 << 20;

/// Returns a client for a service of Amazon, or for a compatible one.
pub(super) fn client(settings: &AwsSettings) -> Result<Client> {
    let mut builder = Client::builder().timeout(TIMEOUT).connect_timeout(Duration::from_secs(5));
    if let Some(file) = settings.ca() {
        let pem = std::fs::read(&file).map_err(io("read", &file))?;
        let bundle = Certificate::from_pem_bundle(&pem).map_err(|error| {
            Error::invalid(format!("`{}` holds no certificates", file.display())).because(error)
        })?;
        builder = builder.tls_certs_merge(bundle);
    }
    built(builder)
}

/// Returns a client for a service of this machine, which no proxy stands before.
pub(super) fn near_client() -> Result<Client> {
    let redirects = reqwest::redirect::Policy::none();
    built(Client::builder().no_proxy().redirect(redirects).timeout(2 * NEAR).connect_timeout(NEAR))
}

fn built(builder: reqwest::ClientBuilder) -> Result<Client> {
    builder.build().map_err(|error| Error::unavailable("cannot prepare for a request").because(error))
}

/// Returns the address of a service of Amazon in a region.
pub(super) fn address_of(service: &str, region: &str) -> Result<String> {
    // It becomes part of a host name, and may come from a repository.
    if region.is_empty() || !region.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-') {
        return Err(Error::invalid(format!("`{region}` is no region of AWS")));
    }
    let end = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
    Ok(format!("https://{service}.{region}.{end}"))
}

/// Sends a request with a body, signed if a signer is given.
pub(super) async fn post(
    client: &Client,
    endpoint: &str,
    (content_type, body): (&str, String),
    signer: Option<(&AwsCredential, &str, &str)>,
) -> Result<Response, String> {
    let address = format!("{}/", endpoint.trim_end_matches('/'));
    let mut request = Request::post(&address)
        .header("content-type", content_type)
        .body(HttpRequestBody::from(body.clone()))
        .map_err(|error| error.to_string())?;
    if let Some((credential, service, region)) = signer {
        let signed = AwsAuthorizer::new(credential, service, region).try_authorize(&mut request, None);
        signed.map_err(|error| error.to_string())?;
    }
    let sent = client.post(request.uri().to_string()).headers(request.headers().clone()).body(body).send();
    sent.await.map_err(|error| causes(&error))
}

/// Returns the text of an answer that is not too long for one.
pub(super) async fn text_of(mut answer: Response) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| causes(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LARGEST {
            return Err("the answer is too long".to_owned());
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Says why a request failed, without the address: it may have a query.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(below) = last.source() {
        last = below;
    }
    if error.is_timeout() { "no answer in time".to_owned() } else { last.to_string() }
}

/// Credentials as programs, containers and machines write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Written {
    access_key_id: String,
    secret_access_key: String,
    /// Programs call it so, all others `Token`.
    session_token: Option<String>,
    token: Option<String>,
    expiration: Option<String>,
}

/// Reads credentials in JSON; what is wrong with them is told without a word of them.
pub(super) fn written(json: &[u8]) -> Result<Found, &'static str> {
    let all: Written = serde_json::from_slice(json)
        .map_err(|_| "that is no JSON with `AccessKeyId` and `SecretAccessKey`")?;
    if all.access_key_id.is_empty() || all.secret_access_key.is_empty() {
        return Err("`AccessKeyId` or `SecretAccessKey` is empty");
    }
    let ends = match all.expiration.as_deref().filter(|text| !text.is_empty()) {
        Some(text) => Some(text.parse().map_err(|_| "`Expiration` is no time")?),
        None => None,
    };
    let token = all.session_token.or(all.token).filter(|token| !token.is_empty());
    let credential = AwsCredential { key_id: all.access_key_id, secret_key: all.secret_access_key, token };
    Ok(Found { credential, ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_and_never_repeated_in_an_error() {
        let json = br#"{"Version":1,"AccessKeyId":"a","SecretAccessKey":"b","SessionToken":"t","Expiration":"2030-01-01T00:00:00Z"}"#;

        let found = written(json).unwrap_or_else(|why| unreachable!("{why}"));

        assert_eq!((found.credential.key_id.as_str(), found.credential.token.as_deref()), ("a", Some("t")));
        assert_eq!(found.ends.map(jiff::Timestamp::as_second), Some(1_893_456_000));
        for broken in [
            &b"hunter2"[..],
            br#"{"AccessKeyId":"hunter2"}"#,
            br#"{"AccessKeyId":"","SecretAccessKey":"hunter2"}"#,
        ] {
            assert!(!written(broken).err().expect("an error").contains("hunter2"));
        }
    }

    #[test]
    fn a_region_cannot_lead_to_another_host() {
        assert_eq!(
            address_of("sts", "eu-west-1").expect("an address"),
            "https://sts.eu-west-1.amazonaws.com"
        );
        assert!(address_of("sts", "x.evil.example/").is_err() && address_of("sts", "").is_err());
    }
}
