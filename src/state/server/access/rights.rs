//! What a user may do to which states: rights by pattern.
//!
//! `*` stands for one segment of a name, `**` for any number of them. All patterns that
//! match a name count together; what no pattern grants is refused.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;

use crate::error::{Error, Result};
use crate::state::StateName;

/// One thing that may be done to a state.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// To see it, its versions and its lock.
    Read,
    /// To take its lock and give it back.
    Lock,
    /// To store and delete it; includes reading and locking.
    Write,
    /// To release the lock of somebody else; includes everything.
    Admin,
}

impl Right {
    const fn includes(self, wanted: Self) -> bool {
        match self {
            Self::Admin => true,
            Self::Write => !matches!(wanted, Self::Admin),
            Self::Lock => matches!(wanted, Self::Lock),
            Self::Read => matches!(wanted, Self::Read),
        }
    }

    /// Returns what somebody without it may not do.
    pub(in crate::state) const fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Lock => "lock",
            Self::Write => "change",
            Self::Admin => "administer",
        }
    }
}

/// The rights of one user; clones share the compiled patterns.
#[derive(Clone, Debug)]
pub struct Rights(Granted);

#[derive(Clone, Debug)]
enum Granted {
    Everything,
    ByPattern(Arc<Vec<(GlobMatcher, Vec<Right>)>>),
}

impl Default for Rights {
    fn default() -> Self {
        Self(Granted::ByPattern(Arc::default()))
    }
}

impl Rights {
    /// Returns the right to everything.
    pub fn all() -> Self {
        Self(Granted::Everything)
    }

    /// Returns these rights and some more for the states of a pattern.
    pub fn with(self, pattern: &str, rights: Vec<Right>) -> Result<Self> {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
            Error::invalid(format!("`{pattern}` is no pattern of state names")).because(error)
        })?;
        Ok(match self.0 {
            Granted::Everything => self,
            Granted::ByPattern(mut all) => {
                Arc::make_mut(&mut all).push((glob.compile_matcher(), rights));
                Self(Granted::ByPattern(all))
            }
        })
    }

    /// Returns whether they allow something.
    pub fn allow(&self, wanted: Right, name: &StateName) -> bool {
        match &self.0 {
            Granted::Everything => true,
            Granted::ByPattern(all) => all
                .iter()
                .filter(|(_, rights)| rights.iter().any(|right| right.includes(wanted)))
                .any(|(pattern, _)| pattern.is_match(name.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> StateName {
        StateName::parse(text).expect("a name")
    }

    #[test]
    fn only_what_a_pattern_grants_is_allowed() {
        let rights = Rights::default().with("02-platforms/*", vec![Right::Write]).expect("a pattern");

        assert!(rights.allow(Right::Write, &name("02-platforms/k8s")));
        assert!(rights.allow(Right::Read, &name("02-platforms/k8s")));
        assert!(!rights.allow(Right::Admin, &name("02-platforms/k8s")));
        assert!(!rights.allow(Right::Read, &name("02-platforms/k8s/inner")));
        assert!(!rights.allow(Right::Read, &name("01-hypervisors/pve")));
    }

    #[test]
    fn patterns_count_together_and_two_stars_reach_any_depth() {
        let rights = Rights::default().with("**", vec![Right::Read]).expect("a pattern");
        let rights = rights.with("a/**", vec![Right::Lock]).expect("a pattern");

        assert!(rights.allow(Right::Read, &name("x/y/z")) && rights.allow(Right::Lock, &name("a/b/c")));
        assert!(!rights.allow(Right::Lock, &name("x")) && !rights.allow(Right::Write, &name("a/b")));
        assert!(Rights::all().allow(Right::Admin, &name("any/where")));
    }

    #[test]
    fn a_broken_pattern_is_named() {
        let error = Rights::default().with("a/[", vec![Right::Read]).expect_err("a broken pattern");

        assert!(error.message().contains("a/["), "{error}");
    }
}
