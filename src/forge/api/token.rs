//! The token of a forge: sent in one header, never shown.

use std::fmt;

use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

use crate::error::{Error, Kind, Result};

/// A secret that opens the API of a forge.
#[derive(Clone)]
pub struct Token {
    text: Zeroizing<String>,
    variable: String,
}

impl Token {
    /// Takes over the value of a variable; line breaks around it come from files and are no part of it.
    pub fn new(variable: &str, text: &str) -> Self {
        Self { text: Zeroizing::new(text.trim().to_owned()), variable: variable.to_owned() }
    }

    /// Returns the variable that it came from.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Returns the value of the header that shows it, behind these words.
    pub fn header(&self, before: &str) -> Result<HeaderValue> {
        let text = Zeroizing::new(format!("{before}{}", self.text.as_str()));
        // The error of the header would repeat nothing, but is not asked to promise it.
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            Error::new(Kind::Refused, format!("`{}` holds what no token can hold", self.variable))
                .detail("it has a line break or another control character in it")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Shows where it is from, and nothing of it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({})", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new("GITHUB_TOKEN", "ghp_canary\n");

        let shown = format!("{token:?} {:?}", token.header("Bearer ").expect("a header"));

        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn what_is_no_token_is_refused_without_showing_it() {
        let error = Token::new("GITLAB_TOKEN", "one\ntwo").header("").expect_err("two lines");

        assert!(error.to_string().contains("GITLAB_TOKEN") && !error.to_string().contains("two"), "{error}");
    }
}
