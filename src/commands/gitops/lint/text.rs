//! Findings for people: each with file and line, then a line that sums up, and what to do next.

use crate::commands::Context;
use crate::lint::{Finding, Judgement};
use crate::model::{LintLevel, LintRule, counted};
use crate::report::Tone;

/// Writes findings to stdout, and the rest to stderr.
pub(super) fn show(judgement: &Judgement, was_fixed: bool, context: &Context) {
    let terminal = &context.terminal;
    let mut told = None;
    for finding in &judgement.findings {
        let place = format!("{}:{}", finding.place.file, finding.place.line);
        if told.as_ref() != Some(&place) {
            terminal.data_line(&terminal.paint_data(Tone::Strong, &place));
        }
        told = Some(place);
        let (sign, tone) = sign_of(finding.level);
        let head = format!("{sign} {}[{}]", finding.level.word(), finding.rule);
        terminal.data_hanging(&format!("  {} {}", terminal.paint_data(tone, &head), finding.message), 4);
    }
    let (sign, tone) = match judgement.findings.iter().map(|finding| finding.level).min() {
        Some(level) => sign_of(level),
        None => ("✓", Tone::Good),
    };
    terminal.note(&format!("{} {}", terminal.paint(tone, sign), summary(judgement)));
    for hint in hints(judgement, was_fixed) {
        terminal.note_hanging(&format!("{}: {hint}", terminal.paint(Tone::Warn, "hint")), 6);
    }
}

const fn sign_of(level: LintLevel) -> (&'static str, Tone) {
    match level {
        LintLevel::Error => ("✗", Tone::Bad),
        LintLevel::Warning => ("!", Tone::Warn),
        LintLevel::Note | LintLevel::Off => ("·", Tone::Dim),
    }
}

fn summary(judgement: &Judgement) -> String {
    let of = |level| judgement.findings.iter().filter(|finding| finding.level == level).count();
    let levels = [LintLevel::Error, LintLevel::Warning, LintLevel::Note];
    let counts = levels.into_iter().map(|level| (of(level), level)).filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = counts.map(|(count, level)| counted(count, level.word())).collect();
    if parts.is_empty() {
        parts.push("nothing found".to_owned());
    }
    if judgement.ignored > 0 {
        parts.push(format!("{} ignored", judgement.ignored));
    }
    let (stacks, modules) = (counted(judgement.stacks, "stack"), counted(judgement.modules, "module"));
    format!("{} in {stacks} and {modules}", parts.join(", "))
}

fn hints(judgement: &Judgement, was_fixed: bool) -> Vec<String> {
    let has = |rule| judgement.findings.iter().any(|finding: &Finding| finding.rule == rule);
    let can_fix = judgement.mendings.iter().any(|mending| mending.content.is_ok());
    let mut hints = Vec::new();
    if can_fix && !was_fixed {
        hints.push(
            "`infra lint --fix` writes what modules lack: files, and the tables of their READMEs".to_owned(),
        );
    }
    if has(LintRule::ProviderVersionPin) || has(LintRule::ModuleVersionPin) {
        hints.push("`~> 1.2` takes 1.3 but not 2.0, `~> 1.2.0` takes 1.2.9 but not 1.3".to_owned());
    }
    hints
}
