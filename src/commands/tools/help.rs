//! `infra help`.

use std::ffi::OsString;

use clap::Args;

use crate::commands::{Context, habits};
use crate::error::{Error, Exit, Result};
use crate::model::nearest;

/// Show the help of a command
///
/// Examples:
///   infra help plan
///   infra help state rollback
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct HelpArgs {
    /// The command; without one, the list of all
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// Runs the command.
pub fn run(args: &HelpArgs, context: &Context) -> Result<Exit> {
    let mut command = (context.definition)();
    command.build();
    for word in &args.command {
        // What follows a command that has none of its own is about stacks, and is not explained.
        if !command.has_subcommands() {
            break;
        }
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| elsewhere(args, context).unwrap_or_else(|| unknown(word, &command)))?;
    }
    context.terminal.data(&command.render_long_help().to_string());
    Ok(Exit::OK)
}

/// Returns what is used instead of a command that only another tool has.
fn elsewhere(args: &HelpArgs, context: &Context) -> Option<Error> {
    // Those run a command that follows them.
    let follows = matches!(args.command.as_slice(), [one] if ["run", "run-all"].contains(&one.as_str()));
    let words = std::iter::once("infra").chain(args.command.iter().map(String::as_str));
    let line: Vec<OsString> = words.chain(follows.then_some("plan")).map(OsString::from).collect();
    habits::correction(&line, context.definition, &context.env, !context.terminal.has_person())
}

fn unknown(word: &str, among: &clap::Command) -> Error {
    let names: Vec<&str> = among.get_subcommands().map(clap::Command::get_name).collect();
    let hint = match nearest(word, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the commands are {}", names.join(", ")),
    };
    Error::usage(format!("there is no command `{word}`")).hint(hint)
}
