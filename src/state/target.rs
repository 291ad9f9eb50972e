//! What a request is about: turns its path and query into a state, a lock or the health.
//!
//! Works on the path as it was sent: decoding comes after splitting, never before.

use axum::http::Uri;
use jiff::Timestamp;

use super::{StateName, percent};
use crate::error::{Error, Result};

/// What stands before the name of a state.
const STATES: &str = "/states/";

/// What stands before the name of a state whose copy is meant.
const COPIES: &str = "/applied/";

/// What stands before the name of a state whose status is meant.
const STATUS: &str = "/status/";

/// The thing a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// `/`
    Page,
    /// `/health`
    Health,
    /// `/metrics`
    Metrics,
    /// `/states`
    All,
    /// `/states/<name>`
    State(StateName),
    /// `/states/<name>/lock`
    Lock(StateName),
    /// `/applied`
    Copies,
    /// `/applied/<name>`
    Copy(StateName),
    /// `/status/<name>`
    Status(StateName),
    /// Any other path.
    Nothing,
}

impl Target {
    /// Reads a path; a state name that is not safe is an error.
    ///
    /// States may lie below a prefix, such as `/tfstate/states/<name>`: the first of these words counts.
    pub fn of(path: &str) -> Result<Self> {
        let found = [STATES, COPIES, STATUS].into_iter().filter_map(|word| Some((path.find(word)?, word)));
        let Some((start, word)) = found.min() else { return Ok(Self::other(path)) };
        let path = &path[start + word.len()..];
        match (word, path.strip_suffix("/lock")) {
            (COPIES, _) => StateName::from_url_path(path).map(Self::Copy),
            (STATUS, _) => StateName::from_url_path(path).map(Self::Status),
            (_, Some(path)) => StateName::from_url_path(path).map(Self::Lock),
            (_, None) => StateName::from_url_path(path).map(Self::State),
        }
    }

    fn other(path: &str) -> Self {
        // At most one segment before it, where a server is mounted below a prefix.
        let last = match path.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
            [last] | [_, last] => last,
            _ => return Self::Nothing,
        };
        match last {
            "" => Self::Page,
            "health" => Self::Health,
            "metrics" => Self::Metrics,
            "states" => Self::All,
            "applied" => Self::Copies,
            _ => Self::Nothing,
        }
    }
}

/// Returns the value of a key in the query, decoded; `""` for a key without a value.
pub(super) fn query(uri: &Uri, wanted: &str) -> Result<Option<String>> {
    let pairs = uri.query().unwrap_or_default().split('&');
    let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let Some((_, value)) = pairs.find(|(key, _)| *key == wanted) else { return Ok(None) };
    let value = percent::decode(&value.replace('+', " "));
    let broken = || Error::invalid(format!("the percent-encoding of the query's `{wanted}` is broken"));
    value.map(Some).ok_or_else(broken)
}

/// Returns the lock id in the query, where there is one.
pub(super) fn lock_id(uri: &Uri) -> Result<Option<String>> {
    Ok(query(uri, "ID")?.filter(|id| !id.is_empty()))
}

/// Returns the time in the query at which a version was written elsewhere, where there is one.
pub(super) fn time_of(uri: &Uri) -> Result<Option<Timestamp>> {
    let Some(text) = query(uri, "at")? else { return Ok(None) };
    let broken = |error| Error::invalid("the query's `at` is no time: RFC 3339 is expected").because(error);
    text.parse().map(Some).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> StateName {
        StateName::parse(text).expect("a valid path")
    }

    #[test]
    fn a_path_names_a_state_or_its_lock() {
        assert_eq!(Target::of("/health").expect("a valid path"), Target::Health);
        assert_eq!(Target::of("/states/a/b%20c").expect("a valid path"), Target::State(name("a/b c")));
        assert_eq!(Target::of("/states/a/lock").expect("a valid path"), Target::Lock(name("a")));
        assert_eq!(Target::of("/states/a/lock/lock").expect("a valid path"), Target::Lock(name("a/lock")));
        assert_eq!(Target::of("/states").expect("a valid path"), Target::All);
        assert!(Target::of("/states/").is_err());
        assert!(Target::of("/states//lock").is_err());
    }

    #[test]
    fn a_server_may_lie_below_a_prefix() {
        for (path, target) in [
            ("/tfstate/states/a/lock", Target::Lock(name("a"))),
            ("/tfstate/states/a/states/b", Target::State(name("a/states/b"))),
            ("/states/a/states/b", Target::State(name("a/states/b"))),
            ("/tfstate/applied/a/states/b", Target::Copy(name("a/states/b"))),
            ("/states/a/applied/b", Target::State(name("a/applied/b"))),
            ("/tfstate/status/a/states/lock", Target::Status(name("a/states/lock"))),
            ("/states/a/status/b", Target::State(name("a/status/b"))),
            ("/tfstate/applied", Target::Copies),
            ("/tfstate/health", Target::Health),
            ("/tfstate/", Target::Page),
            ("/", Target::Page),
            ("/a/b/health", Target::Nothing),
            ("/nothing", Target::Nothing),
        ] {
            assert_eq!(Target::of(path).expect("a valid path"), target, "{path}");
        }
    }

    #[test]
    fn every_name_leads_back_to_itself() {
        for text in ["a", "lock", "a/lock", "lock/lock", "a/@log", "ü/100% #1?", "a+b", "_root"] {
            let name = name(text);
            assert_eq!(Target::of(&name.url_path()).expect("a valid path"), Target::State(name.clone()));
            assert_eq!(Target::of(&name.lock_url_path()).expect("a valid path"), Target::Lock(name));
        }
    }

    #[test]
    fn the_lock_id_is_read_from_the_query() {
        let id = |query: &str| lock_id(&format!("/states/a{query}").parse().expect("a valid path"));

        assert_eq!(id("?x=1&ID=a%2Db+c").expect("a valid path").as_deref(), Some("a-b c"));
        assert_eq!(id("?ID=").expect("a valid path"), None);
        assert_eq!(id("").expect("a valid path"), None);
        assert!(id("?ID=%zz").is_err());
    }
}
