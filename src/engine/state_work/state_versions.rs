//! The kept versions of a stack's state, decrypted where they are read.

use zeroize::Zeroizing;

use crate::backends::StateVersions;
use crate::engine::session::Session;
use crate::engine::state_content::open_state;
use crate::error::{Error, Result};
use crate::model::{Stack, StackId, quoted};

/// Lists the versions of a stack's state.
pub async fn list_versions(session: &Session, id: &StackId) -> Result<StateVersions> {
    let stack = session.stack(id)?;
    let home = session.home_of(stack)?;
    home.versions().await?.ok_or_else(|| without_versions(stack, home.kind()))
}

/// Returns a version of a stack's state, decrypted.
pub async fn read_version(session: &Session, id: &StackId, number: u64) -> Result<Zeroizing<Vec<u8>>> {
    let stack = session.stack(id)?;
    let home = session.home_of(stack)?;
    if !home.lists_versions() {
        return Err(without_versions(stack, home.kind()));
    }
    let bytes = home.version(number).await?.ok_or_else(|| {
        Error::usage(format!("`{id}` has no version {number}")).hint(format!("`infra state history {id}`"))
    })?;
    open_state(session, id, &bytes).await
}

fn without_versions(stack: &Stack, kind: &str) -> Error {
    let id = &stack.id;
    // One backend block is that of all workspaces, and stays.
    let is_movable = stack.declared_workspace().is_none();
    let way = format!(
        "move it to where versions are kept: `infra state migrate {} --to embedded`",
        quoted(id.as_str())
    );
    let (why, more) = match kind {
        "local" => ("it is a file, of which there is one", None),
        "s3" => (
            "a bucket keeps old objects if versioning is switched on for it, and only its own tools list them",
            Some("switch on versioning for the bucket to have old states there all the same"),
        ),
        _ => ("only tofu speaks to it, and tofu asks for the newest state only", None),
    };
    Error::usage(format!(
        "`{id}` keeps its state in a {kind} backend, which has no versions that infra knows"
    ))
    .detail(why)
    .hint_if(is_movable.then_some(way))
    .hint_if(more)
    .hint("copies from before `infra state push`, `rm` and `mv` are in `.infra/backups`")
}
