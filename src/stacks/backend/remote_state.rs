//! Edges from `terraform_remote_state`: a stack that reads another's state comes after it.
//! Only where both identities are fully known; everything else is left to `depends_on`.

use std::collections::BTreeMap;

use super::identity::{identity, identity_of};
use crate::model::{Backend, Stack, StackId};
use crate::stacks::files::RemoteState;
use crate::syntax::{Setting, flatten};

/// The states of all stacks whose identity is known.
#[derive(Debug)]
pub struct StateOwners(BTreeMap<String, StackId>);

impl StateOwners {
    /// Notes who writes which state.
    pub fn new(stacks: &[Stack]) -> Self {
        let known = stacks.iter().filter_map(|stack| Some((identity_of(stack)?, stack.id.clone())));
        Self(known.collect())
    }

    /// Returns the stack whose state is read by another.
    pub fn owner(&self, read: &RemoteState, reader: &Stack) -> Option<&StackId> {
        let workspace = match &read.workspace {
            None => None,
            // http has no workspaces, so that this is the same everywhere.
            Some(Setting::Expression(text)) if text.trim() == "terraform.workspace" => {
                reader.workspace_name().filter(|_| reader.backend.has_workspaces())
            }
            // What only tofu can tell says nothing about who writes it.
            Some(name) => Some(name.literal()?),
        };
        let backend = backend_of(read)?;
        // Without a path it reads the file beside it, which is nobody else's.
        if backend.kind() == "local" && backend.attribute("path").is_none() {
            return None;
        }
        self.0.get(&identity(&backend, &reader.path, workspace)?)
    }
}

/// A stack that reads the state of another one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reader {
    /// The stack.
    pub stack: StackId,
    /// File and line of the data source.
    pub place: String,
}

/// Returns who reads the state of a stack: whoever moves it must tell them.
pub fn readers_of(stacks: &[Stack], id: &StackId) -> Vec<Reader> {
    let reader = |stack: &Stack, place: &String| Reader { stack: stack.id.clone(), place: place.clone() };
    let reads = stacks.iter().flat_map(|stack| stack.reads.iter().map(move |read| (stack, read)));
    reads.filter(|(_, (owner, _))| owner == id).map(|(stack, (_, place))| reader(stack, place)).collect()
}

/// Returns the backend that a data source reads, as if it were a block.
fn backend_of(read: &RemoteState) -> Option<Backend> {
    let kind = read.kind.as_ref()?.literal()?.to_owned();
    let Some(Setting::Map(config)) = &read.config else { return None };
    Some(Backend::Configured { kind, attributes: flatten(config) })
}

/// Returns the problem of a data source that would read its own stack's state.
///
/// Without an address of its own an http data source falls back to the environment, which
/// the embedded server sets to the stack's own state.
pub fn reads_itself(read: &RemoteState, own: &Backend) -> Option<String> {
    let is_http = read.kind.as_ref().and_then(Setting::literal) == Some("http");
    let has_address = match &read.config {
        None => false,
        Some(Setting::Map(config)) => config.contains_key("address"),
        Some(Setting::Literal(_) | Setting::Expression(_)) => true,
    };
    if *own != Backend::Embedded || !is_http || has_address {
        return None;
    }
    let name = &read.name;
    Some(format!(
        "{}: `terraform_remote_state.{name}` has no address and would read this stack's own state; \
         use `inputs` in infra.yaml",
        read.place
    ))
}
