//! A run over stacks from the request to the exit code, as all commands of this room share it: resolve, check,
//! open, run, report. Begin at [`execute`].

mod begin;
mod can_ask;
mod chosen_stacks;
mod dependents;
mod prepared;
mod protected;
mod rename_question;
mod reports;
mod request;
mod temporary_folder;
mod warnings;

pub(in crate::commands) use self::request::{PlainRunArgs, Request, RunArgs};

use self::begin::shared_states;
use self::can_ask::check_can_ask;
use self::prepared::{Preparation, Prepared, prepare};
use self::reports::reports;
use self::request::check_arguments;
use crate::commands::Context;
use crate::engine;
use crate::error::{Exit, Result};
use crate::events::Events;
use crate::model::RunReport;
use crate::report::listen;

/// Runs a request to its exit code.
pub async fn execute(mut request: Request, context: &Context) -> Result<Exit> {
    let prepared = match prepare(&mut request, context).await? {
        Preparation::Run(prepared) => prepared,
        Preparation::Nothing => return Ok(end_without_run(&request, context)),
        Preparation::Lost(exit) => return Ok(exit),
    };
    if request.run.dry_run {
        return print(&prepared, &request, context).await;
    }
    check_arguments(&request)?;
    check_can_ask(&prepared.plan, &request, context)?;
    let report = run(&prepared, &request, context).await?;
    if request.run.json {
        print_report(&report, context);
    }
    Ok(Exit(report.exit_code))
}

/// Prints what would be run, and refuses what the run would refuse.
async fn print(prepared: &Prepared, request: &Request, context: &Context) -> Result<Exit> {
    let Prepared { loaded, chosen, plan, dependent_stacks, .. } = prepared;
    dependent_stacks.check_dry(loaded, request, chosen, context).await?;
    context.terminal.data(&plan.to_string());
    shared_states(&loaded.stacks, plan).into_values().next().map_or(Ok(Exit::OK), Err)
}

/// Runs the engine and the reports side by side.
async fn run(prepared: &Prepared, request: &Request, context: &Context) -> Result<RunReport> {
    let mut options = prepared.options(request, context);
    let (events, messages) = Events::channel(context.clock);
    let (session, shut) = prepared.open(request, context, (events, &options)).await?;
    let check = match prepared.check(&session, (request, context), shut, &mut options).await {
        Ok(check) => check,
        Err(error) => {
            session.close().await;
            return Err(error);
        }
    };
    let Prepared { loaded, plan, .. } = prepared;
    let reports = reports(loaded, plan, &options, request, context)?;
    let running = async move {
        let report = match plan.command.is_ordered() {
            true => engine::run_in_order(&session, plan, &options, check).await,
            false => engine::run_independently(&session, plan, &options, check).await,
        };
        session.close().await;
        report
    };
    let (report, ()) = tokio::join!(running, listen(messages, reports, context.asking()));
    Ok(report)
}

/// Ends where there is nothing to run: that is no run, and none is recorded.
fn end_without_run(request: &Request, context: &Context) -> Exit {
    context.terminal.note("no stacks, so nothing was run");
    if request.run.json {
        let report = RunReport {
            run_id: String::new(),
            command: request.command,
            started: context.clock.now(),
            duration_s: 0.0,
            exit_code: Exit::OK.0,
            stacks: Vec::new(),
        };
        print_report(&report, context);
    }
    Exit::OK
}

fn print_report(report: &RunReport, context: &Context) {
    context.terminal.data_line(&serde_json::to_string_pretty(report).unwrap_or_default());
}
