//! The secret of this person: random, made on first use, never inside a project.
//!
//! Saved plans are encrypted with keys derived from it, and proofs are made with it: whoever
//! can write into a repository cannot make either.

use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::own_file;
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::model::{Environment, hex, quoted};
use crate::process::fill_random;

/// What a key file begins with; another format would have another number.
const HEADING: &str = "infra-user-key-1 ";

/// Bytes of the secret.
const SIZE: usize = 32;

/// The secret of a person.
#[derive(Clone)]
pub struct UserKey(Zeroizing<[u8; SIZE]>);

/// Never shows the secret.
impl std::fmt::Debug for UserKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UserKey(…)")
    }
}

impl UserKey {
    /// Returns where the key is kept.
    pub fn place(env: &Environment) -> Result<PathBuf> {
        let dir = env.state_dir().ok_or_else(|| {
            Error::unavailable("there is no folder to keep this user's key in")
                .hint("set `HOME` or `XDG_STATE_HOME`")
        })?;
        Ok(dir.join("key"))
    }

    /// Returns the key, if one was made before.
    pub fn existing(env: &Environment) -> Result<Option<Self>> {
        read(&Self::place(env)?)
    }

    /// Returns the key that is kept in this file.
    pub fn at(path: &Path) -> Result<Self> {
        read(path)?.ok_or_else(|| Error::unavailable("there is no such key").at(path.display()))
    }

    /// Checks that there is a key that can be used, or that one can be made; makes none.
    pub fn check_place(env: &Environment) -> Result<()> {
        let path = Self::place(env)?;
        if read(&path)?.is_some() {
            return Ok(());
        }
        let above = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        nix::unistd::access(above, nix::unistd::AccessFlags::W_OK).map_err(|error| {
            Error::unavailable("this user's key cannot be kept")
                .because(error)
                .at(path.display())
                .hint("set `XDG_STATE_HOME` to a folder that can be written")
        })
    }

    /// Returns the key; makes it if this is the first use.
    pub fn load(env: &Environment) -> Result<Self> {
        let path = Self::place(env)?;
        if let Some(key) = read(&path)? {
            return Ok(key);
        }
        make(&path)?;
        read(&path)?.ok_or_else(|| Error::unavailable("this user's key cannot be kept").at(path.display()))
    }

    /// Returns a key for one purpose; keys for different purposes tell nothing about each other.
    pub fn derive(&self, purpose: &str) -> Zeroizing<[u8; SIZE]> {
        Zeroizing::new(self.mac(purpose, []).finalize().into_bytes().into())
    }

    /// Returns the key that encrypts saved plans.
    pub fn plan_key(&self) -> Zeroizing<[u8; SIZE]> {
        self.derive("plan-encryption")
    }

    /// Returns what tells plans of this key from those of another, and nothing about the key.
    pub fn plan_mark(&self) -> String {
        let mut mark = self.proof("plan-mark", []);
        mark.truncate(16);
        mark
    }

    /// Returns a text that only the owner of this key can make for these parts.
    pub fn proof<'a>(&self, purpose: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> String {
        hex(&self.mac(purpose, parts).finalize().into_bytes())
    }

    /// Returns whether a proof was made with this key for these parts.
    pub fn proves<'a>(
        &self,
        purpose: &'a str,
        parts: impl IntoIterator<Item = &'a [u8]>,
        proof: &str,
    ) -> bool {
        unhex(proof).is_some_and(|proof| self.mac(purpose, parts).verify_slice(&proof).is_ok())
    }

    /// Lengths keep neighbouring parts apart.
    fn mac<'a>(&self, purpose: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256>>::new_from_slice(self.0.as_slice()).expect("any length is a key");
        for part in std::iter::once(purpose.as_bytes()).chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }
}

fn read(path: &Path) -> Result<Option<UserKey>> {
    let Some(bytes) = own_file::read(path)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let bytes = text.trim_end().strip_prefix(HEADING).and_then(unhex).map(Zeroizing::new);
    let bytes = bytes.and_then(|bytes| <[u8; SIZE]>::try_from(bytes.as_slice()).ok());
    bytes.map(|bytes| Some(UserKey(Zeroizing::new(bytes)))).ok_or_else(|| {
        let here = quoted(&path.display().to_string());
        Error::unavailable("this user's key is damaged")
            .at(path.display())
            .hint(format!("remove it, and a new one is made; saved plans have to be made again: `rm {here}`"))
    })
}

/// Makes a key; if two processes do so at the same time, the first one wins.
fn make(path: &Path) -> Result<()> {
    let way_out = |error: Error| error.hint("set `XDG_STATE_HOME` to a folder that can be written");
    let mut bytes = Zeroizing::new([0; SIZE]);
    fill_random(bytes.as_mut_slice())?;
    let text = Zeroizing::new(format!("{HEADING}{}\n", *Zeroizing::new(hex(bytes.as_slice()))));
    atomic_file::write_new(path, text.as_bytes()).map_err(way_out)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn env(dir: &tempfile::TempDir) -> Environment {
        Environment::default().with("XDG_STATE_HOME", dir.path())
    }

    #[test]
    fn the_key_is_made_once_and_closed_to_others() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert!(UserKey::existing(&env(&dir)).expect("no error").is_none());

        let (one, again) =
            (UserKey::load(&env(&dir)).expect("a key"), UserKey::load(&env(&dir)).expect("a key"));

        assert_eq!(one.derive("x"), again.derive("x"));
        let mode = std::fs::metadata(dir.path().join("infra/key")).expect("the key").mode();
        assert_eq!(mode & 0o7777, 0o600);
    }

    #[test]
    fn of_first_uses_at_once_one_wins() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let load = || UserKey::load(&env(&dir)).expect("a key").derive("x");

        let keys: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });

        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn a_proof_holds_for_its_parts_its_purpose_and_its_key() {
        let (dir, elsewhere) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let key = UserKey::load(&env(&dir)).expect("a key");
        let proof = key.proof("plan", [b"ab".as_slice(), b"c"]);

        assert!(key.proves("plan", [b"ab".as_slice(), b"c"], &proof));
        assert!(!key.proves("plan", [b"a".as_slice(), b"bc"], &proof));
        assert!(!key.proves("other", [b"ab".as_slice(), b"c"], &proof));
        assert!(!key.proves("plan", [b"ab".as_slice(), b"c"], "no hex"));
        let other = UserKey::load(&env(&elsewhere)).expect("a key");
        assert!(!other.proves("plan", [b"ab".as_slice(), b"c"], &proof));
    }

    #[test]
    fn a_key_that_others_can_read_or_that_is_damaged_is_refused_with_the_way_out() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("infra/key");
        UserKey::load(&env(&dir)).expect("a key");

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        let open = UserKey::load(&env(&dir)).expect_err("a key that others can read");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        std::fs::write(&path, "infra-user-key-1 0123\n").expect("a file");
        let damaged = UserKey::load(&env(&dir)).expect_err("a damaged key");

        assert!(
            open.to_string().contains("rm ") && damaged.message().contains("damaged"),
            "{open} {damaged}"
        );
    }

    #[test]
    fn without_a_home_there_is_no_key() {
        let error = UserKey::load(&Environment::default()).expect_err("no home");

        assert!(error.to_string().contains("XDG_STATE_HOME"), "{error}");
    }
}
