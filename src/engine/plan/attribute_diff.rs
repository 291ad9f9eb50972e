//! Which attributes of a resource a plan changes, and how; safe to show.
//!
//! Pure. What stays as it is is counted. Objects are followed to the values that differ, texts that
//! hold JSON as well; of a text of several lines and of a list of plain values the lines and items
//! are told that come and go. What must not be shown decides `plan_secrets`.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::plan_secrets::PlanSecrets;
use super::plan_value::{PlanValue, Step, Steps, UNKNOWN, steps_of, written};
use crate::engine::state_content::MASK;
use crate::model::{Action, AttributeChange, ChangedLine, Safe, excerpts};

/// How much of a value is told: more than anybody reads, and less than fills the memory.
const LONGEST: usize = 100_000;

/// A list that is written in so many letters is told as a whole.
const SHORT: usize = 40;

/// The attributes of one resource that change.
#[derive(Debug)]
pub(super) struct AttributeDiff {
    pub attributes: Vec<AttributeChange>,
    /// How many stay as they are.
    pub unchanged: usize,
}

impl AttributeDiff {
    /// Reads the `change` of a resource or an output.
    pub fn of(change: &Value, action: Action, secrets: &PlanSecrets<'_>) -> Self {
        let before = PlanValue::of(&change["before"], &Value::Null);
        let after = PlanValue::of(&change["after"], &change["after_unknown"]);
        let forcing: Vec<Steps> =
            change["replace_paths"].as_array().into_iter().flatten().map(steps_of).collect();
        let mut walk = Walk { change, secrets, forcing, path: Vec::new(), found: Vec::new(), unchanged: 0 };
        match action {
            Action::Forget => {}
            Action::Create | Action::Read => walk.list_parts(&after, Side::After),
            Action::Delete => walk.list_parts(&before, Side::Before),
            Action::Update | Action::Replace | Action::Import | Action::Move => walk.compare(&before, &after),
        }
        walk.add_missing_reasons();
        let mut attributes = walk.found;
        let is_unknown = |one: &AttributeChange| one.after.as_deref() == Some(UNKNOWN);
        // What nobody can know yet says least.
        attributes.sort_by_key(|one| (!one.forces, is_unknown(one)));
        Self { attributes, unchanged: walk.unchanged }
    }
}

/// Which of two values there is.
#[derive(Clone, Copy, Debug)]
enum Side {
    Before,
    After,
}

struct Walk<'a> {
    change: &'a Value,
    secrets: &'a PlanSecrets<'a>,
    /// The paths that force a replacement.
    forcing: Vec<Steps>,
    path: Steps,
    found: Vec<AttributeChange>,
    unchanged: usize,
}

impl Walk<'_> {
    fn compare(&mut self, before: &PlanValue<'_>, after: &PlanValue<'_>) {
        if before.is(after) {
            self.unchanged += usize::from(self.path.len() == 1 && !matches!(after, PlanValue::Null));
            return;
        }
        if self.secrets.hides(self.change, &self.path) {
            return self.tell(Some(before), Some(after));
        }
        match (before, after) {
            (PlanValue::Map(_), PlanValue::Map(_)) => {
                for step in before.common_steps(after).unwrap_or_default() {
                    self.within(step.clone(), |walk| walk.compare(before.below(&step), after.below(&step)));
                }
            }
            (PlanValue::List(one), PlanValue::List(other)) => self.compare_lists(one, other),
            (PlanValue::Plain(Value::String(one)), PlanValue::Plain(Value::String(other))) => {
                self.compare_texts(one, other);
            }
            _ => self.tell(Some(before), Some(after)),
        }
    }

    fn within(&mut self, step: Step, go_on: impl FnOnce(&mut Self)) {
        self.path.push(step);
        go_on(self);
        self.path.pop();
    }

    /// Compares documents inside of texts value by value, and long texts line by line.
    fn compare_texts(&mut self, before: &str, after: &str) {
        if let (Some(one), Some(other)) = (document(before), document(after)) {
            let is_told = self.secrets.keeps_shape(before, &one) && self.secrets.keeps_shape(after, &other);
            let (one, other) = (PlanValue::of(&one, &Value::Null), PlanValue::of(&other, &Value::Null));
            if is_told && !one.is(&other) {
                return self.compare(&one, &other);
            }
        }
        let (one, other) = (Value::from(before), Value::from(after));
        let both = (PlanValue::Plain(&one), PlanValue::Plain(&other));
        if !(before.contains('\n') || after.contains('\n')) || !self.has_open_lines(before, after) {
            return self.tell(Some(&both.0), Some(&both.1));
        }
        let text = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        let lines = self.changed(&text(before), &text(after));
        match lines.is_empty() {
            true => self.tell(Some(&both.0), Some(&both.1)),
            false => self.tell_lines(lines),
        }
    }

    /// Returns whether two texts can be told line by line: what must not be shown is masked in its line.
    fn has_open_lines(&self, before: &str, after: &str) -> bool {
        let is_open = |text: &str| self.secrets.keeps_lines(text) && !self.secrets.is_own(self.change, text);
        !self.secrets.hides_any(self.change, &self.path) && is_open(before) && is_open(after)
    }

    fn compare_lists(&mut self, before: &[PlanValue<'_>], after: &[PlanValue<'_>]) {
        let whole = |items: &[PlanValue<'_>]| -> Value { items.iter().map(PlanValue::to_json).collect() };
        // Where items move, marks are no longer beside what they are about.
        if before.len() != after.len() && self.secrets.hides_any(self.change, &self.path) {
            return self.tell_values(Some(&whole(before)), Some(&whole(after)));
        }
        let is_plain = |item: &PlanValue<'_>| !matches!(item, PlanValue::List(_) | PlanValue::Map(_));
        let plain = before.iter().chain(after).all(is_plain);
        if before.len() == after.len() && !(plain && before.len() > 1) {
            for (index, (one, other)) in before.iter().zip(after).enumerate() {
                self.within(Step::Index(index), |walk| walk.compare(one, other));
            }
        } else if plain {
            self.compare_items(before, after);
        } else {
            self.compare_parts(before, after);
        }
    }

    /// Tells which plain values come and go.
    fn compare_items(&mut self, before: &[PlanValue<'_>], after: &[PlanValue<'_>]) {
        let json = |items: &[PlanValue<'_>]| -> Vec<Value> { items.iter().map(PlanValue::to_json).collect() };
        let (before, after) = (json(before), json(after));
        let (one, other) = (Value::from(before.clone()), Value::from(after.clone()));
        let text = |items: &[Value]| -> Vec<String> { items.iter().map(written).collect() };
        let lines = self.changed(&text(&before), &text(&after));
        let is_short = one.to_string().len().max(other.to_string().len()) <= SHORT;
        if lines.is_empty() || is_short || self.is_secret(&one, &other) {
            return self.tell_values(Some(&one), Some(&other));
        }
        self.tell_lines(lines);
    }

    /// Compares those objects of two lists that are not the same.
    fn compare_parts(&mut self, before: &[PlanValue<'_>], after: &[PlanValue<'_>]) {
        let text = |items: &[PlanValue<'_>]| -> Vec<String> {
            items.iter().map(|item| item.to_json().to_string()).collect()
        };
        for op in capture_diff_slices(Algorithm::Myers, &text(before), &text(after)) {
            let (gone, new) = (op.old_range(), op.new_range());
            if matches!(op, DiffOp::Equal { .. }) {
                continue;
            }
            let both = gone.len().min(new.len());
            for offset in 0..both {
                let (old, new) = (gone.start + offset, new.start + offset);
                self.within(Step::Index(new), |walk| walk.compare(&before[old], &after[new]));
            }
            for old in gone.clone().skip(both) {
                self.within(Step::Index(old), |walk| walk.tell(Some(&before[old]), None));
            }
            for new in new.clone().skip(both) {
                self.within(Step::Index(new), |walk| walk.tell(None, Some(&after[new])));
            }
        }
    }

    /// Lists the values of what comes or goes as a whole; what is partly unknown or hidden, part by part.
    fn list_parts(&mut self, value: &PlanValue<'_>, side: Side) {
        let is_whole = !value.has_unknown() && !self.secrets.hides_any(self.change, &self.path);
        let steps = value.common_steps(value).unwrap_or_default();
        let apart = self.path.is_empty() || !is_whole;
        match value {
            PlanValue::Null => {}
            PlanValue::Map(_) | PlanValue::List(_)
                if apart && !steps.is_empty() && !self.secrets.hides(self.change, &self.path) =>
            {
                for step in steps {
                    self.within(step.clone(), |walk| walk.list_parts(value.below(&step), side));
                }
            }
            _ => match side {
                Side::Before => self.tell(Some(value), None),
                Side::After => self.tell(None, Some(value)),
            },
        }
    }

    /// A replacement is told with its causes, even where their values are the same for a person.
    fn add_missing_reasons(&mut self) {
        for path in std::mem::take(&mut self.forcing) {
            let path = self.secrets.masked_path(&path);
            let is_told = self.found.iter().any(|one| one.forces && starts_with(&one.path, &path));
            if !is_told {
                let (before, after, lines) = (None, None, Vec::new());
                self.found.push(AttributeChange { path, before, after, forces: true, lines });
            }
        }
    }

    fn tell(&mut self, before: Option<&PlanValue<'_>>, after: Option<&PlanValue<'_>>) {
        let (before, after) = (before.map(PlanValue::to_json), after.map(PlanValue::to_json));
        self.tell_values(before.as_ref(), after.as_ref());
    }

    fn tell_values(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let pair = (before.or(after).unwrap_or(&Value::Null), after.or(before).unwrap_or(&Value::Null));
        let (one, other) = match self.is_secret(pair.0, pair.1) {
            true => (hidden(pair.0), hidden(pair.1)),
            false => excerpts(&written(pair.0), &written(pair.1), LONGEST),
        };
        let before = before.map(|_| self.secrets.masked(&one));
        let after = after.map(|_| self.secrets.masked(&other));
        self.push(before, after, Vec::new());
    }

    fn tell_lines(&mut self, lines: Vec<ChangedLine>) {
        self.push(None, None, lines);
    }

    fn push(&mut self, before: Option<Safe>, after: Option<Safe>, lines: Vec<ChangedLine>) {
        let forces =
            self.forcing.iter().any(|path| path.iter().zip(&self.path).all(|(one, other)| one == other));
        let path = self.secrets.masked_path(&self.path);
        self.found.push(AttributeChange { path, before, after, forces, lines });
    }

    fn is_secret(&self, before: &Value, after: &Value) -> bool {
        self.secrets.is_told_masked([self.change, self.change], &self.path, (before, after))
    }

    /// Returns the texts that come and go, in their order.
    fn changed(&self, before: &[String], after: &[String]) -> Vec<ChangedLine> {
        let line = |added: bool, text: &str| ChangedLine {
            added,
            // Masked before it is cut, for half a secret is not found any more.
            text: self.secrets.masked(&excerpts(&self.secrets.all_masked(text), "", LONGEST).0),
        };
        let ops = capture_diff_slices(Algorithm::Myers, before, after);
        let ops = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
        ops.flat_map(|op| {
            let gone = before[op.old_range()].iter().map(|text| line(false, text));
            gone.chain(after[op.new_range()].iter().map(|text| line(true, text))).collect::<Vec<_>>()
        })
        .collect()
    }
}

/// Returns what is shown in place of a value that must not be; that there is none, or none yet, is no
/// secret.
fn hidden(value: &Value) -> String {
    if value.is_null() || value == UNKNOWN { written(value) } else { MASK.to_owned() }
}

/// Returns whether a written path is another one, or leads into it.
fn starts_with(path: &str, start: &str) -> bool {
    path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns the document that a text holds, if it is one of several values.
fn document(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}
