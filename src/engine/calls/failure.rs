//! Why a stack stopped: OpenTofu's diagnostics and our own errors, with hints.

use std::process::ExitStatus;

use jiff::Timestamp;

use super::left_behind::migration_command;
use super::stop::{Stop, code_of, joined};
use super::unsaved_state::{unsaved_state, way_to_save};
use super::watch::Watched;
use super::working_notes::{HolderLife, life_of_holder};
use crate::engine::session::Session;
use crate::engine::variables::encryption_origins;
use crate::error::{Error, Kind};
use crate::model::{Diagnostic, Safe, Stack, StackError, StackId, StateLock, human_duration};
use crate::tofu::{HintContext, cause_of, hints_for, tells_of_a_held_lock};
use crate::trust::UNTRUSTED;

/// Somebody else changed the state between plan and apply.
fn stale_code(diagnostic: &Diagnostic) -> Option<&'static str> {
    diagnostic.mentions("Saved plan is stale").then_some(StackError::STALE_PLAN)
}

/// Returns the kind of a failure, which makes the exit code.
pub fn kind_of(error: &StackError) -> Kind {
    match error.code.as_deref() {
        Some(StackError::LOCKED) => Kind::Locked,
        Some(StackError::UNAVAILABLE) => Kind::Unavailable,
        Some(StackError::REFUSED | StackError::UNTRUSTED_PLAN | UNTRUSTED) => Kind::Refused,
        Some(StackError::WORKSPACE_UNKNOWN | StackError::BACKEND_UNCLEAR) => Kind::Invalid,
        _ if error.is_about_the_states_place() => Kind::Invalid,
        _ => Kind::Failed,
    }
}

/// Explains a tofu that did not succeed.
pub async fn explain(session: &Session, stack: &Stack, watched: &Watched) -> Stop {
    let left_lock = session.release_left_lock(stack).await.unwrap_or(false);
    if session.interrupts.any() {
        return Stop::Interrupted;
    }
    let errors: Vec<&Diagnostic> = watched.output.errors().collect();
    let Some(first) = errors.first() else { return Stop::Failed(without_messages(watched, left_lock)) };
    let cause = cause_of(first);
    if tells_of_a_held_lock(first) {
        return locked(session, stack, first).await.into();
    }
    let migration_command = migration_command(&session.project, &session.env, stack);
    let own = encryption_origins(session, stack);
    let own_encryption = own.as_deref();
    let context = HintContext {
        stack: &stack.id,
        path: &stack.path,
        migration_command: &migration_command,
        own_encryption,
    };
    let mut hints: Vec<String> =
        unsaved_state(session, stack).await.map(|_| way_to_save(&stack.id)).into_iter().collect();
    for hint in errors.iter().flat_map(|diagnostic| hints_for(diagnostic, context)) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    Stop::Failed(StackError {
        code: cause.and_then(code_of).or_else(|| stale_code(first)).map(str::to_owned),
        summary: first.summary.clone().into(),
        detail: described_once(&errors),
        hint: joined(hints),
    })
}

/// Describes a tofu that failed without a diagnostic: a crash, or a kill from outside.
fn without_messages(watched: &Watched, left_lock: bool) -> StackError {
    let tail = watched.output.stderr.iter().map(Safe::as_str).collect::<Vec<_>>().join("\n");
    let lock = left_lock.then_some("its lock was released").into_iter();
    let detail = Some(tail.as_str()).filter(|tail| !tail.is_empty()).into_iter().chain(lock);
    let detail = detail.collect::<Vec<_>>().join("\n");
    StackError { code: None, summary: ending(watched.status), detail, hint: None }
}

/// Says how a tofu ended, for the case that it said nothing itself.
pub fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("tofu ended with exit code {code}"),
        (None, Some(signal)) => format!("tofu was killed by signal {signal}"),
        (None, None) => "tofu ended without an exit code".to_owned(),
    }
}

/// Describes all problems; one that occurs at many places is told once, with the places.
fn described_once(errors: &[&Diagnostic]) -> String {
    let mut told: Vec<(&Diagnostic, Vec<&str>)> = Vec::new();
    for error in errors {
        let place = error.place.as_ref().map(Safe::as_str);
        match told.iter_mut().find(|(first, _)| is_same_elsewhere(first, error)) {
            Some((_, places)) => places.extend(place.filter(|place| !places.contains(place))),
            None => told.push((error, place.into_iter().collect())),
        }
    }
    told.iter().map(|(first, places)| described(first, places)).collect::<Vec<_>>().join("\n")
}

/// Returns whether two problems differ in their place alone, or in which of the modules nobody answers for.
fn is_same_elsewhere(first: &Diagnostic, other: &Diagnostic) -> bool {
    let have_places = first.place.is_some() && other.place.is_some();
    let is_silence = |diagnostic| cause_of(diagnostic) == Some(Kind::Unavailable);
    have_places
        && first.summary == other.summary
        && first.address == other.address
        && (first.detail == other.detail || is_silence(first) && is_silence(other))
}

fn described(diagnostic: &Diagnostic, places: &[&str]) -> String {
    const SHOWN: usize = 5;
    let Diagnostic { summary, detail, address, code, .. } = diagnostic;
    let more = match places.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = places.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let place = if shown.is_empty() { String::new() } else { format!("\n  at {shown}{more}") };
    // The lines of one place are no lines of the others.
    let code =
        code.as_ref().filter(|_| places.len() == 1).map(|code| format!("\n{code}")).unwrap_or_default();
    let about = address.as_ref().map(|address| format!("\n  with {address}")).unwrap_or_default();
    let detail = if detail.is_empty() { String::new() } else { format!("\n{detail}") };
    format!("{summary}{place}{code}{about}{detail}")
}

/// Describes a held lock by what the store knows, or by what tofu tells.
async fn locked(session: &Session, stack: &Stack, diagnostic: &Diagnostic) -> Error {
    match session.lock_of(stack).await {
        Ok(Some(lock)) => {
            let life = life_of_holder(&session.project, &stack.id, &lock);
            locked_error(&stack.id, (&lock, life), session.clock.now())
        }
        _ => {
            let error = Error::locked(format!("state of `{}` is locked", stack.id));
            let context = HintContext {
                stack: &stack.id,
                path: &stack.path,
                migration_command: "",
                own_encryption: None,
            };
            let error = error.detail(diagnostic.detail.clone());
            hints_for(diagnostic, context).into_iter().fold(error, Error::hint)
        }
    }
}

/// Makes the error of a lock that somebody holds.
fn locked_error(stack: &StackId, (lock, life): (&StateLock, HolderLife), now: Timestamp) -> Error {
    let info = &lock.info;
    let holder = format!("{} · {} · tofu {}", info.who, info.operation_word(), info.version);
    let error = Error::locked(format!("state of `{stack}` is locked")).fact("holder", holder);
    let error = match info.created_at() {
        Some(since) => error.fact("since", since_words(since, now)),
        None => error,
    };
    let error = error.fact("lock id", info.id.clone());
    let release = format!("`infra force-unlock {stack}`");
    let pid = lock.holder.as_ref().map(|holder| holder.pid.to_string()).unwrap_or_default();
    match life {
        HolderLife::Gone => error
            .fact("process", format!("{pid} on this host, which is gone"))
            .hint(format!("that run is dead; release its lock: {release}")),
        HolderLife::TofuAlive(tofu) => error
            .fact("process", format!("{pid} on this host is gone, its tofu ({tofu}) still ends its work"))
            .hint("wait with `--lock-timeout 5m`"),
        HolderLife::Alive => error
            .fact("process", format!("{pid} on this host, still running"))
            .hint("wait with `--lock-timeout 5m`"),
        HolderLife::Unknown => {
            error.hint("wait with `--lock-timeout 5m`").hint(format!("if that run is dead: {release}"))
        }
    }
}

/// Writes a time of day and how long ago that was.
fn since_words(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(since.as_second()).max(0);
    let ago = human_duration(f64::from(i32::try_from(seconds).unwrap_or(i32::MAX)));
    format!("{}, {ago} ago", since.strftime("%H:%M:%S UTC"))
}
