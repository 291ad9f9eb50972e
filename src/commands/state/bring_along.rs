//! `infra state migrate --all`, and `--from`: states that follow the project to the place that
//! is configured now.

use super::asking::{StateQuestion, check_can_ask};
use crate::backends::KeptAt;
use crate::commands::Context;
use crate::commands::workspace::{Purpose, Workspace};
use crate::engine::{self, Findings, Session, StateNeed, StateToMove};
use crate::error::{Error, Exit, Result};
use crate::model::{StackId, counted};
use crate::report::Asking;

/// What is to be brought along.
#[derive(Debug)]
pub(super) struct BringAlong {
    /// The stacks; none for all.
    pub chosen: Option<Vec<StackId>>,
    /// The place that a person named.
    pub from: Option<String>,
    /// Whether the yes was given on the command line.
    pub yes: bool,
}

impl BringAlong {
    /// Runs the command.
    pub async fn run(self, workspace: &Workspace, context: &Context) -> Result<Exit> {
        check_can_ask("migrate", self.yes, context)?;
        let from = self.from.as_ref().map(|from| KeptAt::parse(from, &workspace.project.root)).transpose()?;
        let all: Vec<StackId> = workspace.stacks.iter().map(|stack| stack.id.clone()).collect();
        let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
        workspace
            .with_session(context, purpose, async |session| {
                let found = engine::states_to_move(session, self.chosen.as_deref(), from.as_ref()).await?;
                let outcome = self.move_all(session, found, workspace, context).await;
                engine::tell_noted(session);
                outcome
            })
            .await
    }

    async fn move_all(
        &self,
        session: &Session,
        found: Findings,
        workspace: &Workspace,
        context: &Context,
    ) -> Result<Exit> {
        let here = KeptAt::of(&workspace.project)?;
        let mut failed: Vec<(StackId, Error)> = found.problems;
        if found.states.is_empty() {
            if failed.is_empty() {
                self.tell_nothing_found(session, &here, context).await?;
            }
            return Ok(tell_failed(&failed, context));
        }
        self.check_network(&found.states, context)?;
        super::readers::tell_readers(workspace, found.states.iter().map(|state| &state.id), context);
        show(&found.states, &here, context);
        let text = format!("Move {} to `{here}`?", counted(found.states.len(), "state"));
        StateQuestion { command: "migrate", text, yes: self.yes }.ask(context).await?;
        for state in &found.states {
            match bring(session, state, &here, context).await {
                Ok(()) => {}
                Err(error) => failed.push((state.id.clone(), error)),
            }
        }
        Ok(tell_failed(&failed, context))
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

    /// A place over the network that only `infra.lock` names needs a person's yes to it by name.
    fn check_network(&self, states: &[StateToMove], context: &Context) -> Result<()> {
        let network = states.iter().find(|state| state.from.folder().is_none());
        let Some(state) = network.filter(|_| self.from.is_none() && context.asking() == Asking::Nobody)
        else {
            return Ok(());
        };
        let place = crate::model::quoted(state.from.text());
        Err(Error::usage(format!(
            "only `infra.lock` names `{}`, and there is nobody to ask about it",
            state.from
        ))
        .hint(format!("name it yourself: `infra state migrate --all --from {place} --yes`")))
    }
}

/// Lists what is to be moved, by the place it comes from.
fn show(states: &[StateToMove], here: &KeptAt, context: &Context) {
    for state in states {
        let what = match &state.facts {
            Some(facts) => format!("serial {}, {}", facts.serial, counted(facts.resources, "resource")),
            None => "not looked at yet".to_owned(),
        };
        context.terminal.note(&format!("  {}  {} → {here}  {what}", state.id, state.from));
    }
}

async fn bring(session: &Session, state: &StateToMove, here: &KeptAt, context: &Context) -> Result<()> {
    let id = &state.id;
    let Some(moved) = engine::bring_along(session, state).await? else {
        context.terminal.note(&format!("`{id}` has no state at `{}`", state.from));
        return Ok(());
    };
    let versions = counted(moved.versions, "version");
    context.terminal.note(&format!(
        "moved `{id}` to `{here}`: serial {}, lineage {}, {versions}",
        moved.facts.serial, moved.facts.lineage
    ));
    if moved.only_locked {
        context.terminal.note(&format!(
            "  `{}` is a server of another kind: a lock keeps others from the old state, not a mark",
            state.from
        ));
    }
    Ok(())
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
