//! Copies of what was applied, beside the states: whoever shares the states can destroy a
//! stack whose folder is gone, not only the machine that applied it.
//!
//! Where the states lie below the project's own `.infra`, the local copy is beside them
//! already. A copy that comes from elsewhere is checked file by file before it is written
//! below `.infra/applied`. Begin at [`publish`] and at [`fetch_copies`].

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::copies::{forget_copy, kept_copy, mark_published, published, replace_copy};
use crate::atomic_file;
use crate::backends::StateHome;
use crate::engine::session::Session;
use crate::error::{Error, Result, io};
use crate::model::{Backend, Stack, StackId};
use crate::state::StateName;

/// A copy as it travels.
#[derive(Debug, Deserialize, Serialize)]
struct CopyArchive {
    files: Vec<ArchivedFile>,
}

#[derive(Debug, Deserialize, Serialize)]
struct ArchivedFile {
    path: PathBuf,
    #[serde(default)]
    executable: bool,
    /// The bytes, in base64.
    content: String,
}

/// Puts the local copy of a stack beside its state; returns whether it lies there now.
pub(super) async fn publish(session: &Session, stack: &Stack, copy: &Path) -> Result<bool> {
    let Some(home) = shared_home(session, stack)? else { return Ok(false) };
    let parcel = serde_json::to_vec(&pack(copy)?)
        .map_err(|error| Error::bug("a copy of what was applied has no JSON form").because(error))?;
    home.keep_copy(parcel).await
}

/// Puts what this checkout keeps of a stack beside its state, for those who share it; one that is gone
/// from the tree included.
pub async fn publish_kept(session: &Session, id: &StackId, home: &StateHome) {
    let copy = kept_copy(&session.project, id);
    if !session.project.state.shared() || !copy.is_dir() {
        return;
    }
    // The state does not depend on it; the next apply makes a new one.
    let Ok(parcel) = pack(&copy).map(|parcel| serde_json::to_vec(&parcel).unwrap_or_default()) else {
        return;
    };
    if matches!(home.keep_copy(parcel).await, Ok(true)) {
        let _ = mark_published(&session.project, id);
    }
}

/// Returns where the state of a stack lies if others may have it too.
fn shared_home(session: &Session, stack: &Stack) -> Result<Option<StateHome>> {
    match stack.backend == Backend::Embedded && session.project.state.shared() {
        true => session.home_of(stack).map(Some),
        false => Ok(None),
    }
}

/// Removes the copy beside the state of a stack that was destroyed.
pub async fn withdraw_copy(session: &Session, stack: &Stack) -> Result<()> {
    match shared_home(session, stack)? {
        Some(home) => home.drop_copy().await,
        None => Ok(()),
    }
}

/// Brings the local copies of stacks that are not in the tree up to those beside the states.
///
/// One that was beside the states and no longer is was destroyed by somebody else.
pub async fn fetch_copies(session: &Session) -> Result<()> {
    let Some(names) = names(session).await? else { return Ok(()) };
    let known: HashSet<&StackId> = session.stacks.iter().map(|stack| &stack.id).collect();
    let shared: HashSet<StackId> = names.iter().map(|name| StackId::of_state_name(name.as_str())).collect();
    for name in &names {
        let id = StackId::of_state_name(name.as_str());
        if !known.contains(&id)
            && is_ours(session, name).await?
            && let Some(parcel) = read(session, name).await?
        {
            unpack(&parcel, &id, session)?;
            mark_published(&session.project, &id)?;
        }
    }
    for id in published(&session.project) {
        if !known.contains(&id) && !shared.contains(&id) {
            forget_copy(&session.project, &id)?;
        }
    }
    Ok(())
}

/// Returns one file of the copy that lies beside the state of a stack.
pub async fn file_of(session: &Session, stack: &Stack, path: &Path) -> Result<Option<Vec<u8>>> {
    let Some(home) = shared_home(session, stack)? else { return Ok(None) };
    let Some(parcel) = home.copy().await? else { return Ok(None) };
    let parcel: CopyArchive =
        serde_json::from_slice(&parcel).map_err(|error| broken(&stack.id).because(error))?;
    let file = parcel.files.iter().find(|file| file.path == path);
    let decoded = file.map(|file| STANDARD.decode(&file.content));
    decoded.transpose().map_err(|error| broken(&stack.id).because(error))
}

async fn names(session: &Session) -> Result<Option<Vec<StateName>>> {
    match &session.place {
        // The project's own folder is shared with nobody.
        Some(place) if session.project.state.shared() => place.copies(session.some_environment()).await,
        _ => Ok(None),
    }
}

async fn read(session: &Session, name: &StateName) -> Result<Option<Vec<u8>>> {
    match session.home_named(name)? {
        Some(home) => home.copy().await,
        None => Ok(None),
    }
}

/// Several projects may share one place: what another one applied is not this one's to destroy.
async fn is_ours(session: &Session, name: &StateName) -> Result<bool> {
    let Some(home) = session.home_named(name)? else { return Ok(false) };
    let status = home.status().await?.unwrap_or_default();
    Ok(status.other_project(&session.project).is_none())
}

fn pack(home: &Path) -> Result<CopyArchive> {
    let mut files = Vec::new();
    let mut folders = vec![home.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(io("read", &folder))? {
            let path = entry.map_err(io("read", &folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(packed(home, &path)?);
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(CopyArchive { files })
}

fn packed(home: &Path, file: &Path) -> Result<ArchivedFile> {
    let bytes = std::fs::read(file).map_err(io("read", file))?;
    Ok(ArchivedFile {
        path: file.strip_prefix(home).unwrap_or(file).to_owned(),
        executable: crate::process::is_executable(file),
        content: STANDARD.encode(bytes),
    })
}

fn unpack(parcel: &[u8], id: &StackId, session: &Session) -> Result<()> {
    let parcel: CopyArchive = serde_json::from_slice(parcel).map_err(|error| broken(id).because(error))?;
    replace_copy(&session.project, id, |fresh| {
        for file in &parcel.files {
            if !is_safe(&file.path) {
                return Err(broken(id).fact("found", file.path.display().to_string()));
            }
            let target = fresh.join(&file.path);
            atomic_file::create_private_dir(target.parent().unwrap_or(fresh))?;
            let bytes = STANDARD.decode(&file.content).map_err(|error| broken(id).because(error))?;
            atomic_file::write(&target, &bytes)?;
            if file.executable {
                atomic_file::make_executable(&target)?;
            }
        }
        Ok(())
    })
}

/// A path from elsewhere must not lead out of the folder it is written to.
fn is_safe(path: &Path) -> bool {
    let mut parts = path.components();
    path.file_name().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn broken(id: &StackId) -> Error {
    Error::invalid(format!("the copy of what was applied to `{id}`, beside its state, is damaged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_elsewhere_is_not_safe() {
        for path in ["../x", "/etc/x", "a/../../x", "", ".."] {
            assert!(!is_safe(Path::new(path)), "{path}");
        }
        assert!(is_safe(Path::new("tree/01-a/ü x.tf")));
    }
}
