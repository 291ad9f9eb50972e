//! What depends on the stacks that are to be destroyed: dependent stacks that still have resources
//! prevent a destruction, stacks of higher layers are only named.
//!
//! [`with_dependents`] adds dependents where that is asked for, before anything is decided;
//! [`DependentStacks::check`] refuses before anything runs.

use std::collections::BTreeSet;

use futures::StreamExt as _;
use futures::stream;

use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::run::Request;
use crate::engine;
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::model::{PlanMode, RemainingStacks, RunCommand, Stack, StackId, counted, few, quoted};
use crate::stacks;

/// How many states are read at once.
const AT_ONCE: usize = 16;

/// How many dependents are listed: more of them would hide the hints.
const LISTED: usize = 20;

/// Adds removed stacks that depend on chosen ones to the project, and with `--with-dependents` all dependents
/// to the choice.
pub async fn with_dependents(
    loaded: &mut LoadedProject,
    request: &Request,
    chosen: Vec<StackId>,
    context: &Context,
) -> Result<Vec<StackId>> {
    if request.mode != PlanMode::Destroy {
        return Ok(chosen);
    }
    if !request.removed {
        include_removed_dependents(loaded, &chosen, context).await?;
    }
    if !request.stacks.with_dependents {
        return Ok(chosen);
    }
    let excluded = match request.stacks.exclude.is_empty() {
        true => Vec::new(),
        false => {
            let names = request.stacks.exclude.clone();
            loaded.choose(&StackArgs { names, ..StackArgs::default() }, context)?
        }
    };
    let more = stacks::dependents(&loaded.stacks, &chosen)?;
    let mut chosen = chosen;
    chosen.extend(more.into_iter().filter(|id| !excluded.contains(id)));
    chosen.sort();
    Ok(chosen)
}

/// Adds the stacks that are gone from the tree and depend on chosen ones.
async fn include_removed_dependents(
    loaded: &mut LoadedProject,
    chosen: &[StackId],
    context: &Context,
) -> Result<()> {
    let removed = engine::removed_stacks(&loaded.project, &loaded.stacks, context.clock).await?;
    if removed.is_empty() {
        return Ok(());
    }
    let all: Vec<Stack> =
        loaded.stacks.iter().chain(removed.iter().map(|gone| &gone.stack)).cloned().collect();
    // Edges of long ago may contradict those of today, which count.
    let dependents = stacks::dependents(&all, chosen).unwrap_or_default();
    loaded.include(removed.into_iter().filter(|gone| dependents.contains(&gone.stack.id)).collect());
    Ok(())
}

/// What depends on the chosen stacks and is not chosen itself.
#[derive(Debug, Default)]
pub struct DependentStacks {
    dependents: Vec<StackId>,
    higher: Vec<StackId>,
}

/// Whether the states of dependents can be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DependentStates {
    /// Yes: the project is trusted with what they need, and their secrets are open.
    Open,
    /// No: nothing may be started for them.
    Closed,
}

/// A dependent and how many resources its state has; `None` if the state cannot be read.
type DependentWithCount<'a> = (&'a Stack, Option<usize>);

impl DependentStacks {
    /// Finds what depends on the chosen stacks; empty where nothing is to be destroyed.
    pub fn on(loaded: &LoadedProject, request: &Request, chosen: &[StackId]) -> Result<Self> {
        if request.mode != PlanMode::Destroy {
            return Ok(Self::default());
        }
        let dependents = stacks::dependents(&loaded.stacks, chosen)?;
        let mut higher = stacks::higher_layers(&loaded.project, &loaded.stacks, chosen);
        // Only a question names them.
        higher.retain(|id| request.command == RunCommand::Destroy && !dependents.contains(id));
        Ok(Self { dependents, higher })
    }

    /// Returns the stacks whose states are to be opened: the chosen ones and those that may be an obstacle.
    pub fn looked_at(&self, chosen: &[StackId], request: &Request) -> Vec<StackId> {
        let asked = self.dependents.iter().filter(|_| !request.force);
        chosen.iter().chain(asked).cloned().collect()
    }

    /// Refuses a destruction below stacks that still have resources; a plan of one is only warned about.
    ///
    /// Returns what remains, for the question.
    pub async fn check(
        &self,
        session: &Session,
        request: &Request,
        chosen: &[StackId],
        asked: DependentStates,
    ) -> Result<RemainingStacks> {
        if request.force {
            let (dependents, higher) = (
                likely_with_resources(session, &self.dependents).await,
                likely_with_resources(session, &self.higher).await,
            );
            return Ok(RemainingStacks { dependents, higher });
        }
        let found = dependents_with_resources(session, &self.dependents, asked).await?;
        if found.is_empty() {
            return Ok(RemainingStacks {
                higher: likely_with_resources(session, &self.higher).await,
                ..RemainingStacks::default()
            });
        }
        let error = has_dependents(session, request, chosen, &found);
        if request.command == RunCommand::Destroy {
            return Err(error);
        }
        let text = std::iter::once(error.message().to_owned()).chain(error.body());
        session.events.warn(text.collect::<Vec<_>>().join("\n  "), error.hints().to_vec());
        Ok(RemainingStacks::default())
    }

    /// Refuses in a dry run what the run itself would refuse.
    pub async fn check_dry(
        &self,
        loaded: &LoadedProject,
        request: &Request,
        chosen: &[StackId],
        context: &Context,
    ) -> Result<()> {
        if self.dependents.is_empty() || request.force {
            return Ok(());
        }
        let looked_at = self.looked_at(chosen, request);
        let purpose = Purpose::states_of(&looked_at);
        let look = async |session: &Session| {
            self.check(session, request, chosen, DependentStates::Open).await.map(|_| ())
        };
        loaded.with_session(context, purpose, look).await
    }
}

/// Warns of what remains where no question names it.
pub fn tell_remaining(session: &Session, remaining: &RemainingStacks) {
    for sentence in remaining.sentences() {
        session.events.warn(sentence, Vec::new());
    }
}

/// Returns the stacks that a quick look finds with resources.
async fn likely_with_resources(session: &Session, ids: &[StackId]) -> Vec<StackId> {
    let looks = ids
        .iter()
        .filter_map(|id| session.stack(id).ok())
        .map(async |stack| engine::may_have_resources(session, stack).await.then(|| stack.id.clone()));
    stream::iter(looks).buffered(AT_ONCE).filter_map(async |id| id).collect().await
}

/// Returns the stacks that have resources, or whose state cannot be read.
async fn dependents_with_resources<'a>(
    session: &'a Session,
    ids: &[StackId],
    asked: DependentStates,
) -> Result<Vec<DependentWithCount<'a>>> {
    let looks = ids.iter().filter_map(|id| session.stack(id).ok()).map(async |stack| {
        (
            stack,
            match asked {
                DependentStates::Open => engine::resources_of(session, stack).await.ok(),
                DependentStates::Closed => None,
            },
        )
    });
    let found: Vec<DependentWithCount<'_>> = stream::iter(looks).buffered(AT_ONCE).collect().await;
    if session.interrupts.any() {
        return Err(Error::interrupted("stopped"));
    }
    Ok(found.into_iter().filter(|(_, resources)| *resources != Some(0)).collect())
}

fn has_dependents(
    session: &Session,
    request: &Request,
    chosen: &[StackId],
    found: &[DependentWithCount<'_>],
) -> Error {
    let below: BTreeSet<StackId> =
        chosen.iter().chain(found.iter().map(|(stack, _)| &stack.id)).cloned().collect();
    let is_on = |id: &&StackId| found.iter().any(|(stack, _)| stack.depends_on.contains(id));
    let below_them: Vec<StackId> = chosen.iter().filter(is_on).cloned().collect();
    let below_them = if below_them.is_empty() { chosen } else { &below_them };
    let message = match found {
        [_] => "another stack that still has resources depends on",
        _ => "other stacks that still have resources depend on",
    };
    let message = format!("{message} {}", few(below_them, 5));
    let listed = found.iter().take(LISTED).fold(Error::invalid(message), |error, (stack, resources)| {
        let mut words = stacks::reasons(&session.project, &session.stacks, stack, &below);
        words.push(match resources {
            Some(number) => counted(*number, "resource"),
            None => "its state cannot be read, so it may have resources".to_owned(),
        });
        error.fact(format!("`{}`", stack.id), words.join(", "))
    });
    let more = found.len().saturating_sub(LISTED);
    let listed = if more > 0 { listed.detail(format!("and {more} more")) } else { listed };
    with_hints(listed.code("has-dependents"), session, request, chosen, found)
}

/// Adds what to do, ready to be pasted.
fn with_hints(
    error: Error,
    session: &Session,
    request: &Request,
    chosen: &[StackId],
    found: &[DependentWithCount<'_>],
) -> Error {
    let again = again(request, chosen);
    let error = error.hint(format!("destroy them too: `infra destroy{again} --with-dependents`"));
    let (gone, there): (Vec<&DependentWithCount<'_>>, Vec<&DependentWithCount<'_>>) =
        found.iter().partition(|(stack, _)| engine::is_copy(session, stack));
    let first = |flag: &str, stacks: &[&DependentWithCount<'_>]| {
        let names: Vec<String> = stacks.iter().map(|(stack, _)| quoted(stack.id.as_str())).collect();
        let fits = !names.is_empty() && names.len() <= LISTED;
        fits.then(|| format!("or destroy them first: `infra destroy{flag} {}`", names.join(" ")))
    };
    error
        .hint_if(first(" --removed", &gone))
        .hint_if(first("", &there))
        .hint(format!("or leave them behind: `infra destroy{again} --force`"))
}

/// Returns the choice as it could be typed again.
fn again(request: &Request, chosen: &[StackId]) -> String {
    let mut words = String::new();
    if request.removed && !request.run.resume {
        words.push_str(" --removed");
    }
    if request.run.resume && request.command == RunCommand::Destroy {
        words.push_str(" --resume");
    }
    let typed = StackArgs { with_dependents: false, ..request.stacks.clone() }.typed();
    let names = || chosen.iter().map(|id| quoted(id.as_str())).collect::<Vec<_>>().join(" ");
    match typed {
        Some(typed) => words.push_str(&format!(" {typed}")),
        None if words.is_empty() => words.push_str(&format!(" {}", names())),
        None => {}
    }
    words
}
