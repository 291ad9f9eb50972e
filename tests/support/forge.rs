//! A strict stand-in for the APIs of GitHub, GitLab and Gitea: it pages as they do, refuses what they
//! refuse, and notes every request. It listens on 127.0.0.1 and ends with the test process.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

/// The token that opens it.
pub const TOKEN: &str = "tok-canary-5d41402abc4b2a76";

/// Which forge it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Github,
    Gitlab,
    Gitea,
}

/// A request that was answered.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
}

/// Something that happens to the next request of a method, before or instead of its answer.
#[derive(Clone, Debug)]
pub struct Fault {
    pub method: &'static str,
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
    /// Whether the request is carried out all the same.
    pub carried_out: bool,
}

impl Fault {
    pub fn on(method: &'static str, status: u16) -> Self {
        Self { method, status, headers: Vec::new(), body: json!({"message": "trouble"}), carried_out: false }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: Value) -> Self {
        self.body = body;
        self
    }

    pub fn carried_out(mut self) -> Self {
        self.carried_out = true;
        self
    }
}

/// A comment or an issue.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: u64,
    pub text: String,
    pub title: String,
    /// Whether the token may change it.
    pub ours: bool,
    pub closed: bool,
    pub is_pull_request: bool,
    /// What it stands below: a pull request, or an issue.
    pub below: u64,
}

#[derive(Debug)]
struct State {
    kind: Kind,
    repository: String,
    page: usize,
    comments: Vec<Entry>,
    issues: Vec<Entry>,
    requests: Vec<Request>,
    faults: VecDeque<Fault>,
    head: String,
    moved_from: Option<String>,
    next: u64,
}

/// A running stand-in.
#[derive(Clone)]
pub struct FakeForge {
    address: String,
    state: Arc<Mutex<State>>,
}

impl FakeForge {
    pub fn start(kind: Kind, repository: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State {
            kind,
            repository: repository.to_owned(),
            page: 100,
            comments: Vec::new(),
            issues: Vec::new(),
            requests: Vec::new(),
            faults: VecDeque::new(),
            head: "a".repeat(40),
            moved_from: None,
            next: 100,
        }));
        let forge = Self { address, state };
        let served = forge.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let forge = served.clone();
                std::thread::spawn(move || forge.answer(stream));
            }
        });
        forge
    }

    /// Returns the root of the API, with a prefix as own servers have it.
    pub fn root(&self) -> String {
        let version = match self.lock().kind {
            Kind::Github => "v3",
            Kind::Gitlab => "v4",
            Kind::Gitea => "v1",
        };
        format!("{}/git/api/{version}", self.address)
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn fail(&self, fault: Fault) -> &Self {
        self.lock().faults.push_back(fault);
        self
    }

    pub fn head_is(&self, commit: &str) {
        self.lock().head = commit.to_owned();
    }

    /// Answers requests about the old name of the repository with a redirect.
    pub fn moved_from(&self, name: &str) {
        self.lock().moved_from = Some(name.to_owned());
    }

    /// Adds a comment of somebody on a pull request.
    pub fn add_comment(&self, below: u64, text: &str, ours: bool) -> u64 {
        let mut state = self.lock();
        let id = state.number();
        state.comments.push(Entry {
            id,
            text: text.to_owned(),
            title: String::new(),
            ours,
            closed: false,
            is_pull_request: false,
            below,
        });
        id
    }

    /// Adds an issue, or a pull request, which GitHub lists among them.
    pub fn add_issue(&self, text: &str, closed: bool, is_pull_request: bool) -> u64 {
        let mut state = self.lock();
        let id = state.number();
        state.issues.push(Entry {
            id,
            text: text.to_owned(),
            title: "by hand".to_owned(),
            ours: true,
            closed,
            is_pull_request,
            below: 0,
        });
        id
    }

    pub fn comments(&self) -> Vec<Entry> {
        self.lock().comments.clone()
    }

    pub fn issues(&self) -> Vec<Entry> {
        self.lock().issues.clone()
    }

    pub fn remove_comment(&self, id: u64) {
        self.lock().comments.retain(|comment| comment.id != id);
    }

    /// Returns the requests of a method, or all.
    pub fn requests(&self, method: &str) -> Vec<Request> {
        let all = self.lock().requests.clone();
        all.into_iter().filter(|request| method.is_empty() || request.method == method).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn answer(&self, mut stream: TcpStream) {
        let Some(request) = read_request(&stream) else { return };
        let mut state = self.lock();
        state.requests.push(request.clone());
        let position = state.faults.iter().position(|fault| fault.method == request.method);
        let fault = position.and_then(|position| state.faults.remove(position));
        let reply = match &fault {
            Some(fault) if !fault.carried_out => None,
            _ => Some(state.reply(&request, &self.address)),
        };
        drop(state);
        let reply = match fault {
            Some(fault) => Reply { status: fault.status, headers: fault.headers, body: fault.body },
            None => reply.expect("an answer"),
        };
        reply.write(&mut stream);
    }
}

struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Value,
}

impl Reply {
    fn of(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    fn write(&self, stream: &mut TcpStream) {
        let body = self.body.to_string();
        let mut head = format!(
            "HTTP/1.1 {} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
            self.status,
            body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn reply(&mut self, request: &Request, address: &str) -> Reply {
        if !request.headers.contains_key("user-agent") {
            return Reply::of(403, json!({"message": "Request forbidden by administrative rules."}));
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if let Some(old) = self.moved_from.clone()
            && path.contains(&format!("/{old}/"))
        {
            let to = request.path.replace(&old, &self.repository);
            let mut reply = Reply::of(307, json!({"message": "Moved"}));
            reply.headers.push(("location", format!("{address}{to}")));
            return reply;
        }
        if !self.is_known(request) {
            return Reply::of(401, json!({"message": "Bad credentials"}));
        }
        let root = match self.kind {
            Kind::Github => format!("/git/api/v3/repos/{}/", self.repository),
            Kind::Gitlab => format!("/git/api/v4/projects/{}/", self.repository.replace('/', "%2F")),
            Kind::Gitea => format!("/git/api/v1/repos/{}/", self.repository),
        };
        // GitHub names the next page below the id of the repository.
        let by_id = path.strip_prefix("/git/api/v3/repositories/7/").filter(|_| self.kind == Kind::Github);
        let Some(rest) = path.strip_prefix(&root).or(by_id) else { return not_found() };
        let parts: Vec<String> = rest.split('/').map(str::to_owned).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.route(request, &parts, query, address)
    }

    fn is_known(&self, request: &Request) -> bool {
        let header = |name: &str| request.headers.get(name).map(String::as_str).unwrap_or_default();
        match self.kind {
            Kind::Github => header("authorization") == format!("Bearer {TOKEN}"),
            Kind::Gitlab => header("private-token") == TOKEN,
            Kind::Gitea => header("authorization") == format!("token {TOKEN}"),
        }
    }

    fn route(&mut self, request: &Request, parts: &[&str], query: &str, address: &str) -> Reply {
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        let (thread, words, pulls) = match self.kind {
            Kind::Gitlab => ("merge_requests", "notes", "merge_requests"),
            _ => ("issues", "comments", "pulls"),
        };
        match (request.method.as_str(), parts) {
            ("GET", [part, _]) if *part == pulls => {
                Reply::of(200, json!({"sha": self.head, "head": {"sha": self.head}}))
            }
            ("GET", [part, below, last]) if (*part == thread || *part == "issues") && *last == words => {
                self.list_comments(number(below), parts, query, address)
            }
            ("POST", [part, below, last]) if (*part == thread || *part == "issues") && *last == words => {
                self.make_comment(number(below), &request.body, address)
            }
            ("PATCH", ["issues", "comments", id]) if self.kind != Kind::Gitlab => {
                self.change_comment(number(id), &request.body, address)
            }
            ("PUT", ["merge_requests", _, "notes", id]) if self.kind == Kind::Gitlab => {
                self.change_comment(number(id), &request.body, address)
            }
            ("GET", ["issues"]) => self.list_issues(query, address),
            ("POST", ["issues"]) => self.make_issue(&request.body, address),
            ("PATCH", ["issues", id]) if self.kind != Kind::Gitlab => {
                self.change_issue(number(id), &request.body, address)
            }
            ("PUT", ["issues", id]) if self.kind == Kind::Gitlab => {
                self.change_issue(number(id), &request.body, address)
            }
            _ => not_found(),
        }
    }

    /// Refuses texts as the forges do: too long, empty, or nothing but quick actions.
    fn refusal_of(&self, text: &str) -> Option<Reply> {
        let failed = |message: &str| {
            Reply::of(422, json!({"message": "Validation Failed", "errors": [{"message": message}]}))
        };
        match self.kind {
            _ if text.trim().is_empty() => Some(failed("body can't be blank")),
            Kind::Github if text.chars().map(char::len_utf16).sum::<usize>() > 65_536 => {
                Some(failed("body is too long (maximum is 65536 characters)"))
            }
            Kind::Gitlab if text.chars().count() > 1_000_000 => {
                Some(Reply::of(400, json!({"message": "note is too long"})))
            }
            Kind::Gitlab if runs_quick_action(text) => {
                Some(Reply::of(400, json!({"message": "quick action"})))
            }
            Kind::Gitea if json!({"body": text}).to_string().len() > 1 << 20 => {
                Some(Reply::of(413, json!({})))
            }
            _ => None,
        }
    }

    fn comment_json(&self, comment: &Entry, address: &str) -> Value {
        let user = if comment.ours { "github-actions[bot]" } else { "eve" };
        json!({"id": comment.id, "body": comment.text, "html_url": format!("{address}/c/{}", comment.id), "user": {"login": user}})
    }

    fn list_comments(&self, below: u64, parts: &[&str], query: &str, address: &str) -> Reply {
        let mut entries: Vec<&Entry> =
            self.comments.iter().filter(|comment| comment.below == below).collect();
        if self.kind == Kind::Gitlab && !query.contains("sort=asc") {
            entries.reverse();
        }
        let rows: Vec<Value> = entries.iter().map(|entry| self.comment_json(entry, address)).collect();
        // Gitea knows no pages of this list, whatever is asked.
        match self.kind {
            Kind::Gitea => Reply::of(200, Value::Array(rows)),
            _ => self.paged(rows, &parts.join("/"), query, address),
        }
    }

    fn paged(&self, rows: Vec<Value>, path: &str, query: &str, address: &str) -> Reply {
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).filter_map(|(_, value)| value.parse::<usize>().ok()).next()
        };
        let size = value("per_page").or_else(|| value("limit")).unwrap_or(30).clamp(1, self.page);
        let page = value("page").unwrap_or(1).max(1);
        let more = rows.len() > page * size;
        let shown: Vec<Value> = rows.into_iter().skip((page - 1) * size).take(size).collect();
        let mut reply = Reply::of(200, Value::Array(shown));
        let others: Vec<&str> =
            query.split('&').filter(|pair| !pair.starts_with("page=") && !pair.is_empty()).collect();
        let next = format!("{}&page={}", others.join("&"), page + 1);
        match self.kind {
            Kind::Gitlab => {
                let number = if more { (page + 1).to_string() } else { String::new() };
                reply.headers.push(("x-next-page", number));
            }
            _ if more => {
                let root = match self.kind {
                    Kind::Github => "git/api/v3/repositories/7".to_owned(),
                    _ => format!("git/api/v1/repos/{}", self.repository),
                };
                reply.headers.push((
                    "link",
                    format!("<{address}/{root}/{path}?{next}>; rel=\"next\", <{address}/{root}/{path}?page=9>; rel=\"last\""),
                ));
            }
            _ => {}
        }
        reply
    }

    fn make_comment(&mut self, below: u64, body: &Value, address: &str) -> Reply {
        let text = body["body"].as_str().unwrap_or_default().to_owned();
        if let Some(refusal) = self.refusal_of(&text) {
            return refusal;
        }
        let id = self.number();
        let (title, closed, is_pull_request) = (String::new(), false, false);
        let comment = Entry { id, text, title, ours: true, closed, is_pull_request, below };
        let json = self.comment_json(&comment, address);
        self.comments.push(comment);
        Reply::of(201, json)
    }

    fn change_comment(&mut self, id: u64, body: &Value, address: &str) -> Reply {
        let text = body["body"].as_str().unwrap_or_default().to_owned();
        if let Some(refusal) = self.refusal_of(&text) {
            return refusal;
        }
        let Some(comment) = self.comments.iter_mut().find(|comment| comment.id == id) else {
            return not_found();
        };
        if !comment.ours {
            return Reply::of(403, json!({"message": "Resource not accessible by integration"}));
        }
        comment.text = text;
        let comment = comment.clone();
        Reply::of(200, self.comment_json(&comment, address))
    }

    fn issue_json(&self, issue: &Entry, address: &str) -> Value {
        let state = match (self.kind, issue.closed) {
            (_, true) => "closed",
            (Kind::Gitlab, false) => "opened",
            (_, false) => "open",
        };
        let text = if self.kind == Kind::Gitlab { "description" } else { "body" };
        let mut json = json!({
            "id": issue.id + 7000, "number": issue.id, "iid": issue.id, "title": issue.title, "state": state,
            text: issue.text, "html_url": format!("{address}/i/{}", issue.id),
        });
        if issue.is_pull_request {
            json["pull_request"] = json!({"url": "x"});
        }
        json
    }

    fn list_issues(&self, query: &str, address: &str) -> Reply {
        let closed = query.contains("state=closed");
        let mut entries: Vec<&Entry> = self.issues.iter().filter(|issue| issue.closed == closed).collect();
        // By creation, the newest first.
        entries.sort_by_key(|issue| std::cmp::Reverse(issue.id));
        let rows = entries.into_iter().map(|issue| self.issue_json(issue, address)).collect();
        self.paged(rows, "issues", query, address)
    }

    fn make_issue(&mut self, body: &Value, address: &str) -> Reply {
        let field = if self.kind == Kind::Gitlab { "description" } else { "body" };
        let (text, title) =
            (body[field].as_str().unwrap_or_default(), body["title"].as_str().unwrap_or_default());
        if let Some(refusal) = self.refusal_of(text) {
            return refusal;
        }
        if title.is_empty() {
            return Reply::of(422, json!({"message": "Validation Failed"}));
        }
        let (text, title, id) = (text.to_owned(), title.to_owned(), self.number());
        let (closed, is_pull_request) = (false, false);
        let issue = Entry { id, text, title, ours: true, closed, is_pull_request, below: 0 };
        let json = self.issue_json(&issue, address);
        self.issues.push(issue);
        Reply::of(201, json)
    }

    fn change_issue(&mut self, id: u64, body: &Value, address: &str) -> Reply {
        let gitlab = self.kind == Kind::Gitlab;
        let text = body[if gitlab { "description" } else { "body" }].as_str().map(str::to_owned);
        let closed = match body[if gitlab { "state_event" } else { "state" }].as_str() {
            Some("close" | "closed") => Some(true),
            Some("reopen" | "open") => Some(false),
            Some(_) => return Reply::of(422, json!({"message": "Validation Failed"})),
            None => None,
        };
        let Some(issue) = self.issues.iter_mut().find(|issue| issue.id == id) else { return not_found() };
        issue.text = text.unwrap_or_else(|| issue.text.clone());
        issue.closed = closed.unwrap_or(issue.closed);
        let issue = issue.clone();
        Reply::of(200, self.issue_json(&issue, address))
    }
}

/// Returns whether GitLab would obey a line of a text: one outside of fences that begins with `/word`.
fn runs_quick_action(text: &str) -> bool {
    let mut fence: Option<usize> = None;
    for line in text.lines() {
        let ticks = line.chars().take_while(|sign| *sign == '`').count();
        match fence {
            Some(open) if ticks >= open && line.trim_start_matches('`').trim().is_empty() => fence = None,
            Some(_) => {}
            None if ticks >= 3 => fence = Some(ticks),
            None if line.starts_with('/') && line.len() > 1 => return true,
            None => {}
        }
    }
    false
}

fn not_found() -> Reply {
    Reply::of(404, json!({"message": "Not Found"}))
}

fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { method, path, headers, body })
}
