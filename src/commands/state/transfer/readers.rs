//! Who reads a state that goes somewhere else, told before the question.

use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::model::StackId;
use crate::report::Tone;
use crate::stacks;
use crate::stacks::Reader;

/// Names who reads these states where they are now.
pub fn tell_readers<'a>(loaded: &LoadedProject, ids: impl Iterator<Item = &'a StackId>, context: &Context) {
    let warning = context.terminal.paint(Tone::Warn, "warning");
    for id in ids {
        for Reader { stack: reader, place } in stacks::readers_of(&loaded.stacks, id) {
            context.terminal.note(&format!(
                "{warning}: `{reader}` reads the state of `{id}` where it is now, and will not see what changes after the move"
            ));
            context
                .terminal
                .note(&format!("  at {place}: let it read the new place, or use `inputs` in infra.yaml"));
        }
    }
}
