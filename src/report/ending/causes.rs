//! One cause that hits many stacks, told once with their names.
//!
//! While a run goes on, [`Causes`] says how much is to be told of each stack; when it has ended,
//! [`shared_causes`] finds what is told together. Few stacks are told one by one as ever.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::comparable_error::ComparableError;
use crate::model::{RunReport, StackError, StackId, StackReport, StackResult};

/// How many stacks of one cause are told one by one.
const FEW: usize = 3;

/// How many names a list of stacks begins with.
const NAMED: usize = 12;

/// How often progress is reported without a live view.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// How much is told of a stack when it ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CauseDetail {
    /// Everything.
    Whole,
    /// That it failed for the same reason as this one.
    Like(StackId),
    /// Only how many by now are like this one, since nothing was told for a while.
    Count(StackId, usize),
    /// Nothing: it is in the list at the end.
    Nothing,
}

/// The causes in a run so far.
#[derive(Debug, Default)]
pub struct Causes(BTreeMap<String, KnownCause>);

#[derive(Debug)]
struct KnownCause {
    first: StackId,
    stacks: usize,
    told: Instant,
}

impl Causes {
    /// Adds a stack that has ended, and returns what to tell of it.
    pub fn add(&mut self, report: &StackReport) -> CauseDetail {
        let Some(comparable) = comparable_error_of(report) else { return CauseDetail::Whole };
        let first = KnownCause { first: report.id.clone(), stacks: 0, told: Instant::now() };
        let known = self.0.entry(comparable.key).or_insert(first);
        known.stacks += 1;
        let is_silent = known.stacks > FEW && known.told.elapsed() < SIGN_OF_LIFE;
        if !is_silent {
            known.told = Instant::now();
        }
        match known.stacks {
            1 => CauseDetail::Whole,
            ..=FEW if report.error.is_none() => CauseDetail::Whole,
            ..=FEW => CauseDetail::Like(known.first.clone()),
            _ if is_silent => CauseDetail::Nothing,
            stacks => CauseDetail::Count(known.first.clone(), stacks),
        }
    }

    /// Returns whether stack after stack fails for one reason.
    pub fn is_storm(&self) -> bool {
        self.0.values().any(|known| known.stacks > FEW)
    }
}

/// A cause that hit more stacks than are told one by one.
#[derive(Clone, Debug)]
pub struct SharedCause<'a> {
    /// The first of its stacks, in whose words it is told.
    pub report: &'a StackReport,
    /// The run, whose record has all of them.
    pub run: &'a str,
    pub stacks: Vec<&'a StackId>,
    /// In what the stacks differ, with the number of those that have it.
    pub own: BTreeMap<String, usize>,
}

impl<'a> SharedCause<'a> {
    /// Returns whether a stack is among those that it hit.
    pub fn hits(&self, stack: &StackId) -> bool {
        self.stacks.contains(&stack)
    }

    /// Returns why the stacks failed, where they did.
    pub const fn error(&self) -> Option<&'a StackError> {
        self.report.error.as_ref()
    }

    /// Returns the line that tells it, without a sign.
    pub fn heading(&self, words: &str) -> String {
        let count = self.stacks.len();
        match self.error() {
            Some(error) => format!("{count} stacks failed for one reason: {}", error.summary),
            None => format!("{count} stacks {words}"),
        }
    }

    /// Returns what stands below it: in what they differ, and who they are.
    pub fn body(&self) -> Vec<String> {
        let own: Vec<String> = self.own.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        let own = (own.len() > 1).then(|| format!("each with its own: {}", first_of(&own)));
        let names: Vec<String> = self.stacks.iter().map(ToString::to_string).collect();
        let all =
            (names.len() > NAMED + 1).then(|| format!("all of them: `infra runs show {} --json`", self.run));
        let hint = self.error().and_then(|error| error.hint.as_ref());
        let hint = hint.map(|_| "the hint above is for each of them".to_owned());
        own.into_iter().chain([first_of(&names)]).chain(all).chain(hint).collect()
    }
}

/// Names the first of many.
pub fn first_of(names: &[String]) -> String {
    match names.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        // Where one is left, its name is as short.
        1 => names.join(", "),
        more => format!("{} and {more} more", names[..NAMED].join(", ")),
    }
}

/// Returns the causes that hit many stacks of a run, in the order of its stacks.
pub fn shared_causes(report: &RunReport) -> Vec<SharedCause<'_>> {
    let mut order: Vec<String> = Vec::new();
    let mut causes: BTreeMap<String, SharedCause<'_>> = BTreeMap::new();
    for stack in &report.stacks {
        let Some(comparable) = comparable_error_of(stack) else { continue };
        let run = &report.run_id;
        let fresh = || SharedCause { report: stack, run, stacks: Vec::new(), own: BTreeMap::new() };
        if !causes.contains_key(&comparable.key) {
            order.push(comparable.key.clone());
        }
        let cause = causes.entry(comparable.key).or_insert_with(fresh);
        cause.stacks.push(&stack.id);
        comparable.own.into_iter().for_each(|name| *cause.own.entry(name).or_default() += 1);
    }
    let all = order.iter().filter_map(|key| causes.remove(key));
    all.filter(|cause| cause.stacks.len() > FEW).collect()
}

/// Returns why a stack did not do what it should, without what is its own.
fn comparable_error_of(report: &StackReport) -> Option<ComparableError> {
    let stack = &report.id;
    let mut comparable = match (&report.error, report.result) {
        // What was done before is the stack's own.
        (Some(_), _) if report.counts() != Default::default() => return None,
        (Some(error), _) => ComparableError::of_error(stack, error),
        (None, StackResult::Skipped | StackResult::Deferred) => {
            ComparableError::of_words(stack, report.reason.as_deref()?)
        }
        (None, StackResult::Interrupted) if report.not_begun => ComparableError::of_words(stack, "not begun"),
        (None, _) => return None,
    };
    comparable.key = format!("{:?} {}", report.result, comparable.key);
    Some(comparable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RunCommand;

    fn failed(number: usize, summary: &str) -> StackReport {
        let error = StackError {
            code: None,
            summary: summary.to_owned(),
            detail: format!("Could not resolve provider a/p{}", number % 2),
            hint: None,
        };
        let report = StackReport::new(StackId::new(format!("s/{number}")), StackResult::Failed);
        StackReport { error: Some(error), ..report }
    }

    #[test]
    fn the_first_is_told_whole_a_few_in_short_and_the_rest_at_the_end() {
        let mut causes = Causes::default();

        let shown: Vec<CauseDetail> = (1..=5).map(|number| causes.add(&failed(number, "S"))).collect();

        let like = CauseDetail::Like(StackId::new("s/1"));
        assert_eq!(
            shown,
            [CauseDetail::Whole, like.clone(), like, CauseDetail::Nothing, CauseDetail::Nothing]
        );
        assert_eq!(causes.add(&failed(6, "another")), CauseDetail::Whole);
        assert!(causes.is_storm());
    }

    #[test]
    fn a_shared_cause_names_some_of_its_stacks_and_in_what_they_differ() {
        let stacks = (1..=60).map(|number| failed(number, "S")).chain([failed(61, "another")]).collect();
        let report = RunReport {
            run_id: "1".to_owned(),
            command: RunCommand::Plan,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 1.0,
            exit_code: 1,
            stacks,
        };

        let causes = shared_causes(&report);

        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].heading(""), "60 stacks failed for one reason: S");
        let body = causes[0].body();
        assert_eq!(body[0], "each with its own: a/p0 (30), a/p1 (30)");
        assert!(
            body[1].starts_with("s/1, s/2, s/3, ") && body[1].ends_with(", s/12 and 48 more"),
            "{body:?}"
        );
    }

    #[test]
    fn skipped_stacks_with_one_reason_are_told_together_and_three_are_not() {
        let skipped = |count: usize| {
            (0..count)
                .map(|number| {
                    StackReport::new(StackId::new(format!("s/{number}")), StackResult::Skipped)
                        .with_reason("a did not succeed")
                })
                .collect::<Vec<_>>()
        };
        let report = |stacks| RunReport {
            run_id: "1".to_owned(),
            command: RunCommand::Apply,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 1.0,
            exit_code: 1,
            stacks,
        };

        assert_eq!(shared_causes(&report(skipped(FEW))).len(), 0);
        let many = report(skipped(FEW + 1));
        assert_eq!(
            shared_causes(&many)[0].heading("skipped: a did not succeed"),
            "4 stacks skipped: a did not succeed"
        );
    }
}
