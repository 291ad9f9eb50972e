//! A client of the http backend's protocol: who holds a lock, which versions there are, and
//! a state as it lies there, read and written byte for byte.
//!
//! Speaks to `infra state serve`, and as far as they go to other servers: one that keeps no
//! versions, or does not tell its lock, is reported as such.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use reqwest::{Certificate, Client, Identity, Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;

use crate::error::{Error, Kind, Result};
use crate::model::{Environment, LockInfo};
use crate::state::store::Version;
use crate::state::{HeldLock, percent};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long a whole state may take on its way.
const TRANSFER: Duration = Duration::from_secs(600);

/// A state on a server.
#[derive(Clone, Debug)]
pub struct RemoteState {
    pub(super) client: Client,
    pub(super) address: String,
    lock_address: Option<String>,
    unlock_address: Option<String>,
    methods: Methods,
    username: Option<String>,
    password: Option<zeroize::Zeroizing<String>>,
}

/// The methods that the server wants.
#[derive(Clone, Debug)]
struct Methods {
    update: Method,
    lock: Method,
    unlock: Method,
}

impl Methods {
    fn of(env: &Environment) -> Result<Self> {
        let method = |name: &str, usual: &str| {
            let text = env.get(name).filter(|text| !text.is_empty()).unwrap_or(usual);
            Method::from_bytes(text.as_bytes())
                .map_err(|error| Error::invalid(format!("{name} is `{text}`")).because(error))
        };
        Ok(Self {
            update: method("TF_HTTP_UPDATE_METHOD", "POST")?,
            lock: method("TF_HTTP_LOCK_METHOD", "LOCK")?,
            unlock: method("TF_HTTP_UNLOCK_METHOD", "UNLOCK")?,
        })
    }
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
            unlock_address: env.get("TF_HTTP_UNLOCK_ADDRESS").map(str::to_owned),
            methods: Methods::of(env)?,
            username: env.get("TF_HTTP_USERNAME").map(str::to_owned),
            password: env.get("TF_HTTP_PASSWORD").map(|text| zeroize::Zeroizing::new(text.to_owned())),
        })
    }

    /// Returns the state as it lies there, where there is one.
    pub async fn read(&self) -> Result<Option<Vec<u8>>> {
        let answer = self.send(self.client.get(&self.address).timeout(TRANSFER)).await?;
        match answer.status() {
            StatusCode::OK => Ok(Some(self.bytes(answer).await?).filter(|bytes| !bytes.is_empty())),
            StatusCode::NOT_FOUND | StatusCode::NO_CONTENT => Ok(None),
            StatusCode::CONFLICT => Err(self.conflict().await),
            status => Err(self.refused(status)),
        }
    }

    /// Takes the lock; nothing on a server that has none.
    pub async fn lock(&self, info: &LockInfo) -> Result<Option<HeldLock>> {
        let Some(address) = &self.lock_address else { return Ok(None) };
        let info =
            serde_json::to_vec(info).map_err(|error| Error::bug("a lock has no JSON form").because(error))?;
        let request = self.client.request(self.methods.lock.clone(), address);
        let answer = self.send(with_sum(request, info.clone())).await?;
        match answer.status() {
            status if status.is_success() => HeldLock::from_client(&info, None).map(Some),
            StatusCode::LOCKED | StatusCode::CONFLICT => {
                let holder = HeldLock::from_client(&self.bytes(answer).await?, None).ok();
                Err(self.held(holder.as_ref()))
            }
            status => Err(self.refused(status)),
        }
    }

    /// Gives the lock back; a mark that the state was moved has taken its place, and is left.
    pub async fn unlock(&self, lock: &HeldLock) -> Result<()> {
        let Some(address) = &self.unlock_address else { return Ok(()) };
        let request = self.client.request(self.methods.unlock.clone(), address);
        let answer = self.send(with_sum(request, lock.info().as_bytes().to_vec())).await?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::CONFLICT => {
                let holder = HeldLock::from_client(&self.bytes(answer).await?, None).ok();
                let moved = holder.and_then(|lock| lock.moved_to());
                moved.map(drop).ok_or_else(|| self.refused(StatusCode::CONFLICT))
            }
            status => Err(self.refused(status)),
        }
    }

    /// Stores a state as it is, under this lock.
    pub async fn write(&self, lock: Option<&HeldLock>, state: Vec<u8>) -> Result<()> {
        self.write_to(self.address.clone(), lock, state).await
    }

    pub(super) async fn write_to(
        &self,
        address: String,
        lock: Option<&HeldLock>,
        state: Vec<u8>,
    ) -> Result<()> {
        let address = lock.map_or_else(|| address.clone(), |lock| with_lock(&address, lock));
        let request = self.client.request(self.methods.update.clone(), address).timeout(TRANSFER);
        let answer = self.send(with_sum(request, state)).await?;
        match answer.status() {
            status if status.is_success() => Ok(()),
            StatusCode::LOCKED | StatusCode::CONFLICT => Err(self.lost_lock().await),
            status => Err(self.refused(status)),
        }
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
                let holder = HeldLock::from_client(&self.bytes(answer).await?, None).ok();
                let moved = holder.and_then(|lock| self.moved_away(&lock));
                Err(moved.unwrap_or_else(|| Error::locked("the state was locked anew meanwhile")))
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
                .detail("it is a server of the http backend, and answers a question for versions with something else")
                .hint("move the state to where versions are kept: `infra state migrate STACK --to embedded`")
                .hint("or to a server that keeps them: `infra state serve`")
        })
    }

    /// Returns an old version.
    pub async fn version(&self, number: u64) -> Result<Option<Vec<u8>>> {
        // A server that knows no versions would answer with the current state.
        if !self.versions().await?.versions.iter().any(|version| version.number == number) {
            return Ok(None);
        }
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
        request.send().await.map_err(|error| self.failed(error))
    }

    pub(super) async fn bytes(&self, answer: Response) -> Result<Vec<u8>> {
        let bytes = answer.bytes().await;
        Ok(bytes.map_err(|error| self.failed(error))?.to_vec())
    }

    /// Makes the error of a state that is locked.
    pub(super) fn held(&self, lock: Option<&HeldLock>) -> Error {
        if let Some(moved) = lock.and_then(|lock| self.moved_away(lock)) {
            return moved;
        }
        let error = Error::locked("somebody else holds the lock of the state");
        match lock.map(|lock| lock.to_state_lock().info) {
            Some(info) => error.fact("holder", info.who).fact("lock id", info.id),
            None => error,
        }
        .hint("`infra locks`")
    }

    /// Returns the error of a state that is somewhere else now, if this is the lock of one.
    pub(super) fn moved_away(&self, lock: &HeldLock) -> Option<Error> {
        let to = lock.moved_to()?;
        let message = format!("the state at `{}` was moved to `{to}`", self.address);
        Some(
            Error::invalid(message)
                .code("state-elsewhere")
                .detail("this checkout, or its `infra.yaml`, is older than that move")
                .hint("take the newer `infra.yaml`: `git pull`")
                .hint("or move it back: `infra state migrate --all --from PLACE`"),
        )
    }

    /// Returns why a writer was refused: its lock is gone, or the state is somewhere else now.
    async fn lost_lock(&self) -> Error {
        let moved = self.lock_of().await.ok().flatten().and_then(|lock| self.moved_away(&lock));
        let lost = || Error::locked("the lock of the state was lost meanwhile").hint("`infra locks`");
        moved.unwrap_or_else(lost)
    }

    /// Returns why a reader was refused, which happens for a moved state alone.
    async fn conflict(&self) -> Error {
        let moved = self.lock_of().await.ok().flatten().and_then(|lock| self.moved_away(&lock));
        moved.unwrap_or_else(|| self.refused(StatusCode::CONFLICT))
    }

    /// Describes a request without an answer: nobody is there, or it wants a certificate first.
    fn failed(&self, error: reqwest::Error) -> Error {
        let error = error.without_url();
        if wants_certificate(&error) {
            return Error::new(
                Kind::Refused,
                format!("certificate required by the state server at `{}`", self.address),
            )
            .because(error)
            .hint(
                "give TF_HTTP_CLIENT_CERTIFICATE_PEM and TF_HTTP_CLIENT_PRIVATE_KEY_PEM in the environment",
            );
        }
        Error::unavailable(format!("cannot reach the state server at `{}`", self.address)).because(error)
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

/// Returns whether the other side ended the handshake because of the client's certificate.
fn wants_certificate(error: &reqwest::Error) -> bool {
    let mut below: Option<&dyn std::error::Error> = Some(error);
    let alerts = ["CertificateRequired", "BadCertificate", "CertificateUnknown", "UnknownCA"];
    while let Some(error) = below {
        let text = error.to_string();
        if text.contains("received fatal alert") && alerts.iter().any(|alert| text.contains(alert)) {
            return true;
        }
        below = error.source();
    }
    false
}

/// Sends a body with the sum that tells whether it arrived as it is.
pub(super) fn with_sum(request: RequestBuilder, body: Vec<u8>) -> RequestBuilder {
    request.header("content-md5", STANDARD.encode(Md5::digest(&body))).body(body)
}

/// Names the lock that a request is made under.
pub(super) fn with_lock(address: &str, lock: &HeldLock) -> String {
    with_query(address, &format!("ID={}", percent::encode(lock.id(), percent::is_unreserved)))
}

pub(super) fn with_query(address: &str, query: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}{query}")
}

fn build(env: &Environment) -> Result<Client> {
    // Requests may lie far apart, and a server closes what is idle: each has its own connection.
    let builder = Client::builder().pool_max_idle_per_host(0);
    let mut builder = builder.timeout(TIMEOUT).connect_timeout(Duration::from_secs(5));
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
