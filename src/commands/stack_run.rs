//! A run over stacks, from the choice to the exit code: the way that `init`, `validate`,
//! `plan`, `apply`, `destroy` and `up` share.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use clap::Args;

use super::again::check_can_ask;
use super::borrowed_folder::borrow_folder;
use super::headings::{OUTPUT, RUNNING};
use super::past::{choose, take_up, tell_lost, warn_of_removed, warn_of_the_past};
use super::protected::check_protected;
use super::run_reports::reports;
use super::stack_args::StackArgs;
use super::standing::{Dependents, Standing, tell_staying, widened};
use super::var_args::VarArgs;
use super::workspace::{Purpose, Workspace};
use super::{Context, configure, renamed};
use crate::engine::{
    self, Approval, GivenFiles, GivenItem, RunChoice, RunOptions, Session, StateCheck, StateNeed, Unopened,
    WhenToInit,
};
use crate::error::{Error, Exit, Kind, Result};
use crate::events::Events;
use crate::model::{Backend, Project, RunCommand, RunPlan, RunReport, Stack, StackId, Staying};
use crate::process;
use crate::report::{Asking, Details, listen, read_durations};
use crate::stacks::{self, SharedState, StateRisk};
use crate::tofu::call::PlanMode;

/// Flags of every run.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// Print the report as JSON
    #[arg(help_heading = OUTPUT, long, conflicts_with = "jsonl")]
    pub json: bool,
    /// Print the events as JSON, one a line
    #[arg(help_heading = OUTPUT, long)]
    pub jsonl: bool,
    /// Print what would be run, and run nothing
    #[arg(help_heading = RUNNING, long)]
    pub dry_run: bool,
    /// Run `tofu init` even if nothing changed
    #[arg(help_heading = RUNNING, long)]
    pub init: bool,
    /// Run so many stacks at once; without it as many as cores and memory bear
    #[arg(help_heading = RUNNING, long, value_name = "N")]
    pub parallelism: Option<NonZeroUsize>,
    /// Start nothing new after a failure
    #[arg(help_heading = RUNNING, long)]
    pub fail_fast: bool,
    /// Run only what earlier runs of this command left undone: failed, skipped, interrupted
    #[arg(help_heading = RUNNING, long)]
    pub resume: bool,
    /// Wait this long for a lock, for example `5m`
    #[arg(help_heading = RUNNING, long, value_name = "TIME", value_parser = go_duration)]
    pub lock_timeout: Option<String>,
    #[command(flatten)]
    pub variables: VarArgs,
}

/// What a run is asked to do.
#[derive(Debug)]
pub struct Request {
    /// The command.
    pub command: RunCommand,
    /// What the user typed for it.
    pub typed: &'static str,
    /// The stacks.
    pub stacks: StackArgs,
    /// The common flags.
    pub run: RunArgs,
    /// What plans are for.
    pub mode: PlanMode,
    /// Whether the yes was given on the command line.
    pub yes: bool,
    /// Whether saved plans are applied and nothing else.
    pub saved: bool,
    /// Where plans lie, if not in the usual place.
    pub plans_dir: Option<std::path::PathBuf>,
    /// Whether a protected stack may lose resources.
    pub allow_destroy: bool,
    /// Whether changes make the exit code 2.
    pub detailed_exitcode: bool,
    /// Whether it is about stacks that are gone from the tree.
    pub removed: bool,
    /// Whether what others stand on is destroyed all the same.
    pub force: bool,
    /// What earlier runs left undone, where that is what to go on with.
    pub undone: Option<BTreeSet<StackId>>,
    /// How much of each change is shown.
    pub details: Option<Details>,
    /// What the user wrote after `--`.
    pub extra: Vec<String>,
}

impl Request {
    /// Returns the choice to begin with: to a destruction only edges add dependents, not layers, and
    /// that is decided later.
    pub fn choosing(&self) -> StackArgs {
        let widens = self.stacks.with_dependents && self.mode != PlanMode::Destroy;
        StackArgs { with_dependents: widens, ..self.stacks.clone() }
    }

    /// Returns whether the command line names files of variables, so that none is to be guessed.
    fn gives_files(&self) -> GivenFiles {
        let ours = self.run.variables.items.iter().any(|item| matches!(item, GivenItem::File(_)));
        let is_file = |arg: &String| arg.trim_start_matches('-').split('=').next() == Some("var-file");
        if ours || self.extra.iter().any(is_file) { GivenFiles::Some } else { GivenFiles::None }
    }

    /// Returns what a secret means that cannot be had: `init` needs no more than what is evaluated early.
    fn unopened(&self) -> Unopened {
        let moves = |arg: &String| {
            let name = arg.trim_start_matches('-').split('=').next().unwrap_or_default();
            ["migrate-state", "force-copy"].contains(&name)
        };
        match self.command {
            RunCommand::Init if self.extra.iter().any(moves) => Unopened::LeftOutOfWriting,
            RunCommand::Init => Unopened::LeftOut,
            _ => Unopened::Ends,
        }
    }

    /// Makes a request with nothing special about it.
    pub const fn new(command: RunCommand, stacks: StackArgs, run: RunArgs) -> Self {
        Self {
            command,
            typed: command.name(),
            stacks,
            run,
            mode: PlanMode::Normal,
            yes: false,
            saved: false,
            plans_dir: None,
            allow_destroy: false,
            detailed_exitcode: false,
            removed: false,
            force: false,
            undone: None,
            details: None,
            extra: Vec::new(),
        }
    }

    /// Returns whether the attributes of each change are shown: of several stacks, unless nobody sees
    /// them before it is done and did not ask for them. One stack is shown in tofu's own words.
    fn shows_attributes(&self, stacks: usize) -> bool {
        let is_seen = stacks > 1 && !self.run.json && !self.run.jsonl;
        is_seen
            && match self.details {
                Some(details) => details == Details::All,
                None => !self.command.is_ordered() || self.approval() == Approval::Ask,
            }
    }

    /// Returns who says yes; what was reviewed is stricter than a yes to anything.
    pub const fn approval(&self) -> Approval {
        match (self.saved, self.yes) {
            (true, _) => Approval::Saved,
            (false, true) => Approval::Given,
            (false, false) => Approval::Ask,
        }
    }
}

/// Runs a request to its exit code.
pub async fn execute(mut request: Request, context: &Context) -> Result<Exit> {
    let mut workspace = Workspace::load_for(context, &request.stacks)?;
    // Held until the run is over.
    let _borrowed = match request.command {
        RunCommand::Validate => borrow_folder(&mut workspace.project),
        _ => None,
    };
    take_up(&workspace, &mut request, context)?;
    let mut gone = Vec::new();
    if request.removed {
        let removed = workspace.removed_stacks(context).await?;
        gone.extend(removed.iter().map(|removed| removed.stack.id.clone()));
        let lost = workspace.lost_stacks(context).await?;
        tell_lost(&lost, context);
        workspace.include(removed);
        if gone.is_empty() && !lost.is_empty() {
            return Ok(Kind::Failed.exit());
        }
    }
    let chosen = choose(&workspace, &request, &gone, context)?;
    if chosen.is_empty() {
        return Ok(end_without_run(&request, context));
    }
    let chosen = widened(&mut workspace, &request, chosen, context).await?;
    let choice = RunChoice { chosen: &chosen, command: request.command, given: request.gives_files() };
    let plan = engine::resolve_run_plan(&workspace.project, &workspace.stacks, choice)?;
    let standing = Standing::on(&workspace, &request, &chosen)?;
    if request.run.dry_run {
        standing.check_dry(&workspace, &request, &chosen, context).await?;
        context.terminal.data(&plan.to_string());
        return shared_states(&workspace.stacks, &plan).into_values().next().map_or(Ok(Exit::OK), Err);
    }
    let options = options(&request, &workspace, chosen.len(), context);
    check_arguments(&request)?;
    check_can_ask(&plan, &request, context)?;
    let beginning =
        Beginning { workspace: &workspace, plan: &plan, request: &request, standing: &standing, context };
    let report = run(beginning, options).await?;
    if request.run.json {
        context.terminal.data_line(&serde_json::to_string_pretty(&report).unwrap_or_default());
    }
    Ok(Exit(report.exit_code))
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
        context.terminal.data_line(&serde_json::to_string_pretty(&report).unwrap_or_default());
    }
    Exit::OK
}

/// A run that is about to begin.
struct Beginning<'a> {
    workspace: &'a Workspace,
    plan: &'a RunPlan,
    request: &'a Request,
    standing: &'a Standing,
    context: &'a Context,
}

/// Runs the engine and the reports side by side.
async fn run(beginning: Beginning<'_>, mut options: RunOptions) -> Result<RunReport> {
    let Beginning { workspace, plan, request, context, .. } = beginning;
    let (events, messages) = Events::channel();
    let (session, dependents) = beginning.open(events, &options).await?;
    let check = match beginning.check(&session, dependents, &mut options).await {
        Ok(check) => check,
        Err(error) => {
            session.close().await;
            return Err(error);
        }
    };
    let reports = reports(workspace, plan, &options, request, context)?;
    let running = async move {
        let report = engine::run(&session, plan, &options, check).await;
        session.close().await;
        report
    };
    let (report, ()) = tokio::join!(running, listen(messages, reports, context.asking()));
    Ok(report)
}

impl Beginning<'_> {
    fn chosen(&self) -> Vec<StackId> {
        self.plan.stacks().map(|run| run.stack.id.clone()).collect()
    }

    /// Opens what the chosen stacks need, and what tells whether others stand on them.
    async fn open(&self, events: Events, options: &RunOptions) -> Result<(Session, Dependents)> {
        let chosen = self.chosen();
        // Checking the configuration needs no credentials, so it opens no secrets either.
        let state = if self.plan.command == RunCommand::Validate { StateNeed::No } else { StateNeed::Yes };
        let looked_at = self.standing.looked_at(&chosen, self.request);
        let open = async |stacks: &[StackId]| {
            let (run_id, at_once) = (Some(options.run_id.clone()), Some(options.parallelism));
            let given = &self.request.run.variables.items;
            let unopened = self.request.unopened();
            let extra = &self.request.extra;
            let purpose = Purpose { stacks, state, run_id, at_once, given, unopened, extra };
            self.workspace.open_session(self.context, events.clone(), purpose).await
        };
        match open(&looked_at).await {
            // Whoever cannot open the secrets of a dependent cannot tell what is in its state either.
            Err(error) if error.kind() == Kind::Refused && looked_at.len() > chosen.len() => {
                Ok((open(&chosen).await?, Dependents::Closed))
            }
            opened => Ok((opened?, Dependents::Open)),
        }
    }

    /// Refuses what must not begin, and tells what to know beforehand.
    async fn check(
        &self,
        session: &Session,
        dependents: Dependents,
        options: &mut RunOptions,
    ) -> Result<StateCheck> {
        let Self { workspace, plan, request, standing, context } = self;
        options.staying = standing.check(session, request, &self.chosen(), dependents).await?;
        check_protected(session, plan, request, context).await?;
        warn_of_the_past(workspace, &session.events);
        warn_of_missing_locks(plan, &session.events);
        warn_of_edits(workspace, &session.events);
        warn_of_bare_address(workspace, &session.events);
        warn_of_selections(workspace, plan, &session.events);
        if options.approval == Approval::Given {
            tell_staying(session, &options.staying);
        }
        let check = check_states(session, plan, request, context).await?;
        let mut shared = shared_states(&workspace.stacks, plan);
        shared.extend(unclear_backends(&workspace.project, plan, request));
        Ok(StateCheck { shared, ..check })
    }
}

/// Returns the stacks of a run that write a state which others write too; what touches no state may run.
fn shared_states(stacks: &[Stack], plan: &RunPlan) -> BTreeMap<StackId, Error> {
    let mut shared = BTreeMap::new();
    if matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        return shared;
    }
    for SharedState { stacks, error } in stacks::shared_states(stacks) {
        let chosen = plan.stacks().map(|run| &run.stack.id).filter(|id| stacks.contains(id));
        shared.extend(chosen.map(|id| (id.clone(), error.clone())));
    }
    shared
}

/// Returns the stacks of a run of which nobody can say what their backend is to be given.
fn unclear_backends(project: &Project, plan: &RunPlan, request: &Request) -> BTreeMap<StackId, Error> {
    let by_hand = request.extra.iter().any(|arg| arg.trim_start_matches('-').starts_with("backend-config"));
    if by_hand || matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        return BTreeMap::new();
    }
    let unclear = plan.stacks().filter_map(|run| {
        let error = stacks::backend_config(project, &run.stack).err()?;
        Some((run.stack.id.clone(), error))
    });
    unclear.collect()
}

/// Looks where the states are, for commands that need them.
async fn check_states(
    session: &Session,
    plan: &RunPlan,
    request: &Request,
    context: &Context,
) -> Result<StateCheck> {
    if matches!(plan.command, RunCommand::Validate | RunCommand::Test) {
        warn_of_removed(session, &BTreeSet::new()).await?;
        return Ok(StateCheck::default());
    }
    let chosen: Vec<StackId> = plan.stacks().map(|run| run.stack.id.clone()).collect();
    if request.removed && request.stacks.selection().is_empty() {
        engine::check_removed(session, &chosen).await?;
    }
    let mut check = engine::check_states(session, &chosen).await;
    if plan.command == RunCommand::Init {
        // tofu's own way to move a state to a block of its own is `init`.
        let is_ours = |id: &StackId| session.stack(id).is_ok_and(|stack| stack.backend == Backend::Embedded);
        check.problems.retain(|id, _| is_ours(id));
    }
    let check = renamed::ask_about(check, context).await?;
    if !request.removed {
        let open = check.renames.iter().map(|rename| rename.old.clone());
        warn_of_removed(session, &check.former.values().cloned().chain(open).collect()).await?;
    }
    let check = check.without_open_renames();
    engine::use_former_names(session, &check);
    Ok(check)
}

/// Tells what was edited and not rendered, so that "no changes" is not taken for more than it says.
fn warn_of_edits(workspace: &Workspace, events: &Events) {
    const SHOWN: usize = 3;
    let edited = configure::edited_since(&workspace.project);
    let names = edited.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let changed = match edited.len() {
        0 => return,
        count if count > SHOWN => format!("{names} and {} more", count - SHOWN),
        _ => names,
    };
    let hint = "render it: `infra configure`".to_owned();
    events.warn(format!("{changed} changed since the last `infra configure`"), vec![hint]);
}

/// Tells of a server whose every answer would be that there is no state: its states lie below a path.
fn warn_of_bare_address(workspace: &Workspace, events: &Events) {
    let url = workspace.project.state.url.as_deref().unwrap_or_default().trim_end_matches('/');
    let is_bare = url.split_once("://").is_some_and(|(_, host)| !host.contains('/'));
    if is_bare {
        let hint = format!("a server of `infra state serve` has its states at `{url}/states`");
        events.warn(format!("`state.url` in infra.yaml has no path: `{url}`"), vec![hint]);
    }
}

/// Tells of workspaces that somebody selected by hand where `infra.yaml` declares which ones there are.
fn warn_of_selections(workspace: &Workspace, plan: &RunPlan, events: &Events) {
    let declared = plan.stacks().map(|run| &run.stack).filter(|stack| stack.declared_workspace().is_some());
    let root = &workspace.project.root;
    let told: BTreeSet<String> =
        declared.filter_map(|stack| stacks::ignored_selection(root, stack)).collect();
    told.into_iter().for_each(|words| events.warn(words, Vec::new()));
}

/// Tells once which states nothing keeps from being written by two runs.
fn warn_of_missing_locks(plan: &RunPlan, events: &Events) {
    if !matches!(plan.command, RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy) {
        return;
    }
    let stacks: Vec<&Stack> = plan.stacks().map(|run| &run.stack).collect();
    for remark in stacks::state_remarks(&stacks) {
        if remark.risk == StateRisk::NoLock {
            events.warn(remark.text, vec![remark.fix]);
        }
    }
}

fn options(request: &Request, workspace: &Workspace, stacks: usize, context: &Context) -> RunOptions {
    // Sorts by time, and two runs in one millisecond still differ.
    let now = context.clock.now().strftime("%Y%m%dT%H%M%S%.3f").to_string();
    let run_id = format!("{now}-{}", process::this_process());
    RunOptions {
        private_dir: workspace.project.runs_dir().join(&run_id).join("plans"),
        run_id,
        approval: request.approval(),
        attributes: request.shows_attributes(stacks),
        whole_plans: stacks == 1 && request.approval() == Approval::Ask,
        has_person: context.asking() != Asking::Nobody,
        trusted: context.trust.covers(&workspace.project.root),
        mode: request.mode,
        init: if request.run.init { WhenToInit::Always } else { WhenToInit::Needed },
        plans_dir: request.plans_dir.clone().unwrap_or_else(|| workspace.project.plans_dir()),
        lock_timeout: request.run.lock_timeout.clone(),
        extra: request.extra.clone(),
        staying: Staying::default(),
        allow_destroy: request.allow_destroy,
        detailed_exitcode: request.detailed_exitcode,
        parallelism: parallelism(request, workspace, stacks),
        fail_fast: request.run.fail_fast,
        durations: if stacks > 1 {
            read_durations(&workspace.project.runs_dir(), request.command)
        } else {
            BTreeMap::new()
        },
    }
}

/// Returns how many stacks run at once: as the command line says, or the project, or what the machine bears.
fn parallelism(request: &Request, workspace: &Workspace, stacks: usize) -> usize {
    let wanted = request.run.parallelism.map(NonZeroUsize::get).or(workspace.project.run.parallelism);
    match wanted {
        Some(wanted) => wanted.max(1),
        None if stacks <= 1 => 1,
        None => process::bearable_parallelism(),
    }
}

/// Refuses what would work against this program: it names the plan file and reads the messages itself.
fn check_arguments(request: &Request) -> Result<()> {
    const OURS: [&str; 7] =
        ["-out", "-json", "-json-into", "-input", "-chdir", "-lock-timeout", "-auto-approve"];
    let flag = |arg: &str| format!("-{}", arg.trim_start_matches('-').split('=').next().unwrap_or_default());
    // What infra says itself does no harm twice.
    let is_same = |arg: &str| arg.trim_start_matches('-') == "input=false";
    let is_ours = |arg: &str| arg.starts_with('-') && OURS.contains(&flag(arg).as_str()) && !is_same(arg);
    if let Some(arg) = request.extra.iter().find(|arg| is_ours(arg)) {
        return Err(Error::usage(format!("`{arg}` cannot be passed on: infra sets it itself"))
            .hint("`--out-dir`, `--json`, `--lock-timeout` and `--yes` are infra's own ways")
            .hint("for tofu alone: `infra tofu --stack STACK -- …`"));
    }
    if request.saved && !request.extra.is_empty() {
        return Err(Error::usage("saved plans are applied as they were made: nothing can follow `--` here")
            .hint("give it to the plan, which keeps it: `infra plan … -- …`, then `infra apply … --saved`"));
    }
    match &request.plans_dir {
        Some(dir) if request.command == RunCommand::Apply && !dir.is_dir() => {
            Err(Error::usage(format!("`--plan-dir {}` is no folder", dir.display())))
        }
        _ => Ok(()),
    }
}

/// Accepts what tofu accepts for a time: `90s`, `5m`, `1h30m`.
fn go_duration(text: &str) -> Result<String, String> {
    let mut rest = text;
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
        let unit = ["ms", "us", "ns", "h", "m", "s"].into_iter().find(|unit| number.starts_with(unit));
        match unit {
            Some(unit) if number.len() < rest.len() => rest = &number[unit.len()..],
            _ => return Err("expected a time such as `90s` or `5m`".to_owned()),
        }
    }
    if text.is_empty() {
        Err("expected a time such as `90s` or `5m`".to_owned())
    } else {
        Ok(text.to_owned())
    }
}
