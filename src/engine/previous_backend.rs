//! The backend that a stack had before its block became `backend "http" {}`: tofu remembers
//! it in its data folder, and a local state lies beside the files.

use std::collections::BTreeMap;

use super::session::Session;
use crate::backends::{HomeParts, StateHome, home_of, remembered_backend, state_name};
use crate::error::Result;
use crate::model::{Backend, Stack};

/// Returns where the state of a stack was before infra kept it, if its folder tells.
pub(super) fn previous_home(session: &Session, stack: &Stack) -> Result<Option<StateHome>> {
    let backend = match remembered_backend(&session.data_dir_of(stack)) {
        // Served by infra, or by a server that the environment named: that is no other place.
        Some(backend) if backend.kind() == "http" && backend.attribute("address").is_none() => {
            return Ok(None);
        }
        Some(backend) => backend,
        None => Backend::None,
    };
    let previous = Stack { backend, ..stack.clone() };
    let (name, dir, own) = (state_name(stack)?, session.dir_of(stack), BTreeMap::new());
    let env = session.environment_of(&previous, &own)?;
    let home = home_of(HomeParts { stack: &previous, name, place: None, dir: &dir, env, own: &own })?;
    Ok(home.is_readable().then_some(home))
}
