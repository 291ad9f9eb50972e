//! Stacks for unit tests, made from ids and edges alone.

use std::path::Path;

use crate::model::{Backend, Stack, StackId};

/// Makes a stack below `infrastructure/` that depends on others.
pub fn stack(id: &str, depends_on: &[&str]) -> Stack {
    Stack {
        id: StackId::new(id),
        path: Path::new("infrastructure").join(id),
        workspace: None,
        tags: Vec::new(),
        depends_on: depends_on.iter().map(|id| StackId::new(*id)).collect(),
        reads: Vec::new(),
        modules: Vec::new(),
        backend: Backend::Embedded,
        backend_place: None,
        variables: Default::default(),
        outputs: Default::default(),
        addresses: Default::default(),
        init_facts: Default::default(),
        warnings: Vec::new(),
        unread: Vec::new(),
        problems: Vec::new(),
        wrong_workspace: None,
    }
}

/// Makes stacks without dependencies.
pub fn stacks(ids: &[&str]) -> Vec<Stack> {
    ids.iter().map(|id| stack(id, &[])).collect()
}

/// Returns the ids of stacks.
pub fn ids(stacks: &[Stack]) -> Vec<StackId> {
    stacks.iter().map(|stack| stack.id.clone()).collect()
}
