//! Fetches files over http and tells the three ways apart in which that fails.
//!
//! A host that cannot be reached, a file that is not there, and a transfer that went
//! wrong: only the first lets OpenTofu be built instead. Proxies come from the environment
//! that is handed in. Begin at [`Downloader::bytes`] and [`Downloader::to_file`].

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use reqwest::{Client, Response, StatusCode, Url};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result, io};
use crate::model::{Environment, hex};
use crate::proxies::proxies;
use crate::tofu::binary::Progress;

/// How long a host may take to answer the phone.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a transfer may stand still.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How many bytes pass between two reports.
const REPORT_STEP: u64 = 256 * 1024;

/// Why a file is not here.
#[derive(Debug)]
pub(super) enum Failure {
    /// No server answered: name, route, proxy, or a server that is down.
    Unreachable(Error),
    /// The server answers that there is no such file.
    Missing(Error),
    /// It was there, and something is wrong with it.
    Failed(Error),
}

impl Failure {
    /// Returns the words, whichever way it failed.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Unreachable(error) | Self::Missing(error) | Self::Failed(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The most bytes that a file may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit(pub(super) u64);

/// Fetches files and reports how far it is.
pub(super) struct Downloader<'a> {
    client: Client,
    progress: &'a dyn Fn(Progress),
}

impl<'a> Downloader<'a> {
    /// Makes a downloader that uses the proxies of this environment.
    pub(super) fn new(env: &Environment, progress: &'a dyn Fn(Progress)) -> Result<Self, Failure> {
        let builder = Client::builder()
            .no_proxy()
            .user_agent(concat!("infra/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(STALL_TIMEOUT);
        let builder = proxies(env)?.into_iter().fold(builder, reqwest::ClientBuilder::proxy);
        // A machine without root certificates can verify no server.
        let client = builder.build().map_err(|error| {
            Failure::Unreachable(Error::unavailable("cannot set up https on this machine").because(error))
        })?;
        Ok(Self { client, progress })
    }

    /// Fetches a small file into memory.
    pub(super) async fn bytes(&self, url: &str, limit: Limit) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        self.stream(url, limit, |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        })
        .await?;
        Ok(bytes)
    }

    /// Fetches a file onto the disk and returns its SHA-256, in hex.
    pub(super) async fn to_file(&self, url: &str, path: &Path, limit: Limit) -> Result<String, Failure> {
        let mut file = std::fs::File::create_new(path).map_err(io("create", path))?;
        let mut digest = Sha256::new();
        self.stream(url, limit, |chunk| {
            digest.update(chunk);
            file.write_all(chunk).map_err(io("write", path))
        })
        .await?;
        Ok(hex(&digest.finalize()))
    }

    /// Hands the bytes of a file on as they come.
    async fn stream(
        &self,
        url: &str,
        limit: Limit,
        mut on_chunk: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<(), Failure> {
        let mut response = self.open(url).await?;
        let total = response.content_length();
        let mut meter = Meter { name: file_name(url), done: 0, reported: 0, total, progress: self.progress };
        meter.check(limit)?;
        while let Some(chunk) = response.chunk().await.map_err(|error| meter.cut(error))? {
            meter.advance(chunk.len() as u64);
            meter.check(limit)?;
            on_chunk(&chunk)?;
        }
        meter.report();
        Ok(())
    }

    async fn open(&self, url: &str) -> Result<Response, Failure> {
        let shown = shown(url);
        let url = web_url(url).ok_or_else(|| no_url(&shown))?;
        let sent = self.client.get(url).send().await;
        let response = sent.map_err(|error| {
            let error = Error::unavailable(format!("cannot reach `{shown}`")).detail(root_cause(&error));
            Failure::Unreachable(error)
        })?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(refusal(status, &shown)),
        }
    }
}

fn no_url(shown: &str) -> Error {
    Error::invalid(format!("the address of `{shown}` is no http or https URL"))
        .hint("`INFRA_TOFU_MIRROR` must look like `https://mirror.example/tofu`")
}

/// Turns an answer that is no file into a failure.
fn refusal(status: StatusCode, shown: &str) -> Failure {
    let error = Error::unavailable(format!("`{shown}` answers {status}"));
    let gone = matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE);
    if gone {
        return Failure::Missing(error);
    }
    // A filter on the way answers 403 or 407, a host in trouble 429 or 5xx: that says nothing about the file.
    Failure::Unreachable(error)
}

/// Counts the bytes of one transfer.
struct Meter<'a> {
    name: String,
    done: u64,
    reported: u64,
    total: Option<u64>,
    progress: &'a dyn Fn(Progress),
}

impl Meter<'_> {
    fn advance(&mut self, count: u64) {
        self.done += count;
        if self.done - self.reported >= REPORT_STEP {
            self.report();
        }
    }

    fn report(&mut self) {
        self.reported = self.done;
        (self.progress)(Progress::Downloading {
            name: self.name.clone(),
            done: self.done,
            total: self.total,
        });
    }

    fn check(&self, limit: Limit) -> Result<()> {
        if self.done.max(self.total.unwrap_or(0)) <= limit.0 {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "`{}` is larger than {} bytes, which it cannot rightly be",
            self.name, limit.0
        )))
    }

    fn cut(&self, error: reqwest::Error) -> Error {
        let (name, done) = (&self.name, self.done);
        let total = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        Error::unavailable(format!("the download of `{name}` was cut after {done}{total} bytes"))
            .detail(root_cause(&error))
            .detail("nothing was installed")
            .hint("try again")
    }
}

/// Returns a URL without a password in it; of what is no URL, only the file's name.
pub(super) fn shown(url: &str) -> String {
    let Some(mut parsed) = web_url(url) else { return file_name(url) };
    // Neither fails on a URL with a host, which every http URL has.
    let _ = parsed.set_password(None);
    let _ = parsed.set_username("");
    parsed.to_string()
}

fn web_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns the innermost cause: the layers above it only say that a request failed.
pub(in crate::tofu) fn root_cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

fn file_name(url: &str) -> String {
    url.rsplit('/').next().unwrap_or(url).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_url_is_not_shown() {
        assert_eq!(shown("https://dana:hunter2@mirror.example/tofu"), "https://mirror.example/tofu");
        assert_eq!(shown("dana:hunter2@mirror.example/v1/tofu"), "tofu");
    }
}
