//! The text form of a vault: a header line, then hexadecimal lines that hold salt, HMAC and
//! ciphertext, each hexadecimal once more.
//!
//! Reads and writes the form only; it knows no password. Line ends of any system, a missing
//! last one and blanks around lines are accepted. Begin at [`Envelope::parse`].

use std::fmt;

use crate::model::hex;

/// How long the lines of the body are.
const COLUMNS: usize = 80;

/// The label of a vault that names none.
pub(super) const DEFAULT_LABEL: &str = "default";

/// A vault's parts, still encrypted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub header: Header,
    pub salt: Vec<u8>,
    pub hmac: Vec<u8>,
    pub ciphertext: Vec<u8>,
}

/// What the first line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub version: Version,
    pub label: Option<String>,
}

/// The versions of the format; they differ only in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1_1,
    V1_2,
}

/// Why bytes are no vault that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    NoHeader,
    Version(String),
    Cipher(String),
    Label,
    Body,
    Truncated,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHeader => f.write_str("it does not begin with `$ANSIBLE_VAULT;`"),
            Self::Version(found) => write!(f, "its version is `{found}`; expected `1.1` or `1.2`"),
            Self::Cipher(found) => write!(f, "its cipher is `{found}`; expected `AES256`"),
            Self::Label => f.write_str("the label in its first line is no text"),
            Self::Body => f.write_str("its body is not hexadecimal"),
            Self::Truncated => f.write_str("it is cut off: salt, HMAC and ciphertext are not all there"),
        }
    }
}

impl Header {
    /// Makes the header of a new vault: without a label of its own it is the older version.
    pub fn new(label: &str) -> Self {
        match label {
            DEFAULT_LABEL => Self { version: Version::V1_1, label: None },
            label => Self { version: Version::V1_2, label: Some(label.to_owned()) },
        }
    }

    /// Returns the label that picks the password.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(DEFAULT_LABEL)
    }

    fn parse(line: &[u8]) -> Result<Self, Flaw> {
        let mut fields = line.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let mut next = || fields.next().unwrap_or_default();
        if next() != b"$ANSIBLE_VAULT" {
            return Err(Flaw::NoHeader);
        }
        let version = match next() {
            b"1.1" => Version::V1_1,
            b"1.2" => Version::V1_2,
            found => return Err(Flaw::Version(shown(found))),
        };
        match next() {
            b"AES256" => {}
            found => return Err(Flaw::Cipher(shown(found))),
        }
        let label = std::str::from_utf8(next()).map_err(|_| Flaw::Label)?;
        Ok(Self { version, label: Some(label.to_owned()).filter(|label| !label.is_empty()) })
    }

    fn line(&self) -> String {
        match (self.version, &self.label) {
            (_, Some(label)) => format!("$ANSIBLE_VAULT;1.2;AES256;{label}\n"),
            (Version::V1_1, None) => "$ANSIBLE_VAULT;1.1;AES256\n".to_owned(),
            (Version::V1_2, None) => "$ANSIBLE_VAULT;1.2;AES256\n".to_owned(),
        }
    }
}

impl Envelope {
    /// Reads the text form.
    pub fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        let header = Header::parse(lines.next().unwrap_or_default())?;
        let body: Vec<u8> = lines.flatten().copied().collect();
        if body.is_empty() || !body.len().is_multiple_of(2) {
            return Err(Flaw::Truncated);
        }
        let body = unhex(&body).ok_or(Flaw::Body)?;
        let mut parts = body.splitn(3, |byte| *byte == b'\n');
        let mut next = || unhex(parts.next().ok_or(Flaw::Truncated)?).ok_or(Flaw::Body);
        Ok(Self { header, salt: next()?, hmac: next()?, ciphertext: next()? })
    }

    /// Writes the text form, as `ansible-vault` lays it out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parts = [hex(&self.salt), hex(&self.hmac), hex(&self.ciphertext)];
        let body = hex(parts.join("\n").as_bytes());
        let mut text = self.header.line().into_bytes();
        for line in body.as_bytes().chunks(COLUMNS) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
        text
    }
}

/// Returns a piece of a foreign file so that it can stand in an error.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(20).flat_map(char::escape_debug).collect()
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let pairs = text.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(header: Header) -> Envelope {
        Envelope { header, salt: vec![1; 32], hmac: vec![2; 32], ciphertext: vec![3; 16] }
    }

    #[test]
    fn what_is_written_is_read_back_with_its_label() {
        for label in ["default", "prod", "a b", "x@y", "1.1"] {
            let envelope = sample(Header::new(label));

            let read = Envelope::parse(&envelope.to_bytes()).expect("a vault");

            assert_eq!(read, envelope);
            assert_eq!(read.header.label(), label);
        }
    }

    #[test]
    fn line_ends_of_any_system_and_none_at_the_end_are_accepted() {
        let envelope = sample(Header::new("prod"));
        let text = String::from_utf8(envelope.to_bytes()).expect("text");

        let forms = [text.replace('\n', "\r\n"), text.replace('\n', "\r"), text.trim_end().to_owned()];

        for form in forms {
            assert_eq!(Envelope::parse(form.as_bytes()), Ok(sample(Header::new("prod"))), "{form:?}");
        }
    }

    #[test]
    fn lines_are_at_most_eighty_columns_wide() {
        let text = sample(Header::new("default")).to_bytes();

        let longest = text.split(|byte| *byte == b'\n').map(<[u8]>::len).max();

        assert_eq!(longest, Some(80));
    }

    #[test]
    fn a_header_that_is_kept_is_written_as_it_was() {
        for line in ["1.1;AES256", "1.2;AES256", "1.2;AES256;default", "1.2;AES256;prod"] {
            let header = Header::parse(format!("$ANSIBLE_VAULT;{line}").as_bytes()).expect("a header");

            assert_eq!(header.line(), format!("$ANSIBLE_VAULT;{line}\n"));
        }
    }

    #[test]
    fn every_flaw_has_its_name() {
        let flaw = |text: &str| Envelope::parse(text.as_bytes()).expect_err("a flaw");

        assert_eq!(flaw(""), Flaw::NoHeader);
        assert_eq!(flaw("$ANSIBLE_VAULT;1.0;AES\n"), Flaw::Version("1.0".to_owned()));
        assert_eq!(flaw("$ANSIBLE_VAULT;1.1;AES\n"), Flaw::Cipher("AES".to_owned()));
        assert_eq!(flaw("$ANSIBLE_VAULT;1.1;AES256"), Flaw::Truncated);
        assert_eq!(flaw("$ANSIBLE_VAULT;1.1;AES256\nabc"), Flaw::Truncated);
        assert_eq!(flaw("$ANSIBLE_VAULT;1.1;AES256\nzz"), Flaw::Body);
        assert_eq!(flaw("$ANSIBLE_VAULT;1.1;AES256\n6162"), Flaw::Truncated);
    }
}
