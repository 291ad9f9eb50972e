//! The arguments that say which forge and which repository is meant.

use clap::Args;

use crate::forge::{ForgeKind, Given};

/// Which repository of which forge.
#[derive(Args, Clone, Debug, Default)]
pub struct ForgeArgs {
    /// The forge; else what the CI system says. `gitea` is Forgejo too
    #[arg(long, value_name = "KIND")]
    pub forge: Option<ForgeKind>,
    /// The repository: `owner/name`; on GitLab the full path or the numeric id
    #[arg(long, value_name = "R")]
    pub repo: Option<String>,
    /// The root of its API, such as `https://git.example.com/api/v1`
    #[arg(long, value_name = "URL")]
    pub api_url: Option<String>,
}

impl ForgeArgs {
    /// Returns whether anything was given.
    pub const fn is_given(&self) -> bool {
        self.forge.is_some() || self.repo.is_some() || self.api_url.is_some()
    }

    /// Returns what was given.
    pub fn given(&self) -> Given {
        Given { forge: self.forge, repository: self.repo.clone(), number: None, root: self.api_url.clone() }
    }
}
