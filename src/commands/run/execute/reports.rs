//! The reports of a run, and the words with which its stacks can be chosen again.

use super::rendered_diff::rendered_diff;
use super::request::Request;
use super::run_origin::origin_of;
use crate::commands::loaded_project::{LoadedProject, root_of};
use crate::commands::{Context, works_here};
use crate::engine::RunOptions;
use crate::error::Result;
use crate::model::{RunCommand, RunPlan, RunReport, quoted};
use crate::process;
use crate::project;
use crate::report::{
    Asking, Begun, Console, JsonLines, MarkdownSummary, PassedArguments, PlanOutput, Report, RunRecord, Scope,
};
use crate::tofu::call::PlanMode;
use crate::trust::UserKey;

/// Makes all reports of a run.
pub async fn reports(
    loaded: &LoadedProject,
    plan: &RunPlan,
    options: &RunOptions,
    request: &Request,
    context: &Context,
) -> Result<Vec<Box<dyn Report>>> {
    let (runs_dir, args) = (loaded.project.runs_dir(), &request.run);
    let process = process::this_holder(Some(options.run_id.clone()));
    let begun = Begun {
        command: plan.command,
        mode: request.mode,
        removed: request.removed,
        project: Some(plan.project.clone()),
        origin: origin_of(plan.command, &loaded.project, context).await,
        process,
    };
    let record = RunRecord::begin(&runs_dir, &options.run_id, &begun)?;
    if plan.command == RunCommand::Plan
        && let Some(diff) = rendered_diff(&loaded.project, context).await
    {
        record.add_rendered(&diff)?;
    }
    let plans = if args.json || args.jsonl { PlanOutput::Hidden } else { PlanOutput::Shown };
    let console = Console::new(context.terminal, plans).showing(request.details);
    let console = console.choosing(scope(loaded, plan, request, context));
    let mut reports: Vec<Box<dyn Report>> = vec![Box::new(record), Box::new(console)];
    let page = context.env.path("GITHUB_STEP_SUMMARY");
    if page.is_some() || plan.stacks().count() > 1 {
        reports.push(Box::new(MarkdownSummary::new(runs_dir.join(&options.run_id), page)));
    }
    if args.jsonl {
        reports.push(Box::new(JsonLines::new(context.terminal)));
    }
    Ok(reports)
}

/// Records a plan of no stacks.
pub(super) async fn record_nothing(report: &RunReport, mode: PlanMode, context: &Context) -> Result<()> {
    let project = project::load(&root_of(context)?)?;
    let begun = Begun {
        command: report.command,
        mode,
        removed: false,
        project: Some(project.name.clone()),
        origin: origin_of(report.command, &project, context).await,
        process: process::this_holder(Some(report.run_id.clone())),
    };
    RunRecord::begin(&project.runs_dir(), &report.run_id, &begun)?.finish(report);
    Ok(())
}

/// Returns with which words the stacks of the run can be chosen again.
fn scope(loaded: &LoadedProject, plan: &RunPlan, request: &Request, context: &Context) -> Scope {
    // A path that was typed leads elsewhere from another folder.
    let chooses = !request.run.resume && !request.removed && request.bundles.is_empty();
    let repeats = chooses && works_here(context);
    let typed = request.stacks.typed().filter(|_| repeats);
    let from_here = |dir: &std::path::PathBuf| {
        let below = dir.strip_prefix(&context.cwd).unwrap_or(dir);
        below.display().to_string()
    };
    let plans = request.plans_dir.as_ref().map(from_here);
    let asks = matches!(request.command, RunCommand::Apply | RunCommand::Destroy);
    Scope {
        in_full: in_full(request, typed.as_deref()).filter(|_| repeats),
        typed,
        stacks: loaded.stacks.iter().map(|stack| stack.id.clone()).collect(),
        destroys: request.mode == PlanMode::Destroy,
        keeps_no_plans: plans.is_none() && UserKey::load(&context.env).is_err(),
        plans_dir: plans.map(|dir| quoted(&dir)),
        bundle: request
            .bundle_file
            .as_ref()
            .or(request.bundles.first())
            .map(|file| format!("--bundle {}", quoted(&file.display().to_string()))),
        to_go_on: to_go_on(request, asks),
        passed: PassedArguments::on(&request.extra),
        protected: plan.stacks().filter(|run| run.protect).map(|run| run.stack.id.clone()).collect(),
        saved: request.saved,
        unattended: context.asking() == Asking::Nobody,
    }
}

/// Returns the same command with every attribute; what was given to variables is not said again.
fn in_full(request: &Request, typed: Option<&str>) -> Option<String> {
    if !request.run.variables.items.is_empty() {
        return None;
    }
    let mode = match request.mode {
        PlanMode::Destroy => Some("--destroy"),
        PlanMode::RefreshOnly if request.command == RunCommand::Plan => Some("--refresh-only"),
        PlanMode::RefreshOnly | PlanMode::Normal => None,
    };
    let words = ["infra", request.typed].into_iter().chain(typed).chain(mode).chain(["--details all"]);
    PassedArguments::on(&request.extra).behind(&words.collect::<Vec<_>>().join(" "))
}

/// Returns the flags that the same command needs again.
fn to_go_on(request: &Request, asks: bool) -> Option<String> {
    let saved = request.saved && request.plans_dir.is_none();
    let yes = request.yes && !request.saved && asks;
    let flags = [
        ("--removed", request.removed),
        ("--force", request.force),
        ("--yes", yes),
        ("--saved", saved),
        ("--allow-destroy", request.allow_destroy),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag).collect();
    (!flags.is_empty()).then(|| flags.join(" "))
}
