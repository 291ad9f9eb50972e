//! `infra configure`.

mod data_check;
mod data_files;
mod generate;
mod init;
mod plugins;
mod removal;
mod samples;
mod seal;
mod show;

use clap::Args;

pub(in crate::commands) use self::data_check::data_warnings;
pub(in crate::commands) use self::generate::{Look, has_templates, look};

use self::removal::GeneratedTree;
use crate::commands::Context;
use crate::commands::loaded_project::root_of;
use crate::error::{Error, Exit, Result};
use crate::model::Project;
use crate::project;
use crate::render::{
    ConflictReason, GeneratedFile, Manifest, Overwrite, Removal, TreeChanges, TreeComparison, TreeLock,
    TreePlace, compare_tree, recorded_files, unified_diff, write_tree,
};

/// Render templates and data into the tree that tofu runs in
///
/// Everything is checked and rendered in memory first, secrets are encrypted there; then each
/// file is replaced whole, or nothing is touched at all. Where encrypted files or more than half
/// of the tree would go, it asks first.
///
/// Examples:
///   infra configure                 validate, render, encrypt, write
///   infra configure --check         exit 1 and a diff where the tree is stale
///   infra configure --diff          what would change, without writing it
///   infra configure --force         also replace files that were edited by hand, and remove
///                                   whatever is no longer rendered
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ConfigureArgs {
    /// Only check whether the tree is as the templates say: exit 1 and a diff if it is not
    #[arg(long, conflicts_with = "force")]
    check: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    diff: bool,
    /// Replace files that were edited by hand, too, and remove much without a question
    #[arg(long)]
    force: bool,
    /// Do not prepare the stacks whose credentials are there
    #[arg(long)]
    no_init: bool,
}

/// Runs the command.
pub async fn run(args: &ConfigureArgs, context: &Context) -> Result<Exit> {
    let project = project::load(&root_of(context)?)?;
    let overwrite = if args.force { Overwrite::Force } else { Overwrite::Never };
    let turn = if args.check || args.diff {
        TreeLock::to_look(&project.infra_dir(), &context.interrupts, || tell_waiting(context)).await?
    } else {
        turn_to_write(&project, context).await?
    };
    let made = generate::generate(&project, overwrite, context).await?;
    let before = Manifest::load(&project.infra_dir())?;
    let changes = find_changes(&project, &before, &made.files, overwrite, context).await?;
    if args.check || args.diff {
        return Ok(report(args, &changes, context));
    }
    write(
        GeneratedTree { project: &project, before: &before, inputs: &made.inputs },
        &changes,
        overwrite,
        context,
    )
    .await?;
    drop(turn);
    if !args.no_init {
        init::init_where_credentials_are(context).await?;
    }
    Ok(Exit::OK)
}

/// Renders and writes as part of another command; a project without templates has nothing to do.
pub async fn bring_up_to_date(context: &Context) -> Result<()> {
    let project = project::load(&root_of(context)?)?;
    if !has_templates(&project)? {
        return Ok(());
    }
    let _turn = turn_to_write(&project, context).await?;
    let made = generate::generate(&project, Overwrite::Never, context).await?;
    let before = Manifest::load(&project.infra_dir())?;
    let changes = find_changes(&project, &before, &made.files, Overwrite::Never, context).await?;
    let made = GeneratedTree { project: &project, before: &before, inputs: &made.inputs };
    write(made, &changes, Overwrite::Never, context).await
}

/// Returns what was edited since the last `configure` of a project; empty where that cannot be told.
pub fn edited_since(project: &Project) -> Vec<String> {
    let Ok(manifest) = Manifest::load(&project.infra_dir()) else { return Vec::new() };
    let Some(before) = manifest.inputs() else { return Vec::new() };
    let now = generate::read_inputs(project, &[]);
    now.changed_since(before).into_iter().map(str::to_owned).collect()
}

/// Waits until no other `configure` is at work in the project; a project without templates is not waited for.
async fn turn_to_write(project: &Project, context: &Context) -> Result<TreeLock> {
    let infra_dir = project.infra_dir();
    if has_templates(project)? {
        // Whoever cannot write there learns it when there is something to write.
        let _ = crate::atomic_file::create_private_dir(&infra_dir);
    }
    TreeLock::to_write(&infra_dir, &context.interrupts, || tell_waiting(context)).await
}

fn tell_waiting(context: &Context) {
    context.terminal.note("waiting for another `infra configure` in this project to end");
}

fn report(args: &ConfigureArgs, changes: &TreeChanges, context: &Context) -> Exit {
    show::diffs(changes, context);
    show::conflicts(changes, context);
    if !args.check {
        return Exit::OK;
    }
    show::staleness(changes, context);
    if changes.is_empty() { Exit::OK } else { crate::error::Kind::Failed.exit() }
}

async fn write(
    made: GeneratedTree<'_>,
    changes: &TreeChanges,
    overwrite: Overwrite,
    context: &Context,
) -> Result<()> {
    context.interrupts.catch_up().await;
    if context.interrupts.any() {
        return Err(Error::interrupted("stopped before anything was written"));
    }
    let much = removal::much(changes, overwrite);
    refuse_conflicts(changes, much.as_ref(), context)?;
    if let Some(much) = much {
        removal::ask(&much, made, context).await?;
    }
    let (root, infra_dir) = (&made.project.root, made.project.infra_dir());
    write_tree(TreePlace { root, infra_dir: &infra_dir, before: made.before, inputs: made.inputs }, changes)?;
    show::summary(changes, context);
    Ok(())
}

/// Compares; asks version control only where a file would be replaced that nobody generated here.
async fn find_changes(
    project: &Project,
    manifest: &Manifest,
    files: &[GeneratedFile],
    overwrite: Overwrite,
    context: &Context,
) -> Result<TreeChanges> {
    let root = &project.root;
    let unaided = compare_tree(&TreeComparison { root, manifest, overwrite, recorded: &|_| false }, files)?;
    if unaided.conflicts.iter().all(|conflict| conflict.reason == ConflictReason::Edited) {
        return Ok(unaided);
    }
    let recorded = recorded_files(root, &context.env, &context.interrupts).await;
    compare_tree(
        &TreeComparison { root, manifest, overwrite, recorded: &|path| recorded.contains(path) },
        files,
    )
}

/// Refuses to undo what a person did, and shows what it would be.
fn refuse_conflicts(changes: &TreeChanges, much: Option<&Removal>, context: &Context) -> Result<()> {
    let Some(first) = changes.conflicts.first() else { return Ok(()) };
    for conflict in &changes.conflicts {
        context.terminal.note(unified_diff(&conflict.change).trim_end());
    }
    let message = match changes.conflicts.len() {
        1 => show::words_for(first),
        count => {
            let path = first.change.path.display();
            format!("{count} files, `{path}` among them, hold what was not generated")
        }
    };
    let mut error =
        Error::failed(message).detail("nothing was written; the diff above is what would be lost");
    if let Some(much) = much {
        error = error.detail(format!("`--force` would also remove {}", removal::words(much)));
    }
    let removes = changes.conflicts.iter().all(|conflict| conflict.change.after.is_none());
    Err(if removes {
        error.hint("its template is gone; remove it: `infra configure --force`")
    } else {
        error
            .hint("move the change into the template or the data and run `infra configure` again")
            .hint("replace it: `infra configure --force`")
    })
}
