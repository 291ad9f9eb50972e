//! The event that started a workflow, as GitHub, Gitea and Forgejo write it into a file.

use serde_json::Value;

use crate::model::Environment;

/// No event is larger.
const LARGEST: u64 = 64 << 20;

/// What an event says about a pull request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PullRequestEvent {
    /// Its number.
    pub number: Option<u64>,
    /// The commit at its head, when the event happened.
    pub head: Option<String>,
    /// Whether its head is in another repository.
    pub is_fork: bool,
    /// What kind of event it is, where it is about no pull request.
    pub other: Option<&'static str>,
}

/// Reads the file that the environment names.
pub fn read_event(env: &Environment) -> Option<Value> {
    let path = env.path("GITHUB_EVENT_PATH")?;
    let facts = std::fs::metadata(&path).ok()?;
    if !facts.is_file() || facts.len() > LARGEST {
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

impl PullRequestEvent {
    /// Reads an event.
    pub fn of(event: &Value) -> Self {
        if let Some(request) = event.get("pull_request").filter(|request| request.is_object()) {
            let number = request.get("number").or_else(|| event.get("number")).and_then(Value::as_u64);
            let repository =
                |side: &str| request.pointer(&format!("/{side}/repo/full_name")).and_then(Value::as_str);
            let is_fork =
                matches!((repository("head"), repository("base")), (Some(head), Some(base)) if head != base);
            return Self { number, head: sha(request, "/head/sha"), is_fork, other: None };
        }
        // A word below a pull request.
        if let Some(issue) =
            event.get("issue").filter(|issue| issue.get("pull_request").is_some_and(Value::is_object))
        {
            return Self { number: issue.get("number").and_then(Value::as_u64), ..Self::default() };
        }
        if let Some(run) = event.get("workflow_run") {
            // It is empty where the run was one of a fork.
            let requests = run.get("pull_requests").and_then(Value::as_array).map(Vec::as_slice);
            let number = match requests {
                Some([request]) => request.get("number").and_then(Value::as_u64),
                _ => None,
            };
            let other = number.is_none().then_some("workflow_run");
            return Self { number, head: sha(run, "/head_sha"), is_fork: false, other };
        }
        if event.get("merge_group").is_some() {
            return Self {
                head: sha(event, "/merge_group/head_sha"),
                other: Some("merge_group"),
                ..Self::default()
            };
        }
        let other = if event.get("after").is_some() { "push" } else { "another event" };
        Self { head: sha(event, "/after"), other: Some(other), ..Self::default() }
    }
}

fn sha(value: &Value, pointer: &str) -> Option<String> {
    let text = value.pointer(pointer)?.as_str()?;
    (text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_pull_request_has_a_number_and_a_head() {
        let event = json!({"number": 7, "pull_request": {"number": 7, "head": {"sha": SHA, "repo": {"full_name": "eve/lab"}}, "base": {"repo": {"full_name": "dana/lab"}}}});

        let read = PullRequestEvent::of(&event);

        assert_eq!((read.number, read.head.as_deref(), read.is_fork), (Some(7), Some(SHA), true));
    }

    #[test]
    fn other_events_say_what_they_are() {
        let other = |event: Value| PullRequestEvent::of(&event).other;

        assert_eq!(other(json!({"merge_group": {"head_sha": SHA}})), Some("merge_group"));
        assert_eq!(other(json!({"before": SHA, "after": SHA})), Some("push"));
        assert_eq!(other(json!({"workflow_run": {"pull_requests": []}})), Some("workflow_run"));
        assert_eq!(other(json!(["nonsense"])), Some("another event"));
        assert_eq!(other(json!({"issue": {"number": 3, "pull_request": {}}})), None);
    }
}
