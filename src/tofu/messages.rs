//! OpenTofu's machine-readable messages: one JSON object a line, turned into what the
//! engine needs. Types that are not known are ignored, as their format asks.
//!
//! A line is parsed first, and then its texts are masked. So what a message is, and what it says
//! is done, is read as OpenTofu wrote it, whatever the secrets are; what a person gets to read is
//! [`Safe`].

use serde::Deserialize;
use serde_json::Value;

use super::hints::signs_in;
use crate::model::{Action, Diagnostic, Mask, ResourceChange, Safe, Severity, TestCounts};
use crate::process::Raw;

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
    /// A resource is being looked at.
    Refreshing,
    /// It is known how one resource is.
    Refreshed,
    /// The lock of the state is not had at once.
    LockAwaited,
    /// How the tests came out.
    Tests(TestCounts),
    /// A resource began, ended or failed.
    Resource {
        /// Its address.
        address: Safe,
        /// The text without the address.
        text: Safe,
        /// What was done to it, once that is done.
        done: Option<Action>,
    },
    /// Anything else that has a text.
    Other(Safe),
}

/// How the messages end that a resource is being looked at, that this is done, and that a lock is
/// waited for. The type is the last key, so no value can be taken for it.
const REFRESHING: &[u8] = br#""type":"refresh_start"}"#;
const REFRESHED: &[u8] = br#""type":"refresh_complete"}"#;
const LOCK_AWAITED: &[u8] = br#""type":"state_lock_acquire"}"#;

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
    test_summary: Option<Value>,
}

/// Reads one line that tells how far tofu is and holds no value; `None` if it tells something else.
///
/// There are two for each resource, and nothing else of them is of use; not worth parsing.
pub fn progress_of(line: &Raw) -> Option<Message> {
    let line = line.unmasked().trim_ascii_end();
    let known = [
        (REFRESHING, Message::Refreshing),
        (REFRESHED, Message::Refreshed),
        (LOCK_AWAITED, Message::LockAwaited),
    ];
    known.into_iter().find(|(end, _)| line.ends_with(end)).map(|(_, message)| message)
}

/// Returns whether a line is a message about a problem.
pub fn is_problem(line: &Raw) -> bool {
    line.unmasked().trim_ascii_end().ends_with(br#""type":"diagnostic"}"#)
}

/// Reads one line; `None` if it is no message of OpenTofu.
pub fn read_message(line: &Raw, mask: &dyn Mask) -> Option<Message> {
    if let Some(message) = progress_of(line) {
        return Some(message);
    }
    let line: Line = serde_json::from_slice(line.unmasked()).ok()?;
    let message = match line.kind.as_str() {
        "diagnostic" => diagnostic(line.diagnostic.as_ref()?, mask).map(Message::Diagnostic),
        "planned_change" => planned(line.change.as_ref()?, mask).map(Message::Planned),
        "resource_drift" => drifted(line.change.as_ref()?, mask).map(Message::Drifted),
        "outputs" => Some(Message::Outputs(changed_outputs(line.outputs.as_ref()?))),
        "test_summary" => serde_json::from_value(line.test_summary?).ok().map(Message::Tests),
        "apply_complete" => resource(line.hook.as_ref()?, &line.message, Moment::Done, mask),
        kind if kind.starts_with("apply_") => {
            resource(line.hook.as_ref()?, &line.message, Moment::UnderWay, mask)
        }
        _ => None,
    };
    Some(message.unwrap_or_else(|| Message::Other(Safe::through(mask, &line.message))))
}

/// Reads the one document of `tofu validate -json`: its problems.
pub fn validation_diagnostics(document: &Raw, mask: &dyn Mask) -> Vec<Diagnostic> {
    let document: Value = serde_json::from_slice(document.unmasked()).unwrap_or_default();
    let found = document.get("diagnostics").and_then(Value::as_array);
    found.into_iter().flatten().filter_map(|value| diagnostic(value, mask)).collect()
}

/// Makes a problem of what OpenTofu wrote in its frame for people.
pub fn framed_diagnostic(said: &Raw, mask: &dyn Mask) -> Diagnostic {
    let said = String::from_utf8_lossy(said.unmasked()).replace(['│', '╷', '╵'], " ");
    let detail = Safe::through(mask, &said);
    let (severity, summary, signs) = (Severity::Error, Safe::default(), signs_in("", &said));
    Diagnostic { severity, summary, detail, address: None, place: None, code: None, signs }
}

/// Reads a diagnostic object, as messages and `validate -json` hold it.
fn diagnostic(value: &Value, mask: &dyn Mask) -> Option<Diagnostic> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let severity = if text("severity")? == "error" { Severity::Error } else { Severity::Warning };
    let (summary, detail) = (text("summary")?, text("detail").unwrap_or_default());
    Some(Diagnostic {
        severity,
        summary: Safe::through(mask, summary),
        detail: Safe::through(mask, detail),
        address: text("address").map(|address| Safe::through(mask, address)),
        place: place(value).map(|place| Safe::through(mask, &place)),
        code: code(value, mask),
        signs: signs_in(summary, detail),
    })
}

fn place(diagnostic: &Value) -> Option<String> {
    let range = diagnostic.get("range")?;
    let start = range.get("start")?;
    let (file, line, column) = (range.get("filename")?.as_str()?, start.get("line")?, start.get("column")?);
    Some(format!("{file}:{line}:{column}"))
}

/// How many lines of a file are shown of one problem.
const MOST_LINES: usize = 5;

/// Returns the lines that a problem is about, with their numbers; never the values beside them.
fn code(diagnostic: &Value, mask: &dyn Mask) -> Option<Safe> {
    let snippet = diagnostic.get("snippet")?;
    let first = snippet.get("start_line")?.as_u64()?;
    let lines = snippet.get("code")?.as_str()?.lines().zip(first..).take(MOST_LINES);
    let lines: Vec<String> =
        lines.map(|(line, number)| format!("{number:>6}: {}", line.trim_end())).collect();
    (!lines.is_empty()).then(|| Safe::through(mask, &lines.join("\n")))
}

/// Reads a planned change. What would do nothing is not told, so a `noop` that is told is an action
/// without a word of its own: a resource that is forgotten and made anew (`destroy = false`).
fn planned(change: &Value, mask: &dyn Mask) -> Option<ResourceChange> {
    let told = change.get("action").and_then(Value::as_str) == Some("noop");
    drifted(change, mask)
        .or_else(|| Some(ResourceChange::new(address(change, mask)?, Action::Replace)).filter(|_| told))
}

fn drifted(change: &Value, mask: &dyn Mask) -> Option<ResourceChange> {
    let action = action(change.get("action")?.as_str()?, change.get("importing").is_some())?;
    Some(ResourceChange::new(address(change, mask)?, action))
}

fn address(change: &Value, mask: &dyn Mask) -> Option<Safe> {
    Some(Safe::through(mask, change.get("resource")?.get("addr")?.as_str()?))
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

fn resource(hook: &Value, message: &str, moment: Moment, mask: &dyn Mask) -> Option<Message> {
    let named = hook.get("resource")?.get("addr")?.as_str()?;
    let text = message.strip_prefix(named).map_or(message, |rest| rest.trim_start_matches(": "));
    let word = hook.get("action").and_then(Value::as_str).filter(|_| moment == Moment::Done);
    let done = word.and_then(|word| action(word, false));
    Some(Message::Resource { text: Safe::through(mask, text), address: address(hook, mask)?, done })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::redactor::Redactor;

    fn parsed(line: &str) -> Option<Message> {
        read_message(&Raw::new(line), &Redactor::default())
    }

    #[test]
    fn a_planned_change_gives_address_and_action() {
        let line = r#"{"@message":"x","type":"planned_change","change":{"resource":{"addr":"a.b"},"action":"replace"}}"#;

        let change = ResourceChange::new("a.b".into(), Action::Replace);
        assert_eq!(parsed(line), Some(Message::Planned(change)));
    }

    #[test]
    fn words_of_the_format_are_read_although_they_are_secrets() {
        let words = ["planned_change", "create", "type", "action", "change", "resource", "addr", "a.b"];
        let mask = Redactor::new(words).expect("a redactor");
        let line = r#"{"@message":"a.b: Plan to create","type":"planned_change","change":{"resource":{"addr":"a.b[\"create\"]"},"action":"create"}}"#;

        let message = read_message(&Raw::new(line), &mask);

        let Some(Message::Planned(change)) = message else { panic!("{message:?}") };
        assert_eq!((change.address.as_str(), change.action), ("a.b[\"(redacted)\"]", Action::Create));
    }

    #[test]
    fn a_problem_keeps_its_signs_although_a_secret_is_one_of_its_words() {
        let mask = Redactor::new(["state", "error", "acquiring"]).expect("a redactor");
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"Error acquiring the state lock","detail":"D"}}"#;

        let Some(Message::Diagnostic(diagnostic)) = read_message(&Raw::new(line), &mask) else {
            panic!("no diagnostic")
        };

        assert_eq!(diagnostic.summary.as_str(), "Error (redacted) the (redacted) lock");
        assert_eq!(diagnostic.severity, Severity::Error);
        assert!(diagnostic.mentions("Error acquiring the state lock"));
        let framed = framed_diagnostic(&Raw::new("│ Error acquiring the\n│ state lock"), &mask);
        assert!(framed.mentions("Error acquiring the state lock") && !framed.detail.contains("state"));
    }

    #[test]
    fn a_planned_change_without_a_word_of_its_own_is_a_change() {
        let line = |kind: &str| {
            format!(r#"{{"type":"{kind}","change":{{"resource":{{"addr":"a.b"}},"action":"noop"}}}}"#)
        };

        let change = ResourceChange::new("a.b".into(), Action::Replace);
        assert_eq!(parsed(&line("planned_change")), Some(Message::Planned(change)));
        assert!(matches!(parsed(&line("resource_drift")), Some(Message::Other(_))));
    }

    #[test]
    fn a_diagnostic_keeps_words_place_and_lines() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"S","detail":"D",
            "range":{"filename":"main.tf","start":{"line":3,"column":7}},
            "snippet":{"code":"  a = \n}","start_line":3,"values":[{"statement":"is \"v\""}]}}}"#;

        let Some(Message::Diagnostic(diagnostic)) = parsed(line) else { panic!("no diagnostic") };

        assert_eq!(diagnostic.place.as_deref(), Some("main.tf:3:7"));
        assert_eq!(diagnostic.code.as_deref(), Some("     3:   a =\n     4: }"));
        assert_eq!((diagnostic.summary.as_str(), diagnostic.detail.as_str()), ("S", "D"));
    }

    #[test]
    fn the_address_is_not_repeated_in_the_text() {
        let line =
            r#"{"@message":"a.b: Creating...","type":"apply_start","hook":{"resource":{"addr":"a.b"}}}"#;

        let (address, text) = ("a.b".into(), "Creating...".into());
        assert_eq!(parsed(line), Some(Message::Resource { address, text, done: None }));
    }

    #[test]
    fn a_resource_that_is_done_tells_what_was_done_to_it() {
        let line = r#"{"@message":"a.b: Creation complete after 0s","type":"apply_complete","hook":{"resource":{"addr":"a.b"},"action":"create"}}"#;

        let Some(Message::Resource { done, .. }) = parsed(line) else { panic!("no resource") };

        assert_eq!(done, Some(Action::Create));
    }

    #[test]
    fn only_outputs_that_change_are_counted() {
        let line =
            r#"{"type":"outputs","outputs":{"a":{"action":"create"},"b":{"action":"noop"},"c":{"value":1}}}"#;

        assert_eq!(parsed(line), Some(Message::Outputs(1)));
    }

    #[test]
    fn only_the_end_of_a_refresh_counts() {
        let line = |kind: &str| format!(r#"{{"@message":"a.b: x","hook":{{}},"type":"refresh_{kind}"}}"#);

        assert_eq!(parsed(&line("complete")), Some(Message::Refreshed));
        assert_eq!(parsed(&line("start")), Some(Message::Refreshing));
    }

    #[test]
    fn waiting_for_a_lock_and_the_count_of_tests_are_told() {
        let awaited = r#"{"@level":"info","@message":"Acquiring state lock.","type":"state_lock_acquire"}"#;
        let tests = r#"{"type":"test_summary","test_summary":{"status":"fail","passed":2,"failed":1}}"#;

        let counts = TestCounts { passed: 2, failed: 1, errored: 0, skipped: 0 };
        assert_eq!(parsed(awaited), Some(Message::LockAwaited));
        assert_eq!(parsed(tests), Some(Message::Tests(counts)));
    }

    #[test]
    fn an_output_that_looks_like_a_message_is_none() {
        let line =
            r#"{"outputs":{"a":{"action":"create","value":{"type":"refresh_complete"}}},"type":"outputs"}"#;

        assert_eq!(parsed(line), Some(Message::Outputs(1)));
    }

    #[test]
    fn what_is_no_message_or_an_unknown_one_does_no_harm() {
        assert_eq!(parsed("plain text"), None);
        assert_eq!(parsed("[1]"), None);
        assert_eq!(parsed(r#"{"@message":"hi","type":"new_in_2030"}"#), Some(Message::Other("hi".into())));
    }
}
