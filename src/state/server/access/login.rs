//! The login: turns an `Authorization` header into a caller with rights, or a refusal.
//!
//! Passwords are compared in constant time, and every attempt costs the same work, whether the
//! name is known and however its password is kept.
//! A hash is slow by design, so a pair that was right once is recognised by a keyed digest
//! for as long as the server runs. Begin at [`Login::check`].

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordVerifier as _};
use axum::http::HeaderValue;
use hmac::{Hmac, Mac as _};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use super::credentials::{Credentials, pair_of};
use super::login_attempts::Attempts;
use super::rights::Rights;
use super::users::{Secret, User, Users};
use crate::error::Result;
use crate::process::random_bytes;

/// How many hashes are computed at once: each takes tens of megabytes.
const HASHES_AT_ONCE: usize = 2;

/// How many right pairs are recognised before all are forgotten.
const MOST_RECOGNISED: usize = 1000;

/// Who may use a server.
#[derive(Debug)]
pub enum Login {
    /// One user who may do everything, as in the server inside a run.
    One(Credentials),
    /// Several users, whose failures are counted.
    Users(Box<UserLogin>),
    /// Everybody who can reach it.
    Open,
}

/// A caller who has logged in.
#[derive(Clone, Debug)]
pub struct Caller {
    pub name: String,
    /// The user whose locks are the caller's own; `None` if all callers count as one.
    pub user: Option<String>,
    pub rights: Rights,
}

/// Why a login was refused.
#[derive(Debug, PartialEq, Eq)]
pub enum LoginRefusal {
    /// There are no credentials: a client may ask once without.
    Missing,
    /// They are wrong; the name is that of a user, if there is such a one.
    Wrong(Option<String>),
    /// Too many were wrong before.
    LockedOut(Option<String>, Duration),
}

/// Several users and what is known about their attempts.
#[derive(Debug)]
pub struct UserLogin {
    users: Users,
    attempts: Attempts,
    key: Zeroizing<[u8; 32]>,
    recognised: Mutex<HashSet<[u8; 32]>>,
    hashing: Arc<Semaphore>,
    /// How many hashes were computed.
    hashed: AtomicU64,
}

impl Login {
    /// Makes the login of several users.
    pub fn for_users(users: Users) -> Result<Self> {
        let key = Zeroizing::new(random_bytes()?);
        Ok(Self::Users(Box::new(UserLogin {
            users: users.equally_hard()?,
            attempts: Attempts::default(),
            key,
            recognised: Mutex::default(),
            hashing: Arc::new(Semaphore::new(HASHES_AT_ONCE)),
            hashed: AtomicU64::new(0),
        })))
    }

    /// Returns the caller, or why the login is refused.
    pub async fn check(&self, header: Option<&HeaderValue>, peer: IpAddr) -> Result<Caller, LoginRefusal> {
        match self {
            Self::Open => Ok(Caller { name: "anybody".to_owned(), user: None, rights: Rights::all() }),
            Self::One(credentials) if credentials.are_in(header) => {
                Ok(Caller { name: credentials.username().to_owned(), user: None, rights: Rights::all() })
            }
            Self::One(_) => Err(LoginRefusal::Missing),
            Self::Users(login) => login.check(header, peer).await,
        }
    }
}

impl UserLogin {
    async fn check(&self, header: Option<&HeaderValue>, peer: IpAddr) -> Result<Caller, LoginRefusal> {
        let pair = header.and_then(pair_of).map(Zeroizing::new).ok_or(LoginRefusal::Missing)?;
        let text = std::str::from_utf8(&pair).unwrap_or_default();
        let (name, password) = text.split_once(':').unwrap_or_default();
        let user = self.users.0.iter().find(|user| user.name == name);
        // People type their password here: a name that no user has goes no further.
        let known = user.map(|user| user.name.clone());
        let attempt = match self.attempts.begin(peer, name).await {
            Ok(attempt) => attempt,
            Err(left) => return Err(LoginRefusal::LockedOut(known, left)),
        };
        let is_right = self.is_right(user, name, password).await;
        match user {
            Some(user) if is_right => {
                attempt.succeed();
                Ok(Caller { name: user.name.clone(), user: known, rights: user.rights.clone() })
            }
            _ => Err(LoginRefusal::Wrong(known)),
        }
    }

    async fn is_right(&self, user: Option<&User>, name: &str, password: &str) -> bool {
        let digest = self.digest(name, password);
        match user.or_else(|| self.stand_in(name)).map(|user| &user.secret) {
            Some(Secret::Password(expected)) => same(expected, password) && user.is_some(),
            Some(Secret::Hash(hash)) => {
                let right = self.is_recognised(&digest) || self.verify(hash.clone(), password, digest).await;
                if right && user.is_some() {
                    self.recognise(digest);
                }
                right && user.is_some()
            }
            None => false,
        }
    }

    /// Returns the user whose password is checked in place of an unknown one, always the same for a name.
    fn stand_in(&self, name: &str) -> Option<&User> {
        let chance = self.digest(name, "").iter().fold(0, |sum: usize, byte| sum + usize::from(*byte));
        self.users.0.get(chance % self.users.len().max(1))
    }

    async fn verify(&self, hash: Zeroizing<String>, password: &str, digest: [u8; 32]) -> bool {
        let password = Zeroizing::new(password.to_owned());
        let Ok(_turn) = self.hashing.acquire().await else { return false };
        // Of many requests of one client that came at once, the first did the work for all.
        if self.is_recognised(&digest) {
            return true;
        }
        self.hashed.fetch_add(1, Ordering::Relaxed);
        let work = tokio::task::spawn_blocking(move || {
            PasswordHash::new(&hash)
                .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
        });
        work.await.unwrap_or(false)
    }

    fn is_recognised(&self, digest: &[u8; 32]) -> bool {
        self.recognised.lock().unwrap_or_else(PoisonError::into_inner).contains(digest)
    }

    fn digest(&self, name: &str, password: &str) -> [u8; 32] {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.key.as_slice()) else { return [0; 32] };
        mac.update(&(name.len() as u64).to_le_bytes());
        mac.update(name.as_bytes());
        mac.update(password.as_bytes());
        mac.finalize().into_bytes().into()
    }

    fn recognise(&self, digest: [u8; 32]) {
        let mut recognised = self.recognised.lock().unwrap_or_else(PoisonError::into_inner);
        if recognised.len() >= MOST_RECOGNISED {
            recognised.clear();
        }
        recognised.insert(digest);
    }
}

/// Compares digests, so that neither content nor length shows in the time it takes.
fn same(expected: &str, given: &str) -> bool {
    Sha256::digest(expected).ct_eq(&Sha256::digest(given)).into()
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn login() -> Login {
        let hash = crate::state::hash_password("correct horse").expect("a hash");
        let file = format!(
            "users:\n  dana: {{ hash: \"{hash}\", rights: {{ \"**\": [read] }} }}\n  kim: {{ password: \"pass:word\", rights: {{}} }}\n"
        );
        Login::for_users(Users::parse(&file).expect("a users file")).expect("a login")
    }

    async fn admitted(login: &Login, pair: &str) -> Result<String, LoginRefusal> {
        let header = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair))).expect("a header");
        login.check(Some(&header), PEER).await.map(|caller| caller.name)
    }

    #[tokio::test]
    async fn a_user_comes_in_with_a_hashed_or_a_plain_password() {
        let login = login();

        for _ in 0..2 {
            assert_eq!(admitted(&login, "dana:correct horse").await.as_deref(), Ok("dana"));
        }
        assert_eq!(admitted(&login, "kim:pass:word").await.as_deref(), Ok("kim"));
    }

    #[tokio::test]
    async fn nobody_else_comes_in() {
        let login = login();

        for pair in ["dana:wrong", "dana:", "kim:pass", "kim:", "nobody:correct horse", ":", "dana"] {
            let name = pair.split_once(':').unwrap_or_default().0;
            let known = ["dana", "kim"].contains(&name).then(|| name.to_owned());
            assert_eq!(admitted(&login, pair).await, Err(LoginRefusal::Wrong(known)), "{pair}");
        }
        assert_eq!(login.check(None, PEER).await.err(), Some(LoginRefusal::Missing));
    }

    #[tokio::test]
    async fn every_attempt_costs_one_hash_whoever_it_names() {
        let login = login();
        let Login::Users(users) = &login else { unreachable!("a login of users") };
        let cost = async |pair: &str| {
            let before = users.hashed.load(Ordering::Relaxed);
            let _ = admitted(&login, pair).await;
            users.hashed.load(Ordering::Relaxed) - before
        };

        for pair in ["dana:wrong", "kim:wrong", "nobody:wrong", "nobody:pass:word", ":"] {
            assert_eq!(cost(pair).await, 1, "{pair}");
        }
        for pair in ["dana:correct horse", "kim:pass:word"] {
            assert_eq!((cost(pair).await, cost(pair).await), (1, 0), "{pair}");
        }
    }

    #[tokio::test]
    async fn of_eighty_guesses_at_once_ten_are_looked_at_and_eighty_right_ones_all_come_in() {
        let login = login();
        let Login::Users(users) = &login else { unreachable!("a login of users") };

        let right = futures::future::join_all((0..80).map(|_| admitted(&login, "kim:pass:word"))).await;
        let before = users.hashed.load(Ordering::Relaxed);
        let guesses: Vec<String> = (0..80).map(|number| format!("dana:guess {number}")).collect();
        let wrong = futures::future::join_all(guesses.iter().map(|guess| admitted(&login, guess))).await;

        assert!(right.iter().all(Result::is_ok), "{right:?}");
        assert_eq!(users.hashed.load(Ordering::Relaxed) - before, 10);
        let refused =
            wrong.iter().filter(|outcome| matches!(outcome, Err(LoginRefusal::LockedOut(..)))).count();
        assert_eq!(refused, 70);
    }

    #[tokio::test]
    async fn the_right_password_does_not_help_during_a_lockout() {
        let login = login();
        for _ in 0..10 {
            assert!(admitted(&login, "kim:guess").await.is_err());
        }

        assert!(matches!(admitted(&login, "kim:pass:word").await, Err(LoginRefusal::LockedOut(..))));
        assert_eq!(admitted(&login, "dana:correct horse").await.as_deref(), Ok("dana"));
    }
}
