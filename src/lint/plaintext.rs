//! Which literal texts are secrets in the clear: by the name that they stand under, or by their shape.
//! What it says about one never holds the text. Begin at [`suspicion`].

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Names of secrets end with one of these.
const NAMES: [&str; 6] = ["password", "passwd", "secret", "token", "api_key", "private_key"];

/// A shorter text is a placeholder, or no secret worth the name.
const SHORTEST: usize = 8;

/// Without any of these there is no secret in a file.
const TRACES: [&str; 11] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "private",
    "akia",
    "ghp_",
    "age-secret-key-",
];

static TRACES_IN_ONE: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(TRACES).ok());

/// Returns whether a part of a file can hold a secret at all.
pub fn may_hold_secrets(text: &str) -> bool {
    TRACES_IN_ONE.as_ref().is_none_or(|traces| traces.is_match(text))
}

/// Why a text is taken for a secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Suspicion {
    /// It stands under such a name.
    Name,
    /// It looks like this.
    Shape(&'static str),
}

/// Returns why a text is a secret in the clear.
///
/// `said` is what it says, none where something is filled in; `written` is how it stands in the file.
pub fn suspicion(name: Option<&str>, said: Option<&str>, written: &str) -> Option<Suspicion> {
    if let Some(shape) = shape(said, written) {
        return Some(Suspicion::Shape(shape));
    }
    let is_long = said.is_some_and(|said| said.trim().chars().count() >= SHORTEST);
    let is_sealed = said.is_some_and(|said| said.starts_with("ENC["));
    (is_long && !is_sealed && name.is_some_and(is_name_of_secret)).then_some(Suspicion::Name)
}

/// Returns whether a name is that of a secret, in whatever letters.
pub fn is_name_of_secret(name: &str) -> bool {
    let plain = plain_name(name);
    NAMES.iter().any(|end| plain.ends_with(end))
}

/// Returns a name in small letters with `_` between its words: `apiKey` and `API-KEY` are `api_key`.
fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            plain.push('_');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        plain.push(if letter == '-' { '_' } else { letter.to_ascii_lowercase() });
    }
    plain
}

/// Returns what kind of secret a text looks like. A whole key stays one where something else is filled in.
fn shape(said: Option<&str>, written: &str) -> Option<&'static str> {
    let text = said.unwrap_or(written);
    let upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let any = |byte: u8| byte.is_ascii_alphanumeric();
    if has_key(text, "AKIA", 16, upper) {
        return Some("an access key of AWS");
    }
    if has_key(text, "ghp_", 16, any) {
        return Some("a token of GitHub");
    }
    if has_key(text, "AGE-SECRET-KEY-1", 16, any) || has_key(text, "age-secret-key-1", 16, any) {
        return Some("an age key");
    }
    said.filter(|said| has_private_key(said)).map(|_| "a private key")
}

/// Returns whether a text has a word that begins so and goes on with at least as many letters.
fn has_key(text: &str, start: &str, least: usize, is_in: impl Fn(u8) -> bool) -> bool {
    text.match_indices(start).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        let begins = before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let rest = text.as_bytes().get(at + start.len()..).unwrap_or_default();
        begins && rest.iter().take_while(|byte| is_in(**byte)).count() >= least
    })
}

/// Returns whether a text has a private key in PEM: its heading, and something below it. An encrypted one
/// is no secret in the clear.
fn has_private_key(text: &str) -> bool {
    text.match_indices("-----BEGIN ").any(|(at, start)| {
        let rest = text.get(at + start.len()..).unwrap_or_default();
        let Some((kind, below)) = rest.split_once("-----") else { return false };
        let is_key = kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK");
        let body = below.trim_start_matches(|sign: char| sign.is_whitespace());
        let body = body.trim_start_matches("\\n");
        is_key
            && !kind.contains("ENCRYPTED")
            && !below.contains("ENCRYPTED")
            && body.starts_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '+' || sign == '/')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(name: &str, said: &str) -> Option<Suspicion> {
        suspicion(Some(name), Some(said), said)
    }

    #[test]
    fn a_long_text_under_the_name_of_a_secret_is_one() {
        for name in ["password", "DB_PASSWORD", "root_passwd", "clientSecret", "api-key", "apiKey", "x_TOKEN"]
        {
            assert_eq!(under(name, "hunter22"), Some(Suspicion::Name), "{name}");
        }
        for name in
            ["password_file", "token_path", "secret_name", "token_ttl", "password_length", "user", "api_keys"]
        {
            assert_eq!(under(name, "hunter2222"), None, "{name}");
        }
        assert_eq!((under("password", "hunter2"), under("password", "       x\n")), (None, None));
        assert_eq!(suspicion(Some("password"), None, "\"abc${var.x}defgh\""), None);
        assert_eq!(under("password", "ENC[AES256_GCM,data:x]"), None);
    }

    #[test]
    fn a_key_is_known_by_its_shape_wherever_it_stands() {
        let ghp = format!("ghp_{}", "a1".repeat(18));
        let age = format!("AGE-SECRET-KEY-1{}", "Q".repeat(58));
        for (text, what) in [
            ("x AKIAIOSFODNN7EXAMPLE", "AWS"),
            (ghp.as_str(), "GitHub"),
            (age.as_str(), "age key"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END", "private key"),
            ("-----BEGIN PRIVATE KEY-----\nMIIE\n", "private key"),
        ] {
            match under("x", text) {
                Some(Suspicion::Shape(shape)) => assert!(shape.contains(what), "{shape}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in [
            "AKIAshort",
            "ghp_",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE",
            "-----BEGIN PUBLIC KEY-----\nMIIE",
            "MAKIAIOSFODNN7EXAMPLE",
        ] {
            assert_eq!(under("x", text), None, "{text}");
        }
    }

    #[test]
    fn every_name_and_shape_leaves_a_trace() {
        for name in NAMES.iter().chain(&["apiKey", "PRIVATE-KEY", "AKIA", "ghp_", "AGE-SECRET-KEY-1"]) {
            assert!(may_hold_secrets(name), "{name}");
        }
        assert!(!may_hold_secrets("resource \"x\" \"y\" {}"));
    }
}
