//! What every command is given, and how it is called again from the folder of the shell.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::model::{Clock, Environment, quoted};
use crate::process::Interrupts;
use crate::report::{Asking, Terminal, confirm};
use crate::trust::TrustWord;

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// The command, as it is typed: `plan`, `state list`.
    pub command: String,
    /// Returns the whole command line as clap knows it.
    pub definition: fn() -> clap::Command,
    /// The environment this program was started with.
    pub env: Environment,
    /// The clock.
    pub clock: Clock,
    /// The folder to work in.
    pub cwd: PathBuf,
    /// Where to write.
    pub terminal: Terminal,
    /// Whether questions are forbidden.
    pub no_input: bool,
    /// What the caller said about trust beforehand.
    pub trust: TrustWord,
    /// The requests to stop.
    pub interrupts: Interrupts,
}

impl Context {
    /// Returns who can be asked.
    pub const fn asking(&self) -> Asking {
        if self.terminal.has_person() && !self.no_input {
            Asking::Person(self.terminal)
        } else {
            Asking::Nobody
        }
    }

    /// Asks a yes-or-no question; a request to stop is an error that says `stopped`.
    pub async fn ask(&self, terminal: &Terminal, question: &str, stopped: &str) -> Result<bool> {
        let mut interrupts = self.interrupts.clone();
        tokio::select! {
            yes = confirm(terminal, question) => Ok(yes),
            _ = interrupts.beyond(0) => Err(Error::interrupted(stopped)),
        }
    }

    /// Asks for a yes; anything else is an error that says `declined`.
    pub async fn require_yes(&self, terminal: &Terminal, question: &str, declined: &str) -> Result<()> {
        match self.ask(terminal, question, declined).await? {
            true => Ok(()),
            false => Err(Error::failed(declined)),
        }
    }
}

/// Returns whether what is typed now would be typed in the folder that this command works in.
pub(super) fn works_here(context: &Context) -> bool {
    shell_folder().is_none_or(|shell| shell == context.cwd)
}

/// Returns the folder of the shell that started this program, which `-C` does not change.
pub(super) fn shell_folder() -> Option<PathBuf> {
    std::env::current_dir().and_then(std::fs::canonicalize).ok()
}

/// Returns the name of the program, with the folder to work in where that is not the shell's own.
pub(super) fn program(context: &Context) -> String {
    match shell_folder() {
        Some(shell) if shell != context.cwd => {
            let below = context.cwd.strip_prefix(&shell).unwrap_or(&context.cwd);
            format!("infra -C {}", quoted(&below.display().to_string()))
        }
        _ => "infra".to_owned(),
    }
}
