//! The environment as a value: read once in `main`, changed by copying, handed to children.
//!
//! Nothing reads or writes the process's own environment after start-up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

/// Variables for this process or for a child.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Returns a variable as text; one that is unset, empty or not UTF-8 is `None`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// Returns a variable as a path; one that is unset or empty is `None`.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(OsStr::new(name)).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.insert(name.into(), value.into());
    }

    /// Returns this environment with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.set(name, value);
        self
    }

    /// Removes the variables whose name the predicate picks.
    pub fn remove_where(&mut self, picked: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| !name.to_str().is_some_and(&picked));
    }

    /// Returns the variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns the folder for things that can be fetched or made again.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        let base = self.path("XDG_CACHE_HOME").or_else(|| Some(self.path("HOME")?.join(".cache")))?;
        Some(base.join("infra"))
    }

    /// Returns the folder for what this person made and allowed; as XDG says, only a full path counts.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let set = self.path("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let base = set.or_else(|| Some(self.path("HOME")?.join(".local/state")))?;
        Some(base.join("infra"))
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// Shows names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_never_shows_its_values() {
        let env = Environment::default().with("TF_HTTP_PASSWORD", "hunter2");

        assert_eq!(format!("{env:?}"), "{\"TF_HTTP_PASSWORD\"}");
    }

    #[test]
    fn the_cache_is_below_xdg_or_home() {
        let home = Environment::default().with("HOME", "/h");

        assert_eq!(home.cache_dir(), Some("/h/.cache/infra".into()));
        assert_eq!(home.with("XDG_CACHE_HOME", "/c").cache_dir(), Some("/c/infra".into()));
        assert_eq!(Environment::default().cache_dir(), None);
    }
}
