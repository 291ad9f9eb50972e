//! What `infra deps outdated` is asked for.

use clap::Args;

use crate::commands::args::{OUTPUT, StackArgs};
use crate::upgrades::Level;

/// What to look at, and what to do about it.
#[derive(Args, Debug)]
pub struct OutdatedArgs {
    #[command(flatten)]
    pub(super) stacks: StackArgs,
    /// Edit the constraints in place: minor updates, and in named stacks major ones too
    #[arg(long, help_heading = OUTPUT)]
    pub(super) write: bool,
    /// With `--write`: stay below the next major version in named stacks too
    #[arg(long, requires = "write", conflicts_with = "major", help_heading = OUTPUT)]
    pub(super) minor: bool,
    /// With `--write`: take major updates in stacks that were not named too
    #[arg(long, requires = "write", help_heading = OUTPUT)]
    pub(super) major: bool,
    /// Ask again, also for what was answered within the last hour
    #[arg(long, help_heading = OUTPUT)]
    pub(super) fresh: bool,
}

impl OutdatedArgs {
    /// A major version is tried where somebody says so, never everywhere by the way.
    pub(super) fn level(&self) -> Level {
        let is_named = !self.stacks.all && !self.stacks.selection().is_empty();
        if self.major || (is_named && !self.minor) { Level::Newest } else { Level::Minor }
    }
}
