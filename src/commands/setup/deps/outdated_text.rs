//! What `infra deps outdated` shows a person: minor and major updates apart, what each would touch, what is
//! not known, and what to type next.

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

use super::asking::{Asked, Finding};
use super::outdated_args::OutdatedArgs;
use super::outdated_json::words;
use super::surveyed::OutdatedSurvey;
use super::taking::Taken;
use crate::commands::Context;
use crate::commands::program;
use crate::model::{StackId, counted, quoted};
use crate::report::{Tone, padded, text_width};
use crate::upgrades::{Judgement, Step, Use, Way};

/// How many stacks are named one by one.
const MOST_NAMED: usize = 3;

/// How many stacks are typed one by one before `--all` says it shorter.
const MOST_TYPED: usize = 6;

/// A version in use, and the one to go to.
type FromTo = (Option<Version>, Version);

/// A use with the step it can take.
type Outdated<'a> = (&'a Use, &'a Judgement, &'a Step);

/// Picks the minor or the major step.
type Pick = fn(&Judgement) -> Option<&Step>;

/// Prints the list, or what was edited.
pub(super) fn show(
    look: &OutdatedSurvey<'_>,
    asked: &Asked,
    taken: &Taken,
    args: &OutdatedArgs,
    context: &Context,
) {
    let terminal = context.terminal;
    if args.write {
        for edit in &taken.edits {
            let (file, line) = edit.place();
            terminal.data_hanging(&format!("{file}:{line}  {} → {}", edit.before, edit.after), 4);
        }
        return show_unknown(look, asked, context);
    }
    terminal.data_line(&tofu_line(asked));
    let width =
        asked.findings.iter().map(|one| text_width(&one.dependency.short(look.flavour))).max().unwrap_or(0);
    let parts: [(&str, Pick); 2] = [
        ("minor updates", |judgement| judgement.minor.as_ref()),
        ("major updates", |judgement| judgement.major.as_ref()),
    ];
    for (title, pick) in parts {
        let lines: Vec<String> =
            asked.findings.iter().flat_map(|one| lines(look, one, pick, width)).collect();
        if !lines.is_empty() {
            terminal.data_line(&format!("\n{}", terminal.paint_data(Tone::Strong, title)));
            lines.iter().for_each(|line| terminal.data_hanging(line, 6));
        }
    }
    show_unknown(look, asked, context);
    show_count(asked, context);
}

fn tofu_line(asked: &Asked) -> String {
    let tofu = &asked.tofu;
    let used = tofu.used.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    match &tofu.newest {
        Ok(newest) => format!("tofu: {used} in use, {newest} is the newest"),
        Err(error) => format!("tofu: {used} in use, the newest is not known: {}", words(error)),
    }
}

/// Returns a heading for each version that uses go to, with what that would touch below it.
fn lines(look: &OutdatedSurvey<'_>, finding: &Finding, pick: Pick, width: usize) -> Vec<String> {
    let mut ways: BTreeMap<FromTo, Vec<Outdated<'_>>> = BTreeMap::new();
    for (found, judgement) in &finding.uses {
        if let Some(step) = pick(judgement) {
            let key = (judgement.current.clone(), step.version.clone());
            ways.entry(key).or_default().push((found, judgement, step));
        }
    }
    let (kind, name) = (finding.dependency.kind(), padded(&finding.dependency.short(look.flavour), width));
    let of_way = |((current, version), uses): (FromTo, Vec<Outdated<'_>>)| {
        let current = current.map(|version| version.to_string()).unwrap_or_default();
        let stacks: BTreeSet<&StackId> = uses.iter().flat_map(|(found, ..)| &found.stacks).collect();
        let heading = format!("  {kind:8}  {name}  {current} → {version}  {}", named(&stacks));
        std::iter::once(heading).chain(touched(&uses)).collect::<Vec<_>>()
    };
    ways.into_iter().flat_map(of_way).collect()
}

/// Returns the constraints that keep a version out, and what may be had without touching them.
fn touched(uses: &[Outdated<'_>]) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for (found, judgement, step) in uses {
        if step.way == Way::Upgrade {
            lines.insert("      no edit: `init -upgrade` takes it".to_owned());
        }
        let holds = |one: &&std::sync::Arc<crate::upgrades::Requirement>| {
            one.text().is_some() && one.constraint().is_none_or(|it| !it.allows(&step.version))
        };
        lines.extend(found.requirements.iter().filter(holds).map(|one| {
            format!("      {}:{}  {}", one.place.shown(), one.place.line(), one.text().unwrap_or_default())
        }));
        if let Some(allowed) = &judgement.allowed
            && step.way == Way::Edit
            && judgement.current.as_ref().is_some_and(|current| current < allowed)
        {
            lines.insert(format!("      {allowed} without an edit"));
        }
    }
    lines
}

fn named(stacks: &BTreeSet<&StackId>) -> String {
    let mut names: Vec<String> = stacks.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    if stacks.len() > MOST_NAMED {
        names.push(format!("{} more", stacks.len() - MOST_NAMED));
    }
    names.join(", ")
}

fn show_unknown(look: &OutdatedSurvey<'_>, asked: &Asked, context: &Context) {
    let unknown = asked.findings.iter().filter_map(|one| Some((one, one.releases.as_ref().err()?)));
    let lines: Vec<String> = unknown
        .map(|(one, error)| {
            let (kind, name) = (one.dependency.kind(), one.dependency.short(look.flavour));
            format!("  {kind:8}  {name}  not known: {}", words(error))
        })
        .collect();
    if !lines.is_empty() {
        context.terminal.data_line(&format!("\n{}", context.terminal.paint_data(Tone::Warn, "not known")));
        lines.iter().for_each(|line| context.terminal.data_hanging(line, 6));
    }
}

fn show_count(asked: &Asked, context: &Context) {
    let has =
        |pick: Pick| move |one: &&Finding| one.uses.iter().any(|(_, judgement)| pick(judgement).is_some());
    let count = |pick: Pick| asked.findings.iter().filter(has(pick)).count();
    let (minor, major) = (count(|one| one.minor.as_ref()), count(|one| one.major.as_ref()));
    let known = asked.findings.iter().filter(|one| one.is_outdated() == Some(false)).count();
    let unknown = asked.findings.iter().filter(|one| one.releases.is_err()).count();
    let is_module = |one: &&Finding| one.dependency.kind() == "module";
    let modules = asked.findings.iter().filter(is_module).count();
    let providers = counted(asked.findings.len() - modules, "provider");
    let all = format!("{providers}, {}", counted(modules, "module"));
    if !asked.findings.is_empty() {
        context.terminal.note(&format!(
            "{all}: {minor} with a minor update, {major} with a major one, {known} up to date, {unknown} not known"
        ));
    }
}

/// Says what is odd, and what to type next.
pub(super) fn tell_next(
    look: &OutdatedSurvey<'_>,
    asked: &Asked,
    taken: &Taken,
    args: &OutdatedArgs,
    context: &Context,
) {
    let terminal = context.terminal;
    let remarks = look.survey.remarks.iter().filter(|(_, stacks)| !stacks.is_disjoint(look.chosen));
    remarks.for_each(|(remark, _)| terminal.note(remark));
    for (finding, judgement) in judgements(asked) {
        for warning in &judgement.warnings {
            let name = finding.dependency.short(look.flavour);
            terminal.note(&format!("{}: {name}: {warning}", terminal.paint(Tone::Warn, "warning")));
        }
    }
    for left in &taken.left {
        let name = left.dependency.short(look.flavour);
        terminal.note(&format!(
            "left: {}: `{}` keeps {name} below {}: {}",
            left.place, left.constraint, left.version, left.why
        ));
    }
    for hint in hints(look, asked, taken, args, context) {
        terminal.note(&format!("{}: {hint}", terminal.paint(Tone::Warn, "hint")));
    }
}

fn judgements(asked: &Asked) -> impl Iterator<Item = (&Finding, &Judgement)> {
    asked
        .findings
        .iter()
        .flat_map(|finding| finding.uses.iter().map(move |(_, judgement)| (finding, judgement)))
}

fn hints(
    look: &OutdatedSurvey<'_>,
    asked: &Asked,
    taken: &Taken,
    args: &OutdatedArgs,
    context: &Context,
) -> Vec<String> {
    let program = program(context);
    let mut hints = Vec::new();
    if args.write {
        hints.extend(after_edits(look, taken, &program));
        hints.extend(with_others(look, taken, &program));
        return hints;
    }
    let chosen = args.stacks.typed().map(|typed| format!(" {typed}")).unwrap_or_default();
    let with = |pick: Pick| stacks_with(look, asked, pick);
    if with(|one| one.minor.as_ref().filter(|step| step.way == Way::Edit)).next().is_some() {
        let minor = if chosen.is_empty() || args.stacks.all { "" } else { " --minor" };
        hints.push(format!(
            "edit the constraints for minor updates: `{program} deps outdated --write{minor}{chosen}`"
        ));
    }
    if let Some(stack) = with(|one| one.major.as_ref()).next() {
        let stack = quoted(stack.as_str());
        hints.push(format!(
            "try major ones in one stack first, such as: `{program} deps outdated --write {stack}`"
        ));
    }
    let upgraded: BTreeSet<&StackId> = with(upgradable).collect();
    if !upgraded.is_empty() {
        hints.push(format!("what needs no edit: `{program} init {} -- -upgrade`", typed(&upgraded)));
    }
    hints.extend(tofu_hint(asked, &program));
    hints
}

fn upgradable(judgement: &Judgement) -> Option<&Step> {
    let steps = [&judgement.minor, &judgement.major].into_iter().flatten();
    steps.into_iter().find(|step| step.way == Way::Upgrade)
}

/// Returns the chosen stacks with a step.
fn stacks_with<'a>(
    look: &'a OutdatedSurvey<'_>,
    asked: &'a Asked,
    pick: Pick,
) -> impl Iterator<Item = &'a StackId> {
    let uses = asked.findings.iter().flat_map(|finding| &finding.uses);
    let meant = uses.filter(move |(_, judgement)| pick(judgement).is_some());
    meant.flat_map(|(found, _)| &found.stacks).filter(|stack| look.chosen.contains(*stack))
}

fn typed(stacks: &BTreeSet<&StackId>) -> String {
    match stacks.len() {
        many if many > MOST_TYPED => "--all".to_owned(),
        _ => stacks.iter().map(|stack| quoted(stack.as_str())).collect::<Vec<_>>().join(" "),
    }
}

fn after_edits(look: &OutdatedSurvey<'_>, taken: &Taken, program: &str) -> Option<String> {
    let stacks =
        taken.edits.iter().flat_map(|edit| &edit.stacks).filter(|stack| look.chosen.contains(*stack));
    let stacks = typed(&stacks.collect());
    (!taken.edits.is_empty())
        .then(|| format!("next: `{program} init {stacks} -- -upgrade`, then `{program} plan {stacks}`"))
}

/// A file that others share is edited once they are chosen too.
fn with_others(look: &OutdatedSurvey<'_>, taken: &Taken, program: &str) -> Option<String> {
    let others: BTreeSet<&StackId> = taken.left.iter().flat_map(|left| &left.others).collect();
    let all: BTreeSet<&StackId> = others.iter().copied().chain(look.chosen).collect();
    (!others.is_empty())
        .then(|| format!("with those that share a file: `{program} deps outdated --write {}`", typed(&all)))
}

fn tofu_hint(asked: &Asked, program: &str) -> Option<String> {
    let newest = asked.tofu.newest.as_ref().ok().filter(|_| asked.tofu.is_outdated() == Some(true))?;
    Some(format!(
        "a newer tofu: set `version: \"{newest}\"` below `tofu:` in infra.yaml, then `{program} deps install`"
    ))
}
