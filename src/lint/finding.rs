//! What a rule found, and where.

use crate::model::{Fingerprint, LintLevel, LintRule};

/// Where a finding is.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct FindingPlace {
    /// The file as seen from the project's root, with `/` between segments.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// How many letters the line has.
    pub width: usize,
    /// The lines at which a comment may ignore it, beside its own: that of the block around it.
    pub around: Option<usize>,
}

impl FindingPlace {
    /// Returns the beginning of a file, which need not be there.
    pub fn start_of(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 1, width: 0, around: None }
    }
}

/// One thing that is not as a rule wants it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: LintRule,
    /// How grave it is in this project.
    pub level: LintLevel,
    /// Where it is.
    pub place: FindingPlace,
    /// What is wrong, and how it becomes right.
    pub message: String,
    /// What it is about, whatever its line: `variable.size`.
    pub subject: String,
    /// Which of several about the same thing.
    pub ordinal: usize,
}

impl Finding {
    /// Makes a finding of the usual gravity.
    pub fn new(
        rule: LintRule,
        place: FindingPlace,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            rule,
            level: rule.usual_level(),
            place,
            message: message.into(),
            subject: subject.into(),
            ordinal: 0,
        }
    }

    /// Returns what stays the same when lines move, and differs from every other finding.
    pub fn fingerprint(&self, file: &str) -> String {
        let ordinal = self.ordinal.to_string();
        let parts = [self.rule.name(), file, &self.subject, &ordinal];
        let whole = Fingerprint::of(parts.map(str::as_bytes)).to_string();
        whole.get(..32).unwrap_or(&whole).to_owned()
    }
}

/// Sorts findings by place, and numbers those about the same thing.
pub(super) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|one, other| {
        (&one.place, one.rule, &one.subject, &one.message).cmp(&(
            &other.place,
            other.rule,
            &other.subject,
            &other.message,
        ))
    });
    let mut seen = std::collections::BTreeMap::new();
    for finding in &mut findings {
        let key = (finding.rule, finding.place.file.clone(), finding.subject.clone());
        let count = seen.entry(key).or_insert(0_usize);
        finding.ordinal = *count;
        *count += 1;
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: usize) -> Finding {
        let place = FindingPlace { line, ..FindingPlace::start_of("a.tf") };
        Finding::new(LintRule::VariableType, place, "variable.x", "no type")
    }

    #[test]
    fn a_fingerprint_stays_when_lines_move_and_tells_twins_apart() {
        let before = in_order(vec![at(4), at(2)]);
        let after = in_order(vec![at(14), at(12)]);

        let prints =
            |all: &[Finding]| -> Vec<String> { all.iter().map(|one| one.fingerprint("a.tf")).collect() };
        assert_eq!(prints(&before), prints(&after));
        assert_ne!(prints(&before)[0], prints(&before)[1]);
        assert_ne!(at(1).fingerprint("a.tf"), at(1).fingerprint("b.tf"));
    }
}
