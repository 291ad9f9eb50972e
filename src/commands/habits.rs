//! Command lines as people of tofu and Terragrunt type them: the same in infra's words, ready to paste.
//!
//! Nothing is run in the place of what was typed, and nothing is advised that infra would refuse: a
//! corrected line is read once more before it is shown. Begin at [`correction`].

mod flag_names;
mod line;
mod passthrough;
mod surroundings;
mod terragrunt;
mod tofu_flags;

use std::ffi::OsString;

use self::line::Line;
use self::surroundings::ProjectAround;
use crate::error::Error;
use crate::model::Environment;

/// What is said about a line that was typed.
#[derive(Debug, Default)]
struct Advice {
    /// What is not infra's: `` `-target` is a flag of tofu ``.
    message: String,
    /// What one should know about the correction.
    notes: Vec<String>,
    /// The line to paste.
    line: Line,
    /// What else can be meant, each with a line of its own.
    others: Vec<(String, Line)>,
    /// What has to be filled in, where it is not known.
    open: Option<String>,
}

/// Returns what to type instead of a command line that was refused, if it is a habit of another tool.
pub fn correction(
    args: &[OsString],
    definition: fn() -> clap::Command,
    env: &Environment,
    is_log: bool,
) -> Option<Error> {
    let words: Option<Vec<String>> = args.iter().skip(1).map(|arg| arg.clone().into_string().ok()).collect();
    let mut known = definition();
    known.build();
    let typed = Line::read(words?, &known);
    let around = ProjectAround::of(&typed, env);
    let advice = terragrunt::advice(&typed, &known, &around)
        .or_else(|| passthrough::advice(&typed, &known, &around))
        .or_else(|| tofu_flags::advice(&typed, &known, &around))
        .or_else(|| passthrough::state_of_this_stack(&typed, &known, &around))?;
    is_accepted(&advice.line, definition).then(|| advice.error(definition, is_log))
}

/// Returns whether infra takes a line, or shows what it asks for.
fn is_accepted(line: &Line, definition: fn() -> clap::Command) -> bool {
    let words = std::iter::once("infra".to_owned()).chain(line.words());
    match definition().try_get_matches_from(words) {
        Ok(_) => true,
        Err(error) => !error.use_stderr(),
    }
}

impl Advice {
    fn error(self, definition: fn() -> clap::Command, is_log: bool) -> Error {
        let error = self.notes.into_iter().fold(Error::usage(self.message), Error::detail);
        let hides = is_log && self.line.text(true) != self.line.text(false);
        let error = if hides {
            error.detail("`…`: a value that may be secret is not repeated in a log")
        } else {
            error
        };
        let error = error.hint(format!("`{}`", self.line.text(is_log)));
        let error = error.hint_if(self.open);
        let others = self.others.into_iter().filter(|(_, line)| is_accepted(line, definition));
        others.fold(error, |error, (words, line)| error.hint(format!("{words}: `{}`", line.text(is_log))))
    }
}
