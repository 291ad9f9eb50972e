//! The names of hosts as they stand in addresses and settings, in the one form in which they are compared.

use std::fmt;

use reqwest::Url;

/// The port that needs no mention.
const USUAL_PORT: u16 = 443;

/// A host that serves providers or modules: lower case, international names in their ASCII form, with its
/// port where that is not the usual one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Host(String);

impl Host {
    /// Reads a name as a person writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let is_encoded = |label: &str| label.to_ascii_lowercase().starts_with("xn--");
        // OpenTofu takes the readable form alone in addresses.
        if text.split('.').any(is_encoded) { None } else { Self::in_any_form(text) }
    }

    /// Reads a name that may be in its ASCII form already, as in the name of a variable.
    pub fn in_any_form(text: &str) -> Option<Self> {
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse::<u16>().ok()?)),
            None => (text, None),
        };
        let is_sign = |sign: char| sign.is_alphanumeric() || sign == '-' || sign == '.' || !sign.is_ascii();
        if name.split('.').any(str::is_empty) || !name.chars().all(is_sign) {
            return None;
        }
        let url = Url::parse(&format!("https://{name}/")).ok()?;
        let name = url.host_str()?;
        let port = port.filter(|port| *port != USUAL_PORT);
        Some(Self(port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))))
    }

    /// Returns the host that a URL leads to.
    pub fn of(url: &Url) -> Option<Self> {
        let port = url.port_or_known_default().unwrap_or(USUAL_PORT);
        Self::in_any_form(&format!("{}:{port}", url.host_str()?))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        Host::parse(text).map(|host| host.to_string())
    }

    #[test]
    fn hosts_are_compared_in_one_form() {
        assert_eq!(read("Example.COM:443").as_deref(), Some("example.com"));
        assert_eq!(read("localhost:8443").as_deref(), Some("localhost:8443"));
        assert_eq!(read("café.fr").as_deref(), Some("xn--caf-dma.fr"));
        assert_eq!(Host::in_any_form("xn--caf-dma.fr"), Host::parse("café.fr"));
    }

    #[test]
    fn what_is_no_name_of_a_host_is_none() {
        for text in ["", "a..b", "a/b", "u@h", "h?x", "h:port", "h:99999", "xn--caf-dma.fr", "a b", "h#"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
