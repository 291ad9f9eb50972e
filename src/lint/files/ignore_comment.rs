//! Comments by which a person lets a finding pass: `# infra:ignore RULE[,RULE]: reason`.

use crate::model::{LintRule, nearest};

/// What such a comment begins with.
pub const MARK: &str = "infra:ignore";

/// A comment that ignores rules.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IgnoreComment {
    /// The line that it stands on.
    pub line: usize,
    /// The lines whose findings it is about.
    pub about: Vec<usize>,
    /// The rules.
    pub rules: Vec<LintRule>,
    /// Names that are no rules.
    pub unknown: Vec<String>,
    /// Whether it says why.
    pub has_reason: bool,
}

impl IgnoreComment {
    /// Reads what stands behind the sign of a comment; `None` if it is about something else.
    pub fn parse(text: &str, line: usize, about: Vec<usize>) -> Option<Self> {
        let rest = text.trim().strip_prefix(MARK)?;
        if rest.starts_with(|sign: char| !sign.is_whitespace() && sign != ':') {
            return None;
        }
        let (names, reason) = rest.split_once(':').unwrap_or((rest, ""));
        let names = names.split([',', ' ', '\t']).map(str::trim).filter(|name| !name.is_empty());
        let (mut rules, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match LintRule::named(name) {
                Some(rule) => rules.push(rule),
                None => unknown.push(name.to_owned()),
            }
        }
        Some(Self { line, about, rules, unknown, has_reason: !reason.trim().is_empty() })
    }

    /// Returns whether findings of a rule at a line pass.
    pub fn covers(&self, rule: LintRule, line: usize) -> bool {
        self.has_reason && self.rules.contains(&rule) && self.about.contains(&line)
    }

    /// Returns what is wrong with the comment itself.
    pub fn flaws(&self) -> Vec<String> {
        let unknown = self.unknown.iter().map(|name| {
            let guess = nearest(name, LintRule::ALL.iter().map(|rule| rule.name()));
            let guess = guess.map(|guess| format!("; did you mean `{guess}`?")).unwrap_or_default();
            format!("`{}` is no rule{guess}", name.escape_debug())
        });
        let nameless = (self.rules.is_empty() && self.unknown.is_empty())
            .then(|| format!("`{MARK}` names no rule: `{MARK} RULE: reason`"));
        let unfounded = (!self.has_reason && nameless.is_none()).then(|| {
            format!("the reason is missing, so nothing is ignored: `{MARK} {}: reason`", self.shown_rules())
        });
        unknown.chain(nameless).chain(unfounded).collect()
    }

    fn shown_rules(&self) -> String {
        match self.rules.as_slice() {
            [] => "RULE".to_owned(),
            rules => rules.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(","),
        }
    }
}

/// Lets comments that stand alone, one below the other, all be about what follows the last one.
pub fn join_stacked(mut comments: Vec<IgnoreComment>) -> Vec<IgnoreComment> {
    for index in (1..comments.len()).rev() {
        let (before, after) = comments.split_at_mut(index);
        let (Some(upper), Some(lower)) = (before.last_mut(), after.first()) else { continue };
        if upper.about.contains(&lower.line) && lower.about.iter().any(|line| *line > lower.line) {
            upper.about.extend(lower.about.iter().copied());
        }
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> IgnoreComment {
        IgnoreComment::parse(text, 3, vec![3, 4]).expect("a comment")
    }

    #[test]
    fn a_comment_names_rules_and_a_reason() {
        let comment = parse(" infra:ignore module-source, variable-type : vendor: says so");

        assert_eq!(comment.rules, [LintRule::ModuleSource, LintRule::VariableType]);
        assert!(comment.covers(LintRule::VariableType, 4) && !comment.covers(LintRule::VariableType, 5));
        assert!(!comment.covers(LintRule::ModuleReadme, 4) && comment.flaws().is_empty());
    }

    #[test]
    fn without_a_reason_nothing_is_covered() {
        for text in
            ["infra:ignore module-source", "infra:ignore module-source:", "infra:ignore module-source:  "]
        {
            let comment = parse(text);
            assert!(!comment.covers(LintRule::ModuleSource, 3), "{text}");
            assert!(comment.flaws()[0].contains("reason"), "{text}");
        }
    }

    #[test]
    fn a_name_that_is_no_rule_is_told_with_the_nearest() {
        let comment = parse("infra:ignore module-sorce,variable-type: why");

        assert_eq!(comment.flaws(), ["`module-sorce` is no rule; did you mean `module-source`?"]);
        assert!(comment.covers(LintRule::VariableType, 3));
        assert!(parse("infra:ignore: why").flaws()[0].contains("names no rule"));
        assert_eq!(IgnoreComment::parse("infra:ignored x", 1, vec![]), None);
        assert_eq!(IgnoreComment::parse("see infra:ignore", 1, vec![]), None);
    }
}
