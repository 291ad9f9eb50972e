//! Which stacks of the project a command is about.

use super::first_stacks::how_to_get_stacks;
use super::load::LoadedProject;
use super::project_root::terragrunt_error;
use crate::commands::args::StackArgs;
use crate::commands::{Context, program};
use crate::error::{Error, Result};
use crate::model::{Stack, StackId, counted};
use crate::stacks;
use crate::stacks::Selection;

impl LoadedProject {
    /// Returns the chosen stacks; tells a person in a folder of stacks that `--all` is more than those.
    pub fn choose(&self, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
        self.tell_narrower(args, context);
        self.select(&args.selection(), context)
    }

    /// Returns the chosen stacks of a command that only looks at them: where nothing is chosen, all
    /// below the working directory.
    pub fn choose_to_read(&self, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
        self.tell_narrower(args, context);
        self.select(&Selection { reads: true, ..args.selection() }, context)
    }

    /// Tells somebody in a folder of stacks that `--all` is more than those.
    fn tell_narrower(&self, args: &StackArgs, context: &Context) {
        let narrower =
            args.all.then(|| stacks::narrower(&self.project, &self.stacks, &context.cwd)).flatten();
        if let Some(count) = narrower {
            let all = counted(self.stacks.len(), "stack");
            let way = format!("{} {} .", program(context), context.command);
            context.terminal.note(&format!(
                "`--all` is the whole project: {all}; for the {count} in this folder: `{way}`"
            ));
        }
    }

    /// Returns the stacks of a selection.
    pub fn select(&self, selection: &Selection, context: &Context) -> Result<Vec<StackId>> {
        if self.stacks.is_empty() {
            // All of them may be what was removed.
            return if selection.changed { Ok(Vec::new()) } else { Err(self.no_stacks(context)) };
        }
        let workspace = selection.workspace.clone().or_else(|| Self::inherited(context));
        let selection = Selection { workspace, ..selection.clone() };
        let Some(changed) = &self.changed else {
            return stacks::select(&self.project, &self.stacks, &selection, &context.cwd);
        };
        // A stack that runs in a workspace which nothing declares is known by its folder.
        let has_changed = |stack: &Stack| changed.contains(&stack.id) || changed.contains(&stack.base_id());
        stacks::select_among(&self.project, &self.stacks, &selection, (&context.cwd, &has_changed))
    }

    /// Returns the one stack that is meant.
    pub fn choose_one(&self, stack: Option<String>, context: &Context) -> Result<&Stack> {
        self.choose_one_of(&StackArgs::one(stack), context)
    }

    /// Returns the one stack that arguments mean.
    pub fn choose_one_of(&self, args: &StackArgs, context: &Context) -> Result<&Stack> {
        let selection = Selection { one: true, ..args.selection() };
        let chosen = self.select(&selection, context)?;
        match chosen.as_slice() {
            [id] => self.stack(id),
            several => Err(Error::usage("this command works on one stack")
                .detail(format!(
                    "chosen: {}",
                    several.iter().map(StackId::as_str).collect::<Vec<_>>().join(", ")
                ))
                .hint_if(several.first().map(|id| format!("name one of them, such as `{id}`")))),
        }
    }

    /// Makes the error of a project without stacks.
    fn no_stacks(&self, context: &Context) -> Error {
        let root = &self.project.root;
        match stacks::terragrunt_units(root) {
            0 => {
                let error = Error::invalid(format!("`{}` has no stacks", root.display()));
                // Why none was found may stand in a note, such as a root that does not exist.
                let error = self.notes.iter().cloned().fold(error, Error::detail);
                error.hint(self.how_to_get_stacks(context))
            }
            units => terragrunt_error(root, units),
        }
    }

    /// Says how a project without stacks gets some.
    pub fn how_to_get_stacks(&self, context: &Context) -> String {
        how_to_get_stacks(&self.project, context)
    }
}
