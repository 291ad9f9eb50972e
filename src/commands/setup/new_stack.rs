//! `infra new-stack`: a copy of a stack with a state of its own, or an empty stack. What belongs to
//! the original alone (its working folder, plans, state) is never copied.

mod copy;
mod place;
mod settings;

use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use self::copy::CopiedFile;
use self::place::NewPlace;
use crate::commands::Context;
use crate::commands::args::{StackArgs, stack_names};
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Error, Exit, Result, io};
use crate::model::{Backend, Project, Stack, StackId};
use crate::stacks;
use crate::stacks::Relocation;

/// What an empty stack begins with.
const EMPTY: &str =
    "terraform {\n  # Empty on purpose: `infra` serves the state.\n  backend \"http\" {}\n}\n";

/// Make a stack, as a copy of another or empty
///
/// The copy writes a state of its own: the key, path or address in its backend is changed and
/// checked against every other stack. Working folders, plans and states are not copied.
///
/// Examples:
///   infra new-stack 01-hypervisors/pve3 --from pve1
///   infra new-stack infrastructure/02-platforms/k8s-dev --from k8s-prod
///   infra new-stack 03-legacy/printer
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct NewStackArgs {
    /// Where to make it: a path, or an id below the folder of the stacks
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::DirPath)]
    path: PathBuf,
    /// The stack to copy
    #[arg(long, value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    from: Option<String>,
}

/// Runs the command.
pub fn run(args: &NewStackArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load(context)?;
    let from = args.from.clone().map(|name| original(&loaded, name, context)).transpose()?;
    let from = from.as_ref();
    let place = place::resolve(&args.path, &loaded, from, &context.cwd)?;
    let files = match from {
        Some(from) => {
            let relocation = Relocation { from, to: &place.id, path: &place.path };
            copy::load(&loaded.project.root, relocation)?
        }
        None => vec![CopiedFile::text("main.tf", EMPTY)],
    };
    let copied = from.and_then(|from| settings::copy(&loaded.project, &from.id, &place.id));
    let made = create(&place, &files, context).inspect_err(|_| settings::undo(copied.as_ref()))?;
    let said = match copied {
        Some(_) => CopySettings::Repeated,
        None if from.is_some_and(|from| is_configured(&loaded, &from.id, &place.id)) => {
            CopySettings::OfOriginal
        }
        None => CopySettings::Nothing,
    };
    tell(&made, (from, said), context);
    Ok(Exit::OK)
}

/// Returns the stack to copy: the folder, whichever of its workspaces was named.
fn original(loaded: &LoadedProject, name: String, context: &Context) -> Result<Stack> {
    let chosen = loaded.choose(&StackArgs::one(Some(name.clone())), context)?;
    let path = &loaded.stack(&chosen[0])?.path;
    if !chosen.iter().all(|id| loaded.stack(id).is_ok_and(|stack| stack.path == *path)) {
        return loaded.choose_one(Some(name), context).cloned();
    }
    // As it is without what infra.yaml says of it.
    let plain = Project { stack_settings: Vec::new(), ..loaded.project.clone() };
    let found = stacks::discover(&plain)?.stacks.into_iter().find(|stack| stack.path == *path);
    found.ok_or_else(|| Error::bug(format!("`{name}` was chosen but not found")))
}

/// Writes the files; whatever is wrong with the stack they make, they go again.
fn create(place: &NewPlace, files: &[CopiedFile], context: &Context) -> Result<Vec<Stack>> {
    let outermost = place.first_missing_folder();
    std::fs::create_dir_all(&place.folder).map_err(io("create", &place.folder))?;
    let made = copy::write(&place.folder, files).and_then(|()| check(place, context));
    if made.is_err() {
        let _ = std::fs::remove_dir_all(&outermost);
    }
    made
}

/// Returns the new stack, one for each of its workspaces, if it is one and its states are its own.
fn check(place: &NewPlace, context: &Context) -> Result<Vec<Stack>> {
    let loaded = LoadedProject::load(context)?;
    let mut shared = stacks::shared_states(&loaded.stacks).into_iter();
    let made: Vec<Stack> = loaded.stacks.into_iter().filter(|stack| stack.path == place.path).collect();
    if made.is_empty() {
        let message = format!("a folder at `{}` would be no stack", place.path.display());
        return Err(Error::usage(message)
            .hint("stacks lie below a stack root and not in `modules`; `infra stacks` shows where"));
    }
    // What others share was so before.
    match shared.find(|shared| made.iter().any(|stack| shared.stacks.contains(&stack.id))) {
        Some(shared) => Err(shared.error),
        None => Ok(made),
    }
}

/// What infra.yaml says of a copy.
#[derive(Clone, Copy, Debug)]
enum CopySettings {
    /// What it says of the original, word for word.
    Repeated,
    /// Less than of the original.
    OfOriginal,
    /// The same as of the original by patterns, or nothing of both.
    Nothing,
}

fn tell(made: &[Stack], (from, said): (Option<&Stack>, CopySettings), context: &Context) {
    let (terminal, first) = (&context.terminal, &made[0]);
    let id = first.base_id();
    let origin = from.map(|from| format!(" from `{}`", from.id)).unwrap_or_default();
    terminal.note(&format!("made `{id}`{origin} in `{}`", first.path.display()));
    for stack in made {
        terminal.note(&format!("  {}", state_words(stack)));
    }
    for remark in first.file_remarks().chain(&first.warnings) {
        terminal.note(&format!("  ! {remark}"));
    }
    let original = from.map(|from| from.id.to_string()).unwrap_or_default();
    match said {
        CopySettings::Repeated => terminal
            .note(&format!("  infra.yaml says of it what it says of `{original}`, its `workspaces` too")),
        CopySettings::OfOriginal => {
            terminal
                .note(&format!("  infra.yaml says something about `{original}`: say it about `{id}` too"));
        }
        CopySettings::Nothing => {}
    }
    terminal.note("next:");
    if from.is_some() {
        terminal.note(&format!("  change what must differ in {}", first.path.display()));
    }
    terminal.note(&format!("  infra plan {id}"));
}

fn state_words(stack: &Stack) -> String {
    let whose = match stack.declared_workspace() {
        Some(name) => format!("the state of `{name}`"),
        None => "its state".to_owned(),
    };
    match (&stack.backend, stacks::identity_of(stack)) {
        (Backend::Embedded, _) => format!("{whose} is `{}`", stack.id.state_name()),
        (_, Some(identity)) => format!("{whose} is `{identity}`"),
        (Backend::None | Backend::Unknown | Backend::Configured { .. }, None) => {
            format!("which state it writes is told at `init`: give {whose} a place of its own there")
        }
    }
}

/// Returns whether settings hold for the original and not for the copy.
fn is_configured(loaded: &LoadedProject, from: &StackId, made: &StackId) -> bool {
    let settings = |id| format!("{:?}", stacks::settings_for(&loaded.project, id));
    settings(from) != settings(made)
}

/// Returns whether something is at a path, even a link that leads nowhere.
fn is_taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
