//! The origin check: whether a request comes from a page of another site in a browser.
//!
//! A page of any site can send requests to any server, and the browser adds the password that
//! its person once typed there. What a page cannot do is lie about where it comes from:
//! the browser says so in `Origin` and in `Sec-Fetch-Site`. Only the server's own page passes
//! (`same-origin`) and what a person typed (`none`). `same-site` does not: to a browser all
//! ports of one host and all names below one domain are one site, so that any other service
//! there would be let in, and nothing of this server lies elsewhere. Tools send neither.
//!
//! A server without users also looks at the `Host`, since any site can have its own name lead
//! to a loopback address.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Uri, header};

use super::login::Login;

/// Returns why the credentials of a request do not count, if so.
pub fn foreign_origin(login: &Login, uri: &Uri, headers: &HeaderMap) -> Option<String> {
    match login {
        Login::Open => foreign_host(uri, headers).or_else(|| foreign_page(headers)),
        Login::One(_) | Login::Users(_) => foreign_page(headers),
    }
}

/// Returns why a request is one of another site's page, if it is.
fn foreign_page(headers: &HeaderMap) -> Option<String> {
    let host = text_of(headers, &header::HOST).next().unwrap_or_default();
    let mut origins = text_of(headers, &header::ORIGIN);
    if let Some(origin) = origins.find(|origin| !is_origin_of(origin, host)) {
        return Some(format!("pages of `{origin}` may not use this server, which is `{host}`"));
    }
    let mut sites = text_of(headers, &HeaderName::from_static("sec-fetch-site"));
    let site = sites.find(|site| !matches!(*site, "same-origin" | "none"))?;
    Some(format!(
        "pages of another site (`{site}`) may not use this server: type its address instead of following a link"
    ))
}

/// Returns why a request does not name this machine itself, if it does not.
fn foreign_host(uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let named = uri.authority().map(Authority::as_str).into_iter();
    let mut hosts = named.chain(text_of(headers, &header::HOST));
    let host = hosts.find(|host| !is_loopback(host))?;
    Some(format!("without users this server answers to loopback names only, not to `{host}`"))
}

/// Returns the texts of a header; what is no text is told apart from what is missing.
fn text_of<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    headers.get_all(name).into_iter().map(|value| value.to_str().unwrap_or("?"))
}

/// Returns whether a page of this origin is one of this host. The scheme may be another, since a
/// proxy may have taken the encryption off; the port that goes with it may be left out.
fn is_origin_of(origin: &str, host: &str) -> bool {
    let (port, from) = match origin.split_once("://") {
        Some(("https", from)) => (":443", from),
        Some(("http", from)) => (":80", from),
        _ => return false,
    };
    let plain = |authority: &str| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
    !from.is_empty() && plain(from) == plain(host)
}

fn is_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use axum::http::request::Parts;

    use super::*;

    fn parts(headers: &[(&str, &str)]) -> Parts {
        let request = headers.iter().fold(Request::builder().uri("/states/a"), |request, (name, value)| {
            request.header(*name, *value)
        });
        request.body(()).expect("a request").into_parts().0
    }

    fn is_foreign(headers: &[(&str, &str)]) -> bool {
        foreign_page(&parts(headers).headers).is_some()
    }

    #[test]
    fn without_users_only_loopback_names_are_answered() {
        let is_strange = |host: &str| {
            let parts = parts(&[("host", host)]);
            foreign_host(&parts.uri, &parts.headers).is_some()
        };

        for host in ["127.0.0.1:8700", "localhost", "LOCALHOST:1", "[::1]:8700", "127.9.9.9"] {
            assert!(!is_strange(host), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8700",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "10.0.0.1",
            "",
        ] {
            assert!(is_strange(host), "{host}");
        }
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        assert!(!is_foreign(&[("host", "127.0.0.1:8700"), ("origin", "http://127.0.0.1:8700")]));
        for origin in
            ["http://evil.example", "null", "http://127.0.0.1:9999", "http://localhost:8700", "", "?"]
        {
            assert!(is_foreign(&[("host", "127.0.0.1:8700"), ("origin", origin)]), "{origin}");
        }
        assert!(is_foreign(&[("origin", "https://evil.example")]), "without a host nothing is the same");
        assert!(is_foreign(&[("origin", "https://")]));
        let two = [("host", "a"), ("origin", "http://a"), ("origin", "http://evil.example")];
        assert!(is_foreign(&two), "each origin counts");
    }

    #[test]
    fn its_own_page_is_served_behind_a_proxy_that_takes_the_encryption_off() {
        for (host, origin) in [
            ("states.example", "https://states.example"),
            ("states.example:443", "https://states.example"),
            ("STATES.example", "https://states.example:443"),
            ("states.example:8443", "https://states.example:8443"),
            ("states.example", "http://states.example:80"),
        ] {
            assert!(!is_foreign(&[("host", host), ("origin", origin)]), "{host} {origin}");
        }
        assert!(is_foreign(&[("host", "states.example:80"), ("origin", "https://states.example:81")]));
    }

    #[test]
    fn what_the_browser_calls_another_site_is_refused() {
        for (site, expected) in
            [("none", false), ("same-origin", false), ("same-site", true), ("cross-site", true), ("x", true)]
        {
            assert_eq!(is_foreign(&[("host", "a"), ("sec-fetch-site", site)]), expected, "{site}");
        }
        assert!(is_foreign(&[("host", "a"), ("origin", "http://a"), ("sec-fetch-site", "cross-site")]));
    }
}
