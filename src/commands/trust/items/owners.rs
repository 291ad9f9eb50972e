//! Which stacks an item belongs to; what belongs to none concerns the whole project.

use std::path::Path;

use super::{credential_file_items, variables};
use crate::error::Result;
use crate::model::{Environment, Project, Stack};
use crate::trust::{TrustItem, TrustItemKind};

/// Returns those of the stacks that an item belongs to.
pub fn owners<'a>(
    project: &Project,
    stacks: &[&'a Stack],
    item: &TrustItem,
    env: &Environment,
) -> Result<Vec<&'a Stack>> {
    let mut owners = Vec::new();
    for stack in stacks {
        if is_of(project, stack, item, env)? {
            owners.push(*stack);
        }
    }
    Ok(owners)
}

fn is_of(project: &Project, stack: &Stack, item: &TrustItem, env: &Environment) -> Result<bool> {
    let name = Path::new(&item.name);
    match item.kind {
        TrustItemKind::PythonPlugin
        | TrustItemKind::TofuBinary
        | TrustItemKind::PasswordProgram
        | TrustItemKind::Key => Ok(false),
        TrustItemKind::KeyProgram | TrustItemKind::CliConfig => Ok(name.parent() == Some(&stack.path)),
        TrustItemKind::TofuData => {
            Ok([".terraform", "terraform.d/plugins"].iter().any(|folder| name == stack.path.join(folder)))
        }
        TrustItemKind::Variable => Ok(variables(project, &[stack]).iter().any(|other| other.is_same(item))),
        TrustItemKind::CredentialFile => {
            let own = credential_file_items(project, &[stack], env)?;
            Ok(own.iter().any(|other| other.is_same(item)))
        }
    }
}
