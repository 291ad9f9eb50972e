//! The kept versions of a stack's state: in the project's own store, or on its server.

use super::session::{Session, StateSource, state_name};
use super::state_edit::open_state;
use crate::error::{Error, Result};
use crate::model::StackId;
use crate::state::{RemoteVersions, Version};
use zeroize::Zeroizing;

/// The versions of a state, oldest first, and which of them is current.
#[derive(Clone, Debug)]
pub struct StateVersions {
    /// The number of the current one; none if the state is deleted.
    pub current: Option<u64>,
    /// All that are kept.
    pub versions: Vec<Version>,
}

/// Lists the versions of a stack's state.
pub async fn list_versions(session: &Session, id: &StackId) -> Result<StateVersions> {
    let stack = session.stack(id)?;
    match session.state_source(stack)? {
        StateSource::Store(store) => {
            let name = state_name(stack)?;
            let (versions, current) = (store.versions(&name).await?, store.current(&name).await?);
            Ok(StateVersions { current, versions })
        }
        StateSource::Remote(remote) => {
            let RemoteVersions { current, versions } = remote.versions().await?;
            Ok(StateVersions { current, versions })
        }
        StateSource::Foreign(kind) => Err(without_versions(id, &kind)),
    }
}

/// Returns a version of a stack's state, decrypted.
pub async fn read_version(session: &Session, id: &StackId, number: u64) -> Result<Zeroizing<Vec<u8>>> {
    let stack = session.stack(id)?;
    let found = match session.state_source(stack)? {
        StateSource::Store(store) => {
            store.read_version(&state_name(stack)?, number).await?.map(|bytes| bytes.to_vec())
        }
        StateSource::Remote(remote) => remote.version(number).await?,
        StateSource::Foreign(kind) => return Err(without_versions(id, &kind)),
    };
    let bytes = found.ok_or_else(|| {
        Error::usage(format!("`{id}` has no version {number}")).hint(format!("`infra state history {id}`"))
    })?;
    open_state(session, id, &bytes)
}

fn without_versions(id: &StackId, kind: &str) -> Error {
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
    .hint(format!("move it to where versions are kept: `infra state migrate {id} --to embedded`"))
    .hint_if(more)
    .hint("copies from before `infra state push`, `rm` and `mv` are in `.infra/backups`")
}
