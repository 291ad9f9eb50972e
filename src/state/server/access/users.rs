//! The users of a server: turns the text of a users file into names, secrets and rights.
//!
//! A password or a hash is kept in memory only, and is shown by nothing here.

use std::collections::BTreeMap;
use std::fmt;

use argon2::password_hash::PasswordHash;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::password_hash::hash_password;
use super::rights::{Right, Rights};
use crate::error::{Error, Result};

/// How the password of a user is kept.
#[derive(Clone)]
pub(super) enum Secret {
    /// The password itself.
    Password(Zeroizing<String>),
    /// Its argon2 hash.
    Hash(Zeroizing<String>),
}

/// One user.
#[derive(Clone)]
pub(super) struct User {
    pub name: String,
    pub secret: Secret,
    pub rights: Rights,
}

/// All users of a server.
#[derive(Clone, Debug, Default)]
pub struct Users(pub(super) Vec<User>);

/// Shows the name only.
impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsersFile {
    users: BTreeMap<String, UserEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UserEntry {
    password: Option<String>,
    hash: Option<String>,
    rights: BTreeMap<String, Vec<Right>>,
}

impl Users {
    /// Reads the text of a users file.
    pub fn parse(text: &str) -> Result<Self> {
        // The parser's own message may quote a line with a password.
        let file: UsersFile = serde_saphyr::from_str(text).map_err(|error| {
            let place = error.location().map(|place| format!("line {}", place.line()));
            Error::invalid("the users file cannot be read")
                .at(place.unwrap_or_default())
                .hint("expected `users: { NAME: { hash: …, rights: { \"**\": [read, write] } } }`")
                .hint("rights are `read`, `lock`, `write` and `admin`; `password` may stand for `hash`")
        })?;
        let users = file.users.into_iter().map(|(name, entry)| read_user(name, entry));
        let users = users.collect::<Result<Vec<_>>>()?;
        if users.is_empty() {
            return Err(Error::invalid("the users file names no user"));
        }
        Ok(Self(users))
    }

    /// Returns one user who may do everything.
    pub fn one(name: &str, password: &str) -> Result<Self> {
        check_name(name)?;
        let secret = Secret::Password(Zeroizing::new(password.to_owned()));
        Ok(Self(vec![User { name: name.to_owned(), secret, rights: Rights::all() }]))
    }

    /// Returns the users with every password hashed if one is, so that all take equally long to check.
    pub(super) fn equally_hard(mut self) -> Result<Self> {
        if !self.0.iter().any(|user| matches!(user.secret, Secret::Hash(_))) {
            return Ok(self);
        }
        for user in &mut self.0 {
            if let Secret::Password(password) = &user.secret {
                user.secret = Secret::Hash(Zeroizing::new(hash_password(password)?));
            }
        }
        Ok(self)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.contains(':') || name.chars().any(char::is_control) {
        return Err(Error::invalid(format!("`{}` is no user name", name.escape_debug()))
            .hint("it is not empty and has neither `:` nor control characters"));
    }
    Ok(())
}

fn read_user(name: String, entry: UserEntry) -> Result<User> {
    check_name(&name)?;
    let secret = match (entry.password.map(Zeroizing::new), entry.hash.map(Zeroizing::new)) {
        (Some(password), None) if !password.is_empty() => Secret::Password(password),
        (None, Some(hash)) => {
            let is_argon =
                PasswordHash::new(&hash).is_ok_and(|hash| hash.algorithm.as_str().starts_with("argon2"));
            if !is_argon {
                return Err(Error::invalid(format!("the hash of `{name}` is no argon2 hash"))
                    .hint("make one: `infra state serve --hash-password`"));
            }
            Secret::Hash(hash)
        }
        _ => {
            return Err(Error::invalid(format!("`{name}` must have a `password` or a `hash`, and not both")));
        }
    };
    let mut rights = Rights::default();
    for (pattern, granted) in entry.rights {
        rights = rights.with(&pattern, granted).map_err(|error| error.at(format!("users: {name}")))?;
    }
    Ok(User { name, secret, rights })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateName;

    const FILE: &str = r#"
users:
  dana:
    hash: "$argon2id$v=19$m=16,t=2,p=1$c29tZXNhbHQ$dDkHD8Yx0LcDjaKZdqLzHA"
    rights:
      "**": [read]
      "02-platforms/*": [write]
  ci:
    password: "pass:word"
    rights: { "**": [admin] }
"#;

    #[test]
    fn a_users_file_gives_names_secrets_and_rights() {
        let users = Users::parse(FILE).expect("a users file");

        let dana = users.0.iter().find(|user| user.name == "dana").expect("a user");
        let name = StateName::parse("02-platforms/k8s").expect("a name");
        assert_eq!(users.len(), 2);
        assert!(dana.rights.allow(Right::Write, &name) && !dana.rights.allow(Right::Admin, &name));
    }

    #[test]
    fn a_wrong_file_is_refused_without_its_secrets() {
        for (text, expected) in [
            ("users: {}", "names no user"),
            ("users: { a: { password: hunter2 } }", "cannot be read"),
            ("users: { a: { password: hunter2, rights: { \"**\": [fly] } } }", "cannot be read"),
            ("users: { a: { password: hunter2, hash: x, rights: {} } }", "not both"),
            ("users: { a: { password: \"\", rights: {} } }", "must have"),
            ("users: { a: { hash: hunter2, rights: {} } }", "no argon2 hash"),
            ("users: { \"a:b\": { password: hunter2, rights: {} } }", "no user name"),
            ("users: { a: { password: hunter2, rights: { \"[\": [read] } } }", "no pattern"),
            ("hunter2", "cannot be read"),
        ] {
            let error = Users::parse(text).expect_err(text).to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{text}: {error}");
        }
    }

    #[test]
    fn users_never_show_their_secrets() {
        let shown = format!("{:?}", Users::parse(FILE).expect("a users file"));

        assert!(!shown.contains("pass:word") && !shown.contains("argon2"), "{shown}");
    }
}
