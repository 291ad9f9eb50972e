//! Where states are kept, as `infra.lock`, `--from` and the configuration name it.
//!
//! The text is what a person wrote, without credentials, and the same in every checkout: a
//! relative folder is below the project's root. Two texts may mean one place. Nothing here
//! asks a place anything. Begin at [`KeptAt::of`].

use std::path::Path;

use super::state_place::StatePlace;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment, Project, without_dots};
use crate::state::{Retention, StateStore, StorePlace};

/// The word for the project's own folder.
const EMBEDDED: &str = "embedded";

/// The project's own folder, below its root.
const OWN_FOLDER: &str = ".infra/state";

/// A place for the states of a project.
#[derive(Clone, Debug)]
pub struct KeptAt {
    text: String,
    /// The folder as it is written, from the root; `None` for a place over the network.
    full: Option<String>,
    target: Target,
}

#[derive(Clone, Debug)]
enum Target {
    Store(StorePlace),
    Server(String),
}

impl KeptAt {
    /// Returns the place that the project's configuration names.
    pub fn of(project: &Project) -> Result<Self> {
        let named = project.state.url.as_deref().or(project.state.store.as_deref());
        let at = format!("{}: state", project.root.join("infra.yaml").display());
        Self::parse(named.unwrap_or(EMBEDDED), &project.root).map_err(|error| error.at(at))
    }

    /// Returns the project's own folder.
    pub fn embedded(root: &Path) -> Self {
        let folder = root.join(OWN_FOLDER);
        let full = Some(folder.display().to_string());
        Self { text: EMBEDDED.to_owned(), full, target: Target::Store(StorePlace::Folder(folder)) }
    }

    /// Reads a place as it is written in `infra.lock`, or on the command line.
    pub fn parse(text: &str, root: &Path) -> Result<Self> {
        let text = text.trim();
        if text == EMBEDDED {
            return Ok(Self::embedded(root));
        }
        if let Some(("http" | "https", _)) = text.split_once("://") {
            return server(text);
        }
        let target = match StorePlace::parse(text, root)? {
            StorePlace::Folder(folder) => StorePlace::Folder(without_dots(&folder)),
            bucket @ StorePlace::Bucket(_) => bucket,
        };
        let own = Self::embedded(root);
        let full = matches!(target, StorePlace::Folder(_)).then(|| root.join(text).display().to_string());
        let place = Self { text: text.to_owned(), full, target: Target::Store(target) };
        Ok(if place.is_same(&own) { own } else { place })
    }

    /// Returns the text for `infra.lock`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the place in words that mean the same in every checkout of this machine.
    pub fn full_text(&self) -> String {
        self.full.clone().unwrap_or_else(|| self.text.clone())
    }

    /// Returns whether two texts mean one place.
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (Target::Store(StorePlace::Folder(one)), Target::Store(StorePlace::Folder(other))) => {
                without_dots(one) == without_dots(other)
            }
            (Target::Store(StorePlace::Bucket(one)), Target::Store(StorePlace::Bucket(other))) => {
                one.is_same(other)
            }
            (Target::Server(one), Target::Server(other)) => one == other,
            _ => false,
        }
    }

    /// Returns whether it is the project's own folder.
    pub fn is_embedded(&self) -> bool {
        self.text == EMBEDDED
    }

    /// Returns the folder, if it is one on this machine.
    pub fn folder(&self) -> Option<&Path> {
        match &self.target {
            Target::Store(StorePlace::Folder(folder)) => Some(folder),
            Target::Store(StorePlace::Bucket(_)) | Target::Server(_) => None,
        }
    }

    /// Opens it to look into, or to move states away from; a folder that is not there is nothing.
    ///
    /// Whoever calls this for a place that is reached over the network has a person's yes to it.
    pub fn open(&self, project: &Project, env: &Environment, clock: Clock) -> Result<Option<StatePlace>> {
        match &self.target {
            Target::Server(url) => Ok(Some(StatePlace::Server(url.clone()))),
            Target::Store(StorePlace::Folder(folder)) if !folder.is_dir() => Ok(None),
            Target::Store(place) => {
                let retention = Retention::of(project.state.keep_versions, project.state.keep_days);
                let store = StateStore::open(place, env, clock)?.with_retention(retention);
                Ok(Some(StatePlace::Store(store)))
            }
        }
    }

    /// Returns whether credentials for one place may be sent to the other: only to the very same server.
    pub fn shares_credentials_with(&self, other: &Self) -> bool {
        match (&self.target, &other.target) {
            (Target::Store(StorePlace::Bucket(one)), Target::Store(StorePlace::Bucket(other))) => {
                one.is_on_the_host_of(other)
            }
            (Target::Server(one), Target::Server(other)) => origin(one) == origin(other),
            _ => false,
        }
    }
}

/// What a person gives for the place that states come from begins with it.
const FROM: &str = "INFRA_FROM_";

/// Returns the environment for a place that states come from.
///
/// Credentials for the configured place are never sent to another host; those for the other one are given
/// under the same names with `INFRA_FROM_` before them.
pub fn source_environment(mut env: Environment, from: &KeptAt, here: &KeptAt) -> Environment {
    let is_same_kind = matches!(
        (&from.target, &here.target),
        (Target::Server(_), Target::Server(_))
            | (Target::Store(StorePlace::Bucket(_)), Target::Store(StorePlace::Bucket(_)))
    );
    let is_strange = is_same_kind && !from.shares_credentials_with(here);
    if is_strange {
        let family = if matches!(from.target, Target::Server(_)) { "TF_HTTP_" } else { "AWS_" };
        env.remove_where(|name| name.starts_with(family));
    }
    let given: Vec<(String, String)> = env
        .iter()
        .filter_map(|(name, value)| {
            Some((name.to_str()?.strip_prefix(FROM)?.to_owned(), value.to_str()?.to_owned()))
        })
        .collect();
    if is_strange && !given.iter().any(|(name, _)| name == "AWS_PROFILE") {
        // Nor those of this person's usual profile, or of this machine.
        env.remove_where(|name| name == "HOME");
        env.set("AWS_EC2_METADATA_DISABLED", "true");
    }
    for (name, value) in given {
        env.set(&name, &value);
    }
    env
}

impl std::fmt::Display for KeptAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn server(text: &str) -> Result<KeptAt> {
    let url = reqwest::Url::parse(text).map_err(|error| {
        Error::invalid(format!("`{text}` is no address of a state server")).because(error)
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::invalid("the address of the state server holds credentials, which do not belong there")
            .hint("give them as `tfstate_username` and `tfstate_password` in the secrets, or as TF_HTTP_USERNAME and TF_HTTP_PASSWORD"));
    }
    let text = text.trim_end_matches('/').to_owned();
    Ok(KeptAt { target: Target::Server(text.clone()), full: None, text })
}

fn origin(url: &str) -> Option<String> {
    Some(reqwest::Url::parse(url).ok()?.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> KeptAt {
        KeptAt::parse(text, Path::new("/lab")).expect("a place")
    }

    #[test]
    fn one_place_may_have_several_names() {
        for (one, other) in [
            ("embedded", ".infra/state"),
            ("embedded", "./.infra/state/"),
            ("../states", "/states"),
            ("s3://b/p?region=auto&endpoint=http://h:1", "s3://b/p/?endpoint=http://h:1/"),
            ("https://h/states", "https://h/states/"),
        ] {
            assert!(kept(one).is_same(&kept(other)), "{one} and {other}");
        }
        for (one, other) in [
            ("embedded", "states"),
            ("s3://b/p", "s3://b/q"),
            ("s3://b/p?endpoint=http://one", "s3://b/p?endpoint=http://other"),
            ("https://h/states", "https://i/states"),
        ] {
            assert!(!kept(one).is_same(&kept(other)), "{one} and {other}");
        }
    }

    #[test]
    fn the_text_is_what_was_written_and_never_a_password() {
        assert_eq!(kept("../states").text(), "../states");
        assert_eq!(kept("./.infra/state").text(), "embedded");
        for text in ["https://me:hunter2@h/states", "s3://key:hunter2@bucket"] {
            let error = KeptAt::parse(text, Path::new("/lab")).expect_err("credentials");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn credentials_go_to_the_same_host_only() {
        assert!(kept("https://h/states/a").shares_credentials_with(&kept("https://h/states/b")));
        assert!(!kept("https://h/states").shares_credentials_with(&kept("https://h:8443/states")));
        assert!(kept("s3://a?endpoint=http://h").shares_credentials_with(&kept("s3://b?endpoint=http://h")));
        assert!(!kept("s3://a?endpoint=http://h").shares_credentials_with(&kept("s3://a")));
    }
}
