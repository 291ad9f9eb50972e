//! A run over stacks, from the choice to the exit code: the way that `init`, `validate`,
//! `plan`, `apply`, `destroy` and `up` share.

use super::Context;
use super::again::check_can_ask;
use super::begin::shared_states;
use super::bundles::Bundling;
use super::prepared::{Preparation, Prepared, prepare};
use super::request::{Request, check_arguments};
use super::run_reports::reports;
use crate::engine;
use crate::error::{Exit, Result};
use crate::events::Events;
use crate::model::RunReport;
use crate::report::listen;

/// Runs a request to its exit code.
pub async fn execute(mut request: Request, context: &Context) -> Result<Exit> {
    let bundling = Bundling::of(&mut request, context).await?;
    let prepared = match prepare(&mut request, context).await? {
        Preparation::Run(prepared) => prepared,
        Preparation::Nothing => return end_without_run(&request, context, &bundling),
        Preparation::Lost(exit) => return Ok(exit),
    };
    bundling.check(&prepared.chosen)?;
    if request.run.dry_run {
        return print(&prepared, &request, context).await;
    }
    check_arguments(&request)?;
    check_can_ask(&prepared.plan, &request, context)?;
    let report = run(&prepared, &request, context, &bundling).await?;
    bundling.end(&report, context)?;
    if request.run.json {
        print_report(&report, context);
    }
    Ok(Exit(report.exit_code))
}

/// Prints what would be run; what a run would refuse is refused.
async fn print(prepared: &Prepared, request: &Request, context: &Context) -> Result<Exit> {
    let Prepared { workspace, chosen, plan, standing, .. } = prepared;
    standing.check_dry(workspace, request, chosen, context).await?;
    context.terminal.data(&plan.to_string());
    shared_states(&workspace.stacks, plan).into_values().next().map_or(Ok(Exit::OK), Err)
}

/// Runs the engine and the reports side by side.
async fn run(
    prepared: &Prepared,
    request: &Request,
    context: &Context,
    bundling: &Bundling,
) -> Result<RunReport> {
    let mut options = prepared.options(request, context, bundling);
    let (events, messages) = Events::channel(context.clock);
    let (session, shut) = prepared.open(request, context, (events, &options)).await?;
    let check = match prepared.check(&session, (request, context), shut, &mut options).await {
        Ok(check) => check,
        Err(error) => {
            session.close().await;
            return Err(error);
        }
    };
    let Prepared { workspace, plan, .. } = prepared;
    let reports = reports(workspace, plan, &options, request, context)?;
    let running = async move {
        let report = engine::run(&session, plan, &options, check).await;
        session.close().await;
        report
    };
    let (report, ()) = tokio::join!(running, listen(messages, reports, context.asking()));
    Ok(report)
}

/// Ends where there is nothing to run: that is no run, and none is recorded.
fn end_without_run(request: &Request, context: &Context, bundling: &Bundling) -> Result<Exit> {
    bundling.check(&[])?;
    context.terminal.note("no stacks, so nothing was run");
    let report = RunReport {
        run_id: String::new(),
        command: request.command,
        started: context.clock.now(),
        duration_s: 0.0,
        exit_code: Exit::OK.0,
        stacks: Vec::new(),
    };
    if !request.run.dry_run {
        bundling.end(&report, context)?;
    }
    if request.run.json {
        print_report(&report, context);
    }
    Ok(Exit::OK)
}

fn print_report(report: &RunReport, context: &Context) {
    context.terminal.data_line(&serde_json::to_string_pretty(report).unwrap_or_default());
}
