//! What a request is about: turns its path and query into a state, a lock or the health.
//!
//! Works on the path as it was sent: decoding comes after splitting, never before.

use axum::http::Uri;

use super::{StateName, percent};
use crate::error::{Error, Result};

/// The thing a path names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// `/health`
    Health,
    /// `/states/<name>`
    State(StateName),
    /// `/states/<name>/lock`
    Lock(StateName),
    /// Any other path.
    Nothing,
}

impl Target {
    /// Reads a path; a state name that is not safe is an error.
    pub fn of(path: &str) -> Result<Self> {
        if path == "/health" {
            return Ok(Self::Health);
        }
        let Some(path) = path.strip_prefix("/states/") else { return Ok(Self::Nothing) };
        match path.strip_suffix("/lock") {
            Some(path) => StateName::from_url_path(path).map(Self::Lock),
            None => StateName::from_url_path(path).map(Self::State),
        }
    }
}

/// Returns the lock id in the query, where there is one.
pub(super) fn lock_id(uri: &Uri) -> Result<Option<String>> {
    let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let Some((_, value)) = pairs.into_iter().find(|(key, _)| *key == "ID") else { return Ok(None) };
    let id = percent::decode(&value.replace('+', " "))
        .ok_or_else(|| Error::invalid("the percent-encoding of the query's `ID` is broken"))?;
    Ok(Some(id).filter(|id| !id.is_empty()))
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
        assert_eq!(Target::of("/states").expect("a valid path"), Target::Nothing);
        assert!(Target::of("/states/").is_err());
        assert!(Target::of("/states//lock").is_err());
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
