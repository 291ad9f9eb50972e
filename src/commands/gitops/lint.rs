//! `infra lint`.

mod fix;
mod sarif;
mod surroundings;
mod text;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::args::OUTPUT;
use crate::commands::loaded_project::root_of;
use crate::error::{Exit, Kind, Result};
use crate::lint;
use crate::lint::{Judgement, Request, Surroundings};
use crate::model::{LintLevel, Project, Stack};
use crate::secrets::is_sealed;
use crate::{project, stacks};

/// Judge the files by the rules for modules, providers, states and secrets
///
/// Examples:
///   infra lint
///   infra lint --fix                     skeletons of missing module files, tables in READMEs
///   infra lint --json
///   infra lint --format sarif > lint.sarif
///
/// The whole project is judged. Exit code 1 means that something is an error; what is one, says
/// `lint: { rules: … }` in infra.yaml. A comment lets one finding pass, on its line or the one above:
/// `# infra:ignore RULE: reason`.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct LintArgs {
    /// Write what is missing in modules: files, and the tables of their READMEs
    #[arg(long)]
    fix: bool,
    /// Print as JSON
    #[arg(long, help_heading = OUTPUT, conflicts_with = "format")]
    json: bool,
    /// Print in this form
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = OUTPUT)]
    format: LintFormat,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum LintFormat {
    /// For people.
    Text,
    /// For scripts.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

/// A project with all that is judged.
struct Judged {
    project: Project,
    stacks: Vec<Stack>,
    surroundings: Surroundings,
}

impl Judged {
    fn judge(&self) -> Judgement {
        let Self { project, stacks, surroundings } = self;
        lint::judge(&Request { project, stacks, surroundings, is_sealed })
    }
}

/// Runs the command.
pub async fn run(args: &LintArgs, context: &Context) -> Result<Exit> {
    let project = project::load(&root_of(context)?)?;
    let stacks = stacks::discover(&project)?.stacks;
    let repository = surroundings::Repository::around(&project, context);
    let surroundings = surroundings::look(&project, &stacks, repository.as_ref(), context).await;
    let judged = Judged { project, stacks, surroundings };
    let mut judgement = judged.judge();
    if args.fix {
        let border = repository.as_ref().map_or(judged.project.root.as_path(), |found| found.top());
        if fix::write(&judgement.mendings, border, context) > 0 {
            judgement = judged.judge();
        }
    }
    match if args.json { LintFormat::Json } else { args.format } {
        LintFormat::Text => text::show(&judgement, args.fix, context),
        LintFormat::Json => context.terminal.data_line(&to_json(&judgement)),
        LintFormat::Sarif => {
            let below = repository.as_ref().map(surroundings::Repository::below);
            context.terminal.data_line(&sarif::document(&judgement, &judged.project, below));
        }
    }
    judgement.notes.iter().for_each(|note| context.terminal.note(&format!("note: {note}")));
    let fails = judgement.findings.iter().any(|finding| finding.level == LintLevel::Error);
    Ok(if fails { Kind::Failed.exit() } else { Exit::OK })
}

fn to_json(judgement: &Judgement) -> String {
    let row = |finding: &lint::Finding| {
        json!({
            "rule": finding.rule.name(),
            "severity": finding.level.word(),
            "file": finding.place.file,
            "line": finding.place.line,
            "message": finding.message,
        })
    };
    let rows: Vec<Value> = judgement.findings.iter().map(row).collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}
