//! What differs between forges: addresses, headers, the names of fields, limits.

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::api::Token;
use super::{gitea, github, gitlab};
use crate::error::{Error, Result};

/// A kind of forge.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum ForgeKind {
    /// GitHub, or a server of its own.
    Github,
    /// GitLab, or a server of its own.
    Gitlab,
    /// Gitea or Forgejo.
    #[value(alias = "forgejo")]
    Gitea,
}

/// Whether an issue is open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum IssueState {
    /// It is.
    Open,
    /// It was closed.
    Closed,
}

/// A repository of a forge: every address that is asked.
#[derive(Clone, Debug)]
pub struct Repository {
    pub kind: ForgeKind,
    /// The root of the API, without a slash at its end.
    pub root: Url,
    /// Its name: `owner/name`, a path, or a number.
    pub name: String,
}

impl ForgeKind {
    /// Returns the name that people know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Github => "GitHub",
            Self::Gitlab => "GitLab",
            Self::Gitea => "Gitea or Forgejo",
        }
    }

    /// Returns the word for it in flags.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Gitea => "gitea",
        }
    }

    /// Returns the root of the API that most people mean, where there is one.
    pub const fn usual_root(self) -> Option<&'static str> {
        match self {
            Self::Github => Some("https://api.github.com"),
            Self::Gitlab => Some("https://gitlab.com/api/v4"),
            Self::Gitea => None,
        }
    }

    /// Returns how many bytes of text are sent at most: some below the limit, however that is counted.
    pub const fn most_bytes(self) -> usize {
        match self {
            Self::Github => github::MOST_BYTES,
            Self::Gitlab => gitlab::MOST_BYTES,
            Self::Gitea => gitea::MOST_BYTES,
        }
    }

    /// Returns the header that shows a token.
    pub fn authorization(self, token: &Token) -> Result<(HeaderName, HeaderValue)> {
        match self {
            Self::Github => github::authorization(token),
            Self::Gitlab => gitlab::authorization(token),
            Self::Gitea => gitea::authorization(token),
        }
    }

    /// Returns what a token must be allowed to do to comment.
    pub const fn permission(self) -> &'static str {
        match self {
            Self::Github => github::PERMISSION,
            Self::Gitlab => gitlab::PERMISSION,
            Self::Gitea => gitea::PERMISSION,
        }
    }

    /// Returns what a token must be allowed to do to keep an issue.
    pub const fn issue_permission(self) -> &'static str {
        match self {
            Self::Github => github::ISSUE_PERMISSION,
            Self::Gitlab => gitlab::PERMISSION,
            Self::Gitea => gitea::ISSUE_PERMISSION,
        }
    }

    /// Returns what a pull request is called there.
    pub const fn request_word(self) -> &'static str {
        if matches!(self, Self::Gitlab) { "merge request" } else { "pull request" }
    }

    /// Returns how something that is there is changed.
    pub const fn update_method(self) -> Method {
        if matches!(self, Self::Gitlab) { Method::PUT } else { Method::PATCH }
    }

    /// Returns the field that addresses an issue by number.
    pub const fn issue_number_field(self) -> &'static str {
        if matches!(self, Self::Gitlab) { "iid" } else { "number" }
    }

    /// Returns the field with the text of an issue.
    pub const fn issue_text_field(self) -> &'static str {
        if matches!(self, Self::Gitlab) { "description" } else { "body" }
    }

    /// Returns the commit at the head of a pull request, as the forge describes it.
    pub fn head_of(self, request: &Value) -> Option<&str> {
        match self {
            Self::Github | Self::Gitea => request.pointer("/head/sha"),
            Self::Gitlab => request.get("sha"),
        }
        .and_then(Value::as_str)
    }

    /// Returns what a new issue is made from.
    pub fn new_issue(self, title: &str, text: &str) -> Value {
        json!({ "title": title, self.issue_text_field(): text })
    }

    /// Returns what gives an issue another text, and another standing where that is to change.
    pub fn changed_issue(self, text: &str, standing: Option<IssueState>) -> Value {
        let mut change = json!({ self.issue_text_field(): text });
        let (field, word) = match (self, standing) {
            (_, None) => return change,
            (Self::Gitlab, Some(IssueState::Open)) => ("state_event", "reopen"),
            (Self::Gitlab, Some(IssueState::Closed)) => ("state_event", "close"),
            (_, Some(IssueState::Open)) => ("state", "open"),
            (_, Some(IssueState::Closed)) => ("state", "closed"),
        };
        change[field] = word.into();
        change
    }
}

impl Repository {
    /// Reads the name of a repository and the root of its forge's API.
    pub fn new(kind: ForgeKind, root: &str, name: &str) -> Result<Self> {
        let root = read_root(root)?;
        let name = name.trim_matches('/').to_owned();
        let parts: Vec<&str> = name.split('/').collect();
        let is_whole = parts.iter().all(|part| !part.is_empty() && *part != "." && *part != "..");
        let is_known = match kind {
            ForgeKind::Github | ForgeKind::Gitea => parts.len() == 2,
            ForgeKind::Gitlab => parts.len() >= 2 || name.bytes().all(|byte| byte.is_ascii_digit()),
        };
        if !is_whole || !is_known {
            let expected = match kind {
                ForgeKind::Gitlab => "the full path, such as `group/sub/project`, or the numeric id",
                ForgeKind::Github | ForgeKind::Gitea => "`owner/name`",
            };
            return Err(Error::usage(format!("`{name}` is no repository of {}", kind.name()))
                .detail(format!("expected {expected}"))
                .hint("name it: `--repo`"));
        }
        Ok(Self { kind, root, name })
    }

    /// Returns the comments on a pull request.
    pub fn comments(&self, number: u64) -> Url {
        self.below(&self.thread(number, "comments"))
    }

    /// Returns where the list of comments on a pull request begins.
    pub fn listed_comments(&self, number: u64) -> Url {
        let mut url = self.comments(number);
        let query = if self.kind == ForgeKind::Gitlab {
            "per_page=100&sort=asc&order_by=created_at"
        } else {
            "per_page=100"
        };
        url.set_query(Some(query));
        url
    }

    /// Returns one comment on a pull request.
    pub fn comment(&self, number: u64, id: u64) -> Url {
        let id = id.to_string();
        match self.kind {
            ForgeKind::Github | ForgeKind::Gitea => self.below(&["issues".into(), "comments".into(), id]),
            ForgeKind::Gitlab => {
                let mut parts = self.thread(number, "notes");
                parts.push(id);
                self.below(&parts)
            }
        }
    }

    /// Returns a pull request.
    pub fn request(&self, number: u64) -> Url {
        let word = if self.kind == ForgeKind::Gitlab { "merge_requests" } else { "pulls" };
        self.below(&[word.into(), number.to_string()])
    }

    /// Returns the issues.
    pub fn issues(&self) -> Url {
        self.below(&["issues".into()])
    }

    /// Returns where the list of issues begins, the newest first.
    pub fn listed_issues(&self, standing: IssueState) -> Url {
        let mut url = self.issues();
        let query = match (self.kind, standing) {
            (ForgeKind::Github, IssueState::Open) => "state=open&sort=created&direction=desc&per_page=100",
            (ForgeKind::Github, IssueState::Closed) => {
                "state=closed&sort=created&direction=desc&per_page=100"
            }
            (ForgeKind::Gitlab, IssueState::Open) => {
                "state=opened&order_by=created_at&sort=desc&per_page=100"
            }
            (ForgeKind::Gitlab, IssueState::Closed) => {
                "state=closed&order_by=created_at&sort=desc&per_page=100"
            }
            (ForgeKind::Gitea, IssueState::Open) => "state=open&type=issues&limit=50",
            (ForgeKind::Gitea, IssueState::Closed) => "state=closed&type=issues&limit=50",
        };
        url.set_query(Some(query));
        url
    }

    /// Returns one issue.
    pub fn issue(&self, number: u64) -> Url {
        self.below(&["issues".into(), number.to_string()])
    }

    /// Returns the words below an issue.
    pub fn issue_words(&self, number: u64) -> Url {
        let word = if self.kind == ForgeKind::Gitlab { "notes" } else { "comments" };
        self.below(&["issues".into(), number.to_string(), word.into()])
    }

    fn thread(&self, number: u64, comments: &str) -> Vec<String> {
        match self.kind {
            ForgeKind::Github | ForgeKind::Gitea => {
                vec!["issues".into(), number.to_string(), comments.into()]
            }
            ForgeKind::Gitlab => vec!["merge_requests".into(), number.to_string(), "notes".into()],
        }
    }

    /// Returns an address below the repository; each part is encoded, a slash in one included.
    fn below(&self, parts: &[String]) -> Url {
        let mut url = self.root.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty();
            match self.kind {
                ForgeKind::Github | ForgeKind::Gitea => path.push("repos").extend(self.name.split('/')),
                ForgeKind::Gitlab => path.push("projects").push(&self.name),
            };
            path.extend(parts);
        }
        url
    }
}

/// Reads the root of an API.
fn read_root(text: &str) -> Result<Url> {
    let wrong = |why: &str| {
        Error::usage("the address of the API cannot be used")
            .detail(why.to_owned())
            .hint("expected such as `--api-url https://git.example.com/api/v1`")
    };
    let mut url = Url::parse(text.trim()).map_err(|_| wrong("it is no URL"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("it does not begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it has a name or a password in it; the token belongs into its variable"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("it has a `?` or a `#` in it"));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(kind: ForgeKind, root: &str, name: &str) -> Repository {
        Repository::new(kind, root, name).expect("a repository")
    }

    #[test]
    fn the_root_keeps_its_prefix_and_loses_its_slash() {
        let own = repository(ForgeKind::Github, "https://h/git/api/v3/", "dana/lab");

        assert_eq!(own.comments(7).as_str(), "https://h/git/api/v3/repos/dana/lab/issues/7/comments");
        assert_eq!(own.comment(7, 9).as_str(), "https://h/git/api/v3/repos/dana/lab/issues/comments/9");
        let usual = repository(ForgeKind::Github, "https://api.github.com", "dana/lab");
        assert_eq!(usual.issues().as_str(), "https://api.github.com/repos/dana/lab/issues");
    }

    #[test]
    fn a_path_of_gitlab_is_one_part_of_the_address() {
        let nested = repository(ForgeKind::Gitlab, "https://h/api/v4", "group/sub/project");
        let numbered = repository(ForgeKind::Gitlab, "https://h/api/v4", "42");

        assert_eq!(
            nested.request(3).as_str(),
            "https://h/api/v4/projects/group%2Fsub%2Fproject/merge_requests/3"
        );
        assert_eq!(numbered.comment(3, 9).as_str(), "https://h/api/v4/projects/42/merge_requests/3/notes/9");
    }

    #[test]
    fn a_name_or_root_that_leads_elsewhere_is_refused() {
        for name in ["lab", "a/b/c", "a/..", "a//b", ""] {
            assert!(Repository::new(ForgeKind::Github, "https://h", name).is_err(), "{name}");
        }
        for root in ["h/api", "ftp://h", "https://me:secret@h", "https://h/?x=1"] {
            let error = Repository::new(ForgeKind::Github, root, "a/b").expect_err("no root");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
