//! One private key: read from text, perhaps behind a passphrase.
//!
//! Keeps the public half for messages; the private half is never shown.

use std::io::Read;
use std::sync::OnceLock;

use age::secrecy::SecretString;
use zeroize::Zeroizing;

use super::{FoundKey, Prompt};

/// The highest work factor that is computed; more would take minutes. It is the limit of age itself.
const HARDEST_WORK: u8 = 22;
/// More than any file of keys has.
const LONGEST_FILE: u64 = 1024 * 1024;

/// A private key that is ready.
pub(super) struct Key {
    /// Its public half.
    pub public: String,
    /// Where it came from.
    pub place: String,
    /// The key itself.
    pub identity: Box<dyn age::Identity + Send + Sync>,
}

/// What a text held.
pub(super) enum Parsed {
    /// Keys that are ready, and words about what was no key.
    Keys { keys: Vec<Key>, complaints: Vec<String> },
    /// Something behind a passphrase.
    Locked(Locked),
}

/// Keys behind a passphrase.
pub(super) struct Locked {
    place: String,
    content: Content,
    opened: OnceLock<Result<Vec<Key>, &'static str>>,
}

enum Content {
    /// An encrypted file of age identities.
    AgeFile(Vec<u8>),
    /// An encrypted ssh key and its public half.
    Ssh(Box<age::ssh::EncryptedKey>, String),
}

/// Reads a text.
pub(super) fn parse(place: &str, bytes: &[u8]) -> Parsed {
    let complaint =
        |text: &str| Parsed::Keys { keys: Vec::new(), complaints: vec![format!("{place}{text}")] };
    if bytes.starts_with(b"age-encryption.org/")
        || bytes.trim_ascii_start().starts_with(b"-----BEGIN AGE ENCRYPTED")
    {
        return locked(place, Content::AgeFile(bytes.trim_ascii_start().to_vec()));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return complaint(" is no text");
    };
    if text.contains("PRIVATE KEY-----") {
        return parse_ssh(place, text).unwrap_or_else(complaint);
    }
    parse_lines(place, text)
}

fn locked(place: &str, content: Content) -> Parsed {
    Parsed::Locked(Locked { place: place.to_owned(), content, opened: OnceLock::new() })
}

/// Reads age identities, one on a line; a bad line does not spoil the good ones.
fn parse_lines(place: &str, text: &str) -> Parsed {
    let (mut keys, mut complaints) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse::<age::x25519::Identity>() {
            Ok(identity) => keys.push(Key {
                public: identity.to_public().to_string(),
                place: place.to_owned(),
                identity: Box::new(identity),
            }),
            Err(_) => complaints.push(format!("{place}: line {} {}", number + 1, why_no_identity(line))),
        }
    }
    Parsed::Keys { keys, complaints }
}

fn why_no_identity(line: &str) -> &'static str {
    if line.starts_with("AGE-PLUGIN-") {
        "needs an age plugin, which is not supported"
    } else if line.starts_with("age1") || line.starts_with("ssh-") {
        "is a public key, expected a private one"
    } else {
        "is no age identity"
    }
}

fn parse_ssh(place: &str, text: &str) -> Result<Parsed, &'static str> {
    let identity = age::ssh::Identity::from_buffer(text.as_bytes(), None)
        .map_err(|_| " is no ssh key that can be read")?;
    let public = age::ssh::Recipient::try_from(identity.clone())
        .map_err(|_| " is an ssh key of a kind that cannot decrypt")?;
    let public = public.to_string();
    match identity {
        age::ssh::Identity::Unencrypted(_) => {
            let key = Key { public, place: place.to_owned(), identity: Box::new(identity) };
            Ok(Parsed::Keys { keys: vec![key], complaints: Vec::new() })
        }
        age::ssh::Identity::Encrypted(key) => Ok(locked(place, Content::Ssh(Box::new(key), public))),
        age::ssh::Identity::Unsupported(_) => Err(" is an ssh key of a kind that cannot decrypt"),
    }
}

impl Key {
    /// Tells whether a recipient is its public half.
    pub fn fits(&self, recipient: &str) -> bool {
        two_words(&self.public) == two_words(recipient)
    }
}

impl Locked {
    /// Returns what it is called without being opened.
    pub fn found(&self) -> FoundKey {
        match &self.content {
            Content::AgeFile(_) => FoundKey {
                name: "your key behind a passphrase".to_owned(),
                identity: self.place.clone(),
                place: self.place.trim_matches('`').to_owned(),
            },
            Content::Ssh(_, public) => FoundKey::of(public, &self.place),
        }
    }

    /// Tells whether it could open what is meant for a recipient; only an ssh key knows without being opened.
    pub fn may_open(&self, recipient: &str) -> bool {
        match &self.content {
            Content::AgeFile(_) => recipient.starts_with("age1"),
            Content::Ssh(_, public) => two_words(public) == two_words(recipient),
        }
    }

    /// Returns its keys, asking for the passphrase the first time.
    pub fn keys(&self, prompt: &Prompt<'_>) -> Result<&[Key], &'static str> {
        let opened = self.opened.get_or_init(|| self.open(prompt));
        opened.as_deref().map_err(|error| *error)
    }

    /// Says what came of it.
    pub fn problem(&self) -> String {
        match self.opened.get() {
            None => format!("{}, which needs a passphrase", self.place),
            Some(Err(error)) => format!("{} {error}", self.place),
            Some(Ok(keys)) => {
                let publics: Vec<&str> = keys.iter().map(|key| key.public.as_str()).collect();
                format!("{} from {}", publics.join(", "), self.place)
            }
        }
    }

    fn open(&self, prompt: &Prompt<'_>) -> Result<Vec<Key>, &'static str> {
        let passphrase = prompt(&format!("Passphrase for {}: ", self.place.replace('`', "")));
        let passphrase = passphrase.ok_or("needs a passphrase, and there is no terminal to ask on")?;
        let passphrase = SecretString::from(passphrase.as_str());
        match &self.content {
            Content::AgeFile(bytes) => open_file(&self.place, bytes, passphrase),
            Content::Ssh(key, public) => {
                let key = key.decrypt(passphrase).map_err(|_| "did not open with this passphrase")?;
                let identity = Box::new(age::ssh::Identity::from(key));
                Ok(vec![Key { public: public.clone(), place: self.place.clone(), identity }])
            }
        }
    }
}

fn open_file(place: &str, bytes: &[u8], passphrase: SecretString) -> Result<Vec<Key>, &'static str> {
    let damaged = "is a damaged encrypted file";
    let decryptor = age::Decryptor::new(age::armor::ArmoredReader::new(bytes)).map_err(|_| damaged)?;
    if !decryptor.is_scrypt() {
        return Err("is not encrypted with a passphrase");
    }
    let mut identity = age::scrypt::Identity::new(passphrase);
    identity.set_max_work_factor(HARDEST_WORK);
    let stream = decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity));
    let stream = stream.map_err(|_| "did not open with this passphrase")?;
    let mut text = Zeroizing::new(Vec::new());
    stream.take(LONGEST_FILE).read_to_end(&mut text).map_err(|_| damaged)?;
    match parse(place, &text) {
        Parsed::Keys { keys, .. } if !keys.is_empty() => Ok(keys),
        Parsed::Keys { .. } | Parsed::Locked(_) => Err("holds no age identity"),
    }
}

/// Returns kind and key of a public ssh key, without the comment.
fn two_words(public: &str) -> Vec<&str> {
    public.split_whitespace().take(2).collect()
}
