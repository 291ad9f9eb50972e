//! What a run is asked to do: the flags that all runs share, and what a command makes of them.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use clap::Args;

use crate::commands::args::{OUTPUT, RUNNING, StackArgs, VarArgs};
use crate::engine::{Approval, GivenFiles, GivenItem, Unopened};
use crate::error::{Error, Result};
use crate::model::{RunCommand, StackId};
use crate::report::Details;
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
    /// Run at most this many stacks at once; by default as many as cores and memory allow
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

/// Everything that a run of a command without flags of its own takes.
#[derive(Args, Debug)]
pub struct PlainRunArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// What to pass on to the same command of tofu
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

impl PlainRunArgs {
    /// Returns what a command with these arguments is asked to do.
    pub fn request(self, command: RunCommand) -> Request {
        Request { extra: self.extra, ..Request::new(command, self.stacks, self.run) }
    }
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
    /// Where the plans become a bundle, as it was typed.
    pub bundle_file: Option<std::path::PathBuf>,
    /// The bundles that are applied, as they were typed.
    pub bundles: Vec<std::path::PathBuf>,
    /// Whether a protected stack may lose resources.
    pub allow_destroy: bool,
    /// Whether changes make the exit code 2.
    pub detailed_exitcode: bool,
    /// Whether it is about stacks that are gone from the tree.
    pub removed: bool,
    /// Whether stacks are destroyed although others depend on them.
    pub force: bool,
    /// What earlier runs left undone, where that is what to go on with.
    pub undone: Option<BTreeSet<StackId>>,
    /// How much of each change is shown.
    pub details: Option<Details>,
    /// What the user wrote after `--`.
    pub extra: Vec<String>,
}

impl Request {
    /// Returns the choice to begin with. For a destruction dependents are added later, by edges and not by
    /// layers.
    pub fn choosing(&self) -> StackArgs {
        let widens = self.stacks.with_dependents && self.mode != PlanMode::Destroy;
        StackArgs { with_dependents: widens, ..self.stacks.clone() }
    }

    /// Returns whether the command line names files of variables, so that no usual file is taken.
    pub fn gives_files(&self) -> GivenFiles {
        let ours = self.run.variables.items.iter().any(|item| matches!(item, GivenItem::File(_)));
        let is_file = |arg: &String| arg.trim_start_matches('-').split('=').next() == Some("var-file");
        if ours || self.extra.iter().any(is_file) { GivenFiles::Some } else { GivenFiles::None }
    }

    /// Returns what happens if a secret cannot be opened: `init` needs only those that are evaluated early.
    pub fn unopened(&self) -> Unopened {
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
            bundle_file: None,
            bundles: Vec::new(),
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
    pub fn shows_attributes(&self, stacks: usize) -> bool {
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

/// Refuses arguments that this program sets itself: it names the plan file and reads the messages.
pub fn check_arguments(request: &Request) -> Result<()> {
    const OURS: [&str; 7] =
        ["-out", "-json", "-json-into", "-input", "-chdir", "-lock-timeout", "-auto-approve"];
    let flag = |arg: &str| format!("-{}", arg.trim_start_matches('-').split('=').next().unwrap_or_default());
    // What infra sets itself may be given twice.
    let is_same = |arg: &str| arg.trim_start_matches('-') == "input=false";
    let is_ours = |arg: &str| arg.starts_with('-') && OURS.contains(&flag(arg).as_str()) && !is_same(arg);
    if let Some(arg) = request.extra.iter().find(|arg| is_ours(arg)) {
        return Err(Error::usage(format!("`{arg}` cannot be passed on: infra sets it itself"))
            .hint("`--out-dir`, `--json`, `--lock-timeout` and `--yes` are infra's own ways")
            .hint("for tofu alone: `infra tofu --stack STACK -- …`"));
    }
    // A bundle is planned again to prove it, and so with the same arguments.
    if request.saved && request.bundles.is_empty() && !request.extra.is_empty() {
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
