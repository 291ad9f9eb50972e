//! A tofu that was found, and everything that decides which one is taken.

use std::path::{Path, PathBuf};

use semver::Version;

use super::release_source::ReleaseSource;
use crate::model::{Clock, Environment, TofuSettings};
use crate::process::Interrupts;
use crate::tofu::version::{Flavour, Identity};

/// Everything that decides which tofu is used.
#[derive(Clone, Copy, Debug)]
pub struct LocateRequest<'a> {
    /// The project's root; a relative `tofu.binary` starts here.
    pub root: &'a Path,
    /// `tofu:` of `infra.yaml`.
    pub settings: &'a TofuSettings,
    /// The environment: PATH, HOME, the cache folder, proxies.
    pub env: &'a Environment,
    /// Where releases come from and whose signature counts.
    pub source: &'a ReleaseSource,
    /// Tells when something was installed.
    pub clock: Clock,
    /// Requests to stop.
    pub interrupts: &'a Interrupts,
}

/// A tofu that can be run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tofu {
    /// The absolute path to run; not resolved, because launchers go by the name.
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
    /// Whether it is OpenTofu or Terraform.
    pub flavour: Flavour,
    /// Where it was found.
    pub source: TofuSource,
}

impl Tofu {
    /// Makes a tofu of what a binary said about itself.
    pub(in crate::tofu) fn new(path: PathBuf, identity: Identity, source: TofuSource) -> Self {
        Self { path, version: identity.version, flavour: identity.flavour, source }
    }
}

/// Where a tofu was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TofuSource {
    /// `tofu.binary` names it.
    Settings,
    /// It is on PATH.
    Path,
    /// This program installed it.
    Cache,
}

impl TofuSource {
    /// Returns the word that stands for it in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Path => "path",
            Self::Cache => "cache",
        }
    }
}

/// A tofu that was found and cannot be used.
#[derive(Clone, Debug)]
pub struct PassedOver {
    /// Where it is.
    pub path: PathBuf,
    /// Why not.
    pub why: String,
}

/// What a search brought.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The tofu to run, if there is one.
    pub found: Option<Tofu>,
    /// What was looked at before and did not suit.
    pub passed_over: Vec<PassedOver>,
}
