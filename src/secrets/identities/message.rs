//! Whole files in the format of age: encrypted for recipients, and opened with the keys at hand.
//!
//! Such a file says of an age key nothing by which it is known, so every key is tried.

use std::io::{Read as _, Write as _};

use age::DecryptError;
use zeroize::Zeroizing;

use super::key::Key;
use super::recipient::Recipient;
use super::{Effort, Identities};
use crate::error::{Error, Kind, Result};

/// What a file of age begins with.
const HEADING: &[u8] = b"age-encryption.org/";

/// Returns whether bytes begin as a file of age does.
pub fn is_message(bytes: &[u8]) -> bool {
    bytes.starts_with(HEADING)
}

/// Encrypts for all of these; each of them alone can open it.
pub fn encrypt_for(recipients: &[Recipient], plain: &[u8]) -> Result<Vec<u8>> {
    let refused = || Error::new(Kind::Refused, "it cannot be encrypted for these recipients");
    let all = recipients.iter().map(Recipient::as_age);
    let encryptor = age::Encryptor::with_recipients(all).map_err(|error| refused().because(error))?;
    let mut sealed = Vec::with_capacity(plain.len() + 1024);
    let written = encryptor.wrap_output(&mut sealed).and_then(|mut output| {
        output.write_all(plain)?;
        output.finish().map(drop)
    });
    written.map_err(|error| refused().because(error))?;
    Ok(sealed)
}

/// What came of a key.
enum Tried {
    Opened(Zeroizing<Vec<u8>>),
    Damaged(DecryptError),
    DoesNotFit,
}

impl Identities<'_> {
    /// Opens a file; the refusal of keys that do not fit has another kind than that of a damaged file.
    pub fn open_message(&self, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let open = self.keys.iter();
        for effort in [Effort::Silent, Effort::Asking] {
            let locked = self.locked.iter().filter(|_| effort == Effort::Asking);
            let locked = locked.filter_map(|locked| locked.keys(self.prompt).ok()).flatten();
            let keys = open.clone().filter(|_| effort == Effort::Silent);
            for key in keys.chain(locked) {
                match attempt(key, bytes) {
                    Tried::Opened(plain) => return Ok(plain),
                    Tried::Damaged(error) => return Err(damaged().because(error)),
                    Tried::DoesNotFit => {}
                }
            }
        }
        check_heading(bytes)?;
        let message = match self.is_empty() {
            true => "there is no key to open it with",
            false => "none of the keys at hand opens it",
        };
        let error = Error::new(Kind::Refused, message)
            .detail(
                "it is encrypted for recipients whose keys (age identities) are not here, or it is damaged",
            )
            .hint("give the key of one of its recipients: `SOPS_AGE_KEY` or `SOPS_AGE_KEY_FILE`");
        Err(self.tried(error))
    }
}

fn attempt(key: &Key, bytes: &[u8]) -> Tried {
    let decryptor = match age::Decryptor::new_buffered(bytes) {
        Ok(decryptor) => decryptor,
        Err(error) => return Tried::Damaged(error),
    };
    match decryptor.decrypt(std::iter::once(key.identity.as_ref() as &dyn age::Identity)) {
        Ok(mut stream) => {
            let mut plain = Zeroizing::new(Vec::with_capacity(bytes.len()));
            match stream.read_to_end(&mut plain) {
                Ok(_) => Tried::Opened(plain),
                Err(error) => Tried::Damaged(DecryptError::Io(error)),
            }
        }
        Err(DecryptError::NoMatchingKeys) => Tried::DoesNotFit,
        Err(error) => Tried::Damaged(error),
    }
}

/// A file that is none of age is told as such, not as one for another key.
fn check_heading(bytes: &[u8]) -> Result<()> {
    age::Decryptor::new_buffered(bytes).map(drop).map_err(|error| damaged().because(error))
}

fn damaged() -> Error {
    Error::failed("it is damaged, or no file of age")
}

#[cfg(test)]
mod tests {
    use age::secrecy::ExposeSecret as _;

    use super::*;

    fn nobody(_: &str) -> Option<Zeroizing<String>> {
        None
    }

    fn new_key() -> (String, Recipient) {
        let identity = age::x25519::Identity::generate();
        let public = identity.to_public().to_string();
        (identity.to_string().expose_secret().to_owned(), public.parse().expect("a recipient"))
    }

    #[test]
    fn each_recipient_opens_it_and_nobody_else() {
        let (one, two, other) = (new_key(), new_key(), new_key());
        let sealed = encrypt_for(&[one.1, two.1], b"plans").expect("a message");

        for (private, opens) in [(&one.0, true), (&two.0, true), (&other.0, false)] {
            let mut identities = Identities::none(&nobody);
            identities.add("`K`", other.0.as_bytes());
            identities.add("`K`", private.as_bytes());
            let opened = identities.open_message(&sealed);
            assert_eq!(opened.is_ok(), opens);
            assert!(opened.is_ok() || opened.expect_err("refused").kind() == Kind::Refused);
        }
        assert_eq!(
            Identities::none(&nobody).open_message(&sealed).expect_err("refused").kind(),
            Kind::Refused
        );
        assert!(is_message(&sealed) && encrypt_for(&[], b"").is_err());
    }

    #[test]
    fn what_is_cut_or_changed_never_opens_and_never_panics() {
        let (private, public) = new_key();
        let sealed = encrypt_for(&[public], b"plans of a few stacks").expect("a message");
        let mut identities = Identities::none(&nobody);
        identities.add("`K`", private.as_bytes());

        for end in 0..sealed.len() {
            assert!(identities.open_message(&sealed[..end]).is_err(), "{end}");
        }
        for at in 0..sealed.len() {
            let mut odd = sealed.clone();
            odd[at] ^= 1;
            assert!(identities.open_message(&odd).is_err(), "{at}");
        }
        assert_eq!(identities.open_message(b"PK").expect_err("refused").kind(), Kind::Failed);
    }
}
