//! `tofu init`, only when something it depends on changed.
//!
//! What it depends on is read from the files (providers, module sources, the backend
//! block), the provider lock file and the version of tofu. After a success their
//! fingerprint is kept below `.infra/init`; the same fingerprint and an untouched data
//! folder mean that `init` would do nothing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::failure::{Stop, explain};
use super::options::WhenToInit;
use super::session::Session;
use super::watch::watch;
use crate::error::{Result, io};
use crate::events::RunEvent;
use crate::model::{Fingerprint, Stack, StackRun, Step};
use crate::tofu::call::{self, InitBackend};

/// What is remembered of a successful `init`.
#[derive(Deserialize, PartialEq, Serialize)]
struct InitRecord {
    fingerprint: Fingerprint,
    /// Which parts of the data folder are there; a stack without providers and backend has none.
    data: Vec<String>,
}

/// Runs `init` where it is needed.
pub(super) async fn init_stack(
    session: &Session,
    run: &StackRun,
    backend: InitBackend,
    when: WhenToInit,
    extra: &[String],
) -> Result<(), Stop> {
    let stack = &run.stack;
    let turnstile = session.preparation_of(&stack.id);
    let _alone = turnstile.lock().await;
    if when == WhenToInit::Needed && is_done(session, stack, backend)? {
        return Ok(());
    }
    session.events.emit(RunEvent::StepStarted { stack: stack.id.clone(), step: Step::Init });
    let base = session.call(stack, &run.env)?;
    let call = call::init(base, backend, extra, session.narration());
    let watched = watch(session, &stack.id, Step::Init, call).await?;
    if !watched.status.success() {
        return Err(explain(session, stack, &watched).await);
    }
    Ok(remember(session, stack, backend)?)
}

fn is_done(session: &Session, stack: &Stack, backend: InitBackend) -> Result<bool> {
    // A full `init` is more than enough where the backend is not needed.
    let enough = if backend == InitBackend::No { vec![backend, InitBackend::Yes] } else { vec![backend] };
    for backend in enough {
        let Ok(bytes) = std::fs::read(record_path(session, stack, backend)) else { continue };
        if serde_json::from_slice(&bytes).ok() == Some(present(session, stack)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remember(session: &Session, stack: &Stack, backend: InitBackend) -> Result<()> {
    let path = record_path(session, stack, backend);
    let record = serde_json::to_vec(&present(session, stack)?).unwrap_or_default();
    crate::atomic_file::write(&path, &record)
}

fn present(session: &Session, stack: &Stack) -> Result<InitRecord> {
    let lock_file = session.dir_of(stack).join(".terraform.lock.hcl");
    let lock = match std::fs::read(&lock_file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(io("read", &lock_file)(error)),
    };
    let version = session.tofu.version.to_string();
    let facts = stack.init_facts.iter().map(String::as_bytes);
    let fingerprint = Fingerprint::of([version.as_bytes(), &lock].into_iter().chain(facts));
    let data_dir = session.data_dir_of(stack);
    let parts = ["modules/modules.json", "providers", "terraform.tfstate"];
    let data = parts.into_iter().filter(|part| data_dir.join(part).exists()).map(str::to_owned).collect();
    Ok(InitRecord { fingerprint, data })
}

fn record_path(session: &Session, stack: &Stack, backend: InitBackend) -> PathBuf {
    let kind = match backend {
        InitBackend::Yes => "init",
        InitBackend::No => "init-without-backend",
    };
    session.project.infra_dir().join(kind).join(format!("{}.json", stack.id.state_name()))
}
