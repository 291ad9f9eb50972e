//! The private keys at hand: collected from every source at once, then asked to unwrap.
//!
//! All sources count together: a wrong or broken key in one never hides the right one in
//! another. What was looked at is remembered, for errors and for `doctor`. A passphrase is
//! asked only when nothing else opens a file, and at most once for each key.
//! Begin at [`load`].

mod fresh;
mod key;
mod message;
mod recipient;
mod sources;

use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use zeroize::Zeroizing;

use self::key::{Key, Locked, Parsed};
pub use fresh::FreshKey;
pub use message::{encrypt_for, is_message};
pub use recipient::Recipient;
pub(crate) use sources::is_outside;
pub use sources::{FoundKeys, Sources, load};

use crate::error::Error;

/// Asks for a passphrase; `None` where there is no terminal.
pub type Prompt<'p> = dyn Fn(&str) -> Option<Zeroizing<String>> + Send + Sync + 'p;

/// More than any wrapped data key has; what is longer is not read.
const LONGEST_WRAPPED: usize = 64 * 1024;
const LONGEST_SECRET: u64 = 1024;

/// How far to go to unwrap something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effort {
    /// Only with keys that need no passphrase.
    Silent,
    /// Also with keys for which a person is asked.
    Asking,
}

/// A key file that others can read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExposedKey {
    /// The file.
    pub path: PathBuf,
    /// Its permissions.
    pub mode: u32,
}

/// Everything that can unwrap a data key, and where it came from.
pub struct Identities<'p> {
    prompt: &'p Prompt<'p>,
    keys: Vec<Key>,
    locked: Vec<Locked>,
    /// Keys outside of the project, which open nothing before a person consents.
    withheld: Withheld,
    /// Whether what is added now is withheld.
    withholding: bool,
    complaints: Vec<String>,
    absent: Vec<String>,
    exposed: Vec<ExposedKey>,
}

#[derive(Default)]
struct Withheld {
    keys: Vec<Key>,
    locked: Vec<Locked>,
}

/// A key of the person outside of the project, by its public half or by its place.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct FoundKey {
    /// The recipient, shortened where it is long; the place of a key that is locked.
    pub name: String,
    /// What identifies it.
    pub identity: String,
    /// Where it lies.
    pub place: String,
}

impl FoundKey {
    fn of(public: &str, place: &str) -> Self {
        let words: Vec<&str> = public.split_whitespace().take(2).collect();
        let name = match words.as_slice() {
            // The end of an ssh key tells it apart; its beginning is the same for all of a kind.
            [kind, key] => format!("your key {kind} …{}", &key[key.len().saturating_sub(12)..]),
            _ => format!("your key {public}"),
        };
        Self { name, identity: words.join(" "), place: place.trim_matches('`').to_owned() }
    }
}

impl<'p> Identities<'p> {
    /// Makes a collection without a key.
    pub fn none(prompt: &'p Prompt<'p>) -> Self {
        Self {
            prompt,
            keys: Vec::new(),
            locked: Vec::new(),
            withheld: Withheld::default(),
            withholding: false,
            complaints: Vec::new(),
            absent: Vec::new(),
            exposed: Vec::new(),
        }
    }

    /// Adds the keys of a text: age identities line by line, an ssh key, or an encrypted file of either.
    pub fn add(&mut self, place: &str, text: &[u8]) {
        match key::parse(place, text) {
            Parsed::Keys { keys, complaints } => {
                if keys.is_empty() && complaints.is_empty() {
                    self.complaints.push(format!("{place} holds no key"));
                }
                let into = if self.withholding { &mut self.withheld.keys } else { &mut self.keys };
                into.extend(keys);
                self.complaints.extend(complaints);
            }
            Parsed::Locked(locked) if self.withholding => self.withheld.locked.push(locked),
            Parsed::Locked(locked) => self.locked.push(locked),
        }
    }

    /// Returns the withheld key that may open what is meant for a recipient.
    pub fn withheld_for(&self, recipient: &str) -> Option<FoundKey> {
        let open = self.withheld.keys.iter().find(|key| key.fits(recipient));
        let locked = || self.withheld.locked.iter().find(|locked| locked.may_open(recipient));
        open.map(|key| FoundKey::of(&key.public, &key.place)).or_else(|| locked().map(Locked::found))
    }

    /// Returns whether any key is withheld.
    pub fn withholds(&self) -> bool {
        !self.withheld.keys.is_empty() || !self.withheld.locked.is_empty()
    }

    /// Returns whether a key at hand may open what is meant for a recipient.
    pub fn may_open(&self, recipient: &str) -> bool {
        self.keys.iter().any(|key| key.fits(recipient))
            || self.locked.iter().any(|locked| locked.may_open(recipient))
    }

    /// Lets the withheld keys be used, because a person consented.
    pub fn release(&mut self) {
        let Withheld { keys, locked } = std::mem::take(&mut self.withheld);
        self.keys.extend(keys);
        self.locked.extend(locked);
    }

    /// Returns the key files that others can read.
    pub fn exposed(&self) -> &[ExposedKey] {
        &self.exposed
    }

    /// Tells whether there is any key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.locked.is_empty()
    }

    /// Returns the public halves of the keys that are open.
    pub fn recipients(&self) -> Vec<&str> {
        self.keys.iter().map(|key| key.public.as_str()).collect()
    }

    /// Unwraps an armoured age message that is meant for a recipient.
    pub(crate) fn unwrap(
        &self,
        armoured: &str,
        recipient: &str,
        effort: Effort,
    ) -> Option<Zeroizing<Vec<u8>>> {
        if armoured.len() > LONGEST_WRAPPED {
            return None;
        }
        match effort {
            Effort::Silent => first_that_opens(&self.keys, armoured),
            Effort::Asking => {
                let candidates = self.locked.iter().filter(|locked| locked.may_open(recipient));
                candidates
                    .filter_map(|locked| locked.keys(self.prompt).ok())
                    .find_map(|keys| first_that_opens(keys, armoured))
            }
        }
    }

    /// Adds to a refusal what was tried and what was looked for in vain.
    pub(crate) fn tried(&self, error: Error) -> Error {
        let open = self.keys.iter().map(|key| format!("{} from {}", key.public, key.place));
        let error = open.fold(error, |error, line| error.fact("tried", line));
        let locked = self.locked.iter().map(Locked::problem);
        let error = locked.fold(error, |error, line| error.fact("tried", line));
        let error = self.complaints.iter().fold(error, |error, line| error.fact("skipped", line));
        let error = self.tell_withheld(error);
        if self.is_empty() && !self.absent.is_empty() {
            return error.fact("no key in", self.absent.join(", "));
        }
        error
    }
}

impl Identities<'_> {
    fn tell_withheld(&self, error: Error) -> Error {
        let open = self.withheld.keys.iter().map(|key| FoundKey::of(&key.public, &key.place));
        let all: Vec<FoundKey> = open.chain(self.withheld.locked.iter().map(Locked::found)).collect();
        let error = all.iter().fold(error, |error, key| {
            error.fact("not used", format!("{} from `{}`: this project is not trusted", key.name, key.place))
        });
        if all.is_empty() { error } else { error.hint("let it use your keys: `infra trust`") }
    }
}

/// Shows what it holds by public halves only.
impl fmt::Debug for Identities<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities")
            .field("recipients", &self.recipients())
            .field("locked", &self.locked.len())
            .finish_non_exhaustive()
    }
}

/// Tries one key after the other, each alone: a key that fails must not end the search.
fn first_that_opens(keys: &[Key], armoured: &str) -> Option<Zeroizing<Vec<u8>>> {
    keys.iter().find_map(|key| {
        let decryptor = age::Decryptor::new(age::armor::ArmoredReader::new(armoured.as_bytes())).ok()?;
        let stream = decryptor.decrypt(std::iter::once(key.identity.as_ref() as &dyn age::Identity)).ok()?;
        let mut secret = Zeroizing::new(Vec::with_capacity(64));
        stream.take(LONGEST_SECRET).read_to_end(&mut secret).ok()?;
        Some(secret)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret;

    fn nobody(_: &str) -> Option<Zeroizing<String>> {
        None
    }

    fn new_key() -> (String, String) {
        let identity = age::x25519::Identity::generate();
        (identity.to_string().expose_secret().to_owned(), identity.to_public().to_string())
    }

    fn wrapped_for(public: &str) -> String {
        public.parse::<Recipient>().unwrap().wrap(b"secret").unwrap()
    }

    #[test]
    fn a_wrong_key_does_not_hide_the_right_one() {
        let ((wrong, _), (right, public)) = (new_key(), new_key());
        let mut identities = Identities::none(&nobody);
        identities.add("`A`", format!("# a comment\n{wrong}\nnonsense\n").as_bytes());
        identities.add("`B`", right.as_bytes());

        let secret = identities.unwrap(&wrapped_for(&public), &public, Effort::Silent);

        assert_eq!(secret.unwrap().as_slice(), b"secret");
        assert!(identities.tried(Error::failed("x")).to_string().contains("`A`: line 3 is no age identity"));
    }

    #[test]
    fn a_refusal_names_public_halves_and_places_only() {
        let (private, public) = new_key();
        let mut identities = Identities::none(&nobody);
        identities.add("`SOPS_AGE_KEY`", private.as_bytes());

        let text = format!("{} {identities:?}", identities.tried(Error::failed("no")));

        assert!(text.contains(&public) && text.contains("SOPS_AGE_KEY"));
        assert!(!text.contains(&private) && !text.contains("AGE-SECRET"));
    }

    #[test]
    fn an_encrypted_identity_asks_once_and_only_when_needed() {
        let (private, public) = new_key();
        let mut recipient = age::scrypt::Recipient::new("open sesame".to_owned().into());
        recipient.set_work_factor(2);
        let file = age::encrypt_and_armor(&recipient, private.as_bytes()).unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let prompt = |_: &str| {
            asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Some(Zeroizing::new("open sesame".to_owned()))
        };
        let mut identities = Identities::none(&prompt);
        identities.add("`keys.txt`", file.as_bytes());

        let silent = identities.unwrap(&wrapped_for(&public), &public, Effort::Silent);
        let opened = [(); 2].map(|()| identities.unwrap(&wrapped_for(&public), &public, Effort::Asking));

        assert!(silent.is_none() && opened.iter().all(Option::is_some));
        assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    }

    #[test]
    fn without_a_terminal_a_locked_key_says_what_it_lacks() {
        let mut recipient = age::scrypt::Recipient::new("x".to_owned().into());
        recipient.set_work_factor(2);
        let (private, public) = new_key();
        let file = age::encrypt_and_armor(&recipient, private.as_bytes()).unwrap();
        let mut identities = Identities::none(&nobody);
        identities.add("`keys.txt`", file.as_bytes());

        let opened = identities.unwrap(&wrapped_for(&public), &public, Effort::Asking);

        assert!(opened.is_none());
        let text = identities.tried(Error::failed("no")).to_string();
        assert!(text.contains("`keys.txt` needs a passphrase, and there is no terminal"), "{text}");
    }

    #[test]
    fn no_text_makes_the_search_panic() {
        let mut identities = Identities::none(&nobody);
        for odd in
            ["", "-----BEGIN OPENSSH PRIVATE KEY-----", "-----BEGIN AGE ENCRYPTED FILE-----\n", "\u{0}"]
        {
            identities.add("`odd`", odd.as_bytes());
        }
        identities.add("`odd`", &[0xff, 0xfe]);

        for odd in ["", "-----BEGIN AGE ENCRYPTED FILE-----", "age-encryption.org/v1\n"] {
            assert!(identities.unwrap(odd, "age1", Effort::Asking).is_none());
        }
    }
}
