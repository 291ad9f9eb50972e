//! Requests to the API of a forge: redirects are followed with the same method, limits are waited
//! for, trouble is tried again.
//!
//! A request that only sets something may be repeated. One that makes something new may have been
//! carried out although its answer was lost, so what became of it is left to the caller to look up.

use std::cell::Cell;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, StatusCode, Url, redirect};
use serde_json::Value;

use super::redirects::{self, may_see_token, target_of};
use super::waiting::{Advice, PATIENCE, TRIES, advice, pause_before};
use crate::error::{Error, Result};
use crate::model::{Clock, Environment, human_duration};
use crate::process::{Interrupts, random_bytes};
use crate::proxies::proxies;

/// How long a server may take to be reached, and to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Forges refuse requests that do not say who asks.
const USER_AGENT: &str = concat!("infra/", env!("CARGO_PKG_VERSION"));

/// An answer of the forge.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// Where it came from in the end.
    pub url: Url,
    /// Whether it is from another host, which got no token.
    pub elsewhere: bool,
    body: Vec<u8>,
}

impl Answer {
    /// Returns the body as JSON; nothing where it is none.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// What became of a request that makes something new.
#[derive(Debug)]
pub enum Posted {
    /// It was answered.
    Answered(Box<Answer>),
    /// It may have been carried out, or not.
    Unsure(Error),
}

/// One way to the API of a forge.
#[derive(Debug)]
pub struct ApiClient {
    client: Client,
    root: Url,
    authorization: (HeaderName, HeaderValue),
    waited: Cell<Duration>,
    clock: Clock,
    interrupts: Interrupts,
}

impl ApiClient {
    /// Prepares for requests below this root, with this header.
    pub fn new(
        root: Url,
        authorization: (HeaderName, HeaderValue),
        env: &Environment,
        (clock, interrupts): (Clock, &Interrupts),
    ) -> Result<Self> {
        let builder = Client::builder()
            .no_proxy()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            // Requests may lie far apart, and a server closes what is idle.
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT);
        let builder = proxies(env)?.into_iter().fold(builder, reqwest::ClientBuilder::proxy);
        let client = builder
            .build()
            .map_err(|error| Error::unavailable("cannot set up https on this machine").because(error))?;
        let waited = Cell::default();
        Ok(Self { client, root, authorization, waited, clock, interrupts: interrupts.clone() })
    }

    /// Asks for something.
    pub async fn get(&self, url: &Url) -> Result<Answer> {
        self.repeatable(Method::GET, url, None).await
    }

    /// Sets something: to do it twice is the same as to do it once.
    pub async fn set(&self, method: Method, url: &Url, body: &Value) -> Result<Answer> {
        self.repeatable(method, url, Some(body)).await
    }

    /// Makes something new.
    pub async fn post(&self, url: &Url, body: &Value) -> Result<Posted> {
        for number in 1.. {
            let answer = match self.attempt(&Method::POST, url, Some(body)).await {
                Ok(answer) => answer,
                Err(error) => return Ok(Posted::Unsure(error)),
            };
            match advice(answer.status, &answer.headers, self.clock.now()) {
                Advice::Take => return Ok(Posted::Answered(Box::new(answer))),
                Advice::ComeBack(wait) if number < TRIES => self.wait(wait, &answer.url).await?,
                Advice::TooMany if number < TRIES => self.pause(number, &answer.url).await?,
                Advice::ComeBack(_) | Advice::TooMany => return Err(too_many(&answer.url, None)),
                Advice::Trouble(_) => return Ok(Posted::Unsure(in_trouble(&answer))),
            }
        }
        Err(Error::bug("a request was neither sent nor given up"))
    }

    /// Waits before something is tried once more.
    pub async fn pause(&self, number: u32, url: &Url) -> Result<()> {
        self.wait(pause_before(number) + self.chance(400), url).await
    }

    /// Waits for a moment that differs from that of every other process.
    pub async fn step_aside(&self, most_ms: u16) {
        tokio::time::sleep(self.chance(most_ms)).await;
    }

    async fn repeatable(&self, method: Method, url: &Url, body: Option<&Value>) -> Result<Answer> {
        for number in 1.. {
            let is_last = number >= TRIES;
            let answer = match self.attempt(&method, url, body).await {
                Ok(answer) => answer,
                Err(error) if is_last => return Err(error),
                Err(_) => {
                    self.pause(number, url).await?;
                    continue;
                }
            };
            match advice(answer.status, &answer.headers, self.clock.now()) {
                Advice::Take => return Ok(answer),
                Advice::Trouble(_) if is_last => return Err(in_trouble(&answer)),
                Advice::ComeBack(_) | Advice::TooMany if is_last => return Err(too_many(&answer.url, None)),
                Advice::ComeBack(wait) | Advice::Trouble(Some(wait)) => self.wait(wait, &answer.url).await?,
                Advice::Trouble(None) | Advice::TooMany => self.pause(number, &answer.url).await?,
            }
        }
        Err(Error::bug("a request was neither sent nor given up"))
    }

    /// Sends one request, and the same to wherever it is redirected.
    async fn attempt(&self, method: &Method, url: &Url, body: Option<&Value>) -> Result<Answer> {
        let (mut url, mut trusted) = (url.clone(), true);
        for _ in 0..=redirects::MOST {
            // Once a foreign host decided where to go, the token does not come along any more.
            trusted = trusted && may_see_token(&self.root, &url);
            let answer = self.send(method, &url, body, trusted).await?;
            match target_of(answer.status, &answer.headers, &url) {
                Some(next) => url = next,
                None => return Ok(answer),
            }
        }
        Err(Error::unavailable(format!("`{}` redirects without an end", shown(&url))))
    }

    async fn send(&self, method: &Method, url: &Url, body: Option<&Value>, trusted: bool) -> Result<Answer> {
        tracing::debug!("{method} {}", shown(url));
        let request = self.client.request(method.clone(), url.clone()).header(ACCEPT, "application/json");
        let (name, value) = &self.authorization;
        let request = if trusted { request.header(name, value.clone()) } else { request };
        let request = match body {
            Some(body) => request.header(CONTENT_TYPE, "application/json").body(body.to_string()),
            None => request,
        };
        let sending = async {
            let answer = request.send().await?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.bytes().await?.to_vec();
            Ok(Answer { status, headers, url: url.clone(), elsewhere: !trusted, body })
        };
        let answer: Result<Answer, reqwest::Error> = tokio::select! {
            answer = sending => answer,
            error = self.stopped() => return Err(error),
        };
        let answer = answer.map_err(|error| {
            // The URL may hold what a redirect added to it; the words above say which it was.
            Error::unavailable(format!("cannot reach `{}`", shown(url))).because(error.without_url())
        })?;
        tracing::debug!("{} from {}", answer.status, shown(url));
        Ok(answer)
    }

    /// Waits, as long as all waits together stay bearable.
    async fn wait(&self, time: Duration, url: &Url) -> Result<()> {
        let waited = self.waited.get().saturating_add(time);
        if waited > PATIENCE {
            return Err(too_many(url, Some(time)));
        }
        self.waited.set(waited);
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            error = self.stopped() => Err(error),
        }
    }

    async fn stopped(&self) -> Error {
        let count = self.interrupts.count();
        self.interrupts.clone().beyond(count).await;
        Error::interrupted("stopped while the forge was asked")
    }

    fn chance(&self, most_ms: u16) -> Duration {
        let random = random_bytes::<2>().map_or(0, u16::from_le_bytes);
        Duration::from_millis(u64::from(random % most_ms.max(1)))
    }
}

/// Returns an address without what may be secret in it.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Neither fails on a URL with a host.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}

fn in_trouble(answer: &Answer) -> Error {
    Error::unavailable(format!("`{}` answers {}", shown(&answer.url), answer.status))
        .detail("it was tried several times")
        .hint("the forge is in trouble: try again later")
}

fn too_many(url: &Url, wait: Option<Duration>) -> Error {
    let error =
        Error::unavailable(format!("`{}` limits the rate of requests", shown(url))).code("rate-limited");
    match wait {
        Some(wait) => {
            let time = human_duration(wait.as_secs_f64());
            error
                .detail(format!("it asks to wait {time}, and a minute in all is waited at most"))
                .hint(format!("try again in {time}"))
        }
        None => error.detail("it does not say for how long").hint("try again in some minutes"),
    }
}
