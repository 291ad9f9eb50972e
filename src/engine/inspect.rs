//! Single tofu calls that are no run: outputs, state, formatting, and the way through to
//! tofu itself. Each prepares the stack where that is needed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::early_values::{early_sources, files_of, sources_of, with_early_values};
use super::encryption_origin::encryption_origins;
use super::failure::{ending, kind_of};
use super::init::{init_stack, init_whatever_is_selected};
use super::inputs::{outputs_of, resolve_inputs};
use super::known_states::note_state;
use super::left_behind::way_along;
use super::old_values::hide_old_values;
use super::options::WhenToInit;
use super::plan_calls::plan_form;
use super::session::Session;
use super::stack_secrets::Unopened;
use super::state_check::require_states;
use super::stop::Stop;
use super::unsaved_state::give_name;
use crate::backends::StateFacts;
use crate::error::{Error, Exit, Kind, Result};
use crate::model::{Backend, Diagnostic, PlanMode, Safe, Stack, StackError, StackId, StackRun};
use crate::process::{self, Captured, Invocation, Raw};
use crate::stacks;
use crate::tofu::call::{self, Evaluation, FmtMode};
use crate::tofu::envelope::PlanForm;
use crate::tofu::hints::{Context, cause_of, hints_for, tells_of_a_held_lock};
use crate::tofu::messages;

/// Returns the outputs of stacks, by stack and name, sensitive values included.
pub async fn read_outputs(session: &Session, chosen: &[StackId]) -> Result<Map<String, Value>> {
    let mut outputs = Map::new();
    for id in chosen {
        let of_stack = outputs_of(session, id).await.map_err(|stop| stopped(id, stop))?;
        outputs.insert(id.to_string(), of_stack);
    }
    Ok(outputs)
}

/// Returns a state, or a saved plan, as tofu writes it for people.
pub async fn read_text(session: &Session, id: &StackId, plan: Option<&Path>) -> Result<Safe> {
    let stack = session.stack(id)?;
    let base = call_showing(session, stack, plan).await?;
    let has_secrets = has_secrets(session, stack).await;
    if let Some(plan) = plan.filter(|_| has_secrets) {
        hide_old_values(session, id, base.clone(), plan).await?;
    }
    let captured = successful(session, id, call::show(base, plan)).await?;
    Ok(captured.stdout.safe(&session.mask()))
}

/// Prepares a stack and returns the beginning of a call that can show its state, or a plan.
pub(super) async fn call_showing(
    session: &Session,
    stack: &Stack,
    plan: Option<&Path>,
) -> Result<Invocation> {
    let base = prepared(session, stack).await?;
    let Some(plan) = plan else { return Ok(base) };
    let run = bare_run(session, stack);
    Ok(with_early_values(session, &run, session.call_reading_plan(stack, &run.env, plan)?).await)
}

/// Hides what a stack takes from other stacks, and returns whether it is given anything secret.
///
/// What cannot be had, such as the output of a stack that is not applied, cannot be shown either.
pub(super) async fn has_secrets(session: &Session, stack: &Stack) -> bool {
    let inputs = stacks::resolve_inputs(&session.project, &session.stacks, &stack.id).unwrap_or_default();
    let run = StackRun { inputs, ..bare_run(session, stack) };
    let inputs = resolve_inputs(session, &run).await.unwrap_or_default();
    inputs.sensitive || session.has_secrets(&stack.id)
}

/// Returns the addresses in a state; a stack without a state has none.
pub async fn read_addresses(session: &Session, id: &StackId, extra: &[String]) -> Result<Vec<Safe>> {
    let base = prepared(session, session.stack(id)?).await?;
    let call = call::state_list(base, extra);
    let captured = process::capture(call, &session.interrupts).await?;
    if !captured.status.success() && captured.stderr.mentions("No state file was found") {
        return Ok(Vec::new());
    }
    check(session, id, &captured)?;
    Ok(captured.stdout.safe_lines(&session.mask()))
}

/// What formatting brought.
#[derive(Debug)]
pub struct Formatted {
    /// The files that changed, or the diff of those that should.
    pub text: Safe,
    /// Whether everything was formatted already.
    pub clean: bool,
}

/// Formats the files of stacks and of their local modules, each folder once.
pub async fn format_files(session: &Session, chosen: &[StackId], mode: FmtMode) -> Result<Formatted> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for id in chosen {
        let stack = session.stack(id)?;
        folders.push(stack.path.clone());
        folders.extend(stack.modules.iter().cloned());
    }
    folders.sort();
    folders.dedup();
    let folders: Vec<PathBuf> =
        folders.into_iter().map(|path| if path.as_os_str().is_empty() { ".".into() } else { path }).collect();
    let call = call::fmt(session.plain_call(), mode, &folders);
    let captured = process::capture(call, &session.interrupts).await?;
    // 3 is tofu's way to say that something is not formatted.
    if !captured.status.success() && captured.status.code() != Some(3) {
        return Err(Error::failed("tofu cannot format the files")
            .detail(captured.stderr.safe(&session.mask()).trim()));
    }
    let text = captured.stdout.safe(&session.mask());
    Ok(Formatted { text, clean: captured.status.success() })
}

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
fn needs_no_workspace(subcommand: &str) -> bool {
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

/// Releases a lock in a backend that this program does not serve.
pub async fn release_foreign_lock(session: &Session, stack: &Stack, lock_id: &str) -> Result<()> {
    let base = prepared(session, stack).await?;
    successful(session, &stack.id, call::force_unlock(base, lock_id)).await.map(|_| ())
}

/// Returns a run of a stack with nothing but its own environment.
pub(super) fn bare_run(session: &Session, stack: &Stack) -> StackRun {
    let env = stacks::settings_for(&session.project, &stack.id).env;
    StackRun { env, ..StackRun::bare(stack.clone()) }
}

/// Initialises a stack where that is needed and returns the beginning of a call in it.
pub(super) async fn prepared(session: &Session, stack: &Stack) -> Result<Invocation> {
    let run = bare_run(session, stack);
    let done = init_stack(session, &run, WhenToInit::Needed, &[]).await;
    done.map_err(|stop| stopped(&stack.id, stop))?;
    Ok(with_early_values(session, &run, session.call(stack, &run.env)?).await)
}

/// Runs a call to its end; a failure of tofu is an error.
pub(super) async fn successful(session: &Session, id: &StackId, call: Invocation) -> Result<Captured> {
    let captured = process::capture(call, &session.interrupts).await?;
    check(session, id, &captured)?;
    Ok(captured)
}

pub(super) fn check(session: &Session, id: &StackId, captured: &Captured) -> Result<()> {
    if captured.status.success() {
        return Ok(());
    }
    if session.interrupts.any() {
        return Err(Error::interrupted("stopped"));
    }
    let told = Told::of(session, &captured.stderr);
    let error = match told.kind() {
        Kind::Locked => Error::locked(format!("state of `{id}` is locked")),
        kind => Error::new(kind, format!("tofu failed in `{id}`")),
    };
    Err(told.hints(session, id).into_iter().fold(error.detail(last_words(session, captured)), Error::hint))
}

/// Returns what a tofu that failed wrote, or how it ended if that was nothing.
pub(super) fn last_words(session: &Session, captured: &Captured) -> String {
    let said = captured.stderr.safe(&session.mask());
    if said.trim().is_empty() { ending(captured.status) } else { once_each(said.trim()) }
}

/// Returns a text without what was there before, frame by frame: tofu tells some errors several times.
fn once_each(said: &str) -> String {
    let mut frames: Vec<String> = vec![String::new()];
    for line in said.lines() {
        if ["╷", "Error: ", "Warning: "].iter().any(|start| line.starts_with(start)) {
            frames.push(String::new());
        }
        if let Some(frame) = frames.last_mut() {
            *frame += &format!("{line}\n");
        }
    }
    let mut told: Vec<&str> = Vec::new();
    for frame in frames.iter().map(|frame| frame.trim()).filter(|frame| !frame.is_empty()) {
        if !told.contains(&frame) {
            told.push(frame);
        }
    }
    told.join("\n\n")
}

/// Returns what to do about what tofu wrote in its frame for people.
pub(super) fn hints_about(session: &Session, id: &StackId, said: &Raw) -> Vec<String> {
    Told::of(session, said).hints(session, id)
}

/// What tofu wrote in its frame for people.
struct Told(Diagnostic);

impl Told {
    fn of(session: &Session, said: &Raw) -> Self {
        Self(messages::framed(said, &session.mask()))
    }

    fn kind(&self) -> Kind {
        let locked = tells_of_a_held_lock(&self.0).then_some(Kind::Locked);
        cause_of(&self.0).or(locked).unwrap_or(Kind::Failed)
    }

    fn hints(&self, session: &Session, id: &StackId) -> Vec<String> {
        let Ok(stack) = session.stack(id) else { return Vec::new() };
        let way_along = way_along(&session.project, &session.env, stack);
        let own = encryption_origins(session, stack);
        let own_encryption = own.as_deref();
        hints_for(&self.0, Context { stack: id, path: &stack.path, way_along: &way_along, own_encryption })
    }
}

/// Turns the early end of a stack's life into an error of the command.
pub(super) fn stopped(id: &StackId, stop: Stop) -> Error {
    match stop {
        Stop::Interrupted => Error::interrupted("stopped"),
        Stop::Deferred(reason) => Error::failed(format!("`{id}` is deferred {reason}")),
        Stop::Failed(error) => {
            let failed = Error::new(kind_of(&error), format!("{id}: {}", error.summary)).detail(error.detail);
            let failed = match error.code.as_deref() {
                Some(StackError::WORKSPACE_UNKNOWN) => failed.code(StackError::WORKSPACE_UNKNOWN),
                _ => failed,
            };
            error.hint.iter().flat_map(|hint| hint.lines()).fold(failed, Error::hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_tofu_tells_several_times_is_told_once() {
        let (one, two) = ("╷\n│ Error: no value\n╵", "╷\n│ Error: another\n╵");

        assert_eq!(once_each(&format!("{one}\n{two}\n{one}")), format!("{one}\n\n{two}"));
        assert_eq!(once_each("Error: a\n\n  on x\n\nError: a\n\n  on x\n"), "Error: a\n\n  on x");
        assert_eq!(once_each("plain\nplain"), "plain\nplain");
    }
}
