//! `infra state recover`.

use std::path::PathBuf;

use clap::Args;

use crate::backends::read_infra_lock;
use crate::commands::Context;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::state::asking::{StackOrAll, StateQuestion, check_can_ask};
use crate::engine;
use crate::engine::{FoundCopy, Session, StateNeed};
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, StackId, counted, human_duration, in_plain_sight, quoted};
use crate::report::Asking;
use crate::stacks;

/// Put a lost state back from a copy on this machine
///
/// The newest version of every state in a folder is also kept in your own state folder. This
/// shows what it found, asks, and puts it back where there is none.
///
/// Examples:
///   infra state recover 01-base/net
///   infra state recover --all --yes
///   infra state recover --all --from ../old-checkout
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct RecoverArgs {
    #[command(flatten)]
    of: StackOrAll,
    /// Look here instead: another checkout, its folder of states, or a folder of copies
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    from: Option<PathBuf>,
    /// Put it back even though another checkout still has it
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub async fn run(args: &RecoverArgs, context: &Context) -> Result<Exit> {
    check_can_ask("recover", args.of.yes, context)?;
    let loaded = LoadedProject::load(context)?;
    let wanted = wanted(&loaded, args, context)?;
    let nobody = context.asking() == Asking::Nobody;
    let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&wanted) };
    loaded
        .with_session(context, purpose, async |session| {
            let copies = find(session, &wanted, args, context).await?;
            if copies.is_empty() {
                context.terminal.note("no state is missing");
                return Ok(Exit::OK);
            }
            copies.iter().for_each(|copy| show(copy, context));
            let foreign = copies.iter().find(|copy| is_foreign(copy, &loaded));
            if let Some(copy) = foreign.filter(|_| nobody) {
                return Err(of_another(copy));
            }
            let text = format!("Put {} back?", counted(copies.len(), "state"));
            let yes = args.of.yes && foreign.is_none();
            StateQuestion { command: "recover", text, yes }.ask(context).await?;
            for copy in &copies {
                engine::recover_state(session, copy).await?;
                context.terminal.note(&format!("put the state of `{}` back", copy.id));
            }
            engine::tell_noted(session);
            Ok(Exit::OK)
        })
        .await
}

/// What another project wrote needs a person's yes, whatever the command line says.
fn is_foreign(copy: &FoundCopy, loaded: &LoadedProject) -> bool {
    let project = &loaded.project;
    copy.project.as_ref().is_some_and(|name| project.is_named && *name != project.name)
}

fn of_another(copy: &FoundCopy) -> Error {
    let project = one_line(copy.project.as_deref().unwrap_or_default());
    Error::usage(format!("the copy of the state of `{}` belongs to the project `{project}`", copy.id))
        .hint("look at it in a terminal, where you are asked")
}

fn wanted(loaded: &LoadedProject, args: &RecoverArgs, context: &Context) -> Result<Vec<StackId>> {
    let ours = loaded.stacks.iter().filter(|stack| stack.backend == Backend::Embedded);
    match &args.of.stack {
        Some(name) => match loaded.choose_one(args.of.stack.clone(), context) {
            Ok(stack) => Ok(vec![former_or_own(loaded, &stack.id)]),
            // One that is gone from the tree may still be known.
            Err(_) if is_known_here(loaded, name) => Ok(vec![StackId::new(name.trim_matches('/'))]),
            Err(error) => Err(error),
        },
        None => Ok(ours.map(|stack| former_or_own(loaded, &stack.id)).collect()),
    }
}

/// A stack whose state still has the name of a former id gets it back under that one.
fn former_or_own(loaded: &LoadedProject, id: &StackId) -> StackId {
    let was = stacks::settings_for(&loaded.project, id).was;
    let known = |id: &StackId| is_known_here(loaded, id.as_str());
    was.filter(|was| known(was) && !known(id)).unwrap_or_else(|| id.clone())
}

fn is_known_here(loaded: &LoadedProject, name: &str) -> bool {
    let id = StackId::new(name.trim_matches('/'));
    read_infra_lock(&loaded.project).is_ok_and(|lock| lock.states.contains_key(&id))
}

/// Finds the copies of the states that are missing; one that a stack is named for must be there.
async fn find(
    session: &Session,
    wanted: &[StackId],
    args: &RecoverArgs,
    context: &Context,
) -> Result<Vec<FoundCopy>> {
    let mut copies = Vec::new();
    for id in wanted {
        if !engine::is_missing(session, id).await? {
            if args.of.stack.is_some() {
                return Err(Error::usage(format!("the state of `{id}` is where it should be")));
            }
            continue;
        }
        match engine::copy_for(session, id, args.from.as_ref().map(|dir| context.cwd.join(dir)).as_deref())
            .await?
        {
            Some(copy) => {
                check_alone(session, &copy, args).await?;
                copies.push(copy);
            }
            None if args.of.stack.is_some() || engine::is_known(session, id) => {
                return Err(nothing_found(id, args));
            }
            None => {}
        }
    }
    Ok(copies)
}

/// Two checkouts that both go on with one state are worse than none.
async fn check_alone(session: &Session, copy: &FoundCopy, args: &RecoverArgs) -> Result<()> {
    let Some(why) = engine::lives_elsewhere(session, copy).await.filter(|_| !args.force) else {
        return Ok(());
    };
    let id = &copy.id;
    let from = args.from.as_ref().map(|dir| format!(" --from {}", quoted(&dir.display().to_string())));
    let forced = format!("infra state recover {}{} --force", quoted(id.as_str()), from.unwrap_or_default());
    Err(Error::failed(format!("another checkout still has the state of `{id}`"))
        .fact("checkout", copy.origin.display().to_string())
        .detail(why)
        .hint("let both use one store: `state: { store: … }` in infra.yaml, then `infra state migrate --all` there")
        .hint(format!("if that checkout is given up: `{forced}`")))
}

fn nothing_found(id: &StackId, args: &RecoverArgs) -> Error {
    let place = match &args.from {
        Some(dir) => format!("`{}`", dir.display()),
        None => "the copies on this machine".to_owned(),
    };
    Error::failed(format!("{place} hold no state of `{id}`"))
        .hint("look elsewhere: `--from DIR`, another checkout or a folder of states")
        .hint(format!("to start over on purpose: `infra state forget {}`", quoted(id.as_str())))
}

fn show(copy: &FoundCopy, context: &Context) {
    let FoundCopy { id, project, origin, facts, written, is_known, .. } = copy;
    let age = written.map(|at| context.clock.now().duration_since(at).as_secs_f64().max(0.0));
    let age = age.map_or_else(String::new, |age| format!(", {} old", human_duration(age)));
    let project = project.as_ref().map(|name| format!(", project {}", one_line(name))).unwrap_or_default();
    context.terminal.note(&format!(
        "  {id}  serial {}{age}, from {}{project}",
        facts.serial,
        one_line(&origin.display().to_string())
    ));
    if !is_known {
        context.terminal.note("    `infra.lock` does not know this state: make sure that it is yours");
    }
}

/// What a record says is shown on one line, and a terminal obeys none of it.
fn one_line(text: &str) -> String {
    in_plain_sight(text).replace(['\n', '\r'], " ")
}
