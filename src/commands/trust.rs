//! `infra trust`: what a project brings of its own to run, and the yes to it.
//!
//! The list of what counts is in `items`; the question that every command asks is in `require`;
//! which stacks end alone where nobody can be asked is in `untrusted_stacks`.

mod items;
mod key_trust;
mod require;
mod untrusted_stacks;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::loaded_project::root_of;
use crate::error::{Error, Exit, Result};
use crate::model::quoted;
use crate::project;
use crate::report::{Asking, confirm};
use crate::trust::{Consent, Consents, TrustItem};

pub(super) use items::{
    binary_items, credential_file_items, items_of_project, items_of_run, key_items, plugin_item,
};
pub(super) use key_trust::key_trust;
pub(super) use require::{require, untrusted};
pub(super) use untrusted_stacks::untrusted_stacks;

use require::{answered, uncovered};

/// Show what this project would run of its own, and say yes to it
///
/// Also what it would open with keys of yours that lie outside of it.
///
/// The yes is kept outside of the project, for this folder and for the items as they are now:
/// what is new or changed is asked about again. A project that brings nothing of its own needs
/// no trust. In CI: `--trust`, or `INFRA_TRUST=<root>`, which remember nothing.
///
/// Examples:
///   infra trust                     show it, and ask
///   infra trust --yes               say yes without a question
///   infra trust --list              every project that you trust
///   infra trust --revoke            take the yes of this project back
///   infra trust --revoke ~/old      of another one, which may be gone
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct TrustArgs {
    /// List the trusted projects
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    list: bool,
    /// Take the yes of this project back, or of the one at ROOT
    #[arg(long, conflicts_with = "yes", value_name = "ROOT", num_args = 0..=1)]
    revoke: Option<Option<PathBuf>>,
    /// Say yes without a question
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print as JSON, and ask nothing
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &TrustArgs, context: &Context) -> Result<Exit> {
    if args.list {
        return list(args.json, context);
    }
    if let Some(root) = &args.revoke {
        return revoke(root.as_deref(), context);
    }
    let root = root_of(context)?;
    let items = items_of_project(&project::load(&root)?, context).await?;
    // What there is to trust can be shown even where nothing can be remembered, or was damaged.
    let consents = Consents::of(&context.env);
    let consent = consents.as_ref().ok().and_then(|consents| consents.about(&root).ok().flatten());
    if args.json && !args.yes {
        context.terminal.data_line(&to_json(&items, consent.as_ref()).to_string());
        return Ok(Exit::OK);
    }
    if !args.json {
        show(&items, consent.as_ref(), context);
    }
    let open = uncovered(items.clone(), consent.as_ref());
    if !open.is_empty() && (args.yes || agrees(&root, context).await?) {
        remember(&consents?, &root, &open, context)?;
    }
    if args.json {
        let consent = Consents::of(&context.env)?.about(&root)?;
        context.terminal.data_line(&to_json(&items, consent.as_ref()).to_string());
    }
    Ok(Exit::OK)
}

fn remember(consents: &Consents, root: &Path, items: &[TrustItem], context: &Context) -> Result<()> {
    consents.allow(root, items, context.clock.now())?;
    let shown = root.display().to_string();
    let ending = format!("infra trust --revoke {}", quoted(&shown));
    context.terminal.note(&format!("`{shown}` is trusted with this; `{ending}` ends it"));
    Ok(())
}

/// Takes a yes back; the root need not be there any more.
fn revoke(root: Option<&Path>, context: &Context) -> Result<Exit> {
    let root = match root {
        Some(root) => context.cwd.join(root),
        None => root_of(context)?,
    };
    let was_trusted = Consents::of(&context.env)?.revoke(&root)?;
    let words = if was_trusted { "is no longer trusted" } else { "was not trusted" };
    context.terminal.note(&format!("`{}` {words}", root.display()));
    Ok(Exit::OK)
}

async fn agrees(root: &Path, context: &Context) -> Result<bool> {
    let Asking::Person(terminal) = context.asking() else {
        let root = quoted(&root.display().to_string());
        return Err(Error::usage("this has to be asked, but there is no terminal")
            .hint(format!("say yes beforehand: `infra -C {root} trust --yes`"))
            .hint(format!("for one call only: `--trust`, or `INFRA_TRUST={root}`")));
    };
    let yes = answered(context, confirm(&terminal, "Trust this project with it?")).await?;
    if !yes {
        context.terminal.note("nothing was changed");
    }
    Ok(yes)
}

fn show(items: &[TrustItem], consent: Option<&Consent>, context: &Context) {
    if items.is_empty() {
        return context
            .terminal
            .note("this project brings nothing of its own to run: there is nothing to trust");
    }
    context.terminal.data_line("this project");
    for item in items {
        let state = standing(item, consent);
        context.terminal.data_hanging(&format!("  {state:<8} {}", item.words()), 11);
    }
}

/// Says how an item stands to what was said yes to.
fn standing(item: &TrustItem, consent: Option<&Consent>) -> &'static str {
    match consent {
        Some(consent) if consent.covers(item) => "trusted",
        Some(consent) if consent.knows(item) => "changed",
        _ => "new",
    }
}

fn to_json(items: &[TrustItem], consent: Option<&Consent>) -> Value {
    let row = |item: &TrustItem| {
        json!({
            "kind": item.kind.name(),
            "name": item.name,
            "from": item.from,
            "standing": standing(item, consent),
        })
    };
    items.iter().map(row).collect()
}

fn list(as_json: bool, context: &Context) -> Result<Exit> {
    let consents = Consents::of(&context.env)?.all()?;
    if as_json {
        let rows: Vec<Value> = consents.iter().map(consent_to_json).collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
        return Ok(Exit::OK);
    }
    if consents.is_empty() {
        context.terminal.note("no project is trusted yet");
    }
    for consent in &consents {
        let made = match (consent.made_here, consent.root.is_dir()) {
            (_, false) => ", no longer there",
            (true, true) => ", made here",
            (false, true) => "",
        };
        let since = consent.since.strftime("%Y-%m-%d");
        context.terminal.data_line(&format!("{}  since {since}{made}", consent.root.display()));
        consent
            .items
            .iter()
            .for_each(|item| context.terminal.data_hanging(&format!("  {}", item.words()), 4));
    }
    Ok(Exit::OK)
}

fn consent_to_json(consent: &Consent) -> Value {
    json!({
        "root": consent.root,
        "since": consent.since.to_string(),
        "made_here": consent.made_here,
        "things": to_json(&consent.items, Some(consent)),
    })
}
