//! The one question about trust: asked by whatever command is about to run, obey or open
//! something of a project that this person has not said yes to.

use std::future::Future;
use std::path::Path;

use super::items::items_of_project;
use crate::commands::Context;
use crate::error::{Error, Kind, Result};
use crate::model::{Project, quoted};
use crate::report::{Asking, Terminal, Tone, confirm};
use crate::trust::{Consent, Consents, TrustItem, TrustItemKind, TrustWord, UNTRUSTED};

/// Returns an error unless the project is trusted with what is needed now.
///
/// A person is asked about everything that the project brings, so that the next
/// command does not ask again.
pub async fn require(project: &Project, needed: Vec<TrustItem>, context: &Context) -> Result<()> {
    let open = untrusted(&project.root, needed, context)?;
    if open.is_empty() {
        return Ok(());
    }
    let Asking::Person(terminal) = context.asking() else { return Err(refused(project, &open, context)) };
    let consent = known(&project.root, context)?;
    let mut all = uncovered(items_of_project(project, context).await?, consent.as_ref());
    all.extend(
        open.into_iter().filter(|item| !all.iter().any(|other| other.is_same(item))).collect::<Vec<_>>(),
    );
    show(&terminal, project, &all, consent.as_ref());
    if !answered(context, confirm(&terminal, "Trust this project with it?")).await? {
        return Err(refused(project, &[], context).detail("nothing was done"));
    }
    remember(project, &all, context);
    Ok(())
}

/// Returns the items without a yes.
pub fn untrusted(root: &Path, needed: Vec<TrustItem>, context: &Context) -> Result<Vec<TrustItem>> {
    if needed.is_empty() || context.trust.covers(root) {
        return Ok(Vec::new());
    }
    Ok(uncovered(needed, known(root, context)?.as_ref()))
}

/// Returns the items that a consent does not cover.
pub fn uncovered(items: Vec<TrustItem>, consent: Option<&Consent>) -> Vec<TrustItem> {
    items.into_iter().filter(|item| !consent.is_some_and(|consent| consent.covers(item))).collect()
}

/// Waits for an answer; a request to stop is an error.
pub async fn answered(context: &Context, answer: impl Future<Output = bool>) -> Result<bool> {
    let mut interrupts = context.interrupts.clone();
    let before = interrupts.count();
    tokio::select! {
        yes = answer => Ok(yes),
        _ = interrupts.beyond(before) => {
            // The question ends without a line break.
            context.terminal.alert("");
            Err(Error::interrupted("stopped at a question; nothing was done"))
        }
    }
}

/// Returns the consent for a project; `None` without a home folder, where none can be kept.
fn known(root: &Path, context: &Context) -> Result<Option<Consent>> {
    match Consents::of(&context.env) {
        Ok(consents) => consents.about(root),
        Err(_) => Ok(None),
    }
}

/// Shows the items, even with `--quiet`: a yes needs to know what it is about.
fn show(terminal: &Terminal, project: &Project, items: &[TrustItem], consent: Option<&Consent>) {
    let root = project.root.display();
    let only_keys = items.iter().all(|item| item.kind == TrustItemKind::Key);
    let what = if only_keys { "needs keys of yours" } else { "brings something of its own to run" };
    let trust = terminal.paint(Tone::Warn, "trust");
    terminal.alert(&format!("{trust}: `{root}` {what}:"));
    for item in items {
        terminal.alert(&format!("  · {}{}", item.words(), since(item, consent)));
    }
}

/// Returns a remark if the item has changed since the yes.
fn since(item: &TrustItem, consent: Option<&Consent>) -> &'static str {
    if consent.is_some_and(|consent| consent.knows(item)) { " (changed since your yes)" } else { "" }
}

/// Keeps the yes; if that fails, it still holds for this call.
fn remember(project: &Project, items: &[TrustItem], context: &Context) {
    let kept = Consents::of(&context.env)
        .and_then(|consents| consents.allow(&project.root, items, context.clock.now()));
    if let Err(error) = kept {
        let warning = context.terminal.paint(Tone::Warn, "warning");
        context.terminal.note(&format!("{warning}: the yes cannot be remembered: {}", error.message()));
    }
}

/// Makes the error of a project that is not trusted with these items.
pub(super) fn refused(project: &Project, items: &[TrustItem], context: &Context) -> Error {
    let root = project.root.display().to_string();
    let consent = known(&project.root, context).ok().flatten();
    let error = Error::new(Kind::Refused, format!("`{root}` is not trusted, and this needs it to be"))
        .code(UNTRUSTED);
    let error = items.iter().fold(error, |error, item| {
        error.detail(format!("it {}{}", item.words(), since(item, consent.as_ref())))
    });
    with_ways_to_trust(error, project, context)
}

/// Adds how to say yes.
pub(super) fn with_ways_to_trust(error: Error, project: &Project, context: &Context) -> Error {
    let said = context.env.get(TrustWord::VARIABLE);
    let error = match said {
        Some(said) => error.detail(format!("`INFRA_TRUST` is `{said}`, which does not name this root")),
        None => error,
    };
    let root = quoted(&project.root.display().to_string());
    // Without a home no yes can be kept.
    let keeps = Consents::of(&context.env).is_ok();
    error
        .hint_if(keeps.then(|| format!("look at it and say yes once: `infra -C {root} trust`")))
        .hint(format!("for one call, as in CI: `--trust`, or `INFRA_TRUST={root}`"))
}
