//! `infra runs`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::loaded_project::root_of;
use crate::error::{Error, Exit, Result};
use crate::model::{human_duration, nearest};
use crate::process::may_live;
use crate::project;
use crate::report::{PastRun, Table, show_report};

/// Show earlier runs: what was done, how it ended
///
/// Examples:
///   infra runs                      the newest first
///   infra runs show                 the last one
///   infra runs show 20260314T0915   one of them, by the beginning of its id
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// What to do with the runs.
#[derive(Debug, Subcommand)]
enum RunsCommand {
    Show(ShowArgs),
}

/// Show one run
///
/// Examples:
///   infra runs show
///   infra runs show 20260314T091500.123-4711 --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
struct ShowArgs {
    /// The run, or the beginning of its id; the last one if left out
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &RunsArgs, context: &Context) -> Result<Exit> {
    let project = project::load(&root_of(context)?)?;
    let runs = PastRun::all(&project.runs_dir());
    match &args.command {
        Some(RunsCommand::Show(args)) => show(&runs, args, context)?,
        None if args.json => {
            let rows: Vec<Value> = runs.iter().map(to_json).collect();
            context.terminal.data_line(&serde_json::to_string_pretty(&rows).unwrap_or_default());
        }
        None => list(&runs, context),
    }
    Ok(Exit::OK)
}

fn list(runs: &[PastRun], context: &Context) {
    if runs.is_empty() {
        return context.terminal.note("no runs yet");
    }
    let mut table = Table::new(["run", "command", "stacks", "time", "end"]);
    for run in runs {
        let (stacks, time) = match &run.report {
            Some(report) => (report.stacks.len().to_string(), human_duration(report.duration_s)),
            None => (String::new(), String::new()),
        };
        table.row([run.run_id.clone(), run.command.name().to_owned(), stacks, time, end_of(run)]);
    }
    table.right(&[2, 3]);
    table.lines().iter().for_each(|line| context.terminal.data_line(line));
}

/// Says in a few words how a run ended.
fn end_of(run: &PastRun) -> String {
    match &run.report {
        Some(report) => match report.exit_code {
            0 => "ok".to_owned(),
            2 => "changes".to_owned(),
            130 => "interrupted".to_owned(),
            code if report.is_declined() => format!("declined ({code})"),
            code => format!("failed ({code})"),
        },
        None if may_live(&run.process) => "running".to_owned(),
        None => "killed".to_owned(),
    }
}

fn to_json(run: &PastRun) -> Value {
    json!({
        "run_id": run.run_id,
        "command": run.command,
        "end": end_of(run),
        "report": run.report,
    })
}

fn show(runs: &[PastRun], args: &ShowArgs, context: &Context) -> Result<()> {
    let run = find(runs, args.id.as_deref())?;
    if args.json {
        context.terminal.data_line(&serde_json::to_string_pretty(&to_json(run)).unwrap_or_default());
        return Ok(());
    }
    let heading = format!("{} · {} · {}", run.run_id, run.command.name(), end_of(run));
    context.terminal.data_line(&heading);
    match &run.report {
        Some(report) => show_report(&context.terminal, report),
        None => {
            let undone = run.left_undone();
            undone.iter().for_each(|id| context.terminal.data_line(&format!("  · {id}  not finished")));
        }
    }
    context.terminal.note(&format!("logs: .infra/runs/{}/logs", run.run_id));
    Ok(())
}

fn find<'a>(runs: &'a [PastRun], id: Option<&str>) -> Result<&'a PastRun> {
    let Some(id) = id else {
        return runs.first().ok_or_else(|| Error::usage("there are no runs yet"));
    };
    let found: Vec<&PastRun> = runs.iter().filter(|run| run.run_id.starts_with(id)).collect();
    match found.as_slice() {
        [run] => Ok(run),
        [] => {
            let guess = nearest(id, runs.iter().map(|run| run.run_id.as_str()));
            Err(Error::usage(format!("there is no run `{id}`"))
                .hint_if(guess.map(|guess| format!("did you mean `{guess}`?")))
                .hint("all runs: `infra runs`"))
        }
        several => Err(Error::usage(format!("`{id}` is the beginning of {} runs", several.len()))
            .hint(format!("the newest of them: `infra runs show {}`", several[0].run_id))),
    }
}
