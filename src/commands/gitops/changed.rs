//! `infra changed`.

mod base;
mod choosing;
mod earlier_contents;
mod look;
mod render_inputs;
mod rendering;
mod show;

use std::num::NonZeroUsize;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

pub(super) use look::{Looked, look};
use show::removed_notes;

use crate::commands::Context;
use crate::commands::args::OUTPUT;
use crate::commands::args::stack_names;
use crate::commands::loaded_project::LoadedProject;
use crate::commands::loaded_project::root_of;
use crate::error::{Exit, Result};
use crate::model::Project;
use crate::project;
use crate::stacks::Selection;

/// List the stacks that a change affects, since the merge base
///
/// A changed file belongs to the deepest stack or module around it. A stack is affected if it, a
/// local module it uses, a file of variables or secrets, or a template or data that renders into it
/// changed; uncommitted and untracked files count. `--changed` chooses the same stacks elsewhere.
///
/// Examples:
///   infra changed                       since the merge base with origin's main branch
///   infra changed --base v1.4 --json    for a matrix of a CI system
///   infra changed --why k8s-prod        the paths, and the modules on the way
///   infra plan --changed                plan these stacks
///   infra changed --matrix              a list of jobs for a workflow
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ChangedArgs {
    /// Measure from where this commit, branch or tag and the working tree parted
    #[arg(long, value_name = "REF")]
    base: Option<String>,
    /// Tell why a stack is affected
    #[arg(long, value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    why: Option<String>,
    /// Print as JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Print one line of JSON for the jobs of a CI system: at most N, each the names of its stacks, one a line
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "100",
          conflicts_with_all = ["json", "why"], help_heading = OUTPUT)]
    matrix: Option<NonZeroUsize>,
}

/// Runs the command.
pub async fn run(args: &ChangedArgs, context: &Context) -> Result<Exit> {
    let project = project::load(&root_of(context)?)?;
    let looked = look(&project, args.base.as_deref(), context).await?;
    match &args.why {
        Some(name) => why(name, &looked, &project, args, context)?,
        None if args.matrix.is_some() => show::matrix(&looked, args.matrix, context),
        None if args.json => show::json(&looked, &project, context),
        None => show::list(&looked, &project, context),
    }
    if looked.all.is_empty() {
        let loaded = LoadedProject::load(context)?;
        loaded.notes.iter().for_each(|note| context.terminal.note(note));
    }
    Ok(Exit::OK)
}

/// Tells why stacks are affected that a name means; one that was removed is known by its id.
fn why(name: &str, looked: &Looked, project: &Project, args: &ChangedArgs, context: &Context) -> Result<()> {
    let gone = looked.affected.removed.iter().find(|id| id.as_str() == name);
    let ids = match gone {
        Some(id) => vec![id.clone()],
        None => {
            let loaded = LoadedProject::load(context)?;
            let named = Selection { names: vec![name.to_owned()], ..Selection::default() };
            loaded.select(&named, context)?
        }
    };
    match args.json {
        true => show::why_json(&ids, looked, project, context),
        false => ids.iter().for_each(|id| show::why(id, looked, project, context)),
    }
    Ok(())
}
