//! An error in a form that can be compared between stacks.
//!
//! Two stacks fail for one reason if their errors say the same once names of the stack, places in
//! files, providers with their versions, times and ids of requests are left out. Whatever is not
//! known to be a stack's own is kept: showing one reason twice is better than hiding a second one.
//! Pure. Begin at [`ComparableError`].

use std::collections::BTreeSet;

use crate::model::{StackError, StackId};

/// An error without the details that only one stack has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ComparableError {
    /// Equal for equal reasons.
    pub key: String,
    /// The names that were left out and are worth telling: those of providers.
    pub own: BTreeSet<String>,
}

impl ComparableError {
    /// Makes the comparable form of an error.
    pub fn of_error(stack: &StackId, error: &StackError) -> Self {
        let code = error.code.as_deref().unwrap_or_default();
        // What is said of several stacks at once is the same for each of them, their names among it.
        if error.summary.starts_with("stacks ") {
            let key = [code, &error.summary, &error.detail].join("\n");
            return Self { key, own: BTreeSet::new() };
        }
        let lines = error.detail.lines().filter(|line| !is_own_line(line));
        Self::of_lines(stack, [code, &error.summary].into_iter().chain(lines))
    }

    /// Makes the comparable form of a text.
    pub fn of_words(stack: &StackId, words: &str) -> Self {
        Self::of_lines(stack, words.lines())
    }

    /// A stack with two providers is told twice what another is told once, so equal lines count once.
    fn of_lines<'a>(stack: &StackId, lines: impl Iterator<Item = &'a str>) -> Self {
        let (mut kept, mut own) = (BTreeSet::new(), BTreeSet::new());
        let lines: Vec<&str> = lines.collect();
        let is_silence = lines.iter().any(|line| UNANSWERED.iter().any(|text| line.contains(text)));
        for line in lines {
            kept.insert(common_words(stack, line, is_silence, &mut own));
        }
        Self { key: kept.into_iter().collect::<Vec<_>>().join("\n"), own }
    }
}

/// Returns whether a line tells only where in its files a stack is concerned, or since when.
fn is_own_line(line: &str) -> bool {
    ["  at ", "  with ", "since "].iter().any(|beginning| line.starts_with(beginning))
}

/// Texts of errors in which a server does not answer.
const UNANSWERED: [&str; 7] = [
    "no such host",
    "connection refused",
    "i/o timeout",
    "network is unreachable",
    "server misbehaving",
    "Temporary failure in name resolution",
    "Could not resolve host",
];

/// Returns the words of a line that others may share, and collects the names worth telling.
///
/// If a server does not answer, the name of the module matters as little as that of the provider.
fn common_words(stack: &StackId, line: &str, is_silence: bool, own: &mut BTreeSet<String>) -> String {
    let mut words: Vec<String> = Vec::new();
    let all: Vec<&str> = line.split_whitespace().collect();
    for (at, word) in all.iter().copied().enumerate() {
        let beside = |at: Option<usize>| at.and_then(|at| all.get(at)).map_or("", |word| core_of(word));
        let (before, after) = (beside(at.checked_sub(1)), beside(Some(at + 1)));
        let core = core_of(word);
        let is_age = is_part_of_age((before, core, after));
        let is_module =
            is_silence && (before == "module" && word.starts_with('"') || core.contains("/modules/"));
        let left_out = match (is_age, is_module) {
            (true, _) => Some("time"),
            (_, true) => Some("module"),
            _ => left_out(stack, (before, word, core)),
        };
        if left_out == Some("provider") {
            own.insert(core.to_owned());
        }
        match left_out {
            // A list of versions, or a time in two units, is one.
            Some(name) if words.last().is_some_and(|last| last == name) => {}
            Some("") => {}
            Some(name) => words.push(name.to_owned()),
            None => words.push(without_ports_and_paths(word)),
        }
    }
    words.join(" ")
}

/// Returns a word without what encloses or ends it.
fn core_of(word: &str) -> &str {
    word.trim_matches(|sign: char| "\"'`,.;:()[]{}".contains(sign))
}

/// Returns what a word stands for, if it is one stack's own; an empty name for what only goes with one.
fn left_out(stack: &StackId, (before, word, core): (&str, &str, &str)) -> Option<&'static str> {
    let is_quoted = word.starts_with(['"', '\'', '`']);
    if names_stack(stack, core, is_quoted) {
        Some("stack")
    } else if is_provider(before, core) {
        Some("provider")
    } else if is_operator(word) {
        Some("")
    } else if is_version(core) {
        Some("version")
    } else if is_file(core) {
        Some("file")
    } else if is_time(core) {
        Some("time")
    } else if ["serial", "line"].contains(&before) && is_number(core) {
        Some("number")
    } else if is_id(core) || names_an_id(before) {
        Some("id")
    } else {
        None
    }
}

/// Returns whether a word is the stack, or a path that leads into its folder.
///
/// One that is called like an English word is meant only where it is quoted.
fn names_stack(stack: &StackId, core: &str, is_quoted: bool) -> bool {
    let id = stack.as_str();
    let folder = id.split('@').next().unwrap_or(id);
    let is_named = [id, folder, stack.file_name().as_str()].contains(&core);
    let is_address = core.contains("://");
    let is_path = core.contains('/') && core.strip_suffix(folder).is_some_and(|above| above.ends_with('/'))
        || core.starts_with(&format!("{folder}/"))
        || core.contains(&format!("/{folder}/"));
    (is_named && (is_quoted || id.contains('/'))) || (is_path && !is_address)
}

fn is_provider(before: &str, core: &str) -> bool {
    let is_source = core.contains('/')
        && core.matches('/').count() <= 2
        && core.chars().all(|char| char.is_ascii_alphanumeric() || "-_.:/".contains(char));
    is_source && (["provider", "provider:"].contains(&before) || core.starts_with("registry."))
}

fn is_operator(word: &str) -> bool {
    ["~>", ">=", "<=", "!=", "=", ">", "<"].contains(&word)
}

/// Returns whether a word is a version; an address of a machine has four numbers.
fn is_version(core: &str) -> bool {
    let core = core.trim_start_matches(['~', '>', '<', '=', '!', 'v']);
    let (numbers, _) = core.split_once(['-', '+']).unwrap_or((core, ""));
    let parts: Vec<&str> = numbers.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.len(), 2 | 3) && parts.iter().all(digits)
}

fn is_file(core: &str) -> bool {
    let name = core.split(':').next().unwrap_or(core);
    [".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".hcl"].iter().any(|end| name.ends_with(end))
}

/// Returns whether a word is a time of day, a moment, or a length of time with its unit.
fn is_time(core: &str) -> bool {
    let digits = core.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
    let is_length = digits.len() < core.len() && ["ms", "s", "m", "h", "µs"].contains(&digits);
    let clock: Vec<&str> = core.trim_end_matches('Z').split(['T', ':', '-', '+']).collect();
    let is_moment = clock.len() >= 3 && clock.iter().all(|part| part.parse::<f64>().is_ok());
    is_length || is_moment
}

/// Returns whether a word is a number before its unit of time, or that unit.
fn is_part_of_age((before, core, after): (&str, &str, &str)) -> bool {
    const UNITS: [&str; 5] = ["min", "s", "h", "day", "days"];
    (is_number(core) && UNITS.contains(&after)) || (is_number(before) && UNITS.contains(&core))
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word is one that a machine made up.
fn is_id(core: &str) -> bool {
    let digits = core.chars().filter(char::is_ascii_digit).count();
    let is_made_up = core.chars().all(|char| char.is_ascii_alphanumeric() || "-_=+".contains(char));
    core.len() >= 16 && digits >= 4 && is_made_up
}

fn names_an_id(before: &str) -> bool {
    ["requestid", "hostid", "request-id", "traceid"].contains(&before.to_ascii_lowercase().as_str())
}

/// Leaves out which port this machine called from, and what of a host is asked for.
fn without_ports_and_paths(word: &str) -> String {
    let word = word.split_once("->").map_or(word, |(_, to)| to);
    match word.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.split('/').next().unwrap_or(rest)),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparable(stack: &str, summary: &str, detail: &str) -> ComparableError {
        let error =
            StackError { code: None, summary: summary.to_owned(), detail: detail.to_owned(), hint: None };
        ComparableError::of_error(&StackId::new(stack), &error)
    }

    fn are_one(first: (&str, &str), second: (&str, &str)) -> bool {
        comparable(first.0, "S", first.1).key == comparable(second.0, "S", second.1).key
    }

    #[test]
    fn a_registry_that_does_not_answer_is_one_cause_for_all_providers() {
        let missing = |provider: &str| {
            format!(
                "Failed\nCould not resolve provider {provider}: could not connect to registry.opentofu.org: Get \
                 \"https://registry.opentofu.org/.well-known/terraform.json\": dial tcp: no such host"
            )
        };
        let two = format!("{}\n{}", missing("hashicorp/aws"), missing("bpg/proxmox"));

        let (one, both) =
            (comparable("a/b", "Failed", &missing("hashicorp/random")), comparable("c", "Failed", &two));

        assert_eq!(one.key, both.key);
        assert_eq!(both.own.into_iter().collect::<Vec<_>>(), ["bpg/proxmox", "hashicorp/aws"]);
    }

    #[test]
    fn a_registry_that_does_not_answer_is_one_cause_for_all_modules() {
        let missing = |module: &str, line: usize| {
            format!(
                "  at main.tf:{line}:1\nFailed to retrieve available versions for module \"{module}\" (main.tf:{line}) \
                 from registry.opentofu.org: dial tcp: lookup registry.opentofu.org: no such host"
            )
        };
        let cloned = |module: &str, folder: &str| {
            format!(
                "Could not download module \"{module}\" (eks.tf:3) source code from \
                 \"git::https://github.com/x/{module}.git?ref=v1\": git exited with 128: Cloning into \
                 '/p/.infra/{folder}/modules/{module}'...\nfatal: unable to access \
                 'https://github.com/x/{module}.git/': Could not resolve host: github.com"
            )
        };
        let (one, two) = (missing("vpc", 3), format!("{}\n{}", missing("eks", 40), missing("vpc", 90)));

        assert!(are_one(("a/b", &one), ("c", &two)));
        assert!(are_one(("a/b", &cloned("a", "x1")), ("c", &cloned("b", "y2"))));
        assert!(!are_one(("a/b", "module \"a\" has no version"), ("c", "module \"b\" has no version")));
    }

    #[test]
    fn what_is_the_stacks_own_makes_no_difference() {
        for (first, second) in [
            ("the state of `a/x` is locked", "the state of `b/y` is locked"),
            ("no file infrastructure/a/x/secrets.yaml", "no file infrastructure/b/y/secrets.yaml"),
            ("  at main.tf:3:1\nno credentials", "  at providers.tf:12:5\n  with p.q\nno credentials"),
            (
                "versions of provider a/b that match ~> 5.0, >= 5.1",
                "versions of provider c/d that match 0.66.1",
            ),
            ("403, RequestID: 4GX9, HostID: a/b+c=", "403, RequestID: X71Q, HostID: d/e/f="),
            (
                "Get \"https://s.example/states/a%2Fx\": refused",
                "Get \"https://s.example/states/b%2Fy\": refused",
            ),
            (
                "read tcp 10.0.0.2:41234->10.0.0.9:443: i/o timeout",
                "read tcp 10.0.0.2:5->10.0.0.9:443: i/o timeout",
            ),
            ("a safety copy: serial 3, 2 min 5 s old", "a safety copy: serial 14, 12.3s old"),
            ("lineage 6f0c1b9e-2f1a-4c1d-9a51-0a8f2ce3d911", "lineage 0e2b1c55-aaaa-4c1d-9a51-1a8f2ce3d912"),
        ] {
            assert!(are_one(("a/x", first), ("b/y", second)), "{first:?} and {second:?}");
        }
    }

    #[test]
    fn different_reasons_stay_different() {
        for (first, second) in [
            ("No value for variable \"node\"", "No value for variable \"zone\""),
            ("HTTP error: 403", "HTTP error: 500"),
            ("dial tcp 10.0.0.1:443: refused", "dial tcp 10.0.0.2:443: refused"),
            ("Get \"https://a.example/x\": refused", "Get \"https://b.example/x\": refused"),
            ("module ./modules/a is missing", "module ./modules/b is missing"),
        ] {
            assert!(!are_one(("a/x", first), ("b/y", second)), "{first:?} and {second:?}");
        }
    }

    #[test]
    fn a_stack_that_is_called_like_a_word_leaves_the_words_alone() {
        assert!(are_one(("network", "no network"), ("web", "no network")));
        assert!(are_one(("network", "state of `network` is locked"), ("web", "state of `web` is locked")));
        assert!(are_one((".", "no network"), ("a/x", "no network")));
    }

    #[test]
    fn one_stack_in_two_workspaces_has_one_folder() {
        assert!(are_one(("web@dev", "no file live/web/x"), ("app@prod", "no file live/app/x")));
    }
}
