//! One issue a project about drift: opened, kept up to date, reopened, closed with a word.
//!
//! It is found by its mark among the open issues and the last hundred closed ones, never by its
//! title, which people may change. Begin at [`IssueTracker::keep`].

use serde_json::{Value, json};

use super::api::{Answer, ApiClient, Posted, Refused, refusal};
use super::body::DriftIssue;
use super::dialect::{ForgeKind, IssueState, Repository};
use super::listing::{Seen, each_entry};
use super::target::Target;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment};
use crate::process::Interrupts;

/// How many closed issues are looked at.
const CLOSED: usize = 100;

/// How often an issue is sent whose answers are lost.
const TRIES: u32 = 4;

/// The issues of a repository.
#[derive(Debug)]
pub struct IssueTracker {
    client: ApiClient,
    repository: Repository,
    variable: String,
}

/// What became of the issue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// There is none, and none is needed.
    Nothing,
    /// It is new.
    Opened(Option<String>),
    /// It was open, and is.
    Updated(Option<String>),
    /// It was closed, and is open again.
    Reopened(Option<String>),
    /// There is no drift any more.
    Closed(Option<String>),
}

/// An issue with the mark.
#[derive(Clone, Debug)]
struct Found {
    number: u64,
    address: Option<String>,
}

impl IssueTracker {
    /// Opens the issues of the repository that a target names.
    pub fn open(
        target: &Target,
        env: &Environment,
        (clock, interrupts): (Clock, &Interrupts),
    ) -> Result<Self> {
        let token = target.token()?;
        let authorization = target.repository.kind.authorization(token)?;
        let root = target.repository.root.clone();
        Ok(Self {
            client: ApiClient::new(root, authorization, env, (clock, interrupts))?,
            repository: target.repository.clone(),
            variable: token.variable().to_owned(),
        })
    }

    /// Sees to it that the issue says what a look found.
    pub async fn keep(&self, issue: &DriftIssue) -> Result<Outcome> {
        let mark = issue.mark();
        let body = issue.body(self.repository.kind.most_bytes()).text;
        let open = self.find(&mark, IssueState::Open).await?;
        if !issue.has_drift() && issue.is_complete() {
            return self.close(&open, issue, &body).await;
        }
        if let Some(found) = self.change_one(&open, &body, None).await? {
            return Ok(Outcome::Updated(found.address));
        }
        if !issue.has_drift() {
            return Ok(Outcome::Nothing);
        }
        let closed = self.find(&mark, IssueState::Closed).await?;
        if let Some(found) = self.change_one(&closed, &body, Some(IssueState::Open)).await? {
            return Ok(Outcome::Reopened(found.address));
        }
        self.create(issue, &body).await.map(Outcome::Opened)
    }

    /// Closes every open issue with the mark, each with a word.
    async fn close(&self, open: &[Found], issue: &DriftIssue, body: &str) -> Result<Outcome> {
        let mut outcome = Outcome::Nothing;
        for found in open {
            self.say(found.number, &issue.mark_of_last_word(), &issue.last_word()).await?;
            let closed = self.change_one(std::slice::from_ref(found), body, Some(IssueState::Closed)).await?;
            if let (Some(closed), Outcome::Nothing) = (closed, &outcome) {
                outcome = Outcome::Closed(closed.address);
            }
        }
        Ok(outcome)
    }

    /// Changes the first of some issues that is there and may be changed.
    async fn change_one(
        &self,
        issues: &[Found],
        body: &str,
        standing: Option<IssueState>,
    ) -> Result<Option<Found>> {
        let kind = self.repository.kind;
        for found in issues {
            let url = self.repository.issue(found.number);
            let answer =
                self.client.set(kind.update_method(), &url, &kind.changed_issue(body, standing)).await?;
            match answer.status.as_u16() {
                200..300 => return Ok(Some(found.clone())),
                // It is gone, or somebody else's who took over the mark.
                403 | 404 | 410 => {}
                _ => return Err(self.refused(&answer)),
            }
        }
        Ok(None)
    }

    async fn create(&self, issue: &DriftIssue, body: &str) -> Result<Option<String>> {
        let (url, kind) = (self.repository.issues(), self.repository.kind);
        let mut last = None;
        for number in 1..=TRIES {
            match self.client.post(&url, &kind.new_issue(&issue.title(), body)).await? {
                Posted::Answered(answer) if answer.status.is_success() => {
                    return Ok(answer.json().and_then(|issue| address_of(&issue)));
                }
                Posted::Answered(answer) => return Err(self.refused(&answer)),
                Posted::Unsure(error) => last = Some(error),
            }
            self.client.pause(number, &url).await?;
            // It may have been stored although the answer says nothing of it.
            let open = self.find(&issue.mark(), IssueState::Open).await?;
            if let Some(found) = self.change_one(&open, body, None).await? {
                return Ok(found.address);
            }
        }
        Err(last.unwrap_or_else(|| Error::bug("an issue was neither made nor refused")))
    }

    /// Says a word below an issue, once.
    async fn say(&self, issue: u64, mark: &str, words: &str) -> Result<()> {
        let url = self.repository.issue_words(issue);
        for number in 1..=TRIES {
            match self.client.post(&url, &json!({ "body": words })).await? {
                // Where nobody may speak, the text of the issue says it all the same.
                Posted::Answered(_) => return Ok(()),
                Posted::Unsure(_) => self.client.pause(number, &url).await?,
            }
            if self.was_said(&url, mark).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn was_said(&self, words: &reqwest::Url, mark: &str) -> Result<bool> {
        let mut found = false;
        each_entry(&self.client, words.clone(), &self.words("cannot read the issue"), |comment| {
            found = comment.get("body").and_then(Value::as_str).is_some_and(|body| body.starts_with(mark));
            if found { Seen::Enough } else { Seen::More }
        })
        .await?;
        Ok(found)
    }

    /// Returns the issues that begin with the mark: of the open ones the oldest first, of the closed ones the newest.
    async fn find(&self, mark: &str, standing: IssueState) -> Result<Vec<Found>> {
        let kind = self.repository.kind;
        let (mut found, mut seen) = (Vec::new(), 0);
        let list = self.repository.listed_issues(standing);
        each_entry(&self.client, list, &self.words("cannot read the issues"), |issue| {
            if is_pull_request(issue) {
                return Seen::More;
            }
            seen += 1;
            let text = issue.get(kind.issue_text_field()).and_then(Value::as_str).unwrap_or_default();
            if text.starts_with(mark) {
                found.extend(read_issue(kind, issue));
            }
            if standing == IssueState::Closed && seen >= CLOSED { Seen::Enough } else { Seen::More }
        })
        .await?;
        found.sort_by_key(|issue| issue.number);
        if standing == IssueState::Closed {
            found.reverse();
        }
        Ok(found)
    }

    fn refused(&self, answer: &Answer) -> Error {
        refusal(answer, &self.words("cannot write the issue"))
    }

    fn words<'a>(&'a self, doing: &'a str) -> Refused<'a> {
        let Repository { kind, name, .. } = &self.repository;
        Refused {
            doing,
            on: format!("`{name}`"),
            permission: kind.issue_permission(),
            variable: &self.variable,
            ways_out: Vec::new(),
        }
    }
}

/// Lists of issues hold pull requests too, on GitHub and where a server ignores what was asked for.
fn is_pull_request(issue: &Value) -> bool {
    issue.get("pull_request").is_some_and(Value::is_object)
}

fn read_issue(kind: ForgeKind, issue: &Value) -> Option<Found> {
    let number = issue.get(kind.issue_number_field())?.as_u64()?;
    Some(Found { number, address: address_of(issue) })
}

fn address_of(issue: &Value) -> Option<String> {
    let address = issue.get("html_url").or_else(|| issue.get("web_url"))?;
    address.as_str().map(str::to_owned)
}
