//! `infra state probe`.

use clap::Args;
use serde_json::json;

use crate::backends;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Exit, Kind, Result};
use crate::report::Tone;
use crate::state::{Probe, StateStore, StorePlace};

/// Find out whether locks are safe in a store
///
/// Writes a few small objects, races two writers for them, reads, lists and removes them.
/// Without `--store` it is the store of the project. Exit code 69 if it cannot be trusted.
///
/// Examples:
///   infra state probe
///   infra state probe --store 's3://states/lab?endpoint=https://minio.example.com' --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ProbeArgs {
    /// A folder, or `s3://bucket/prefix?endpoint=…&region=…`
    #[arg(long, value_name = "DIR|URL")]
    store: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ProbeArgs, context: &Context) -> Result<Exit> {
    let (place, probe) = match &args.store {
        Some(store) => try_given(store, context).await?,
        None => try_own(context).await?,
    };
    if args.json {
        context.terminal.data_line(&to_json(&place, &probe));
    } else {
        show(&place, &probe, context);
    }
    Ok(if probe.is_safe() { Exit::OK } else { Kind::Unavailable.exit() })
}

async fn try_given(store: &str, context: &Context) -> Result<(StorePlace, Probe)> {
    let place = StorePlace::parse(store, &context.cwd)?;
    let probe = StateStore::open(&place, &context.env, context.clock)?.probe().await?;
    Ok((place, probe))
}

async fn try_own(context: &Context) -> Result<(StorePlace, Probe)> {
    let loaded = LoadedProject::load(context)?;
    let env = loaded.store_environment(context).await?;
    let place = backends::store_place(&loaded.project)?;
    let probe = backends::open_store_untried(&loaded.project, &env, context.clock)?.probe().await?;
    backends::remember_probe(&loaded.project, &probe, context.clock)?;
    Ok((place, probe))
}

fn to_json(place: &StorePlace, probe: &Probe) -> String {
    let checks: Vec<_> = probe
        .checks
        .iter()
        .map(|check| json!({"check": check.what, "ok": check.flaw.is_none(), "found": check.flaw}))
        .collect();
    let all = json!({"store": place.to_string(), "safe": probe.is_safe(), "checks": checks});
    serde_json::to_string_pretty(&all).unwrap_or_default()
}

fn show(place: &StorePlace, probe: &Probe, context: &Context) {
    let terminal = &context.terminal;
    for check in &probe.checks {
        let (tone, word) = match check.flaw {
            None => (Tone::Good, "PASS"),
            Some(_) => (Tone::Bad, "FAIL"),
        };
        terminal.data_line(&format!("{}  {}", terminal.paint_data(tone, word), check.what));
        if let Some(flaw) = &check.flaw {
            terminal.data_line(&format!("      {flaw}"));
        }
    }
    match probe.is_safe() {
        true => terminal.note(&format!("locks are safe in {place}")),
        false => terminal.alert(&format!("locks are not safe in {place}: infra will not use it")),
    }
}
