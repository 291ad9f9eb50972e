//! The one error of the program: what went wrong, where, why, and what to do.
//!
//! A [`Kind`] decides the exit code by exhaustive match; everything else is
//! final text, written where the failure is known best. Nothing here prints.

use std::error::Error as Source;
use std::fmt;
use std::sync::Arc;

/// What sort of failure it is; each has one exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A stack failed, or a check found something stale.
    Failed,
    /// The command line asks for something that cannot be done.
    Usage,
    /// The project, its data or its configuration is invalid.
    Invalid,
    /// A tool, a backend or the disk is unavailable.
    Unavailable,
    /// A defect of this program.
    Bug,
    /// A state is locked by somebody else.
    Locked,
    /// Secrets could not be opened, or were refused.
    Refused,
    /// A person or the system asked the run to stop.
    Interrupted,
}

impl Kind {
    /// Returns the exit code, part of the documented interface.
    pub const fn exit(self) -> Exit {
        Exit(match self {
            Self::Failed => 1,
            Self::Usage => 64,
            Self::Invalid => 65,
            Self::Unavailable => 69,
            Self::Bug => 70,
            Self::Locked => 75,
            Self::Refused => 77,
            Self::Interrupted => 130,
        })
    }

    /// Returns the word that stands for the kind in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Invalid => "invalid",
            Self::Unavailable => "unavailable",
            Self::Bug => "bug",
            Self::Locked => "state-locked",
            Self::Refused => "secrets-refused",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A process exit code that the documentation lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub u8);

impl Exit {
    /// All went well.
    pub const OK: Self = Self(0);
    /// Changes or drift are present and the caller asked to be told.
    pub const CHANGES: Self = Self(2);
}

/// A failure with everything a person needs to act on it.
///
/// Boxed, because every function here returns one and it holds much.
#[derive(Clone, Debug)]
pub struct Error(Box<Content>);

#[derive(Clone, Debug)]
struct Content {
    kind: Kind,
    code: Option<&'static str>,
    message: String,
    place: Option<String>,
    facts: Vec<(String, String)>,
    causes: Vec<Cause>,
    hints: Vec<String>,
}

/// Why it happened.
#[derive(Clone, Debug)]
enum Cause {
    /// Words of our own.
    Words(String),
    /// The error below, as a value: whoever decides by it asks it, not its words.
    Source(Arc<dyn Source + Send + Sync>),
}

impl Cause {
    /// Returns it as texts, with the causes below it.
    fn texts(&self) -> Vec<String> {
        match self {
            Self::Words(words) => vec![words.clone()],
            Self::Source(source) => {
                let mut texts: Vec<String> = Vec::new();
                for text in chain(source.as_ref()).map(ToString::to_string) {
                    // Many errors repeat the one below them in their own words.
                    if !texts.last().is_some_and(|above| above.contains(&text)) {
                        texts.push(text);
                    }
                }
                texts
            }
        }
    }
}

/// Returns an error and those below it.
fn chain<'a>(first: &'a (dyn Source + 'static)) -> impl Iterator<Item = &'a (dyn Source + 'static)> {
    std::iter::successors(Some(first), |&error| error.source())
}

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Makes an error of a kind; the message is lower case and names the thing in back-ticks.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Content {
            kind,
            code: None,
            message: message.into(),
            place: None,
            facts: Vec::new(),
            causes: Vec::new(),
            hints: Vec::new(),
        }))
    }

    /// Makes an error about a failed stack or check.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// Makes an error about the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Makes an error about the project or its data.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, message)
    }

    /// Makes an error about something that cannot be reached, read or written.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// Makes an error about a defect of this program.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new(Kind::Bug, message)
    }

    /// Makes an error about a state that somebody else holds.
    pub fn locked(message: impl Into<String>) -> Self {
        Self::new(Kind::Locked, message).code("state-locked")
    }

    /// Makes the error of a run that was asked to stop.
    pub fn interrupted(message: impl Into<String>) -> Self {
        Self::new(Kind::Interrupted, message)
    }

    /// Returns it with another message; all else stays.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Adds a stable name, shown as `error[name]` and used as the kind in JSON.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.0.code = Some(code);
        self
    }

    /// Says where it is: `infra.yaml:14:3`, or a path.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.place = Some(place.to_string());
        self
    }

    /// Adds a labelled fact, such as the holder of a lock.
    #[must_use]
    pub fn fact(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.0.facts.push((label.into(), value.into()));
        self
    }

    /// Adds a cause and the causes below it.
    #[must_use]
    pub fn because(mut self, cause: impl Source + Send + Sync + 'static) -> Self {
        self.0.causes.push(Cause::Source(Arc::new(cause)));
        self
    }

    /// Adds a line of explanation below the message.
    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> Self {
        self.0.causes.push(Cause::Words(text.into()));
        self
    }

    /// Adds something a person can do, ready to be pasted.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hints.push(hint.into());
        self
    }

    /// Adds a hint where there is one.
    #[must_use]
    pub fn hint_if(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Returns the kind.
    pub const fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the exit code.
    pub const fn exit(&self) -> Exit {
        self.0.kind.exit()
    }

    /// Returns the name used in `error[name]`, where it has one.
    pub const fn label(&self) -> Option<&'static str> {
        self.0.code
    }

    /// Returns the first line, without heading.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the hints.
    pub fn hints(&self) -> &[String] {
        &self.0.hints
    }

    /// Returns where it is, as far as that is known.
    pub fn place(&self) -> Option<&str> {
        self.0.place.as_deref()
    }

    /// Returns whether it has a fact of this label.
    pub fn has_fact(&self, label: &str) -> bool {
        self.0.facts.iter().any(|(known, _)| known == label)
    }

    /// Returns the indented lines between message and hints.
    pub fn body(&self) -> Vec<String> {
        let width = self.0.facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        let place = self.0.place.iter().map(|place| format!("at {place}"));
        let facts = self.0.facts.iter().map(|(label, value)| format!("{label:width$}  {value}"));
        let causes = self.0.causes.iter().flat_map(Cause::texts);
        let causes = causes.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        place.chain(facts).chain(causes).collect()
    }

    /// Returns the first error of a type among the causes.
    pub fn cause<E: Source + 'static>(&self) -> Option<&E> {
        let sources = self.0.causes.iter().filter_map(|cause| match cause {
            Cause::Words(_) => None,
            Cause::Source(source) => Some(source.as_ref()),
        });
        sources.flat_map(|source| chain(source)).find_map(|source| source.downcast_ref())
    }

    /// Returns the form that `--json` prints on stdout.
    pub fn to_json(&self) -> serde_json::Value {
        let message =
            std::iter::once(self.0.message.clone()).chain(self.body()).collect::<Vec<_>>().join("\n");
        serde_json::json!({"error": {
            "kind": self.0.code.unwrap_or(self.0.kind.name()),
            "message": message,
            "hints": self.0.hints,
        }})
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        for line in self.body() {
            write!(f, "\n  {line}")?;
        }
        for hint in &self.0.hints {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl Source for Error {
    fn source(&self) -> Option<&(dyn Source + 'static)> {
        self.0.causes.iter().find_map(|cause| match cause {
            Cause::Words(_) => None,
            Cause::Source(source) => Some(source.as_ref() as &(dyn Source + 'static)),
        })
    }
}

/// Turns an I/O failure into an error that names what was tried on which path.
pub fn io(doing: &str, path: &std::path::Path) -> impl Fn(std::io::Error) -> Error {
    let message = format!("cannot {doing} `{}`", path.display());
    move |error| Error::unavailable(message.clone()).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_place_facts_causes_and_hints_in_that_order() {
        let error = Error::locked("state of `k8s` is locked")
            .at("infra.yaml:3")
            .fact("holder", "dana")
            .fact("lock id", "6f0c")
            .detail("the run is alive")
            .hint("wait");

        assert_eq!(
            error.to_string(),
            "state of `k8s` is locked\n  at infra.yaml:3\n  holder   dana\n  lock id  6f0c\n  the run is alive\nhint: wait"
        );
        assert_eq!(error.exit(), Exit(75));
    }

    #[test]
    fn a_cause_that_repeats_the_one_below_it_is_told_once() {
        let below = std::io::Error::other("<Code>AccessDenied</Code>");
        let above = Error::failed("cannot try").because(Wrapped(below));

        assert_eq!(above.body(), ["Generic S3 error: <Code>AccessDenied</Code>"]);
    }

    #[test]
    fn a_cause_is_asked_as_a_value() {
        let busy = std::io::Error::from(std::io::ErrorKind::ExecutableFileBusy);

        let error = Error::failed("cannot start").detail("words").because(Wrapped(busy));

        let found = error.cause::<std::io::Error>().map(std::io::Error::kind);
        assert_eq!(found, Some(std::io::ErrorKind::ExecutableFileBusy));
        assert!(error.cause::<fmt::Error>().is_none());
    }

    #[derive(Debug)]
    struct Wrapped(std::io::Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "Generic S3 error: {}", self.0)
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn every_kind_has_the_exit_code_that_is_documented() {
        let codes = [
            (Kind::Failed, 1),
            (Kind::Usage, 64),
            (Kind::Invalid, 65),
            (Kind::Unavailable, 69),
            (Kind::Bug, 70),
            (Kind::Locked, 75),
            (Kind::Refused, 77),
            (Kind::Interrupted, 130),
        ];

        assert!(codes.into_iter().all(|(kind, code)| kind.exit() == Exit(code)));
    }

    #[test]
    fn the_json_form_names_the_code_before_the_kind() {
        let json = Error::failed("plan of `a` is stale").code("stale-plan").hint("plan again").to_json();

        assert_eq!(json["error"]["kind"], "stale-plan");
        assert_eq!(json["error"]["hints"][0], "plan again");
    }
}
