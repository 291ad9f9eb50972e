//! `infra doctor`.

mod data;
mod finding;
mod locks;
mod secrets;
mod stacks;
mod states;
mod tofu;
mod trusted;

use clap::Args;
use serde_json::json;

use self::finding::{Finding, Status};
use self::trusted::Trusted;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::commands::setup::edited_since;
use crate::error::{Error, Exit, Kind, Result};
use crate::report::Terminal;
use crate::tofu::child_environment;

/// Check the project and this machine, with a fix for each finding
///
/// Examples:
///   infra doctor
///   infra doctor --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DoctorArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &DoctorArgs, context: &Context) -> Result<Exit> {
    let findings = examine(context).await;
    if args.json {
        context.terminal.data_line(&to_json(&findings));
    } else {
        findings.iter().for_each(|finding| show(finding, &context.terminal));
    }
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if failed { Kind::Failed.exit() } else { Exit::OK })
}

async fn examine(context: &Context) -> Vec<Finding> {
    let mut findings = vec![environment(context)];
    let loaded = match LoadedProject::load(context) {
        Ok(loaded) => loaded,
        Err(error) => {
            findings.push(Finding::fail("project", &error));
            return findings;
        }
    };
    findings.push(Finding::pass(
        "project",
        format!("{} at {}", loaded.project.name, loaded.project.root.display()),
    ));
    let trust = Trusted::of(&loaded, context).await;
    findings.push(trust.finding());
    let (tofu, about_tofu) = tofu::tofu_findings(&loaded, &trust, context).await;
    findings.extend(about_tofu);
    findings.extend(edited(&loaded));
    findings.extend(data::data_findings(&loaded.project));
    findings.extend(stacks::stack_findings(&loaded, context));
    findings.extend(stacks::order(&loaded));
    findings.extend(stacks::isolation(&loaded));
    findings.push(writable(&loaded));
    findings.extend(locks::lock_findings(&loaded, &trust, context).await);
    let (secrets, about_secrets) = secrets::open_secrets(&loaded, &trust, context).await;
    // Looking may need credentials that only trusted keys open; the locks say so already.
    if trust.with_states() {
        findings.extend(states::state_findings(&loaded, secrets, tofu, context).await);
    }
    findings.extend(about_secrets);
    findings
}

fn environment(context: &Context) -> Finding {
    let warnings = child_environment(&context.env).warnings;
    match warnings.first() {
        None => Finding::pass("environment", "nothing in it changes what tofu does"),
        Some(warning) => Finding::warn("environment", warning.clone(), "unset it, or make the file"),
    }
}

/// Tells what was edited and not rendered.
fn edited(loaded: &LoadedProject) -> Option<Finding> {
    let edited = edited_since(&loaded.project);
    let message = format!("{} changed since the last `infra configure`", edited.join(", "));
    (!edited.is_empty()).then(|| Finding::warn("configure", message, "`infra configure`"))
}

/// Tries to write where every run writes, and leaves nothing behind.
fn writable(loaded: &LoadedProject) -> Finding {
    let dir = loaded.project.infra_dir();
    let place = if dir.exists() { dir } else { loaded.project.root.clone() };
    match tempfile::tempfile_in(&place) {
        Ok(_) => Finding::pass("disk", format!("{} can be written", place.display())),
        Err(error) => {
            let message = format!("cannot write in `{}`", place.display());
            Finding::fail(
                "disk",
                &Error::unavailable(message).because(error).hint("make it writable for you"),
            )
        }
    }
}

fn to_json(findings: &[Finding]) -> String {
    let rows: Vec<_> = findings
        .iter()
        .map(|f| json!({"check": f.check, "status": f.status.word(), "message": f.message, "fix": f.fix}))
        .collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}

fn show(finding: &Finding, terminal: &Terminal) {
    let word = terminal.paint_data(finding.status.tone(), &finding.status.word().to_uppercase());
    terminal.data_hanging(&format!("{word}  {:11}  {}", finding.check, finding.message), 19);
    if let Some(fix) = &finding.fix {
        terminal.data_hanging(&format!("      {:11}  fix: {fix}", ""), 24);
    }
}
