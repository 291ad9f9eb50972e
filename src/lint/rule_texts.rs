//! What each rule wants, why, and how a finding is mended: for reports of other programs.

use crate::model::LintRule;

/// The words of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleText {
    /// One sentence: what it wants.
    pub what: &'static str,
    /// Why it is wanted.
    pub why: &'static str,
    /// How a finding is mended.
    pub mend: &'static str,
}

/// Returns the words of a rule.
pub const fn text_of(rule: LintRule) -> RuleText {
    let (what, why, mend) = match rule {
        LintRule::ModuleSource => (
            "Modules come from a local path or from a registry",
            "What comes from a repository or an archive was reviewed by nobody here, and may change without a version.",
            "Move the module into the project (`./…`, `../…`), or take a published one from a registry.",
        ),
        LintRule::ModuleVersionPin => (
            "Modules of a registry are pinned with ~>",
            "Without a pin tomorrow's `init` may bring a module that breaks; an exact version misses its fixes.",
            "Write a constraint such as `version = \"~> 5.1\"`.",
        ),
        LintRule::ModuleRequiredFiles => (
            "A module has main.tf, variables.tf, outputs.tf and README.md",
            "Whoever opens a module looks for what it takes, gives and does in the same places everywhere.",
            "`infra lint --fix` writes skeletons of those that are missing.",
        ),
        LintRule::ModuleReadme => (
            "A module's README names all its variables and outputs",
            "A README that leaves things out is read once and then no more.",
            "Name it in README.md, or let `infra lint --fix` write the tables.",
        ),
        LintRule::VariableType => (
            "A variable of a module has a type",
            "Without one a wrong value is found deep inside of a resource, if at all.",
            "Add `type = …`.",
        ),
        LintRule::VariableDescription => (
            "A variable of a module has a description",
            "It is all that a caller reads before giving it a value.",
            "Add `description = \"…\"`.",
        ),
        LintRule::OutputDescription => (
            "An output of a module has a description",
            "It is all that a caller reads before using it.",
            "Add `description = \"…\"`.",
        ),
        LintRule::ProviderVersionPin => (
            "A provider of a stack is pinned with ~>",
            "Without a pin an upgrade may bring a major version that changes machines; an exact version misses fixes.",
            "Write a constraint such as `version = \"~> 0.80\"` into `required_providers`.",
        ),
        LintRule::LockFileCommitted => (
            "The lock file of a stack with providers is committed",
            "Without it every machine may run another provider, and nobody checks what was downloaded.",
            "Run `infra init`, and commit `.terraform.lock.hcl`.",
        ),
        LintRule::StateIdentityUnique => (
            "No two stacks write the same state",
            "Each would destroy what the other has made.",
            "Give each backend block a key, path or address of its own.",
        ),
        LintRule::StateLockMissing => (
            "Every state has an entry in infra.lock",
            "Without it another checkout does not notice that a state is missing, and makes everything twice.",
            "Run `infra init`, and commit `infra.lock`.",
        ),
        LintRule::PlaintextSecret => (
            "No secret stands in a file in the clear",
            "Whoever reads the repository, now or later, has it; taking it out of a file leaves it in the history.",
            "Change it where it is used, keep the new one in an encrypted file, and give it by a variable.",
        ),
        LintRule::FileSyntax => (
            "Every file can be read",
            "What cannot be read cannot be judged, and OpenTofu will most likely refuse it.",
            "Mend the place that is named; `infra validate` has OpenTofu's own words.",
        ),
        LintRule::IgnoreComment => (
            "A comment that ignores a rule names it and gives a reason",
            "A finding that passes without a reason is never looked at again.",
            "Write `# infra:ignore RULE: reason`.",
        ),
    };
    RuleText { what, why, mend }
}
