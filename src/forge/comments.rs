//! One comment on one pull request: found by its mark, changed in place, made where there is none.
//!
//! Nothing is deleted. A comment with the mark that may not be changed is somebody else's and is
//! passed over; one that vanished meanwhile is made anew; after an answer that was lost the comment
//! is looked for before it is sent again. Of several that were made at once the oldest stays, and the
//! others are reduced to a pointer. Begin at [`CommentThread::publish`].

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::api::{Answer, ApiClient, Posted, Refused, refusal};
use super::dialect::Repository;
use super::listing::{Seen, each_entry};
use super::target::Target;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment};
use crate::process::Interrupts;

/// How often a comment is sent whose answers are lost.
const TRIES: u32 = 4;

/// How long to wait at most before the first comment is made: other jobs begin at the same time.
const ASIDE_MS: u16 = 1500;

/// The comments on one pull request.
#[derive(Debug)]
pub struct CommentThread {
    client: ApiClient,
    repository: Repository,
    number: u64,
    variable: String,
    ways_out: Vec<String>,
}

/// What became of a comment.
#[derive(Debug)]
pub struct Published {
    /// Where people see it, as far as the forge says it.
    pub address: Option<String>,
    /// Whether it was there before.
    pub updated: bool,
}

/// A comment of ours that is there.
#[derive(Clone, Debug)]
struct Found {
    id: u64,
    address: Option<String>,
}

/// What became of a change.
enum Changed {
    Done(Option<String>),
    /// It is gone.
    Gone,
    /// It may not be changed: it is somebody else's, or the token may do nothing.
    NotOurs,
}

impl CommentThread {
    /// Opens the comments of the pull request that a target names.
    pub fn open(
        target: &Target,
        env: &Environment,
        (clock, interrupts): (Clock, &Interrupts),
    ) -> Result<Self> {
        let number = target.number()?;
        let with_ways_out = |error| target.ways_out().into_iter().fold(error, Error::hint);
        let token = target.token().map_err(with_ways_out)?;
        let authorization = target.repository.kind.authorization(token)?;
        let root = target.repository.root.clone();
        Ok(Self {
            client: ApiClient::new(root, authorization, env, (clock, interrupts))?,
            repository: target.repository.clone(),
            number,
            variable: token.variable().to_owned(),
            ways_out: target.ways_out(),
        })
    }

    /// Returns the commit that the pull request is at now, where the forge tells.
    pub async fn head(&self) -> Result<Option<String>> {
        let answer = match self.client.get(&self.repository.request(self.number)).await {
            Err(error) if error.kind() == crate::error::Kind::Interrupted => return Err(error),
            answer => answer.ok().filter(|answer| answer.status.is_success()),
        };
        let request = answer.and_then(|answer| answer.json());
        Ok(request.and_then(|request| self.repository.kind.head_of(&request).map(str::to_owned)))
    }

    /// Changes the comment with this mark, if there is one.
    pub async fn renew(&self, mark: &str, body: &str) -> Result<Option<Published>> {
        self.update(mark, body, &mut BTreeSet::new()).await
    }

    /// Sees to it that the one comment with this mark says this.
    pub async fn publish(&self, mark: &str, body: &str) -> Result<Published> {
        let mut passed_over = BTreeSet::new();
        if let Some(published) = self.update(mark, body, &mut passed_over).await? {
            return Ok(published);
        }
        // Of several jobs that find no comment at the same moment, one makes it.
        self.client.step_aside(ASIDE_MS).await;
        if let Some(published) = self.update(mark, body, &mut passed_over).await? {
            return Ok(published);
        }
        self.create(mark, body, passed_over).await
    }

    /// Changes the oldest comment with the mark that can be changed.
    async fn update(
        &self,
        mark: &str,
        body: &str,
        passed_over: &mut BTreeSet<u64>,
    ) -> Result<Option<Published>> {
        for found in self.find(mark).await? {
            if passed_over.contains(&found.id) {
                continue;
            }
            match self.change(found.id, body).await? {
                Changed::Done(address) => {
                    return Ok(Some(Published { address: address.or(found.address), updated: true }));
                }
                Changed::Gone => {}
                Changed::NotOurs => drop(passed_over.insert(found.id)),
            }
        }
        Ok(None)
    }

    async fn create(&self, mark: &str, body: &str, mut passed_over: BTreeSet<u64>) -> Result<Published> {
        let url = self.repository.comments(self.number);
        let mut last = None;
        for number in 1..=TRIES {
            match self.client.post(&url, &json!({ "body": body })).await? {
                Posted::Answered(answer) if answer.status.is_success() => {
                    return self.settle(mark, body, &answer, &passed_over).await;
                }
                Posted::Answered(answer) => return Err(self.refused(&answer)),
                Posted::Unsure(error) => last = Some(error),
            }
            self.client.pause(number, &url).await?;
            // It may have been stored although the answer says nothing of it.
            if let Some(published) = self.update(mark, body, &mut passed_over).await? {
                return Ok(Published { updated: false, ..published });
            }
        }
        Err(last.unwrap_or_else(|| Error::bug("a comment was neither made nor refused")))
    }

    /// Looks whether another job made a comment at the same time: the older one stays.
    async fn settle(
        &self,
        mark: &str,
        body: &str,
        answer: &Answer,
        passed_over: &BTreeSet<u64>,
    ) -> Result<Published> {
        let made = answer.json().and_then(|comment| read_comment(&comment));
        let address = made.as_ref().and_then(|made| made.address.clone());
        let published = Published { address, updated: false };
        // What is there by now is right; whether there is more cannot undo that.
        let (Some(made), Ok(found)) = (made, self.find(mark).await) else { return Ok(published) };
        let older = found.into_iter().filter(|found| found.id < made.id && !passed_over.contains(&found.id));
        for other in older {
            if let Ok(Changed::Done(address)) = self.change(other.id, body).await {
                let pointer = pointer_to(address.as_deref().or(other.address.as_deref()));
                let _ = self.change(made.id, &pointer).await;
                return Ok(Published { address: address.or(other.address), updated: true });
            }
        }
        Ok(published)
    }

    async fn change(&self, id: u64, body: &str) -> Result<Changed> {
        let url = self.repository.comment(self.number, id);
        let method = self.repository.kind.update_method();
        let answer = self.client.set(method, &url, &json!({ "body": body })).await?;
        match answer.status.as_u16() {
            200..300 => Ok(Changed::Done(answer.json().and_then(|comment| read_comment(&comment)?.address))),
            404 | 410 => Ok(Changed::Gone),
            403 => Ok(Changed::NotOurs),
            _ => Err(self.refused(&answer)),
        }
    }

    /// Returns the comments that begin with the mark, the oldest first.
    async fn find(&self, mark: &str) -> Result<Vec<Found>> {
        let mut found = Vec::new();
        let words = self.words("cannot read the comments");
        each_entry(&self.client, self.repository.listed_comments(self.number), &words, |comment| {
            let text = comment.get("body").and_then(Value::as_str).unwrap_or_default();
            if text.starts_with(mark) {
                found.extend(read_comment(comment));
            }
            Seen::More
        })
        .await?;
        found.sort_by_key(|comment| comment.id);
        Ok(found)
    }

    fn refused(&self, answer: &Answer) -> Error {
        refusal(answer, &self.words("cannot comment"))
    }

    fn words<'a>(&'a self, doing: &'a str) -> Refused<'a> {
        let Repository { kind, name, .. } = &self.repository;
        Refused {
            doing,
            on: format!("{} {} of `{name}`", kind.request_word(), self.number),
            permission: kind.permission(),
            variable: &self.variable,
            ways_out: self.ways_out.clone(),
        }
    }
}

fn read_comment(comment: &Value) -> Option<Found> {
    let id = comment.get("id")?.as_u64()?;
    let address = comment.get("html_url").and_then(Value::as_str).map(str::to_owned);
    Some(Found { id, address })
}

/// Returns what stays of a comment that another one was faster than.
fn pointer_to(address: Option<&str>) -> String {
    let other = address.map_or_else(|| "the comment above".to_owned(), |address| format!("<{address}>"));
    format!("Several jobs commented at the same time. The plans are in {other}.")
}
