//! One password, trimmed as `ansible-vault` trims it and forgotten on drop.
//!
//! What a file holds loses the white space around it, what a script prints only its line
//! ends. An empty password is none.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// A password; clones share the bytes.
#[derive(Clone)]
pub(super) struct Password(Arc<Zeroizing<Vec<u8>>>);

impl Password {
    /// Takes what a file, a variable or a person gave.
    pub fn from_text(bytes: &[u8]) -> Option<Self> {
        Self::new(trim(bytes, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)))
    }

    /// Takes what a script printed, or a file that was a vault held.
    pub fn from_output(bytes: &[u8]) -> Option<Self> {
        Self::new(trim(bytes, |byte| matches!(byte, b'\n' | b'\r')))
    }

    fn new(bytes: &[u8]) -> Option<Self> {
        (!bytes.is_empty()).then(|| Self(Arc::new(Zeroizing::new(bytes.to_vec()))))
    }

    /// Returns the bytes that keys are made from.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Shows nothing of it.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

fn trim(bytes: &[u8], outside: impl Fn(u8) -> bool) -> &[u8] {
    let Some(start) = bytes.iter().position(|byte| !outside(*byte)) else { return &[] };
    let end = bytes.iter().rposition(|byte| !outside(*byte)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(password: Option<Password>) -> Option<String> {
        password.map(|password| String::from_utf8_lossy(password.bytes()).into_owned())
    }

    #[test]
    fn a_file_loses_white_space_and_a_script_only_line_ends() {
        let text = b" \t pass word \x0b\r\n";

        assert_eq!(bytes(Password::from_text(text)).as_deref(), Some("pass word"));
        assert_eq!(bytes(Password::from_output(text)).as_deref(), Some(" \t pass word \u{b}"));
    }

    #[test]
    fn an_empty_password_is_none() {
        assert!(Password::from_text(b" \n").is_none());
        assert!(Password::from_output(b"\r\n").is_none());
        assert!(Password::from_output(b" \n").is_some());
    }

    #[test]
    fn a_password_never_shows_itself() {
        assert_eq!(format!("{:?}", Password::from_text(b"hunter2")), "Some(Password(…))");
    }
}
