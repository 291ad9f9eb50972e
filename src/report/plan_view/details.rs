//! How much of a plan over several stacks is shown.

use clap::ValueEnum;

/// How much of each change is shown; without a word about it, what fits a screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Details {
    /// Every attribute that changes, however many there are
    All,
    /// The resources without their attributes
    Addresses,
    /// Nothing but how many there are
    None,
}
