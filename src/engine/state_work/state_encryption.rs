//! Rewrites states with another key: plain ones become encrypted, encrypted ones get a new
//! passphrase.
//!
//! A state goes from `tofu state pull` to `tofu state push` through memory, so no resource
//! is looked at and no provider is asked; if the state changes in between, tofu refuses
//! the push. Nothing counts as done until the new key alone opens what is stored.
//! Begin at [`resolve_rewrites`].

use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

use crate::engine::calls::{stopped, successful};
use crate::engine::plan::SavedPlans;
use crate::engine::run::WhenToInit;
use crate::engine::session::Session;
use crate::engine::stack::{bare_run, init_stack};
use crate::engine::variables::{
    NEXT_PASSPHRASE, PASSPHRASE, Passphrase, StackSecrets, StateKeys, no_passphrase, with_early_values,
};
use crate::error::{Error, Kind, Result};
use crate::model::{Encryption, Stack, StackId, StackRun};
use crate::tofu::{Flavour, SHORTEST_PASSPHRASE, StateBefore, StateKey, call};

/// With which passphrase states are to be encrypted.
#[derive(Clone)]
pub enum NewPassphrase {
    /// The one that runs use.
    InUse,
    /// The one that the secrets hold as the next.
    Next,
    /// This one.
    Given(Zeroizing<String>),
}

/// Never shows a passphrase.
impl std::fmt::Debug for NewPassphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::InUse => "InUse",
            Self::Next => "Next",
            Self::Given(_) => "Given(…)",
        })
    }
}

/// A state that is to be rewritten.
#[derive(Debug)]
pub struct Rewrite {
    /// The stack.
    pub stack: StackId,
    /// What a person has to do in the secrets afterwards; nothing after a mere encryption.
    pub follow_up: Option<PassphraseMove>,
    key: StateKey,
    old: Option<StateKey>,
}

/// The way of a new passphrase into its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PassphraseMove {
    /// The file with the next passphrase, if it came from the secrets.
    pub from: Option<PathBuf>,
    /// The file with the passphrase that runs use.
    pub to: PathBuf,
}

/// What became of a state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RewriteOutcome {
    /// It is encrypted with the wanted passphrase now.
    Encrypted,
    /// It was already.
    AlreadyEncrypted,
    /// There is none.
    NoState,
}

/// Finds out with what each state is to be rewritten, before anything starts.
pub fn resolve_rewrites(session: &Session, chosen: &[StackId], new: &NewPassphrase) -> Result<Vec<Rewrite>> {
    if session.project.state.encryption == Encryption::Off {
        return Err(Error::invalid("`state.encryption` is `off`, so no run could read an encrypted state")
            .at("infra.yaml")
            .hint("take it out, or set it to `auto` or `required`"));
    }
    if session.tofu.flavour != Flavour::OpenTofu {
        return Err(
            Error::invalid("only OpenTofu encrypts states, and this is Terraform").hint("`infra deps`")
        );
    }
    if let NewPassphrase::Given(passphrase) = new {
        session.hide(vec![passphrase.clone()])?;
    }
    let mut keys = StateKeys::default();
    chosen.iter().map(|id| resolve_rewrite(session, id, new, &mut keys)).collect()
}

fn resolve_rewrite(
    session: &Session,
    id: &StackId,
    new: &NewPassphrase,
    keys: &mut StateKeys,
) -> Result<Rewrite> {
    let secrets = session.secrets_of(id).ok_or_else(|| no_passphrase(id))?;
    let (Some(in_use), Some(current)) = (&secrets.state_key, &secrets.passphrase) else {
        return Err(no_passphrase(id));
    };
    let (passphrase, from) = match new {
        NewPassphrase::InUse => {
            return Ok(Rewrite { stack: id.clone(), follow_up: None, key: in_use.clone(), old: None });
        }
        NewPassphrase::Next => {
            let next = next_passphrase(id, secrets)?;
            (&next.text, Some(next.file.clone()))
        }
        NewPassphrase::Given(passphrase) => (passphrase, None),
    };
    check_length(passphrase)?;
    let key = keys.of(passphrase);
    check_distinct(id, in_use, &key)?;
    let follow_up = Some(PassphraseMove { from, to: current.file.clone() });
    Ok(Rewrite { stack: id.clone(), follow_up, key, old: Some(in_use.clone()) })
}

fn next_passphrase<'a>(id: &StackId, secrets: &'a StackSecrets) -> Result<&'a Passphrase> {
    secrets.next_passphrase.as_ref().ok_or_else(|| {
        let error = refused(format!("the secrets of `{id}` hold no `{NEXT_PASSPHRASE}`"));
        let file = secrets.passphrase.as_ref().map(|found| found.file.display().to_string());
        error.hint(format!("put the new passphrase there: `infra secrets edit {}`", file.unwrap_or_default()))
    })
}

fn check_length(passphrase: &str) -> Result<()> {
    if passphrase.chars().count() >= SHORTEST_PASSPHRASE {
        return Ok(());
    }
    Err(refused("the new passphrase is too short")
        .hint(format!("it needs at least {SHORTEST_PASSPHRASE} characters")))
}

/// Two passphrases may share a name by bad luck; tofu could not tell them apart.
fn check_distinct(id: &StackId, old: &StateKey, new: &StateKey) -> Result<()> {
    if old.passphrase() == new.passphrase() {
        return Err(refused(format!("the new passphrase of `{id}` is the one in use"))
            .hint(format!("if the rotation is done, take away `{NEXT_PASSPHRASE}`; else give a new value")));
    }
    if old.name() == new.name() {
        return Err(refused(format!("the new passphrase of `{id}` cannot follow the one in use"))
            .detail("both lead to the same key name, which tofu needs to be different")
            .hint("make another new passphrase"));
    }
    Ok(())
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Kind::Refused, message)
}

/// Rewrites one state, unless that was done before.
pub async fn rewrite_state(session: &Session, rewrite: &Rewrite) -> Result<RewriteOutcome> {
    let stack = session.stack(&rewrite.stack)?;
    let before = rewrite.old.as_ref().map_or(StateBefore::Plain, StateBefore::Key);
    let strict = run_with(session, stack, &rewrite.key.setting());
    let tolerant = run_with(session, stack, &rewrite.key.migration(before));
    // Already `init` reads the state, so it too must be able to open what was.
    let ready = init_stack(session, &tolerant, WhenToInit::Needed, &[]).await;
    ready.map_err(|stop| explained(rewrite, stopped(&stack.id, stop)))?;
    if let Ok(state) = pull(session, &strict).await {
        let none = is_none(&state);
        return Ok(if none { RewriteOutcome::NoState } else { RewriteOutcome::AlreadyEncrypted });
    }
    let state = pull(session, &tolerant).await.map_err(|error| explained(rewrite, error))?;
    push(session, &tolerant, &state).await?;
    let stored = pull(session, &strict).await?;
    check_same(&stack.id, &state, &stored)?;
    // A plan from before is plain, or opens with the old passphrase only.
    SavedPlans::at(session.project.plans_dir()).remove(&stack.id)?;
    Ok(RewriteOutcome::Encrypted)
}

fn run_with(session: &Session, stack: &Stack, setting: &str) -> StackRun {
    let mut run = bare_run(session, stack);
    run.env.insert("TF_ENCRYPTION".to_owned(), setting.to_owned());
    run
}

/// Adds what a rotation alone can run into.
fn explained(rewrite: &Rewrite, error: Error) -> Error {
    match rewrite.old {
        Some(_) => error.hint(format!(
            "a rotation opens states with `{PASSPHRASE}`, or with the new passphrase if it was done before"
        )),
        None => error,
    }
}

/// Returns whether this is what tofu writes where there is no state: nothing, or one without a lineage.
fn is_none(state: &[u8]) -> bool {
    let blank = state.iter().all(u8::is_ascii_whitespace);
    blank || serde_json::from_slice::<Value>(state).is_ok_and(|state| state["lineage"] == "")
}

async fn pull(session: &Session, run: &StackRun) -> Result<Zeroizing<Vec<u8>>> {
    let base = with_early_values(session, run, session.call(&run.stack, &run.env)?).await;
    let call = call::state_pull(base);
    let captured = successful(session, &run.stack.id, call).await?;
    Ok(captured.stdout.into_unmasked())
}

async fn push(session: &Session, run: &StackRun, state: &[u8]) -> Result<()> {
    let base = with_early_values(session, run, session.call(&run.stack, &run.env)?).await;
    let call = call::state_push(base, state.to_vec());
    let pushed = successful(session, &run.stack.id, call).await;
    if pushed.is_err() {
        session.release_left_lock(&run.stack).await?;
    }
    pushed.map(|_| ())
}

/// Refuses to call a state rewritten that is not the one that was read.
fn check_same(id: &StackId, before: &[u8], after: &[u8]) -> Result<()> {
    let content = |bytes: &[u8]| {
        let state: Value = serde_json::from_slice(bytes).unwrap_or_default();
        ["lineage", "outputs", "resources"].map(|part| state[part].clone())
    };
    if content(before) == content(after) {
        return Ok(());
    }
    Err(Error::failed(format!("the state of `{id}` changed while it was encrypted"))
        .hint(format!("another run was at work; look: `infra plan {id}`")))
}
