//! How a call tells this program what it does.

use crate::process::Invocation;
use crate::tofu::{Flavour, Tofu};

/// How a tofu tells what it does to a machine while a person can still read it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Narration {
    /// Text on stdout, messages on a pipe of their own: `-json-into`, from 1.12
    /// (<https://opentofu.org/blog/dual-command-output-streams>).
    Both,
    /// Messages on stdout only (`-json`).
    MessagesOnly,
}

impl Narration {
    /// Returns what a tofu can do; Terraform has no `-json-into`.
    pub fn of(tofu: &Tofu) -> Self {
        let new_enough = (tofu.version.major, tofu.version.minor) >= (1, 12);
        if new_enough && tofu.flavour == Flavour::OpenTofu { Self::Both } else { Self::MessagesOnly }
    }
}

/// Gives a call the flags by which it tells what it does.
pub fn narrated(call: Invocation, narration: Narration) -> Invocation {
    match narration {
        Narration::Both => call.tap("-json-into="),
        Narration::MessagesOnly => call.arg("-json"),
    }
}
