//! What the project remembers of its states: the entry of each in `infra.lock`, and the copy
//! on this machine.
//!
//! Written when a state is made, moved or removed, and never by a command that only reads.
//! Neither can fail a run: what cannot be written is told. Begin at [`note_state`].

use futures::StreamExt as _;
use serde_json::Value;

use crate::backends::{
    CopyFacts, Copying, InfraLock, KeptAt, KnownState, SafetyCopies, StateFacts, StateHome, state_name,
};
use crate::engine::session::Session;
use crate::engine::state_content::open_with_passphrase;
use crate::error::{Error, Result};
use crate::events::RunEvent;
use crate::model::{Backend, LockFile, PlanMode, Stack, StackId};
use crate::state::{Mark, StateName};

/// How many states are looked at together.
const TOGETHER: usize = 8;

/// Which entries are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum EntriesToWrite {
    /// Every one that is not as the state is.
    Changed,
    /// As before, and one without resources goes.
    Emptied,
    /// As before, and one that only tofu can open goes: a destroy of everything succeeded.
    Destroyed,
    /// Only those that the file lacks.
    Missing,
}

/// Notes how the state of a stack stands after it was changed, or may have been.
///
/// After a destroy that may have failed the mode is that of a destroy too: what is left counts.
pub async fn note_state(session: &Session, id: &StackId, mode: PlanMode) {
    let noting = match mode {
        PlanMode::Destroy => EntriesToWrite::Emptied,
        PlanMode::Normal | PlanMode::RefreshOnly => EntriesToWrite::Changed,
    };
    note(session, id, noting).await;
}

/// Notes that everything of a stack was destroyed.
pub async fn note_destroyed(session: &Session, id: &StackId) {
    note(session, id, EntriesToWrite::Destroyed).await;
}

async fn note(session: &Session, id: &StackId, noting: EntriesToWrite) {
    let Ok(stack) = session.stack(id) else { return };
    if let Err(error) = follow(session, stack, noting).await {
        let message = format!("the state of `{id}` could not be noted: {}", error.message());
        tell(session, id, message, error.hints().to_vec());
    }
}

fn tell(session: &Session, id: &StackId, message: String, hints: Vec<String>) {
    session.events.emit(RunEvent::Warning { stack: Some(id.clone()), message, hints });
}

/// Adds the states that exist and are not in the file yet.
pub async fn note_missing(session: &Session, ids: &[StackId]) {
    let unknown =
        ids.iter().filter(|id| session.known_state(id).is_none()).filter_map(|id| session.stack(id).ok());
    let looks = futures::stream::iter(unknown).map(|stack| follow(session, stack, EntriesToWrite::Missing));
    // One that cannot be read is told by those who need it.
    let _: Vec<Result<()>> = looks.buffer_unordered(TOGETHER).collect().await;
}

/// Tells which entries this command changed, in one line.
pub fn tell_noted(session: &Session) {
    let stacks: Vec<StackId> = session.noted.take().into_iter().collect();
    if !stacks.is_empty() {
        session.events.emit(RunEvent::StatesNoted { stacks });
    }
}

/// Makes the entry of a stack, and its copy, follow its state.
async fn follow(session: &Session, stack: &Stack, noting: EntriesToWrite) -> Result<()> {
    let id = &stack.id;
    if stack.backend != Backend::Embedded || session.place.is_none() {
        return Ok(());
    }
    // Under a former name it is the state of that name still: only a rename notes it here.
    let former = session.former_names.borrow().get(id).cloned();
    if let Some(former) = former {
        if noting != EntriesToWrite::Missing {
            keep_safety_copy(session, &former).await;
        }
        return Ok(());
    }
    let home = session.home_of(stack)?;
    let bytes = home.read().await?.unwrap_or_default();
    let Some(facts) = StateFacts::of(&bytes) else { return Ok(()) };
    if noting != EntriesToWrite::Missing {
        keep_copy(session, id, &facts, &bytes);
        claim(session, &home).await;
    }
    let left = RemainingContent::of(session, id, &bytes);
    match (noting, left) {
        (
            EntriesToWrite::Emptied | EntriesToWrite::Destroyed,
            RemainingContent::Nothing | RemainingContent::Outputs,
        )
        | (EntriesToWrite::Destroyed, RemainingContent::Unknown) => note_lineage(session, id, None),
        // What has nothing to lose needs no entry; one that is there stays until a destroy.
        (EntriesToWrite::Changed | EntriesToWrite::Missing, RemainingContent::Nothing)
            if session.known_state(id).is_none() =>
        {
            Ok(())
        }
        _ => note_lineage(session, id, Some(facts.lineage)),
    }
}

/// What a state has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum RemainingContent {
    Nothing,
    Outputs,
    Resources,
    /// Only tofu can open it.
    Unknown,
}

impl RemainingContent {
    fn of(session: &Session, id: &StackId, bytes: &[u8]) -> Self {
        let opened = open_with_passphrase(session, id, bytes).ok();
        let state: Option<Value> = opened.and_then(|state| serde_json::from_slice(&state).ok());
        let Some(state) = state.filter(|state| state["resources"].is_array()) else { return Self::Unknown };
        let is_empty = |key: &str| match &state[key] {
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => true,
        };
        match (is_empty("resources"), is_empty("outputs")) {
            (true, true) => Self::Nothing,
            (true, false) => Self::Outputs,
            (false, _) => Self::Resources,
        }
    }
}

/// The states that the configured place has.
#[derive(Debug, Default)]
pub struct KeptStates {
    /// Stacks with a state that has anything in it.
    pub there: Vec<StackId>,
    /// Those of them that `infra.lock` does not know.
    pub unknown: Vec<StackId>,
}

/// Looks which of these stacks have a state; one that cannot be read is left out.
pub async fn kept_states(session: &Session, ids: &[StackId]) -> KeptStates {
    let stacks = ids.iter().filter_map(|id| session.stack(id).ok());
    let stacks: Vec<&Stack> = stacks.filter(|stack| stack.backend == Backend::Embedded).collect();
    let looks =
        futures::stream::iter(stacks).map(async |stack| (&stack.id, has_anything(session, stack).await));
    let found: Vec<(&StackId, bool)> = looks.buffered(TOGETHER).collect().await;
    let there: Vec<StackId> = found.into_iter().filter(|(_, has)| *has).map(|(id, _)| id.clone()).collect();
    let unknown = there.iter().filter(|id| session.known_state(id).is_none()).cloned().collect();
    KeptStates { there, unknown }
}

async fn has_anything(session: &Session, stack: &Stack) -> bool {
    let home = state_name(stack).and_then(|name| session.home_named(&name)).ok().flatten();
    let Some(home) = home else { return false };
    let Ok(Some(bytes)) = home.read().await else { return false };
    StateFacts::of(&bytes).is_some()
        && RemainingContent::of(session, &stack.id, &bytes) != RemainingContent::Nothing
}

/// Writes or removes the entry of a stack.
pub fn note_lineage(session: &Session, id: &StackId, lineage: Option<String>) -> Result<()> {
    let project = &session.project;
    if project.state.lock_file == LockFile::Off {
        return Ok(());
    }
    let kept = KeptAt::of(project)?.text().to_owned();
    let changed = InfraLock::update(&project.root, &project.infra_dir(), |lock| match lineage {
        Some(lineage) => drop(lock.states.insert(id.clone(), KnownState { lineage, kept })),
        None => drop(lock.states.remove(id)),
    })?;
    if changed {
        session.noted.borrow_mut().insert(id.clone());
    }
    Ok(())
}

/// Keeps the safety copy of a state that came to the configured place, or was changed there. Fails nothing.
pub async fn keep_safety_copy(session: &Session, id: &StackId) {
    let copied = async {
        let Some(home) = session.home_named(&StateName::parse(&id.state_name())?)? else { return Ok(()) };
        let bytes = home.read().await?.unwrap_or_default();
        if let Some(facts) = StateFacts::of(&bytes) {
            keep_copy(session, id, &facts, &bytes);
        }
        Ok::<(), Error>(())
    };
    if let Err(error) = copied.await {
        tracing::warn!(%error, stack = %id, "no safety copy was kept");
    }
}

/// Keeps the newest version of a state in the user's own folder, if a folder is all that has it.
fn keep_copy(session: &Session, id: &StackId, facts: &StateFacts, bytes: &[u8]) {
    let project = &session.project;
    let is_folder = KeptAt::of(project).is_ok_and(|kept| kept.folder().is_some());
    let copies = SafetyCopies::of(&session.env, project.state.copies, session.clock);
    let Some(copies) = copies.filter(|_| is_folder) else { return };
    let facts = CopyFacts {
        project: project.is_named.then(|| project.name.clone()),
        root: project.root.clone(),
        stack: id.clone(),
        lineage: facts.lineage.clone(),
        serial: facts.serial,
        written: session.clock.now(),
    };
    match copies.keep(&facts, bytes) {
        Ok(Copying::Kept) => {}
        Ok(Copying::TooLarge(limit)) => {
            // An older one would bring back what is no longer so.
            if let Err(error) = copies.forget(&facts.lineage) {
                tracing::warn!(%error, stack = %id, "the copy of before stays");
            }
            tell_too_large(session, id, bytes.len() as u64, limit);
        }
        Ok(Copying::NewerThere(newer)) => {
            let (root, serial) = (newer.facts.root.display(), newer.facts.serial);
            let message = format!("another checkout, `{root}`, went further with the state of `{id}`");
            let copy = format!("its safety copy (serial {serial}, here {}) stays", facts.serial);
            tell(session, id, message, vec![copy]);
        }
        Err(error) => tracing::warn!(%error, stack = %id, "no safety copy was kept"),
    }
}

fn tell_too_large(session: &Session, id: &StackId, size: u64, limit: u64) {
    let enough = (size >> 20) * 2 + 1;
    tell(
        session,
        id,
        format!(
            "the state of `{id}` has no safety copy: it has {size} bytes, and at most {limit} are copied"
        ),
        vec![format!("in infra.yaml: `state: {{ copies: {enough}MiB }}`, or `copies: off` to do without")],
    );
}

/// Tells a server whose state it is; a store learns it with the write itself.
async fn claim(session: &Session, home: &StateHome) {
    let project = &session.project;
    if !project.is_named || !matches!(home, StateHome::Server(_)) {
        return;
    }
    let unclaimed = home.status().await.ok().flatten().is_some_and(|status| status.project.is_none());
    if unclaimed {
        // A user without the right, or a server of another kind, changes nothing about the run.
        let _ = home.mark(None, Mark::OfProject(project.name.clone())).await;
    }
}
