//! What went wrong in a template, told without a single value of the data.
//!
//! minijinja's own words may hold values ("unable to calculate … + …"), so only texts that are
//! known to name nothing but syntax pass; everything of our own is a [`Fault`] and passes whole.

use std::fmt;

use minijinja::ErrorKind;

use super::known_names;
use crate::error::Error;

/// Our own words inside an error of minijinja, and what to do.
#[derive(Debug)]
struct Fault {
    words: String,
    hint: Option<&'static str>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Fault {}

/// Makes an error of a filter, function or operator; the words must hold no value.
pub fn fault(words: impl Into<String>) -> minijinja::Error {
    with_hint(words, None)
}

/// Makes an error as [`fault`] does, with what to do about it.
pub fn with_hint(words: impl Into<String>, hint: Option<&'static str>) -> minijinja::Error {
    let words = words.into();
    minijinja::Error::new(ErrorKind::InvalidOperation, words.clone()).with_source(Fault { words, hint })
}

/// Where a failed expression stands, and why it failed.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct TemplateFailure {
    /// The template's name, where known.
    pub template: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// Why, without values.
    pub words: String,
    /// What to do, where known.
    pub hint: Option<String>,
    /// Whether something was undefined.
    pub undefined: bool,
}

/// Finds the innermost place and the words of an error.
pub fn template_failure(error: &minijinja::Error) -> TemplateFailure {
    let mut failure = TemplateFailure { words: words_of(error), ..TemplateFailure::default() };
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(each) = next {
        if let Some(inner) = each.downcast_ref::<minijinja::Error>() {
            if inner.name().is_some() {
                failure.template = inner.name().map(str::to_owned);
                failure.line = inner.line();
            }
            failure.words = words_of(inner);
            failure.hint = unknown(inner).and_then(|(_, hint)| hint);
            failure.undefined = inner.kind() == ErrorKind::UndefinedError;
        } else if let Some(own) = each.downcast_ref::<Fault>() {
            failure.words.clone_from(&own.words);
            failure.hint = own.hint.map(str::to_owned);
        }
        next = each.source();
    }
    failure
}

/// Returns what a template asks for and is not there, and a hint.
fn unknown(error: &minijinja::Error) -> Option<(String, Option<String>)> {
    known_names::unknown(error.kind(), error.detail()?)
}

/// Returns words that can hold no value.
fn words_of(error: &minijinja::Error) -> String {
    let kind = error.kind();
    if let Some((words, _)) = unknown(error) {
        return words;
    }
    let detail = error.detail().filter(|detail| match kind {
        ErrorKind::SyntaxError
        | ErrorKind::UnknownFilter
        | ErrorKind::UnknownTest
        | ErrorKind::UnknownFunction
        | ErrorKind::UnknownMethod
        | ErrorKind::UnknownBlock
        | ErrorKind::MissingArgument
        | ErrorKind::TooManyArguments
        | ErrorKind::InvalidDelimiter => true,
        ErrorKind::InvalidOperation => is_harmless(detail),
        _ => false,
    });
    match (kind, detail) {
        (ErrorKind::OutOfFuel, _) => "it takes too many steps: does a loop never end?".to_owned(),
        (ErrorKind::WriteFailure, _) => "its output is too large".to_owned(),
        (ErrorKind::UndefinedError, _) => "a value is undefined".to_owned(),
        (ErrorKind::TemplateNotFound, _) => "no template of that name is below the inputs".to_owned(),
        (_, Some(detail)) => detail.to_owned(),
        (ErrorKind::InvalidOperation, None) => operation(error.detail().unwrap_or_default()).to_owned(),
        (_, None) => kind.to_string(),
    }
}

/// Says what is wrong with an operation whose own words may hold a value.
fn operation(detail: &str) -> &'static str {
    let by_zero = ["/ 0", "// 0", "% 0", "/ 0.0", "// 0.0"];
    match detail.strip_prefix("unable to calculate ") {
        Some(rest) if by_zero.iter().any(|end| rest.ends_with(end)) => "division by zero",
        Some(_) => "a number grew too large",
        None if detail.starts_with("failed to sort") => "these values have no order",
        None => "invalid operation: a value is not of the kind or form that is needed here",
    }
}

/// Returns whether a text of minijinja's names kinds of values only.
fn is_harmless(detail: &str) -> bool {
    const STARTS: &[&str] = &[
        "tried to use ",
        "cannot perform a containment check",
        "can only assign to namespaces",
        "cannot recurse outside",
        "loop() takes",
        "value of type ",
        "object is not callable",
        "template name was not a string",
        "recursion limit exceeded",
        "cannot convert ",
        "tried to extend a second time",
        "strings can only be multiplied with ",
        "sequences and iterables can only be ",
        "cannot repeat unsized iterables",
        "repeated string is too large",
        "repeated sequence is too large",
        "cannot slice by step size of 0",
        "value is not ",
        "cannot reverse values of type ",
        "cannot calculate length of value of type ",
        "cannot join value of type ",
        "cannot get ",
        "can only sum numbers, got ",
        "rounded value is too large",
        "unable to round value",
        "cannot round value",
        "method must be common, ceil or floor",
        "count cannot be 0",
        "cannot serialize to JSON",
        "filter name ",
        "zip filter argument must be iterable",
        "non string keys passed to kwargs",
    ];
    const KINDS: &[&str] = &["undefined", "bool", "number", "none", "string", "bytes", "sequence", "map"];
    let not_iterable =
        |detail: &str| detail.strip_suffix(" is not iterable").is_some_and(|kind| KINDS.contains(&kind));
    STARTS.iter().any(|start| detail.starts_with(start)) || not_iterable(detail)
}

/// Makes the error of one expression that stands in no template; `missing` names what is undefined
/// in it, where that is known.
pub fn of_expression(error: &minijinja::Error, expression: &str, missing: Option<String>) -> Error {
    let mut failure = template_failure(error);
    if let Some(name) = missing.filter(|_| failure.undefined) {
        failure.words = format!("`{name}` is undefined");
    }
    Error::invalid(format!("`{expression}` cannot be evaluated")).detail(failure.words).hint_if(failure.hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_hold_a_value_are_left_out() {
        let leaking = minijinja::Error::new(ErrorKind::InvalidOperation, "unable to calculate hunter2 + 1");

        assert_eq!(template_failure(&leaking).words, "a number grew too large");
        assert_eq!(template_failure(&fault("the list has no such item")).words, "the list has no such item");
    }
}
