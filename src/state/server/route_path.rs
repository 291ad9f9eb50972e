//! From the path of a request to the path of its route.
//!
//! The router of the http library knows one wildcard, at the end of a path. Two things of the
//! protocol do not fit: a server may be mounted below any prefix, and `/lock` follows the name of
//! a state, which has any number of segments. Both are brought into a form that it knows.
//!
//! Works on the path as it was sent: decoding comes after splitting, never before.

use std::borrow::Cow;

/// The route of a state's lock, which no client can name: see [`route_path`].
pub(super) const LOCKS: &str = "/locks/";

/// What stands before the name of a state.
pub(super) const STATES: &str = "/states/";

/// What stands before the name of a state whose copy is meant.
pub(super) const COPIES: &str = "/applied/";

/// What stands before the name of a state whose status is meant.
pub(super) const STATUS: &str = "/status/";

/// No route has it.
const NOWHERE: &str = "/-";

/// Returns the path of the route for the path of a request.
///
/// States may lie below a prefix, such as `/tfstate/states/<name>`: the first of these words counts.
/// Every path that is none of the protocol becomes one without a route.
pub(super) fn route_path(path: &str) -> Cow<'_, str> {
    let found = [STATES, COPIES, STATUS].into_iter().filter_map(|word| Some((path.find(word)?, word)));
    let Some((start, word)) = found.min() else { return Cow::Borrowed(path_without_name(path)) };
    match path[start + word.len()..].strip_suffix("/lock") {
        Some(name) if word == STATES => Cow::Owned(format!("{LOCKS}{name}")),
        _ => Cow::Borrowed(&path[start..]),
    }
}

fn path_without_name(path: &str) -> &'static str {
    // At most one segment before it, where a server is mounted below a prefix.
    let last = match path.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
        [last] | [_, last] => last,
        _ => return NOWHERE,
    };
    match last {
        "" => "/",
        "health" => "/health",
        "metrics" => "/metrics",
        "states" => "/states",
        "applied" => "/applied",
        _ => NOWHERE,
    }
}

/// Returns the name of a state, still encoded, in the path of a route.
pub(super) fn encoded_name(route: &str) -> &str {
    let without_root = route.strip_prefix('/').unwrap_or(route);
    without_root.split_once('/').map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::state::StateName;

    fn name(text: &str) -> StateName {
        StateName::parse(text).expect("a valid path")
    }

    /// Returns the route without the name, and the name.
    fn target(path: &str) -> Result<(String, StateName)> {
        let route = route_path(path);
        let encoded = encoded_name(&route);
        StateName::from_url_path(encoded).map(|name| (route.trim_end_matches(encoded).to_owned(), name))
    }

    #[test]
    fn a_path_names_a_state_or_its_lock() {
        let found = |path: &str| target(path).expect("a valid path");

        assert_eq!(route_path("/health"), "/health");
        assert_eq!(found("/states/a/b%20c"), (STATES.to_owned(), name("a/b c")));
        assert_eq!(found("/states/a/lock"), (LOCKS.to_owned(), name("a")));
        assert_eq!(found("/states/a/lock/lock"), (LOCKS.to_owned(), name("a/lock")));
        assert_eq!(found("/states/lock"), (STATES.to_owned(), name("lock")));
        assert_eq!(route_path("/states"), "/states");
        assert!(target("/states/").is_err());
        assert!(target("/states//lock").is_err());
    }

    #[test]
    fn a_server_may_lie_below_a_prefix() {
        for (path, route) in [
            ("/tfstate/states/a/lock", "/locks/a"),
            ("/tfstate/states/a/states/b", "/states/a/states/b"),
            ("/states/a/states/b", "/states/a/states/b"),
            ("/tfstate/applied/a/states/b", "/applied/a/states/b"),
            ("/states/a/applied/b", "/states/a/applied/b"),
            ("/tfstate/status/a/states/lock", "/status/a/states/lock"),
            ("/states/a/status/b", "/states/a/status/b"),
            ("/tfstate/applied", "/applied"),
            ("/tfstate/health", "/health"),
            ("/tfstate/", "/"),
            ("/", "/"),
            ("/a/b/health", NOWHERE),
            ("/nothing", NOWHERE),
        ] {
            assert_eq!(route_path(path), route, "{path}");
        }
    }

    #[test]
    fn no_client_names_the_route_of_a_lock_itself() {
        for path in ["/locks/a", "/x/locks/a", "/locks/a/b/c", "/-", "/%2D"] {
            assert_eq!(route_path(path), NOWHERE, "{path}");
        }
        assert_eq!(route_path("/locks/"), "/", "a server below a prefix");
    }

    #[test]
    fn every_name_leads_back_to_itself() {
        for text in ["a", "lock", "a/lock", "lock/lock", "a/@log", "ü/100% #1?", "a+b", "_root"] {
            let name = name(text);
            let found = |path: &str| target(path).expect("a valid path");
            assert_eq!(found(&name.url_path()), (STATES.to_owned(), name.clone()));
            assert_eq!(found(&name.lock_url_path()), (LOCKS.to_owned(), name));
        }
    }
}
