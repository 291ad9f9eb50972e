//! What the query of a request says: a lock, a version, a time.

use axum::http::Uri;
use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::state::percent;

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

    #[test]
    fn the_lock_id_is_read_from_the_query() {
        let id = |query: &str| lock_id(&format!("/states/a{query}").parse().expect("a valid path"));

        assert_eq!(id("?x=1&ID=a%2Db+c").expect("a valid path").as_deref(), Some("a-b c"));
        assert_eq!(id("?ID=").expect("a valid path"), None);
        assert_eq!(id("").expect("a valid path"), None);
        assert!(id("?ID=%zz").is_err());
    }
}
