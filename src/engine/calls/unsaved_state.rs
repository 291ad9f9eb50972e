//! A state that an apply could not save: tofu leaves it in the folder as `errored.tfstate`,
//! whatever the workspace. infra gives the file the name of the workspace as soon as tofu has
//! ended; one that is found without is matched by its lineage. Begin at [`unsaved_state`].

use std::path::{Path, PathBuf};

use crate::backends::StateFacts;
use crate::engine::session::Session;
use crate::error::{Result, io};
use crate::model::{Project, Stack, StackId};

/// tofu's own name for it.
const USUAL: &str = "errored.tfstate";

/// A file that may hold what an apply of a stack could not save.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnsavedFile {
    /// Where it lies, below the project's root.
    pub path: PathBuf,
    /// Whether its name says that it is this stack's: one without the name of a workspace may be another's.
    pub is_named: bool,
}

/// Returns the file in which a state of a stack may lie that could not be saved.
pub fn unsaved_file(project: &Project, stack: &Stack) -> Option<UnsavedFile> {
    let (own, usual) = (stack.path.join(name_for(stack)), stack.path.join(USUAL));
    let is_there = |path: &PathBuf| project.root.join(path).exists();
    let named = Some(&own).filter(|path| is_there(path));
    let found = named.or_else(|| Some(&usual).filter(|path| is_there(path)))?;
    Some(UnsavedFile { path: found.clone(), is_named: *found == own })
}

fn name_for(stack: &Stack) -> String {
    let name = stack.workspace_name().filter(|_| stack.base_id() != stack.id);
    name.map_or_else(|| USUAL.to_owned(), |name| format!("errored.{name}.tfstate"))
}

/// Returns the file in which tofu left a state of a stack that it could not save, if there is one.
///
/// One without a name that is another workspace's gets that name; one that nobody can be told to have
/// written concerns all of the folder.
pub async fn unsaved_state(session: &Session, stack: &Stack) -> Option<PathBuf> {
    let found = unsaved_file(&session.project, stack)?;
    if found.is_named {
        return Some(found.path);
    }
    match owner_of(session, stack, &found.path).await {
        Some(owner) if owner.id != stack.id => {
            // What stays without a name is matched again.
            let _ = give_name(session, owner);
            None
        }
        _ => Some(found.path),
    }
}

/// Returns the stack of a folder whose state a file is a later version of.
async fn owner_of<'a>(session: &'a Session, stack: &Stack, file: &Path) -> Option<&'a Stack> {
    let bytes = std::fs::read(session.project.root.join(file)).ok()?;
    let lineage = StateFacts::of(&bytes)?.lineage;
    for other in session.stacks.iter().filter(|other| other.path == stack.path) {
        let Ok(home) = session.home_of(other) else { continue };
        let facts = if home.is_readable() { home.facts().await.ok().flatten() } else { None };
        if facts.is_some_and(|facts| facts.lineage == lineage) {
            return Some(other);
        }
    }
    None
}

/// Gives what tofu could not save the name of the workspace it belongs to; nobody else may apply meanwhile.
pub fn give_name(session: &Session, stack: &Stack) -> Result<()> {
    let folder = session.dir_of(stack);
    let (usual, own) = (folder.join(USUAL), folder.join(name_for(stack)));
    if usual == own || !usual.exists() {
        return Ok(());
    }
    // One of before is not overwritten.
    let more = (2_u32..).map(|number| own.with_extension(format!("tfstate.{number}")));
    let free = std::iter::once(own.clone()).chain(more).find(|path| !path.exists()).unwrap_or(own);
    std::fs::rename(&usual, &free).map_err(io("rename", &usual))
}

/// Says how such a state is saved.
pub fn way_to_save(id: &StackId) -> String {
    format!("save it: `infra state push {id} --errored`, which removes the file")
}
