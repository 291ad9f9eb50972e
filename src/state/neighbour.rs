//! Whether a request to a server without users comes from this machine's own tools, and not
//! from a page in its browser.
//!
//! A page of any site can send requests to a loopback address, or have its own name lead
//! there. What it cannot do is lie about the `Host` it names and the `Origin` it has.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, header};

/// Returns why a request is not one of this machine's own, if it is not.
pub(super) fn strangeness(parts: &Parts) -> Option<String> {
    let named = parts.uri.authority().map(Authority::as_str).into_iter();
    for host in named.chain(text_of(&parts.headers, &header::HOST)) {
        if !is_loopback(host) {
            return Some(format!(
                "without users this server answers to loopback names only, not to `{host}`"
            ));
        }
    }
    let origin = text_of(&parts.headers, &header::ORIGIN)?;
    let from = origin.split_once("://").map_or(origin, |(_, from)| from);
    let host = text_of(&parts.headers, &header::HOST).unwrap_or_default();
    (!from.eq_ignore_ascii_case(host)).then(|| format!("pages of `{origin}` may not use this server"))
}

/// Returns the text of a header; what is no text is told apart from what is missing.
fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn is_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn is_strange(host: &str, origin: Option<&str>) -> bool {
        let mut request = Request::builder().uri("/states/a").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        strangeness(&request.body(()).expect("a request").into_parts().0).is_some()
    }

    #[test]
    fn only_loopback_names_are_answered() {
        for host in ["127.0.0.1:8700", "localhost", "LOCALHOST:1", "[::1]:8700", "127.9.9.9"] {
            assert!(!is_strange(host, None), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8700",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "10.0.0.1",
            "",
        ] {
            assert!(is_strange(host, None), "{host}");
        }
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        assert!(!is_strange("127.0.0.1:8700", Some("http://127.0.0.1:8700")));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8700"] {
            assert!(is_strange("127.0.0.1:8700", Some(origin)), "{origin}");
        }
    }
}
