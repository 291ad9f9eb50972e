//! The name of a state: a validated path of safe segments, with one URL and one place
//! in a store.
//!
//! A name is checked when it is made, so everything behind it may build paths from it
//! without looking again. Nothing here touches a disk. Begin at [`StateName::parse`].
//!
//! Two collisions are excluded by the encodings. In a store, a state lives below
//! `<name>/@log/`, and `@` never occurs in an encoded segment: `a`, `a/b` and `a/@log`
//! keep apart. In a URL, `<name>/lock` is the lock, so a last segment that is itself
//! called `lock` is written `%6Cock`; the server looks at the path before decoding it.

use std::fmt;

use super::percent;
use crate::error::{Error, Result};
use crate::model::{is_zero_width, turns_text};

/// The most bytes a segment may have once encoded: file systems stop at 255, and the
/// store's temporary files append to the name.
const LONGEST_SEGMENT: usize = 200;

/// The most bytes a name may have once encoded: bucket keys stop at 1024.
const LONGEST_NAME: usize = 900;

/// The folder that holds the entries of a state.
pub(super) const LOG: &str = "@log";

/// The last segment of the key of a copy.
const COPY: &str = "@copy";

/// The last segment of a lock's URL.
const LOCK: &str = "lock";

/// A validated state name such as `02-platforms/k8s-prod`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StateName(String);

impl StateName {
    /// Makes a name from segments with `/` between them.
    pub fn parse(text: &str) -> Result<Self> {
        let total: usize = text.split('/').map(|segment| key_segment(segment).len() + 1).sum();
        if total > LONGEST_NAME {
            return Err(refused(text, format!("it is longer than {LONGEST_NAME} bytes")));
        }
        match text.split('/').find_map(flaw_of) {
            Some(flaw) => Err(refused(text, flaw)),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// Makes a name from the percent-encoded segments of a request path.
    pub(super) fn from_url_path(path: &str) -> Result<Self> {
        let segments: Option<Vec<String>> = path.split('/').map(percent::decode).collect();
        let Some(segments) = segments else {
            return Err(refused(path, "its percent-encoding is broken"));
        };
        // An escaped slash would otherwise smuggle a segment past the check of each one.
        if segments.iter().any(|segment| segment.contains('/')) {
            return Err(refused(path, "a segment contains `/`"));
        }
        Self::parse(&segments.join("/"))
    }

    /// Makes a name from the key of its log in a store; `None` for a key that is none.
    pub(super) fn from_log_key(key: &str) -> Option<Self> {
        Self::from_key(key, LOG)
    }

    /// Makes a name from the key of a copy in a store; `None` for a key that is none.
    pub(super) fn from_copy_key(key: &str) -> Option<Self> {
        Self::from_key(key, COPY)
    }

    fn from_key(key: &str, last: &str) -> Option<Self> {
        let encoded = key.strip_suffix(last)?.strip_suffix('/')?;
        let segments: Option<Vec<String>> = encoded.split('/').map(percent::decode).collect();
        Self::parse(&segments?.join("/")).ok()
    }

    /// Returns the key of its log in a store.
    pub(super) fn log_key(&self) -> String {
        self.key(LOG)
    }

    /// Returns the key of a copy of what was applied to it.
    pub(super) fn copy_key(&self) -> String {
        self.key(COPY)
    }

    fn key(&self, last: &str) -> String {
        let mut key: Vec<String> = self.0.split('/').map(key_segment).collect();
        key.push(last.to_owned());
        key.join("/")
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the state on a server: `/states/<name>`, percent-encoded.
    pub fn url_path(&self) -> String {
        let encode = |segment: &str| percent::encode(segment, percent::is_unreserved);
        let (parents, last) = match self.0.rsplit_once('/') {
            Some((parents, last)) => (parents.split('/').map(|part| encode(part) + "/").collect(), last),
            None => (String::new(), self.0.as_str()),
        };
        let last = if last == LOCK { "%6Cock".to_owned() } else { encode(last) };
        format!("/states/{parents}{last}")
    }

    /// Returns the path of the state's lock on a server: `/states/<name>/lock`.
    pub fn lock_url_path(&self) -> String {
        format!("{}/{LOCK}", self.url_path())
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns whether a folder at the top of a store holds something else than states.
pub(super) fn is_apart(folder: &str) -> bool {
    folder.starts_with('@')
}

/// Returns whether a folder name in a store is that of a log.
pub(super) fn is_log(folder: &str) -> bool {
    folder == LOG
}

/// Returns a segment as it stands in a key: letters of any script stay readable.
fn key_segment(segment: &str) -> String {
    percent::encode(segment, |character| {
        !character.is_ascii()
            || character.is_ascii_alphanumeric()
            || matches!(character, '-' | '.' | '_' | ' ')
    })
}

fn flaw_of(segment: &str) -> Option<String> {
    if segment.is_empty() {
        return Some("a segment is empty".to_owned());
    }
    if matches!(segment, "." | "..") {
        return Some(format!("`{segment}` is not a segment"));
    }
    if segment.chars().any(char::is_control) {
        return Some("a segment contains a control character".to_owned());
    }
    if segment.chars().any(|character| turns_text(character) || is_zero_width(character)) {
        return Some("a segment contains a character that nobody sees".to_owned());
    }
    if segment.contains('\\') {
        return Some("a segment contains a backslash".to_owned());
    }
    (key_segment(segment).len() > LONGEST_SEGMENT)
        .then(|| format!("a segment is longer than {LONGEST_SEGMENT} bytes"))
}

fn refused(text: &str, flaw: impl Into<String>) -> Error {
    let shown: String = text.escape_debug().take(120).collect();
    Error::invalid(format!("`{shown}` is not a state name"))
        .detail(flaw)
        .hint("a state name is made of segments such as `02-platforms/k8s-prod`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_and_letters_of_any_script_are_allowed() {
        let name = StateName::parse("01-größe/東京 one").expect("a valid name");

        assert_eq!(name.url_path(), "/states/01-gr%C3%B6%C3%9Fe/%E6%9D%B1%E4%BA%AC%20one");
        assert_eq!(name.log_key(), "01-größe/東京 one/@log");
        assert_eq!(StateName::from_log_key(&name.log_key()), Some(name));
    }

    #[test]
    fn a_path_that_climbs_or_hides_is_refused() {
        let long = "x".repeat(LONGEST_SEGMENT + 1);
        for path in
            ["", "/", "a//b", "/a", "a/", ".", "a/..", "%2e%2e/a", "a%2fb", "a%00", "a%0ab", "a%5Cb", "%f"]
        {
            assert!(StateName::from_url_path(path).is_err(), "{path}");
        }
        assert!(StateName::parse(&long).is_err());
        assert!(StateName::parse(&["x"; 500].join("/")).is_err());
    }

    #[test]
    fn the_refusal_says_what_is_wrong_without_raw_control_characters() {
        let error = StateName::parse("a\u{1b}[2J/b").expect_err("refused").to_string();

        assert!(error.starts_with("`a\\u{1b}[2J/b` is not a state name"), "{error}");
        assert!(error.contains("control character"), "{error}");
    }

    #[test]
    fn a_name_that_looks_like_another_is_refused() {
        for sign in
            ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200e}', '\u{200f}', '\u{200b}', '\u{feff}']
        {
            let error = StateName::parse(&format!("a/{sign}b")).expect_err("refused").to_string();

            assert!(error.contains("nobody sees") && !error.contains(sign), "{error}");
        }
    }

    #[test]
    fn a_state_called_lock_or_like_the_log_collides_with_nothing() {
        let lock = StateName::parse("a/lock").expect("a valid name");
        let log = StateName::parse("a/@log").expect("a valid name");

        assert_ne!(lock.url_path(), StateName::parse("a").expect("a valid name").lock_url_path());
        assert_eq!(StateName::from_url_path("a/%6Cock").expect("a valid name"), lock);
        assert_eq!(log.log_key(), "a/%40log/@log");
        assert_eq!(StateName::from_log_key("a/%40log/@log"), Some(log));
    }
}
