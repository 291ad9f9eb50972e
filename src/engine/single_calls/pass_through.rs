//! The way through to tofu itself, in the folder and with the environment of a stack.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::backends::StateFacts;
use crate::engine::calls::{give_name, stopped};
use crate::engine::session::{Session, plan_form};
use crate::engine::stack::{bare_run, init_whatever_is_selected, prepared};
use crate::engine::state_check::{note_state, require_states};
use crate::engine::variables::{Unopened, early_sources, files_of, resolve_inputs, sources_of};
use crate::error::{Exit, Result};
use crate::model::{Backend, PlanMode, Stack, StackRun};
use crate::process;
use crate::process::Invocation;
use crate::stacks;
use crate::tofu::call::Evaluation;
use crate::tofu::{PlanForm, call};

/// Lends the terminal to tofu in a stack's folder and returns tofu's own exit code.
pub async fn pass_through(session: &Session, stack: &Stack, args: &[OsString]) -> Result<Exit> {
    let subcommand = args.iter().find_map(|arg| arg.to_str().filter(|arg| !arg.starts_with('-')));
    if subcommand.is_some_and(|word| needs_its_state(word, args)) {
        require_states(session, std::slice::from_ref(&stack.id)).await?;
    }
    prepare_for(session, stack, subcommand).await?;
    let before = facts_of(session, stack).await;
    let run = bare_run(session, stack);
    let base = match bound_plan(&session.dir_of(stack), args) {
        Some(plan) => session.call_reading_plan(stack, &run.env, &plan)?,
        None => session.call(stack, &run.env)?,
    };
    let base = with_usual_variables(session, &run, base, args).await;
    // A workspace that is not there yet would be made by tofu, or asked for.
    let base = if subcommand == Some("init") { base.without_env("TF_WORKSPACE") } else { base };
    let _turn = match subcommand {
        Some("apply" | "destroy" | "import" | "init" | "refresh") if stack.workspace.is_some() => {
            Some(session.turn_in_folder(stack).await.map_err(|stop| stopped(&stack.id, stop))?)
        }
        _ => None,
    };
    let status = process::passthrough(base.args(args).guarded(), &session.interrupts).await?;
    give_name(session, stack)?;
    if facts_of(session, stack).await != before {
        note_state(session, &stack.id, PlanMode::Normal).await;
    }
    let killed = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    let code = status.code().or(killed).unwrap_or(1);
    Ok(Exit(u8::try_from(code).unwrap_or(1)))
}

/// Prepares a stack in a workspace for a subcommand of tofu: one that is not there would be made by it.
async fn prepare_for(session: &Session, stack: &Stack, subcommand: Option<&str>) -> Result<()> {
    if stack.workspace.is_none() && stack.wrong_workspace.is_none() {
        return Ok(());
    }
    match subcommand {
        Some("workspace") if stack.workspace.is_some() => {
            let run = bare_run(session, stack);
            let done = init_whatever_is_selected(session, &run).await;
            done.map_err(|stop| stopped(&stack.id, stop))
        }
        Some(word) if !needs_no_workspace(word) => prepared(session, stack).await.map(drop),
        _ => Ok(()),
    }
}

/// Returns whether a subcommand works without a workspace, or makes or looks for one itself.
pub(super) fn needs_no_workspace(subcommand: &str) -> bool {
    ["fmt", "get", "init", "login", "logout", "metadata", "version", "workspace"].contains(&subcommand)
}

/// Returns whether a subcommand would take a state that is elsewhere for none.
///
/// `state push` is the way by hand to bring one back.
fn needs_its_state(subcommand: &str, args: &[OsString]) -> bool {
    let is_push = subcommand == "state" && args.iter().any(|arg| arg == "push");
    let words = [
        "apply", "console", "destroy", "graph", "import", "output", "plan", "refresh", "show", "state",
        "taint", "untaint",
    ];
    words.contains(&subcommand) && !is_push
}

/// Returns which state infra keeps for a stack, and how often it was changed.
async fn facts_of(session: &Session, stack: &Stack) -> Option<StateFacts> {
    let is_ours = stack.backend == Backend::Embedded;
    let home = is_ours.then(|| session.home_of(stack).ok()).flatten()?;
    home.facts().await.ok().flatten()
}

/// Returns the first argument that is a plan which only this user's key opens.
fn bound_plan(dir: &Path, args: &[OsString]) -> Option<PathBuf> {
    let mut paths = args.iter().map(|arg| dir.join(arg));
    paths.find(|path| matches!(plan_form(path), PlanForm::UserKey(_)))
}

/// Gives a subcommand the variables that a run would give it, or those that it evaluates early.
///
/// What cannot be had, such as the output of a stack that is not applied, is left to tofu to ask for.
async fn with_usual_variables(
    session: &Session,
    run: &StackRun,
    base: Invocation,
    args: &[OsString],
) -> Invocation {
    let (words, evaluation) = call::subcommand(args);
    let sources = match evaluation {
        Evaluation::Nothing => return base,
        Evaluation::Early => early_sources(session, run).await,
        Evaluation::Everything => {
            let inputs = stacks::resolve_inputs(&session.project, &session.stacks, &run.stack.id);
            let run = StackRun { inputs: inputs.unwrap_or_default(), ..run.clone() };
            let run = StackRun { var_files: files_of(session, &run), ..run };
            let inputs = resolve_inputs(session, &run).await.unwrap_or_default();
            sources_of(session, &run, &inputs)
        }
    };
    call::with_default_variables(base, &words, &sources)
}

/// Returns what a secret means to tofu's own arguments that cannot be had.
pub fn unopened_for(args: &[OsString]) -> Unopened {
    let moves = |arg: &OsString| {
        let name = arg.to_str().unwrap_or_default().trim_start_matches('-');
        ["migrate-state", "force-copy"].contains(&name.split('=').next().unwrap_or_default())
    };
    match call::subcommand(args) {
        (_, Evaluation::Everything) => Unopened::Ends,
        (words, _) => match words.as_slice() {
            ["state", "rm" | "mv" | "push" | "replace-provider"]
            | ["taint" | "untaint"]
            | ["workspace", "new" | "delete"] => Unopened::LeftOutOfWriting,
            ["init"] if args.iter().any(moves) => Unopened::LeftOutOfWriting,
            _ => Unopened::LeftOut,
        },
    }
}
