//! `infra state migrate --all`, and `--from`: states that follow the project to the place that
//! is configured now.

use futures::StreamExt as _;

use crate::backends::KeptAt;
use crate::commands::Context;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::state::asking::{StateQuestion, check_can_ask};
use crate::engine;
use crate::engine::{FoundStates, Session, StateMoved, StateNeed, StateToMove};
use crate::error::{Error, Exit, Result};
use crate::model::{StackId, counted, quoted};
use crate::report::Asking;

/// How many states are on their way at once.
const TOGETHER: usize = 4;

/// What is to be brought along.
#[derive(Debug)]
pub struct BringAlong {
    /// The stacks; none for all.
    pub chosen: Option<Vec<StackId>>,
    /// The place that a person named.
    pub from: Option<String>,
    /// Whether the yes was given on the command line.
    pub yes: bool,
}

impl BringAlong {
    /// Runs the command.
    pub async fn run(self, loaded: &LoadedProject, context: &Context) -> Result<Exit> {
        check_can_ask("migrate", self.yes, context)?;
        let from = self.from.as_ref().map(|from| place_named(from, loaded, context)).transpose()?;
        let all: Vec<StackId> = loaded.stacks.iter().map(|stack| stack.id.clone()).collect();
        let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
        loaded
            .with_session(context, purpose, async |session| {
                let found = engine::states_to_move(session, self.chosen.as_deref(), from.as_ref()).await?;
                let outcome = self.move_all(session, found, loaded, context).await;
                engine::tell_noted(session);
                outcome
            })
            .await
    }

    async fn move_all(
        &self,
        session: &Session,
        found: FoundStates,
        loaded: &LoadedProject,
        context: &Context,
    ) -> Result<Exit> {
        let here = KeptAt::of(&loaded.project)?;
        let mut failed: Vec<(StackId, Error)> = found.problems;
        if found.states.is_empty() {
            if failed.is_empty() {
                self.tell_nothing_found(session, &here, context).await?;
            }
            return Ok(tell_failed(&failed, context));
        }
        self.ask_about_network(&found.states, context).await?;
        super::readers::tell_readers(loaded, found.states.iter().map(|state| &state.id), context);
        show(&found.states, &here, context);
        let text = format!("Move {} to `{here}`?", counted(found.states.len(), "state"));
        StateQuestion { command: "migrate", text, yes: self.yes }.ask(context).await?;
        let moves = futures::stream::iter(&found.states)
            .map(async |state| (state, engine::bring_along(session, state).await));
        let mut moves = std::pin::pin!(moves.buffered(TOGETHER));
        let mut interrupts = context.interrupts.clone();
        loop {
            let next = tokio::select! {
                next = moves.next() => next,
                // What is on its way stays closed until the same command finishes it.
                _ = interrupts.beyond(0) => {
                    return Err(Error::interrupted("stopped; the same command goes on where it was"));
                }
            };
            match next {
                None => return Ok(tell_failed(&failed, context)),
                Some((state, Ok(moved))) => tell_moved(state, moved.as_ref(), &here, context),
                Some((state, Err(error))) => failed.push((state.id.clone(), error)),
            }
        }
    }

    /// Says that nothing is to be moved; whoever named a stack learns what of it is there.
    async fn tell_nothing_found(&self, session: &Session, here: &KeptAt, context: &Context) -> Result<()> {
        let Some([id]) = self.chosen.as_deref() else {
            context.terminal.note(&format!("no state is waiting to be moved to `{here}`"));
            return Ok(());
        };
        if engine::has_state(session, id).await? {
            return Err(Error::usage(format!("`{id}` keeps its state there already: `{here}`")));
        }
        context.terminal.note(&format!("`{id}` has no state, neither at `{here}` nor at an earlier place"));
        Ok(())
    }

    /// A place over the network that only `infra.lock` names needs a person's yes to it by name, whatever the
    /// command line says.
    async fn ask_about_network(&self, states: &[StateToMove], context: &Context) -> Result<()> {
        let network = states.iter().map(|state| &state.from).find(|from| from.folder().is_none());
        let Some(place) = network.filter(|_| self.from.is_none()) else { return Ok(()) };
        if context.asking() == Asking::Nobody {
            let quoted = quoted(place.text());
            return Err(Error::usage(format!(
                "only `infra.lock` names `{place}`, and there is nobody to ask about it"
            ))
            .hint(format!("name it yourself: `infra state migrate --all --from {quoted} --yes`")));
        }
        let text = format!("`infra.lock` says that states are kept at `{place}`. Ask that place for them?");
        StateQuestion { command: "migrate", text, yes: false }.ask(context).await
    }
}

/// Lists what is to be moved, by the place it comes from.
fn show(states: &[StateToMove], here: &KeptAt, context: &Context) {
    for state in states {
        let what = match &state.facts {
            // How many resources an encrypted one has is not to be seen.
            Some(facts) if facts.resources == 0 => format!("serial {}", facts.serial),
            Some(facts) => format!("serial {}, {}", facts.serial, counted(facts.resources, "resource")),
            None => "not looked at yet".to_owned(),
        };
        context.terminal.note(&format!("  {}  {} → {here}  {what}", state.id, state.from));
    }
}

fn tell_moved(state: &StateToMove, moved: Option<&StateMoved>, here: &KeptAt, context: &Context) {
    let id = &state.id;
    let Some(moved) = moved else {
        return context.terminal.note(&format!("`{id}` has no state at `{}`", state.from));
    };
    let versions = counted(moved.versions, "version");
    let facts = &moved.facts;
    context.terminal.note(&format!(
        "moved `{id}` to `{here}`: serial {}, lineage {}, {versions}",
        facts.serial, facts.lineage
    ));
    if moved.only_locked {
        context.terminal.note(&format!(
            "  `{}` is a server of another kind: a lock keeps others from the old state, not a mark",
            state.from
        ));
    }
}

/// Says which states stayed where they were, and returns the exit code of the first.
fn tell_failed(failed: &[(StackId, Error)], context: &Context) -> Exit {
    for (id, error) in failed {
        context.terminal.alert(&format!("error: `{id}` was not moved: {}", error.message()));
        error.body().iter().for_each(|line| context.terminal.alert(&format!("  {line}")));
        error.hints().iter().for_each(|hint| context.terminal.alert(&format!("hint: {hint}")));
    }
    failed.first().map_or(Exit::OK, |(_, error)| error.exit())
}

/// Reads a place that a person typed: below the project's root, as in infra.yaml, or below the working folder.
fn place_named(text: &str, loaded: &LoadedProject, context: &Context) -> Result<KeptAt> {
    let place = KeptAt::parse(text, &loaded.project.root)?;
    let typed = KeptAt::parse(text, &context.cwd)?;
    // A checkout is named by its folder; its states lie below it.
    for root in [&loaded.project.root, &context.cwd] {
        let own = root.join(text).join(".infra/state");
        if own.is_dir() {
            return KeptAt::parse(&own.display().to_string(), root);
        }
    }
    let exists = |place: &KeptAt| place.folder().is_none_or(std::path::Path::is_dir);
    Ok(if exists(&place) || !exists(&typed) { place } else { typed })
}
