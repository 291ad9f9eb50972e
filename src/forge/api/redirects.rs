//! Where a redirect leads, and whether the token goes along.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{StatusCode, Url};

/// How many redirects are followed.
pub const MOST: usize = 10;

/// Returns where an answer sends the same request.
pub fn target_of(status: StatusCode, headers: &HeaderMap, from: &Url) -> Option<Url> {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 307 | 308);
    let location = headers.get(LOCATION).filter(|_| is_redirect)?.to_str().ok()?;
    from.join(location).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Returns whether a token that is meant for one address may be sent to another.
///
/// The same host with encryption where there was none is the same server; another port may be another.
pub fn may_see_token(root: &Url, url: &Url) -> bool {
    let same_port =
        root.scheme() == url.scheme() && root.port_or_known_default() == url.port_or_known_default();
    let gains_encryption = root.scheme() == "http"
        && url.scheme() == "https"
        && root.port_or_known_default() == Some(80)
        && url.port_or_known_default() == Some(443);
    root.host() == url.host() && (same_port || gains_encryption)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn a_token_stays_with_its_host() {
        let root = url("https://git.example/api/v1");

        assert!(may_see_token(&root, &url("https://git.example:443/elsewhere")));
        for other in [
            "https://evil.example/",
            "https://git.example:8443/",
            "http://git.example/",
            "https://git.example.evil/",
        ] {
            assert!(!may_see_token(&root, &url(other)), "{other}");
        }
        assert!(may_see_token(&url("http://git.example/"), &url("https://git.example/")));
    }

    #[test]
    fn only_redirects_that_keep_the_method_are_followed() {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, "/repositories/7".parse().expect("a value"));
        let from = url("https://h/api/v3/repos/a/b");

        assert_eq!(
            target_of(StatusCode::MOVED_PERMANENTLY, &headers, &from),
            Some(url("https://h/repositories/7"))
        );
        assert_eq!(target_of(StatusCode::SEE_OTHER, &headers, &from), None);
        headers.insert(LOCATION, "file:///etc/passwd".parse().expect("a value"));
        assert_eq!(target_of(StatusCode::FOUND, &headers, &from), None);
    }
}
