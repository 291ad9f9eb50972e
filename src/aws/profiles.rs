//! The profiles of a person: what the config and the credentials files say together.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::ini::{Section, sections};
use crate::error::{Error, Kind, Result};
use crate::model::nearest;

/// What profiles may be named by in an error.
const NAMED: usize = 8;

/// The profiles, and the sessions that some of them share.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    all: BTreeMap<String, Section>,
    sessions: BTreeMap<String, Section>,
    /// Where services are, for profiles that name such a list.
    services: BTreeMap<String, Section>,
    files: Vec<PathBuf>,
}

/// How a profile comes to credentials: the profiles whose roles are taken, from the one that was asked for
/// downwards, and the one that has the first credentials.
#[derive(Debug)]
pub(super) struct ProfileSearch<'a> {
    pub roles: Vec<(&'a str, &'a Section)>,
    pub base: (&'a str, &'a Section),
}

impl Profiles {
    /// Reads the files; one that cannot be read is empty, as the SDK has it.
    pub fn load(config: &[PathBuf], credentials: &[PathBuf]) -> Self {
        let mut profiles =
            Self { files: config.iter().chain(credentials).cloned().collect(), ..Self::default() };
        let read = |file: &PathBuf| {
            let bytes = std::fs::read(file).unwrap_or_default();
            sections(&String::from_utf8_lossy(&bytes))
        };
        for (name, section) in config.iter().flat_map(read) {
            match name.split_once(' ') {
                Some(("profile", name)) => profiles.merge(name, section),
                Some(("sso-session", name)) => {
                    profiles.sessions.entry(name.to_owned()).or_default().extend(section);
                }
                Some(("services", name)) => drop(profiles.services.insert(name.to_owned(), section)),
                None if name.eq_ignore_ascii_case("default") => profiles.merge("default", section),
                _ => {}
            }
        }
        for (name, section) in credentials.iter().flat_map(read) {
            if !name.starts_with("profile ") {
                profiles.merge(&name, section);
            }
        }
        profiles
    }

    /// What is read later counts; a new pair of keys never keeps the token of an older one.
    fn merge(&mut self, name: &str, section: Section) {
        let profile = self.all.entry(name.to_owned()).or_default();
        if section.contains_key("aws_access_key_id") {
            profile.remove("aws_session_token");
        }
        profile.extend(section);
    }

    pub fn get(&self, name: &str) -> Option<&Section> {
        self.all.get(name)
    }

    pub fn session(&self, name: &str) -> Option<&Section> {
        self.sessions.get(name.trim())
    }

    /// Returns where a profile says that a service is.
    pub fn endpoint(&self, profile: &str, service: &str) -> Option<&str> {
        let profile = self.get(profile)?;
        let services = text(profile, "services").and_then(|name| self.services.get(name));
        let own = services.and_then(|all| text(all, &format!("{}.endpoint_url", service.to_lowercase())));
        own.or_else(|| text(profile, "endpoint_url"))
    }

    /// Says where profiles were looked for.
    pub fn places(&self) -> String {
        self.files.iter().map(|file| format!("`{}`", file.display())).collect::<Vec<_>>().join(", ")
    }

    /// Says which profiles there are; `None` if there is none.
    pub fn names(&self) -> Option<String> {
        let names: Vec<&str> = self.all.keys().take(NAMED).map(String::as_str).collect();
        let more = if self.all.len() > NAMED { ", …" } else { "" };
        (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
    }

    /// Makes the error of a profile that is not there.
    pub fn unknown(&self, name: &str) -> Error {
        let near = nearest(name, self.all.keys().map(String::as_str));
        let hint = match (near, self.names()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(names)) => format!("there are: {names}"),
            (None, None) => format!("make it: `aws configure --profile {name}`"),
        };
        refused(format!("there is no AWS profile `{name}`"))
            .detail(format!("looked in {}", self.places()))
            .hint(hint)
    }

    /// Follows `source_profile` to where credentials come from.
    pub fn way_of(&self, name: &str) -> Result<ProfileSearch<'_>> {
        let mut roles: Vec<(&str, &Section)> = Vec::new();
        let mut next = name.to_owned();
        loop {
            let found = self.all.get_key_value(&next).ok_or_else(|| self.unknown(&next))?;
            let here = (found.0.as_str(), found.1);
            let was_here = roles.iter().any(|(seen, _)| *seen == here.0);
            if was_here && has_keys(here.1) {
                return Ok(ProfileSearch { roles, base: here });
            }
            if was_here {
                return Err(cycle_error(&roles, here.0));
            }
            let is_role = here.1.contains_key("role_arn");
            match text(here.1, "source_profile") {
                // A profile that others build upon gives its keys first.
                Some(_) if !roles.is_empty() && has_keys(here.1) && !is_role => {
                    return Ok(ProfileSearch { roles, base: here });
                }
                Some(_) if !is_role => return Err(incomplete(here.0, "source_profile", "role_arn")),
                Some(source) => {
                    roles.push(here);
                    next = source.to_owned();
                }
                None => return Ok(ProfileSearch { roles, base: here }),
            }
        }
    }
}

/// Returns a value that is not empty.
pub(super) fn text<'a>(section: &'a Section, key: &str) -> Option<&'a str> {
    section.get(key).map(String::as_str).filter(|value| !value.is_empty())
}

pub(super) fn has_keys(section: &Section) -> bool {
    text(section, "aws_access_key_id").is_some() && text(section, "aws_secret_access_key").is_some()
}

/// Makes an error about credentials.
pub(super) fn refused(message: impl Into<String>) -> Error {
    Error::new(Kind::Refused, message)
}

/// Makes the error of a profile that says only half of what it must.
pub(super) fn incomplete(profile: &str, has: &str, lacks: &str) -> Error {
    refused(format!("the AWS profile `{profile}` has `{has}` but no `{lacks}`"))
        .hint(format!("add it: `aws configure set {lacks} VALUE --profile {profile}`"))
}

fn cycle_error(roles: &[(&str, &Section)], again: &str) -> Error {
    let names: Vec<&str> = roles.iter().map(|(name, _)| *name).chain([again]).collect();
    refused(format!("the AWS profiles lead in a circle: {}", names.join(" → "))).hint(format!(
        "let the `source_profile` of one of them name a profile with keys; it is `{again}` now"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles(config: &str, credentials: &str) -> Profiles {
        let dir = tempfile::tempdir().expect("a folder");
        let (one, other) = (dir.path().join("config"), dir.path().join("credentials"));
        std::fs::write(&one, config).expect("a file");
        std::fs::write(&other, credentials).expect("a file");
        Profiles::load(&[one], &[dir.path().join("missing"), other])
    }

    #[test]
    fn the_credentials_file_wins_and_an_old_token_does_not_stay() {
        let found = profiles(
            "[profile a]\nregion=r\naws_access_key_id=old\naws_session_token=old\n[b]\nx=1\n[default]\nx=1\n",
            "[a]\naws_access_key_id=new\naws_secret_access_key=s\n[profile c]\nx=1\n",
        );

        let a = found.get("a").expect("a profile");
        assert_eq!((text(a, "region"), text(a, "aws_access_key_id")), (Some("r"), Some("new")));
        assert_eq!(text(a, "aws_session_token"), None);
        assert_eq!(found.names().as_deref(), Some("a, default"), "others are no profiles");
    }

    #[test]
    fn roles_are_taken_from_the_base_upwards() {
        let found = profiles(
            "[profile top]\nrole_arn=t\nsource_profile=middle\n[profile middle]\nrole_arn=m\nsource_profile=base\n\
             [profile self]\nrole_arn=s\nsource_profile=self\n",
            "[base]\naws_access_key_id=k\naws_secret_access_key=s\n[self]\naws_access_key_id=k\naws_secret_access_key=s\n",
        );

        let names = |name| {
            let way = found.way_of(name).expect("a way");
            (way.roles.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>(), way.base.0.to_owned())
        };
        assert_eq!(names("top"), (vec!["top".to_owned(), "middle".to_owned()], "base".to_owned()));
        assert_eq!(names("self"), (vec!["self".to_owned()], "self".to_owned()));
    }

    #[test]
    fn a_circle_a_gap_and_a_misspelt_name_are_told() {
        let found = profiles(
            "[profile a]\nrole_arn=r\nsource_profile=b\n[profile b]\nrole_arn=r\nsource_profile=a\n\
             [profile c]\nsource_profile=a\n[profile d]\nrole_arn=r\nsource_profile=prodd\n[profile prod]\nregion=r\n",
            "",
        );

        let error = |name| found.way_of(name).expect_err("no way").to_string();
        assert!(error("a").contains("circle: a → b → a"), "{}", error("a"));
        assert!(error("c").contains("has `source_profile` but no `role_arn`"), "{}", error("c"));
        assert!(
            error("d").contains("`prodd`") && error("d").contains("did you mean `prod`?"),
            "{}",
            error("d")
        );
    }
}
