//! The flags that tofu and Terragrunt have, by name: those of tofu 1.12.

/// tofu's flags that take a value.
const WITH_VALUE: [&str; 27] = [
    "backend-config",
    "backup",
    "chdir",
    "config",
    "deprecation",
    "exclude",
    "exclude-file",
    "filter",
    "from-module",
    "generate-config-out",
    "id",
    "json-into",
    "lock-timeout",
    "lockfile",
    "module-depth",
    "out",
    "parallelism",
    "plugin-dir",
    "replace",
    "state",
    "state-out",
    "target",
    "target-file",
    "test-directory",
    "type",
    "var",
    "var-file",
];

/// What `tofu plan` takes.
pub const OF_PLAN: [&str; 26] = [
    "compact-warnings",
    "concise",
    "consolidate-errors",
    "consolidate-warnings",
    "deprecation",
    "destroy",
    "detailed-exitcode",
    "exclude",
    "exclude-file",
    "generate-config-out",
    "input",
    "json",
    "json-into",
    "lock",
    "lock-timeout",
    "no-color",
    "out",
    "parallelism",
    "refresh",
    "refresh-only",
    "replace",
    "show-sensitive",
    "state",
    "target",
    "target-file",
    "var",
];
/// What `tofu apply` takes beside them.
pub const OF_APPLY: [&str; 3] = ["auto-approve", "backup", "state-out"];
/// What `tofu init` takes.
pub const OF_INIT: [&str; 22] = [
    "backend",
    "backend-config",
    "compact-warnings",
    "consolidate-errors",
    "consolidate-warnings",
    "force-copy",
    "from-module",
    "get",
    "ignore-remote-version",
    "input",
    "json",
    "lock",
    "lock-timeout",
    "lockfile",
    "migrate-state",
    "no-color",
    "plugin-dir",
    "reconfigure",
    "test-directory",
    "upgrade",
    "var",
    "var-file",
];
/// What `tofu validate` takes.
pub const OF_VALIDATE: [&str; 9] = [
    "compact-warnings",
    "consolidate-errors",
    "consolidate-warnings",
    "json",
    "no-color",
    "no-tests",
    "test-directory",
    "var",
    "var-file",
];
/// What `tofu test` takes.
pub const OF_TEST: [&str; 10] = [
    "compact-warnings",
    "consolidate-errors",
    "consolidate-warnings",
    "filter",
    "json",
    "no-color",
    "test-directory",
    "var",
    "var-file",
    "verbose",
];
/// What the other commands take.
const OF_OTHERS: [&str; 15] = [
    "allow-missing",
    "check",
    "chdir",
    "config",
    "diff",
    "force",
    "help",
    "id",
    "list",
    "raw",
    "recursive",
    "show-sensitive",
    "state",
    "version",
    "write",
];

/// Terragrunt's flags that take a value, without the `terragrunt-` that older versions put before each.
const TERRAGRUNT_WITH_VALUE: [&str; 9] = [
    "working-dir",
    "exclude-dir",
    "include-dir",
    "queue-exclude-dir",
    "queue-include-dir",
    "log-level",
    "log-format",
    "tf-path",
    "download-dir",
];

/// Returns whether a flag of either takes a value.
pub fn takes_value(name: &str) -> bool {
    WITH_VALUE.contains(&name) || is_terragrunts_with_value(name)
}

/// Returns whether a flag of Terragrunt takes a value.
pub fn is_terragrunts_with_value(name: &str) -> bool {
    TERRAGRUNT_WITH_VALUE.contains(&without_terragrunt(name)) || name == "terragrunt-parallelism"
}

/// Returns the name that a flag of an older Terragrunt has today.
pub fn without_terragrunt(name: &str) -> &str {
    name.strip_prefix("terragrunt-").unwrap_or(name)
}

/// Returns whether tofu has a flag of this name.
pub fn is_tofus(name: &str) -> bool {
    let lists: [&[&str]; 6] = [&OF_PLAN, &OF_APPLY, &OF_INIT, &OF_VALIDATE, &OF_TEST, &OF_OTHERS];
    name == "var-file" || lists.iter().any(|list| list.contains(&name))
}
