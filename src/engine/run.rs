//! A run from its first event to its last: wave after wave, stack after stack.
//!
//! For plans every stack stands alone. For apply a wave is planned, shown, approved once
//! and applied before the next is planned, because a later plan reads what an earlier one
//! makes. Destroy shows everything before its one question. Begin at [`run`].

use std::convert::Infallible;

use jiff::{SignedDuration, Timestamp};

use super::failure::Stop;
use super::inspect::read_addresses;
use super::options::{Approval, RunOptions, WhenToInit};
use super::session::Session;
use super::stack_life::{Planned, StackLife, Upstream};
use super::tally::Tally;
use crate::error::Error;
use crate::events::{Question, RunEvent};
use crate::model::{RunCommand, RunPlan, RunReport, StackId, StackReport, StackResult, StackRun, Step};

/// Makes a plan of a run happen.
pub async fn run(session: &Session, plan: &RunPlan, options: &RunOptions) -> RunReport {
    let conducted = async {
        let mut conductor = Conductor::begin(session, plan, options);
        conductor.conduct().await;
        conductor.end()
    };
    tokio::select! {
        report = conducted => report,
        never = tell_interrupts(session) => match never {},
    }
}

/// Tells each request to stop as it comes.
async fn tell_interrupts(session: &Session) -> Infallible {
    let mut interrupts = session.interrupts.clone();
    let mut told = interrupts.count();
    loop {
        told = interrupts.beyond(told).await;
        session.events.emit(RunEvent::Interrupted { times: told });
    }
}

/// Leads the stacks of one run.
struct Conductor<'a> {
    session: &'a Session,
    plan: &'a RunPlan,
    options: &'a RunOptions,
    started: Timestamp,
    tally: Tally,
}

/// A stack that was planned and waits for its turn.
struct Waiting<'a> {
    run: &'a StackRun,
    planned: Planned,
    /// What planning took; a person's thinking does not count.
    spent: SignedDuration,
}

impl<'a> Conductor<'a> {
    fn begin(session: &'a Session, plan: &'a RunPlan, options: &'a RunOptions) -> Self {
        let started = session.clock.now();
        session.events.emit(RunEvent::RunStarted {
            run_id: options.run_id.clone(),
            command: plan.command,
            project: plan.project.clone(),
            stacks: plan.stacks().map(|run| run.stack.id.clone()).collect(),
            tofu: session.tofu.version.to_string(),
            at: started,
        });
        Self { session, plan, options, started, tally: Tally::default() }
    }

    fn end(self) -> RunReport {
        let order: Vec<StackId> = self.plan.stacks().map(|run| run.stack.id.clone()).collect();
        let report = RunReport {
            run_id: self.options.run_id.clone(),
            command: self.plan.command,
            started: self.started,
            duration_s: seconds(self.started, self.session.clock.now()),
            exit_code: self.tally.exit(self.plan.command, self.options.detailed_exitcode).0,
            stacks: self.tally.into_reports(&order),
        };
        // Plans that nobody reviewed end with the run that made them.
        let _ = std::fs::remove_dir_all(&self.options.private_dir);
        self.session.events.emit(RunEvent::RunFinished { report: report.clone() });
        report
    }

    async fn conduct(&mut self) {
        match self.plan.command {
            RunCommand::Init | RunCommand::Validate | RunCommand::Plan => {
                for wave in &self.plan.waves {
                    self.each_alone(wave).await;
                }
            }
            RunCommand::Apply => {
                for wave in &self.plan.waves {
                    self.plan_approve_apply(wave).await;
                }
            }
            // What a stack destroys does not depend on what others have destroyed, so all is shown at once.
            RunCommand::Destroy => self.plan_approve_apply(self.plan.stacks()).await,
        }
    }

    async fn each_alone(&mut self, wave: &'a [StackRun]) {
        for run in wave {
            let since = self.session.clock.now();
            if self.is_held_back(run, since) {
                continue;
            }
            let life = self.life(run);
            let outcome = match self.plan.command {
                RunCommand::Init => life.init(WhenToInit::Always, &self.options.extra).await.map(|()| None),
                RunCommand::Validate => life.validate().await.map(|()| None),
                RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy => life.plan().await.map(Some),
            };
            match outcome {
                Ok(Some(planned)) => self.finish_planned(run, &planned, since),
                Ok(None) => {
                    self.finish(StackReport::new(run.stack.id.clone(), StackResult::Succeeded), since);
                }
                Err(stop) => self.finish_stopped(run, stop, since),
            }
        }
    }

    /// Plans, shows, asks once and applies, in the order given.
    async fn plan_approve_apply(&mut self, runs: impl IntoIterator<Item = &'a StackRun>) {
        let mut waiting = Vec::new();
        for run in runs {
            waiting.extend(self.prepare(run).await);
        }
        let approved = self.approve(&waiting).await;
        for waiting in waiting {
            self.apply(waiting, approved).await;
        }
    }

    /// Plans a stack, or takes up its saved plan; finishes it if there is nothing to apply.
    async fn prepare(&mut self, run: &'a StackRun) -> Option<Waiting<'a>> {
        let since = self.session.clock.now();
        if self.is_held_back(run, since) {
            return None;
        }
        let applied = run.inputs.values().any(|from| self.tally.has_applied(&from.stack));
        let upstream = if applied { Upstream::Applied } else { Upstream::Untouched };
        match self.life(run).plan_or_take_saved(upstream).await {
            Ok(planned) if planned.record.is_empty() => self.finish_unchanged(run, since),
            Ok(planned) => {
                let spent = self.session.clock.now().duration_since(since);
                return Some(Waiting { run, planned, spent });
            }
            Err(Stop::Deferred(reason)) if self.plan.command == RunCommand::Destroy => {
                self.finish_without_inputs(run, &reason, since).await;
            }
            Err(stop) => self.finish_stopped(run, stop, since),
        }
        None
    }

    async fn apply(&mut self, waiting: Waiting<'a>, approved: bool) {
        let since = self.session.clock.now().checked_sub(waiting.spent).unwrap_or(self.started);
        let (run, needs_a_yes) = (waiting.run, self.needs_a_yes(&waiting));
        if self.is_held_back(run, since) {
            return;
        }
        if needs_a_yes && !approved {
            return self.finish_declined(run, &waiting.planned, since);
        }
        match self.life(run).apply(&waiting.planned).await {
            Ok(()) => {
                let report = StackReport::new(run.stack.id.clone(), StackResult::Succeeded);
                self.finish(report.with_counts(waiting.planned.counts()), since);
            }
            Err(stop) => self.finish_stopped(run, stop, since),
        }
    }

    /// Gets a yes for what would change, unless it was given or reviewed before.
    async fn approve(&self, waiting: &[Waiting<'a>]) -> bool {
        let open: Vec<&Waiting> = waiting.iter().filter(|waiting| self.needs_a_yes(waiting)).collect();
        if open.is_empty() || self.session.interrupts.any() {
            return true;
        }
        for waiting in &open {
            let stack = waiting.run.stack.id.clone();
            self.session.events.emit(RunEvent::StepStarted { stack, step: Step::Approve });
        }
        let stacks = open.len();
        let question = match self.plan.command {
            RunCommand::Destroy => Question::Destroy { stacks, project: self.plan.project.clone() },
            _ => Question::Apply { stacks },
        };
        let mut interrupts = self.session.interrupts.clone();
        tokio::select! {
            answer = self.session.events.ask(question) => answer,
            _ = interrupts.beyond(0) => false,
        }
    }

    fn needs_a_yes(&self, waiting: &Waiting<'a>) -> bool {
        let protected = waiting.run.protect && waiting.planned.destroys() && !self.options.allow_destroy;
        protected || (self.options.approval == Approval::Ask && !waiting.planned.reviewed)
    }

    /// Finishes a stack that cannot begin: a stop was asked for, or a stack before it did not succeed.
    fn is_held_back(&mut self, run: &StackRun, since: Timestamp) -> bool {
        if self.session.interrupts.any() {
            self.finish_stopped(run, Stop::Interrupted, since);
            return true;
        }
        let Some(blocker) = self.tally.blocker_of(run).cloned() else { return false };
        let report = StackReport::new(run.stack.id.clone(), StackResult::Skipped);
        self.finish(report.with_reason(format!("{blocker} did not succeed")), since);
        true
    }

    /// A stack that has no resources needs no inputs to be destroyed; any other cannot be without them.
    async fn finish_without_inputs(&mut self, run: &'a StackRun, reason: &str, since: Timestamp) {
        let id = &run.stack.id;
        match read_addresses(self.session, id, &[]).await {
            Ok(addresses) if addresses.is_empty() => {
                self.finish(StackReport::new(id.clone(), StackResult::NoChanges), since);
            }
            Ok(_) => {
                let error = Error::failed(format!(
                    "`{id}` cannot be destroyed without its inputs: deferred {reason}"
                ));
                let hint = "apply the stacks it takes values from, then destroy it before them";
                self.finish_stopped(run, error.hint(hint).into(), since);
            }
            Err(error) => self.finish_stopped(run, error.into(), since),
        }
    }

    fn finish_planned(&mut self, run: &StackRun, planned: &Planned, since: Timestamp) {
        let result = if planned.record.is_empty() { StackResult::NoChanges } else { StackResult::Succeeded };
        self.finish(StackReport::new(run.stack.id.clone(), result).with_counts(planned.counts()), since);
    }

    fn finish_unchanged(&mut self, run: &'a StackRun, since: Timestamp) {
        match self.life(run).forget_plan() {
            Ok(()) => self.finish(StackReport::new(run.stack.id.clone(), StackResult::NoChanges), since),
            Err(error) => self.finish_stopped(run, error.into(), since),
        }
    }

    fn finish_declined(&mut self, run: &StackRun, planned: &Planned, since: Timestamp) {
        let report =
            StackReport::new(run.stack.id.clone(), StackResult::Skipped).with_counts(planned.counts());
        let reason = match run.protect && planned.destroys() {
            true => "protected and not approved (`--allow-destroy` allows it)",
            false => "not approved",
        };
        self.finish(report.with_reason(reason), since);
    }

    fn finish_stopped(&mut self, run: &StackRun, stop: Stop, since: Timestamp) {
        let report = |result| StackReport::new(run.stack.id.clone(), result);
        let report = match stop {
            Stop::Failed(error) => StackReport { error: Some(error), ..report(StackResult::Failed) },
            Stop::Deferred(reason) => report(StackResult::Deferred).with_reason(reason),
            Stop::Interrupted => report(StackResult::Interrupted).with_reason("a stop was asked for"),
        };
        self.finish(report, since);
    }

    fn finish(&mut self, mut report: StackReport, since: Timestamp) {
        report.duration_s = seconds(since, self.session.clock.now());
        self.session.events.emit(RunEvent::StackFinished { report: report.clone() });
        self.tally.add(report);
    }

    const fn life(&self, run: &'a StackRun) -> StackLife<'a> {
        StackLife { session: self.session, run, options: self.options }
    }
}

/// Returns the seconds between two times, to the millisecond.
fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    let milliseconds = to.as_millisecond() - from.as_millisecond();
    let milliseconds = i32::try_from(milliseconds.max(0)).unwrap_or(i32::MAX);
    f64::from(milliseconds) / 1000.0
}
