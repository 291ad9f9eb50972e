//! A state that `infra.lock` knows and the configured place does not have: where it may be,
//! in words, and what brings it back.

use super::misplaced_state::{moved_away, not_moved};
use super::seen_state::Seen;
use crate::backends::{KeptAt, KnownState};
use crate::engine::session::Session;
use crate::engine::state_work::{FoundCopy, copy_for, lives_elsewhere};
use crate::error::{Error, Result};
use crate::model::{StackError, StackId, human_duration, quoted};
use crate::state::StateName;

/// A state that is missed.
#[derive(Debug)]
pub(super) struct MissingState<'a> {
    pub session: &'a Session,
    /// The stack that misses it.
    pub id: &'a StackId,
    /// The name it had.
    pub name: StateName,
    pub known: &'a KnownState,
}

impl MissingState<'_> {
    /// Returns the error that says what is known and what to do.
    pub async fn error(&self) -> Error {
        match self.at_old_place().await {
            Ok(Some(found)) => found,
            Ok(None) => self.elsewhere(None).await,
            Err(error) => self.elsewhere(Some(&error)).await,
        }
    }

    /// Looks into the place that the lock names, where that is a folder; a network is not asked.
    pub(super) async fn at_old_place(&self) -> Result<Option<Error>> {
        let project = &self.session.project;
        let kept = KeptAt::parse(&self.known.kept, &project.root)?;
        if kept.is_same(&KeptAt::of(project)?) {
            return Ok(None);
        }
        if kept.folder().is_none() {
            return Ok(Some(not_moved(self.session, self.id, &kept, None)));
        }
        let env = &self.session.env;
        let Some(place) = kept.open(project, env, self.session.clock)? else { return Ok(None) };
        let Seen { facts, status } = Seen::at(&place.home(&self.name, env.clone())?).await?;
        if let Some(moved) = &status.moved {
            return Ok(Some(moved_away(self.id, moved)));
        }
        let mine = facts.filter(|facts| facts.lineage == self.known.lineage);
        Ok(mine.map(|facts| not_moved(self.session, self.id, &kept, Some(&facts))))
    }

    /// Says in plain words what is missing and where it was, and after that what identifies it.
    async fn elsewhere(&self, unread: Option<&Error>) -> Error {
        let found = self.found().await;
        let error = Error::invalid(self.message(&found))
            .code(StackError::STATE_ELSEWHERE)
            .fact("found", self.words_of(&found))
            .fact("known", format!("lineage {}, last kept at `{}`", self.known.lineage, self.known.kept));
        let error = match unread {
            Some(unread) => error.detail(format!("the old place cannot be read: {}", unread.message())),
            None => error.detail("without it everything of the stack would be made a second time"),
        };
        let id = quoted(self.id.as_str());
        let hints = self.hints_to_get_it_back(&found).into_iter().chain([
            format!("start over on purpose: `infra state forget {id}`"),
            "if this is a copy of somebody else's project: `infra state forget --all`".to_owned(),
        ]);
        hints.fold(error, Error::hint)
    }

    fn message(&self, found: &Found) -> String {
        let (id, kept) = (self.id, &self.known.kept);
        let here = KeptAt::of(&self.session.project).map(|here| here.text().to_owned()).unwrap_or_default();
        let was_embedded = KeptAt::parse(kept, &self.session.project.root).is_ok_and(|at| at.is_embedded());
        match found {
            Found::Living(copy) => {
                format!(
                    "the state of `{id}` is in another checkout, `{}`, and not in this one",
                    copy.origin.display()
                )
            }
            Found::Copy(copy) if was_embedded && copy.origin == self.session.project.root => {
                format!("the state of `{id}` is gone: it was in `.infra/state` of this checkout")
            }
            _ if was_embedded && here == *kept => {
                format!(
                    "the state of `{id}` is not here: it was in `.infra/state` of the checkout that applied it"
                )
            }
            _ if here == *kept => format!("the state of `{id}` is not at `{here}`, where it was kept"),
            _ => format!(
                "the state of `{id}` is not at `{here}`, and no longer at `{kept}`, where it was kept"
            ),
        }
    }

    /// Returns what helps, the best first; only what will not be refused.
    fn hints_to_get_it_back(&self, found: &Found) -> Vec<String> {
        let id = quoted(self.id.as_str());
        let store = "`state: { store: … }` in infra.yaml, then `infra state migrate --all`, and commit both files; here: `git pull`";
        match found {
            Found::Copy(_) => self
                .mount()
                .into_iter()
                .chain([format!("bring the copy back: `infra state recover {id}`")])
                .collect(),
            Found::Living(copy) => vec![
                format!("let both use one store: in `{}` {store}", copy.origin.display()),
                format!("if that checkout is given up: `infra state recover {id} --force`"),
            ],
            Found::Nothing => {
                let there = "on the machine that applied it";
                let from = format!(
                    "with a copy of the old checkout, or of its states: `infra state recover {id} --from DIR`"
                );
                let shared = self.session.project.state.shared();
                let store = (!shared).then(|| format!("{there}: {store}"));
                self.mount().into_iter().chain(store).chain([from]).collect()
            }
        }
    }

    /// A share that is not mounted is an empty folder.
    fn mount(&self) -> Option<String> {
        let kept = KeptAt::of(&self.session.project).ok().filter(|kept| !kept.is_embedded())?;
        let is_empty = std::fs::read_dir(kept.folder()?)
            .is_ok_and(|entries| entries.flatten().all(|entry| is_own(&entry)));
        is_empty.then(|| format!("`{kept}` has no states at all: if it is a share, mount it"))
    }

    /// Returns the copy that this machine has of the state.
    async fn found(&self) -> Found {
        let id = StackId::of_state_name(self.name.as_str());
        match copy_for(self.session, &id, None).await {
            Ok(Some(copy)) if lives_elsewhere(self.session, &copy).await.is_some() => Found::Living(copy),
            Ok(Some(copy)) => Found::Copy(copy),
            Ok(None) | Err(_) => Found::Nothing,
        }
    }

    fn words_of(&self, found: &Found) -> String {
        let (Found::Copy(copy) | Found::Living(copy)) = found else {
            return "neither a safety copy on this machine nor the old place".to_owned();
        };
        let now = self.session.clock.now();
        let age = copy.written.map_or(0.0, |written| now.duration_since(written).as_secs_f64());
        let (serial, age) = (copy.facts.serial, human_duration(age.max(0.0)));
        format!("a safety copy: serial {serial}, {age} old, of `{}`", copy.origin.display())
    }
}

/// Returns whether the state of a stack is missing; one that is known to be elsewhere is an error.
pub async fn is_missing(session: &Session, id: &StackId) -> Result<bool> {
    let name = StateName::parse(&id.state_name())?;
    let Some(home) = session.home_named(&name)? else { return Ok(false) };
    let Seen { facts, status } = Seen::at(&home).await?;
    if let Some(moved) = &status.moved {
        return Err(moved_away(id, moved));
    }
    if facts.is_some() {
        return Ok(false);
    }
    let known = session.infra_lock.as_ref().map_err(Clone::clone)?.states.get(id);
    let found = match known {
        Some(known) => MissingState { session, id, name, known }.at_old_place().await?,
        None => None,
    };
    found.map_or(Ok(true), Err)
}

/// What this machine has of a missing state.
#[derive(Debug)]
enum Found {
    /// A copy that can be put back.
    Copy(FoundCopy),
    /// A copy of one that another checkout still goes on with.
    Living(FoundCopy),
    Nothing,
}

/// What an empty store has of its own.
fn is_own(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}
