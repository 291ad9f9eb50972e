//! Where the values come from that a stack's own encryption refers to: for whoever has to mend one.
//! Names and places alone, never a value.

use std::path::Path;

use super::early_values::{files_of, values_in_file};
use super::given_variables::tofus_own;
use super::own_encryption::{SearchedPart, declares};
use crate::engine::session::Session;
use crate::model::{Stack, StackRun, quoted};
use crate::stacks;

/// Returns the variables behind a stack's own encryption, each with where its value comes from;
/// `None` if its files say nothing about encryption.
pub fn encryption_origins(session: &Session, stack: &Stack) -> Option<String> {
    if !declares(&session.dir_of(stack), SearchedPart::Anything) {
        return None;
    }
    let early = session.early_of(stack);
    let told: Vec<String> = early.of_encryption().iter().map(|name| told(session, stack, name)).collect();
    Some(match told.as_slice() {
        [] => format!("the keys in `{}`", stack.path.display()),
        told => told.join(", "),
    })
}

fn told(session: &Session, stack: &Stack, name: &str) -> String {
    match origin(session, stack, name) {
        Some(origin) => format!("`{name}` from {origin}"),
        None => format!("`{name}`, which has only its default"),
    }
}

/// Returns what gives a variable its value, the strongest first.
fn origin(session: &Session, stack: &Stack, name: &str) -> Option<String> {
    let dir = session.dir_of(stack);
    let sets = |file: &Path| !values_in_file(&dir.join(file), |set| set == name).is_empty();
    let given = [&session.passed, &session.given].into_iter().find_map(|given| given.origin_of(name, sets));
    given
        .or_else(|| from_another_stack(session, stack, name))
        .or_else(|| from_secrets(session, stack, name))
        .or_else(|| {
            let files = files_of(session, &StackRun::bare(stack.clone()));
            let own = tofus_own(&dir).into_iter().map(Into::into);
            let found = own.chain(files).rfind(|file| sets(file))?;
            Some(format!("`{}`", stack.path.join(found).display()))
        })
        .or_else(|| {
            let variable = format!("TF_VAR_{name}");
            let own = stacks::settings_for(&session.project, &stack.id).env;
            let env = session.environment_of(stack, &own).ok()?;
            env.get(&variable).map(|_| format!("`{variable}` in the environment"))
        })
}

fn from_another_stack(session: &Session, stack: &Stack, name: &str) -> Option<String> {
    let inputs = stacks::resolve_inputs(&session.project, &session.stacks, &stack.id).ok()?;
    inputs.get(name).map(|from| format!("the output `{}.{}`", from.stack, from.output))
}

fn from_secrets(session: &Session, stack: &Stack, name: &str) -> Option<String> {
    let file = session.secrets_of(&stack.id)?.origin_of(name)?;
    let file = file.strip_prefix(&session.project.root).unwrap_or(file).display().to_string();
    Some(format!("`{file}` (`infra secrets view {}`)", quoted(&file)))
}
