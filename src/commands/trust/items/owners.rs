//! Which stacks a thing belongs to; what belongs to none concerns the whole project.

use std::path::Path;

use super::{credential_file_items, variables};
use crate::error::Result;
use crate::model::{Environment, Project, Stack};
use crate::trust::{Thing, ThingKind};

/// Returns those of the stacks that a thing belongs to.
pub fn owners<'a>(
    project: &Project,
    stacks: &[&'a Stack],
    thing: &Thing,
    env: &Environment,
) -> Result<Vec<&'a Stack>> {
    let mut owners = Vec::new();
    for stack in stacks {
        if is_of(project, stack, thing, env)? {
            owners.push(*stack);
        }
    }
    Ok(owners)
}

fn is_of(project: &Project, stack: &Stack, thing: &Thing, env: &Environment) -> Result<bool> {
    let name = Path::new(&thing.name);
    match thing.kind {
        ThingKind::PythonPlugin | ThingKind::TofuBinary | ThingKind::PasswordProgram | ThingKind::Key => {
            Ok(false)
        }
        ThingKind::KeyProgram | ThingKind::CliConfig => Ok(name.parent() == Some(&stack.path)),
        ThingKind::TofuData => {
            Ok([".terraform", "terraform.d/plugins"].iter().any(|folder| name == stack.path.join(folder)))
        }
        ThingKind::Variable => Ok(variables(project, &[stack]).iter().any(|other| other.is_same(thing))),
        ThingKind::CredentialFile => {
            let own = credential_file_items(project, &[stack], env)?;
            Ok(own.iter().any(|other| other.is_same(thing)))
        }
    }
}
