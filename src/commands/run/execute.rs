//! A run over stacks from the request to the exit code, as all commands of this room share it: resolve, check,
//! open, run, report. Begin at [`execute`].

mod begin;
mod bundles;
mod can_ask;
mod chosen_stacks;
mod dependents;
mod prepared;
mod protected;
mod rename_question;
mod rendered_diff;
mod reports;
mod request;
mod run_origin;
mod temporary_folder;
mod warnings;

pub(in crate::commands) use self::request::{PlainRunArgs, Request, RunArgs};

use self::begin::shared_states;
use self::bundles::Bundling;
use self::can_ask::check_can_ask;
use self::prepared::{Preparation, Prepared, new_run_id, prepare};
use self::reports::{record_nothing, reports};
use self::request::check_arguments;
use crate::commands::Context;
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::events::Events;
use crate::model::{RunCommand, RunReport};
use crate::report::{Asking, listen};

/// Runs a request to its exit code.
pub async fn execute(request: Request, context: &Context) -> Result<Exit> {
    execute_to_report(request, context).await.map(|(exit, _)| exit)
}

/// Runs a request to its exit code and its report; there is none where nothing was run.
pub async fn execute_to_report(mut request: Request, context: &Context) -> Result<(Exit, Option<RunReport>)> {
    let bundling = Bundling::of(&mut request, context).await?;
    let prepared = match prepare(&mut request, context).await? {
        Preparation::Run(prepared) => prepared,
        Preparation::Nothing => return Ok((end_without_run(&request, context, &bundling).await?, None)),
        Preparation::Lost(exit) => return Ok((exit, None)),
    };
    bundling.check(&prepared.chosen)?;
    if request.run.dry_run {
        return Ok((print(&prepared, &request, context).await?, None));
    }
    check_arguments(&request)?;
    check_can_ask(&prepared.plan, &request, context)?;
    let report = run(&prepared, &request, context, &bundling).await?;
    bundling.end(&report, context)?;
    if request.run.json {
        print_report(&report, context);
    }
    Ok((Exit(report.exit_code), Some(report)))
}

/// Looks at stacks once more on behalf of a run: nothing is shown, and nothing is recorded.
pub async fn look_again(mut request: Request, run_id: &str, context: &Context) -> Result<RunReport> {
    let Preparation::Run(prepared) = prepare(&mut request, context).await? else {
        return Err(Error::bug("the stacks of a run are gone"));
    };
    let Prepared { loaded, plan, .. } = &*prepared;
    let mut options = prepared.options(&request, context, &Bundling::None);
    options.private_dir = loaded.project.runs_dir().join(run_id).join("plans");
    options.run_id = run_id.to_owned();
    let (events, messages) = Events::channel(context.clock);
    let (session, shut) = prepared.open(&request, context, (events, &options)).await?;
    let check = prepared.check(&session, (&request, context), shut, &mut options).await;
    let looking = async move {
        let report = match check {
            Ok(check) => Ok(engine::run_independently(&session, plan, &options, check).await),
            Err(error) => Err(error),
        };
        session.close().await;
        report
    };
    let (report, ()) = tokio::join!(looking, listen(messages, Vec::new(), Asking::Nobody));
    report
}

/// Prints what would be run, and refuses what the run would refuse.
async fn print(prepared: &Prepared, request: &Request, context: &Context) -> Result<Exit> {
    let Prepared { loaded, chosen, plan, dependent_stacks, .. } = prepared;
    dependent_stacks.check_dry(loaded, request, chosen, context).await?;
    context.terminal.data(&plan.to_string());
    shared_states(&loaded.stacks, plan).into_values().next().map_or(Ok(Exit::OK), Err)
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
    let Prepared { loaded, plan, .. } = prepared;
    let reports = reports(loaded, plan, &options, request, context).await?;
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

/// Ends where there is nothing to run: that is no run, and none is recorded, but of a plan.
///
/// Whoever reads the newest plan later must not take an older one for it.
async fn end_without_run(request: &Request, context: &Context, bundling: &Bundling) -> Result<Exit> {
    bundling.check(&[])?;
    context.terminal.note("no stacks, so nothing was run");
    let is_kept = request.command == RunCommand::Plan && !request.run.resume && !request.run.dry_run;
    let report = RunReport {
        run_id: if is_kept { new_run_id(context) } else { String::new() },
        command: request.command,
        started: context.clock.now(),
        duration_s: 0.0,
        exit_code: Exit::OK.0,
        stacks: Vec::new(),
    };
    if is_kept {
        record_nothing(&report, request.mode, context).await?;
    }
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
