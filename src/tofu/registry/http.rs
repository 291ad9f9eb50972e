//! Asks a host for a small document, as OpenTofu does: with the token of that host, which no other host gets
//! to see after a redirect, within a time, and once more where the host is in trouble.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};

use crate::error::{Error, Result};
use crate::model::Environment;
use crate::proxies::proxies;
use crate::tofu::install::root_cause;

/// How long a host may take to answer, where nothing else is said.
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);

/// How long it takes until a host in trouble is asked again.
const PAUSE: Duration = Duration::from_millis(500);

const MOST_REDIRECTS: usize = 5;

/// A list of all releases of a large provider has about a megabyte.
const LARGEST: usize = 32 * 1024 * 1024;

/// A document.
pub(super) struct Document {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Where it was, after redirects.
    pub url: Url,
    /// Whether it says that it is JSON.
    pub is_json: bool,
}

/// Asks hosts.
#[derive(Debug)]
pub(super) struct Asker(Client);

impl Asker {
    /// Makes an asker that uses the proxies of this environment.
    pub fn new(env: &Environment) -> Result<Self> {
        let builder = Client::builder()
            .no_proxy()
            .user_agent(concat!("infra/", env!("CARGO_PKG_VERSION")))
            // A path may hold what is nobody else's business.
            .referer(false)
            .redirect(Policy::limited(MOST_REDIRECTS))
            .timeout(timeout(env));
        let builder = proxies(env)?.into_iter().fold(builder, reqwest::ClientBuilder::proxy);
        let made = builder.build();
        made.map(Self)
            .map_err(|error| Error::unavailable("cannot set up https on this machine").because(error))
    }

    /// Returns a document; `None` if the host says that there is none.
    pub async fn get(&self, url: &Url, token: Option<&str>) -> Result<Option<Document>> {
        let answer = match self.try_get(url, token).await {
            Err(error) if error.has_fact(AGAIN) => {
                tokio::time::sleep(PAUSE).await;
                self.try_get(url, token).await
            }
            answer => answer,
        };
        answer.map_err(without_mark)
    }

    async fn try_get(&self, url: &Url, token: Option<&str>) -> Result<Option<Document>> {
        let mut request = self.0.get(url.clone()).header(ACCEPT, "application/json");
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                Error::invalid(format!("the token for `{}` has letters that no token has", host(url)))
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let mut response = request.send().await.map_err(|error| unreachable_host(url, &error))?;
        match response.status() {
            status if status.is_success() => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            status => return Err(refusal(url, status)),
        }
        let is_json = response.headers().get(CONTENT_TYPE).is_some_and(says_json);
        let final_url = response.url().clone();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable_host(url, &error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LARGEST {
                return Err(Error::unavailable(format!("the answer of `{}` has no end", host(url))));
            }
        }
        Ok(Some(Document { bytes, url: final_url, is_json }))
    }
}

/// Marks what is worth a second try; it is gone before anybody sees it.
const AGAIN: &str = "again";

fn without_mark(error: Error) -> Error {
    if error.has_fact(AGAIN) { Error::unavailable(error.message()) } else { error }
}

fn unreachable_host(url: &Url, error: &reqwest::Error) -> Error {
    let host = host(url);
    if error.is_timeout() {
        return Error::unavailable(format!("`{host}` does not answer in time"));
    }
    if error.is_redirect() {
        return Error::unavailable(format!("`{host}` sends from one place to the next"));
    }
    Error::unavailable(format!("cannot reach `{host}`: {}", root_cause(error))).fact(AGAIN, "yes")
}

fn refusal(url: &Url, status: StatusCode) -> Error {
    let error = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Error::unavailable(format!("`{}` wants another token ({status})", host(url)))
        }
        status => Error::unavailable(format!("`{}` answers {status}", host(url))),
    };
    if status.is_server_error() { error.fact(AGAIN, "yes") } else { error }
}

fn says_json(value: &HeaderValue) -> bool {
    let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Returns host and port: nothing else of a URL is ever shown.
pub(super) fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// OpenTofu's own variable says how many seconds a registry may take.
fn timeout(env: &Environment) -> Duration {
    let set = env.get("TF_REGISTRY_CLIENT_TIMEOUT").and_then(|text| text.parse().ok());
    set.filter(|seconds| *seconds > 0).map_or(USUAL_TIMEOUT, Duration::from_secs)
}
