//! A client of the http backend's protocol: who holds a lock, which versions there are.
//!
//! Speaks to `infra state serve`, and as far as they go to other servers: one that keeps no
//! versions, or does not tell its lock, is reported as such. It never writes a state.

use std::time::Duration;

use reqwest::{Certificate, Client, Identity, Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;

use super::{HeldLock, Version};
use crate::error::{Error, Kind, Result};
use crate::model::Environment;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A state on a server.
#[derive(Clone, Debug)]
pub struct RemoteState {
    pub(super) client: Client,
    pub(super) address: String,
    lock_address: Option<String>,
    username: Option<String>,
    password: Option<zeroize::Zeroizing<String>>,
}

/// The versions that a server tells.
#[derive(Debug, Deserialize)]
pub struct RemoteVersions {
    /// The number of the current one.
    pub current: Option<u64>,
    /// All of them, oldest first.
    pub versions: Vec<Version>,
}

impl RemoteState {
    /// Makes a client from the variables that tofu's http backend reads.
    pub fn from_environment(env: &Environment) -> Result<Self> {
        let address = env.get("TF_HTTP_ADDRESS").ok_or_else(|| Error::bug("the state has no address"))?;
        Ok(Self {
            client: build(env)?,
            address: address.to_owned(),
            lock_address: env.get("TF_HTTP_LOCK_ADDRESS").map(str::to_owned),
            username: env.get("TF_HTTP_USERNAME").map(str::to_owned),
            password: env.get("TF_HTTP_PASSWORD").map(|text| zeroize::Zeroizing::new(text.to_owned())),
        })
    }

    /// Returns who holds the lock; a server that does not tell counts as not locked.
    pub async fn lock_of(&self) -> Result<Option<HeldLock>> {
        let Some(address) = &self.lock_address else { return Ok(None) };
        let answer = self.send(self.client.get(address)).await?;
        match answer.status() {
            StatusCode::OK => Ok(HeldLock::from_client(&self.bytes(answer).await?, None).ok()),
            StatusCode::NOT_FOUND | StatusCode::NO_CONTENT | StatusCode::METHOD_NOT_ALLOWED => Ok(None),
            status => Err(self.refused(status)),
        }
    }

    /// Releases the lock with this id against its holder.
    pub async fn force_unlock(&self, lock: &HeldLock) -> Result<()> {
        let address =
            self.lock_address.as_ref().ok_or_else(|| Error::usage("the backend has no lock address"))?;
        let forced = with_query(address, "force=true");
        let method = Method::from_bytes(b"UNLOCK").map_err(|error| Error::bug("no method").because(error))?;
        let answer = self.send(self.client.request(method, forced).body(lock.info().to_owned())).await?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                Err(Error::locked("the state was locked anew meanwhile"))
            }
            status => Err(self.refused(status)),
        }
    }

    /// Returns the versions that the server keeps.
    pub async fn versions(&self) -> Result<RemoteVersions> {
        let answer = self.send(self.client.get(with_query(&self.address, "versions=true"))).await?;
        let status = answer.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(RemoteVersions { current: None, versions: Vec::new() });
        }
        if status != StatusCode::OK {
            return Err(self.refused(status));
        }
        serde_json::from_slice(&self.bytes(answer).await?).map_err(|_| {
            Error::unavailable(format!("the server at `{}` keeps no versions that it tells", self.address))
                .hint("`infra state serve` does")
        })
    }

    /// Returns an old version.
    pub async fn version(&self, number: u64) -> Result<Option<Vec<u8>>> {
        let answer =
            self.send(self.client.get(with_query(&self.address, &format!("version={number}")))).await?;
        match answer.status() {
            StatusCode::OK => self.bytes(answer).await.map(Some),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(self.refused(status)),
        }
    }

    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let request = match &self.username {
            Some(name) => request.basic_auth(name, self.password.as_ref().map(|password| password.as_str())),
            None => request,
        };
        request.send().await.map_err(|error| self.unreachable().because(error.without_url()))
    }

    pub(super) async fn bytes(&self, answer: Response) -> Result<Vec<u8>> {
        let bytes = answer.bytes().await;
        Ok(bytes.map_err(|error| self.unreachable().because(error.without_url()))?.to_vec())
    }

    fn unreachable(&self) -> Error {
        Error::unavailable(format!("cannot reach the state server at `{}`", self.address))
    }

    pub(super) fn refused(&self, status: StatusCode) -> Error {
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Kind::Refused,
            _ => Kind::Unavailable,
        };
        let error = Error::new(kind, format!("the state server at `{}` answers {status}", self.address));
        match kind {
            Kind::Refused => error
                .hint("`tfstate_username` and `tfstate_password` in the secrets, or TF_HTTP_USERNAME and TF_HTTP_PASSWORD"),
            _ => error,
        }
    }
}

fn with_query(address: &str, query: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}{query}")
}

fn build(env: &Environment) -> Result<Client> {
    let mut builder = Client::builder().timeout(TIMEOUT).connect_timeout(Duration::from_secs(5));
    if let Some(pem) = env.get("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM") {
        let bundle = Certificate::from_pem_bundle(pem.as_bytes());
        builder =
            builder.tls_certs_merge(bundle.map_err(|error| broken("_CA_CERTIFICATE_PEM").because(error))?);
    }
    let (certificate, key) =
        (env.get("TF_HTTP_CLIENT_CERTIFICATE_PEM"), env.get("TF_HTTP_CLIENT_PRIVATE_KEY_PEM"));
    if let (Some(certificate), Some(key)) = (certificate, key) {
        let both = zeroize::Zeroizing::new(format!("{certificate}\n{key}"));
        let identity = Identity::from_pem(both.as_bytes());
        builder = builder.identity(identity.map_err(|error| broken("_CERTIFICATE_PEM").because(error))?);
    }
    builder.build().map_err(|error| Error::unavailable("cannot prepare for the state server").because(error))
}

fn broken(which: &str) -> Error {
    Error::invalid(format!("TF_HTTP_CLIENT{which} cannot be used"))
}
