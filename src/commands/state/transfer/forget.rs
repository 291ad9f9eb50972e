//! `infra state forget` and `infra state adopt`.

use clap::Args;

use crate::backends::KeptAt;
use crate::commands::Context;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::state::asking::{StackOrAll, StateQuestion, check_can_ask};
use crate::engine;
use crate::engine::{Adopted, Forgetting, Forgotten, StateNeed};
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, StackId, counted};

/// Start over with a stack, or with all: its state is no longer asked about
///
/// Takes the entry out of `infra.lock` and marks what lies at an old place as left behind.
/// Nothing is deleted, no resource is touched. Where another state lies at the place that is
/// configured now, that one counts from here on.
///
/// Examples:
///   infra state forget 01-base/net
///   infra state forget --all         in a copy of somebody else's project
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ForgetArgs {
    #[command(flatten)]
    of: StackOrAll,
}

/// Take a state for this project's own
///
/// A state remembers the name of the project that wrote it; one of another name is refused.
/// Where the project was renamed, this says so.
///
/// Examples:
///   infra state adopt 01-base/net
///   infra state adopt --all --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct AdoptArgs {
    #[command(flatten)]
    of: StackOrAll,
}

/// Runs `forget`.
pub async fn forget(args: &ForgetArgs, context: &Context) -> Result<Exit> {
    check_can_ask("forget", args.of.yes, context)?;
    let loaded = LoadedProject::load(context)?;
    let all: Vec<StackId> = loaded.stacks.iter().map(|stack| stack.id.clone()).collect();
    let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
    loaded
        .with_session(context, purpose, async |session| {
            let scope = if args.of.all { Forgetting::All } else { Forgetting::Named };
            let ids = match &args.of.stack {
                Some(name) => vec![named(&loaded, name)],
                None => engine::known_stacks(session)?,
            };
            let text = match ids.as_slice() {
                [] => {
                    context.terminal.note("`infra.lock` knows no state");
                    return Ok(Exit::OK);
                }
                [id] => format!("Give up the state that `{id}` had?"),
                many => format!("Give up the states that {} had?", counted(many.len(), "stack")),
            };
            StateQuestion { command: "forget", text, yes: args.of.yes }.ask(context).await?;
            for id in &ids {
                let forgotten = engine::forget_state(session, id, scope).await?;
                context.terminal.note(&forgotten_words(id, &forgotten));
            }
            engine::tell_noted(session);
            Ok(Exit::OK)
        })
        .await
}

/// Returns the stack that is meant; one that is gone from the tree has no short name.
fn named(loaded: &LoadedProject, name: &str) -> StackId {
    let exact = StackId::new(name.trim_matches('/'));
    let short = loaded.stacks.iter().filter(|stack| stack.id.short_name() == name);
    match short.map(|stack| &stack.id).collect::<Vec<_>>().as_slice() {
        [one] if !loaded.stacks.iter().any(|stack| stack.id == exact) => (*one).clone(),
        _ => exact,
    }
}

fn forgotten_words(id: &StackId, forgotten: &Forgotten) -> String {
    match forgotten {
        Forgotten::Entry => format!("`{id}` starts over: its entry is gone"),
        Forgotten::TakenAsItIs => format!("`{id}` goes on with the state that lies there"),
        Forgotten::LeftBehind(place) => {
            format!("the state of `{id}` at `{place}` is left behind; its versions are kept there")
        }
        Forgotten::Remembered => {
            format!("the state of `{id}` stays where its backend keeps it, and is no longer asked about")
        }
        Forgotten::Nothing => format!("nothing was known of a state of `{id}`"),
    }
}

/// Runs `adopt`.
pub async fn adopt(args: &AdoptArgs, context: &Context) -> Result<Exit> {
    check_can_ask("adopt", args.of.yes, context)?;
    let loaded = LoadedProject::load(context)?;
    let project = &loaded.project;
    if !project.is_named {
        return Err(Error::usage("this project has no name, so no state can belong to it")
            .hint("give it one in infra.yaml: `name: …`"));
    }
    let ours = loaded.stacks.iter().filter(|stack| stack.backend == Backend::Embedded);
    let ids = match &args.of.stack {
        Some(_) => vec![loaded.choose_one(args.of.stack.clone(), context)?.id.clone()],
        None => ours.map(|stack| stack.id.clone()).collect::<Vec<_>>(),
    };
    let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&ids) };
    loaded
        .with_session(context, purpose, async |session| {
            let what = counted(ids.len(), "state");
            let text = format!("Take {what} at `{}` for those of `{}`?", KeptAt::of(project)?, project.name);
            StateQuestion { command: "adopt", text, yes: args.of.yes }.ask(context).await?;
            for id in &ids {
                let words = match engine::adopt_state(session, id).await? {
                    Adopted::From(Some(other)) => {
                        format!("`{id}` belonged to `{other}`, now to `{}`", project.name)
                    }
                    Adopted::From(None) => {
                        format!("`{id}` belonged to no project, now to `{}`", project.name)
                    }
                    Adopted::Already => format!("`{id}` belongs to `{}` already", project.name),
                    Adopted::NoState => format!("`{id}` has no state"),
                };
                context.terminal.note(&words);
            }
            Ok(Exit::OK)
        })
        .await
}
