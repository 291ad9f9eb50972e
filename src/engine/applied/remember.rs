//! What was last applied of each stack: a copy of its files below `.infra/applied`, from
//! which it can still be destroyed when its folder is gone.
//!
//! The copy holds what a plan is made from: configuration, local modules, plain and
//! encrypted variable files as they lie on the disk. It never holds a decrypted value.
//! Begin at [`remember_applied`] and at [`removed_stacks`].

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::copies::{RECORD, Record, TREE, home_of, is_copy, mark_published, recorded, replace_copy};
use super::memorable::memorable;
use super::shared_copies;
use crate::engine::session::{Session, source_files};
use crate::engine::variables::{Inputs, is_secret};
use crate::error::{Result, io};
use crate::model::StackRun;
use crate::{atomic_file, stacks};

/// A larger file is no configuration.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Copies what is about to be applied, and puts the copy where those who share the state find it.
pub async fn remember_applied(session: &Session, run: &StackRun, inputs: &Inputs) -> Result<()> {
    let (project, id) = (&session.project, &run.stack.id);
    let home = home_of(project, id);
    // A workspace that nobody declared is no stack of the tree, so none that can be removed from it.
    let is_passing = run.stack.workspace.is_some() && run.stack.declared_workspace().is_none();
    if is_copy(session, &run.stack) || is_passing {
        return Ok(());
    }
    let values = memorable(session, run, inputs).await;
    replace_copy(project, id, |fresh| {
        copy_files(session, run, &fresh.join(TREE))?;
        let record = serde_json::to_vec_pretty(&record_of(session, run, values)).unwrap_or_default();
        atomic_file::write(&fresh.join(RECORD), &record)
    })?;
    match shared_copies::publish(session, &run.stack, &home).await? {
        true => mark_published(project, id),
        false => Ok(()),
    }
}

/// Notes of a stack that needed no change what it takes from others now.
pub async fn remember_inputs(session: &Session, run: &StackRun, inputs: &Inputs) -> Result<()> {
    let Some(noted) = recorded(&session.project, &run.stack.id) else { return Ok(()) };
    let values = memorable(session, run, inputs).await;
    match noted.is_fed_like(&record_of(session, run, values)) {
        true => Ok(()),
        false => remember_applied(session, run, inputs).await,
    }
}

fn record_of(session: &Session, run: &StackRun, values: BTreeMap<String, Value>) -> Record {
    let settings = stacks::settings_for(&session.project, &run.stack.id);
    let feeding =
        run.inputs.iter().map(|(name, from)| (name.clone(), (from.stack.clone(), from.output.clone())));
    Record {
        stack: run.stack.id.clone(),
        path: run.stack.path.clone(),
        applied_at: session.clock.now(),
        var_files: run.var_files.iter().map(|file| file.display().to_string()).collect(),
        secrets: settings.secrets,
        inputs: feeding.collect(),
        env: run.env.clone(),
        protect: run.protect,
        depends_on: run.stack.depends_on.clone(),
        values,
        workspace: run.stack.declared_workspace().map(str::to_owned),
        workspace_variable: settings.workspace_variable,
    }
}

fn copy_files(session: &Session, run: &StackRun, tree: &Path) -> Result<()> {
    let root = &session.project.root;
    let opened = session.secrets_of(&run.stack.id).map(|secrets| secrets.files.clone()).unwrap_or_default();
    for file in source_files(session, run)? {
        let Ok(below) = file.strip_prefix(root) else { continue };
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A file that is named like a secret but was not opened as one may be plain.
        let is_plain_secret = is_secret(&name) && !opened.contains(&file);
        let is_small = std::fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() <= LARGEST);
        if is_small && !is_plain_secret {
            let copy = tree.join(below);
            atomic_file::create_private_dir(copy.parent().unwrap_or(tree))?;
            std::fs::copy(&file, &copy).map_err(io("copy", &file))?;
        }
    }
    Ok(())
}
