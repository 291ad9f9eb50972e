//! The flag that says how much of each change is shown.

use clap::Args;

use super::headings::OUTPUT;
use crate::report::Details;

/// How much is shown of what a plan changes.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct DetailArgs {
    /// How much of each change to show; by default what fits on a screen
    #[arg(long, value_name = "HOW", value_enum, help_heading = OUTPUT)]
    pub details: Option<Details>,
}
