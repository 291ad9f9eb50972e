//! `infra deps outdated --json`: one row for tofu, then one for each provider and module.

use serde_json::{Value, json};

use super::asking::{Asked, Finding};
use super::surveyed::OutdatedSurvey;
use super::taking::Taken;
use crate::error::Error;
use crate::upgrades::{Edit, Judgement, Left, Requirement, Step, Use, Way};

/// Returns the row of tofu.
pub(super) fn tofu_row(asked: &Asked) -> Value {
    let tofu = &asked.tofu;
    json!({
        "kind": "tofu",
        "name": "tofu",
        "version": tofu.used.as_ref().map(ToString::to_string),
        "newest": tofu.newest.as_ref().ok().map(ToString::to_string),
        "outdated": tofu.is_outdated(),
        "known": tofu.newest.is_ok(),
        "error": tofu.newest.as_ref().err().map(words),
        "constraint": tofu.constraint.to_string(),
        "allowed": tofu.newest.as_ref().ok().map(|newest| tofu.constraint.allows(newest)),
    })
}

/// Returns the rows of providers and modules, with what was edited of each.
pub(super) fn with_edits<'a>(
    look: &'a OutdatedSurvey<'_>,
    asked: &'a Asked,
    taken: &'a Taken,
) -> impl Iterator<Item = Value> + 'a {
    asked.findings.iter().map(move |finding| row(look, finding, taken))
}

fn row(look: &OutdatedSurvey<'_>, finding: &Finding, taken: &Taken) -> Value {
    let version = finding.uses.iter().filter_map(|(_, judgement)| judgement.current.as_ref()).min();
    let edits = taken.edits.iter().filter(|edit| edit.dependency == finding.dependency);
    let left = taken.left.iter().filter(|left| left.dependency == finding.dependency);
    json!({
        "kind": finding.dependency.kind(),
        "name": finding.dependency.short(look.flavour),
        "address": finding.dependency.to_string(),
        "version": version.map(ToString::to_string),
        "newest": finding.newest().map(ToString::to_string),
        "outdated": finding.is_outdated(),
        "known": finding.releases.is_ok(),
        "error": finding.releases.as_ref().err().map(words),
        "uses": finding.uses.iter().map(|(found, judgement)| use_row(found, judgement)).collect::<Vec<_>>(),
        "edited": edits.map(edit_row).collect::<Vec<_>>(),
        "left": left.map(left_row).collect::<Vec<_>>(),
    })
}

fn use_row(found: &Use, judgement: &Judgement) -> Value {
    json!({
        "stacks": found.stacks,
        "version": judgement.current.as_ref().map(ToString::to_string),
        "locked": found.locked.as_ref().map(ToString::to_string),
        "constraints": found.requirements.iter().map(|one| constraint_row(one)).collect::<Vec<_>>(),
        "allowed": judgement.allowed.as_ref().map(ToString::to_string),
        "minor": judgement.minor.as_ref().map(step_row),
        "major": judgement.major.as_ref().map(step_row),
        "warnings": judgement.warnings,
    })
}

fn constraint_row(requirement: &Requirement) -> Value {
    json!({
        "file": requirement.place.shown(),
        "line": requirement.place.line(),
        "constraint": requirement.text(),
    })
}

fn step_row(step: &Step) -> Value {
    json!({"version": step.version.to_string(), "needs_edit": step.way == Way::Edit})
}

fn edit_row(edit: &Edit) -> Value {
    let (file, line) = edit.place();
    json!({
        "file": file,
        "line": line,
        "before": edit.before,
        "after": edit.after,
        "version": edit.target.to_string(),
        "stacks": edit.stacks,
    })
}

fn left_row(left: &Left) -> Value {
    json!({
        "place": left.place,
        "constraint": left.constraint,
        "version": left.version.to_string(),
        "why": left.why,
        "shared_with": left.others,
    })
}

/// Returns an error on one line.
pub(super) fn words(error: &Error) -> String {
    std::iter::once(error.message().to_owned()).chain(error.body()).collect::<Vec<_>>().join("; ")
}
