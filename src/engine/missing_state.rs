//! A state that `infra.lock` knows and the configured place does not have: where it may be,
//! in words, and what brings it back.

use super::misplaced_state::{moved_away, not_moved};
use super::seen_state::Seen;
use super::session::Session;
use crate::backends::{KeptAt, KnownState, SafetyCopies};
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
            Ok(None) => self.elsewhere(None),
            Err(error) => self.elsewhere(Some(&error)),
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

    fn elsewhere(&self, unread: Option<&Error>) -> Error {
        let (id, quoted_id) = (self.id, quoted(self.id.as_str()));
        let here = KeptAt::of(&self.session.project).map(|here| here.text().to_owned()).unwrap_or_default();
        let error = Error::invalid(format!("the state of `{id}` is not at `{here}`"))
            .code(StackError::STATE_ELSEWHERE)
            .fact("known", format!("lineage {}, last kept at `{}`", self.known.lineage, self.known.kept));
        let copy = self.safety_copy();
        let found = copy
            .clone()
            .unwrap_or_else(|| "neither a safety copy on this machine nor the old place".to_owned());
        let error = error.fact("found", found);
        let error = match unread {
            Some(unread) => error.detail(format!("the old place cannot be read: {}", unread.message())),
            None => error.detail("without it everything of the stack would be made a second time"),
        };
        let recover = copy.map(|_| format!("bring the copy back: `infra state recover {quoted_id}`"));
        error
            .hint_if(recover)
            .hint(format!("start over on purpose: `infra state forget {quoted_id}`"))
            .hint("if this is a copy of somebody else's project: `infra state forget --all`")
    }

    /// Describes the copy of the state that this machine has, if it has one.
    fn safety_copy(&self) -> Option<String> {
        let session = self.session;
        let copies = SafetyCopies::of(&session.env, session.project.state.copies, session.clock)?;
        let copy = copies.find(&self.known.lineage).ok()??.facts;
        let age = self.session.clock.now().duration_since(copy.written).as_secs_f64();
        Some(format!(
            "a safety copy: serial {}, {} old, of `{}`",
            copy.serial,
            human_duration(age.max(0.0)),
            copy.root.display()
        ))
    }
}
