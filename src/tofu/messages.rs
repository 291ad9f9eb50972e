//! OpenTofu's machine-readable messages: one JSON object a line, turned into what the
//! engine needs. Types that are not known are ignored, as their format asks.

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Action, Diagnostic, ResourceChange, Severity};

/// A message the engine acts on.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A problem.
    Diagnostic(Diagnostic),
    /// One resource of the plan.
    Planned(ResourceChange),
    /// One resource that changed outside.
    Drifted(ResourceChange),
    /// How many outputs change.
    Outputs(usize),
    /// It is known how one resource is.
    Refreshed,
    /// A resource began, ended or failed.
    Resource {
        /// Its address.
        address: String,
        /// The text without the address.
        text: String,
        /// What was done to it, once that is done.
        done: Option<Action>,
    },
    /// Anything else that has a text.
    Other(String),
}

/// What marks the messages that a resource is being looked at, and that this is done.
const REFRESH: &str = r#""type":"refresh_"#;
const REFRESHED: &str = r#""type":"refresh_complete""#;

/// The parts of a line that are read; the rest may be anything.
#[derive(Deserialize)]
struct Line {
    #[serde(rename = "@message", default)]
    message: String,
    #[serde(rename = "type", default)]
    kind: String,
    diagnostic: Option<Value>,
    change: Option<Value>,
    outputs: Option<Value>,
    hook: Option<Value>,
}

/// Reads one line; `None` if it is no message of OpenTofu.
pub fn parse(line: &str) -> Option<Message> {
    // Two for each resource, and nothing else of them is of use; not worth reading.
    if line.contains(REFRESH) {
        let done = line.contains(REFRESHED);
        return Some(if done { Message::Refreshed } else { Message::Other(String::new()) });
    }
    let line: Line = serde_json::from_str(line).ok()?;
    let message = match line.kind.as_str() {
        "diagnostic" => diagnostic(line.diagnostic.as_ref()?).map(Message::Diagnostic),
        "planned_change" => planned(line.change.as_ref()?).map(Message::Planned),
        "resource_drift" => planned(line.change.as_ref()?).map(Message::Drifted),
        "outputs" => Some(Message::Outputs(changed_outputs(line.outputs.as_ref()?))),
        "apply_complete" => resource(line.hook.as_ref()?, &line.message, Moment::Done),
        kind if kind.starts_with("apply_") => resource(line.hook.as_ref()?, &line.message, Moment::UnderWay),
        _ => None,
    };
    Some(message.unwrap_or(Message::Other(line.message)))
}

/// Reads a diagnostic object, as messages and `validate -json` hold it.
pub fn diagnostic(value: &Value) -> Option<Diagnostic> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let severity = if text("severity")? == "error" { Severity::Error } else { Severity::Warning };
    let (summary, detail) = (text("summary")?, text("detail").unwrap_or_default());
    Some(Diagnostic { severity, summary, detail, address: text("address"), place: place(value) })
}

fn place(diagnostic: &Value) -> Option<String> {
    let range = diagnostic.get("range")?;
    let start = range.get("start")?;
    let (file, line, column) = (range.get("filename")?.as_str()?, start.get("line")?, start.get("column")?);
    Some(format!("{file}:{line}:{column}"))
}

fn planned(change: &Value) -> Option<ResourceChange> {
    let address = change.get("resource")?.get("addr")?.as_str()?.to_owned();
    let action = action(change.get("action")?.as_str()?, change.get("importing").is_some())?;
    Some(ResourceChange { address, action })
}

fn action(word: &str, importing: bool) -> Option<Action> {
    Some(match word {
        "create" => Action::Create,
        "update" => Action::Update,
        "delete" => Action::Delete,
        "replace" => Action::Replace,
        "import" => Action::Import,
        "move" => Action::Move,
        "remove" => Action::Forget,
        "read" => Action::Read,
        "noop" if importing => Action::Import,
        _ => return None,
    })
}

fn changed_outputs(outputs: &Value) -> usize {
    let is_change =
        |output: &&Value| output.get("action").and_then(Value::as_str).is_some_and(|action| action != "noop");
    outputs.as_object().map_or(0, |map| map.values().filter(is_change).count())
}

/// Whether something is done to a resource, or was done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Moment {
    UnderWay,
    Done,
}

fn resource(hook: &Value, message: &str, moment: Moment) -> Option<Message> {
    let address = hook.get("resource")?.get("addr")?.as_str()?.to_owned();
    let text = message.strip_prefix(&address).map_or(message, |rest| rest.trim_start_matches(": "));
    let word = hook.get("action").and_then(Value::as_str).filter(|_| moment == Moment::Done);
    let done = word.and_then(|word| action(word, false));
    Some(Message::Resource { text: text.to_owned(), address, done })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_change_gives_address_and_action() {
        let line = r#"{"@message":"x","type":"planned_change","change":{"resource":{"addr":"a.b"},"action":"replace"}}"#;

        let message = parse(line);

        let change = ResourceChange { address: "a.b".to_owned(), action: Action::Replace };
        assert_eq!(message, Some(Message::Planned(change)));
    }

    #[test]
    fn a_diagnostic_keeps_words_and_place() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"S","detail":"D",
            "range":{"filename":"main.tf","start":{"line":3,"column":7}}}}"#;

        let Some(Message::Diagnostic(diagnostic)) = parse(line) else { panic!("no diagnostic") };

        assert_eq!(diagnostic.place.as_deref(), Some("main.tf:3:7"));
        assert_eq!((diagnostic.summary.as_str(), diagnostic.detail.as_str()), ("S", "D"));
    }

    #[test]
    fn the_address_is_not_repeated_in_the_text() {
        let line =
            r#"{"@message":"a.b: Creating...","type":"apply_start","hook":{"resource":{"addr":"a.b"}}}"#;

        let (address, text) = ("a.b".to_owned(), "Creating...".to_owned());
        assert_eq!(parse(line), Some(Message::Resource { address, text, done: None }));
    }

    #[test]
    fn a_resource_that_is_done_tells_what_was_done_to_it() {
        let line = r#"{"@message":"a.b: Creation complete after 0s","type":"apply_complete","hook":{"resource":{"addr":"a.b"},"action":"create"}}"#;

        let Some(Message::Resource { done, .. }) = parse(line) else { panic!("no resource") };

        assert_eq!(done, Some(Action::Create));
    }

    #[test]
    fn only_outputs_that_change_are_counted() {
        let line =
            r#"{"type":"outputs","outputs":{"a":{"action":"create"},"b":{"action":"noop"},"c":{"value":1}}}"#;

        assert_eq!(parse(line), Some(Message::Outputs(1)));
    }

    #[test]
    fn only_the_end_of_a_refresh_counts() {
        let line = |kind: &str| format!(r#"{{"@message":"a.b: x","hook":{{}},"type":"refresh_{kind}"}}"#);

        assert_eq!(parse(&line("complete")), Some(Message::Refreshed));
        assert_eq!(parse(&line("start")), Some(Message::Other(String::new())));
    }

    #[test]
    fn what_is_no_message_or_an_unknown_one_does_no_harm() {
        assert_eq!(parse("plain text"), None);
        assert_eq!(parse("[1]"), None);
        assert_eq!(parse(r#"{"@message":"hi","type":"new_in_2030"}"#), Some(Message::Other("hi".to_owned())));
    }
}
