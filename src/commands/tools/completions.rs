//! `infra completions`.

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::commands::Context;
use crate::error::Exit;

/// The variable by which a shell asks for completions.
pub const COMPLETE: &str = "INFRA_COMPLETE";

/// Print the completions for a shell; they know the names of your stacks
///
/// Examples:
///   source <(infra completions bash)
///   infra completions zsh > ~/.zfunc/_infra
///   infra completions fish > ~/.config/fish/completions/infra.fish
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs, context: &Context) -> Exit {
    let mut script = Vec::new();
    let name = args.shell.to_string();
    if let Some(completer) = Shells::builtins().completer(&name) {
        // Writing into memory does not fail.
        let _ = completer.write_registration(COMPLETE, "infra", "infra", "infra", &mut script);
    }
    context.terminal.data(&String::from_utf8_lossy(&script));
    Exit::OK
}
