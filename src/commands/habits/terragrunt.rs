//! Terragrunt's commands and flags in infra's words.

use super::flag_names::{is_terragrunts_with_value, takes_value, without_terragrunt};
use super::line::{Flag, Line};
use super::surroundings::ProjectAround;
use super::{Advice, passthrough, tofu_flags};

/// Flags for which nothing is needed.
const NEEDLESS: [&str; 14] = [
    "log-level",
    "log-format",
    "tf-path",
    "download-dir",
    "ignore-external-dependencies",
    "include-external-dependencies",
    "queue-include-external",
    "queue-exclude-external",
    "ignore-dependency-errors",
    "queue-ignore-errors",
    "source-update",
    "no-auto-init",
    "forward-tf-stdout",
    "queue-strict-include",
];

/// Flags that infra has another word for.
const MEANT: [&str; 6] = [
    "non-interactive",
    "working-dir",
    "exclude-dir",
    "queue-exclude-dir",
    "include-dir",
    "queue-include-dir",
];

/// Returns the line in infra's words; what remains of tofu's flags is put in its place too.
pub fn advice(typed: &Line, definition: &clap::Command, around: &ProjectAround) -> Option<Advice> {
    let typed = &with_flags_behind(typed);
    let (message, meant) = match command(typed) {
        Some((said, meant)) => (format!("`{said}` is a command of Terragrunt"), meant),
        None => flags_only(typed, definition)?,
    };
    let (mut choice, globals, rest) = sorted(&meant, around)?;
    if meant.line.definition(definition).is_none() {
        // What is passed on is about one stack.
        choice.clear();
    }
    let rest = choice.into_iter().chain(rest).collect();
    let line = Line { globals, rest, ..meant.line };
    let further = passthrough::advice(&line, definition, around)
        .or_else(|| tofu_flags::advice(&line, definition, around));
    match further {
        Some(advice) => Some(Advice { message, ..advice }),
        None => Some(Advice { message, line, ..Advice::default() }),
    }
}

/// Returns a line whose flags of Terragrunt all follow the command.
fn with_flags_behind(typed: &Line) -> Line {
    let mut line = Line { globals: Vec::new(), ..typed.clone() };
    let mut moved = Vec::new();
    let mut words = typed.globals.iter();
    while let Some(word) = words.next() {
        let flag = Flag::read(word).filter(is_terragrunts);
        let takes_next = flag.as_ref().is_some_and(|flag| flag.value.is_none() && takes_value(&flag.name));
        let part = if flag.is_some() { &mut moved } else { &mut line.globals };
        part.push(word.clone());
        part.extend(takes_next.then(|| words.next()).flatten().cloned());
    }
    line.rest.splice(0..0, moved);
    line
}

/// Returns a line that is infra's but for flags of Terragrunt, with what is said of them.
fn flags_only(typed: &Line, definition: &clap::Command) -> Option<(String, TerragruntMeaning)> {
    typed.definition(definition).filter(|_| !typed.command.is_empty())?;
    let flags = typed.rest.iter().filter_map(|word| Flag::read(word)).filter(is_terragrunts);
    let names: Vec<String> = flags.map(|flag| format!("`{}`", flag.typed)).collect();
    let message = match names.as_slice() {
        [] => return None,
        [name] => format!("{name} is a flag of Terragrunt"),
        names => format!("{} are flags of Terragrunt", names.join(", ")),
    };
    Some((message, TerragruntMeaning { line: typed.clone(), all: false }))
}

/// Returns whether only Terragrunt has a flag of this name.
fn is_terragrunts(flag: &Flag) -> bool {
    let name = without_terragrunt(&flag.name);
    let is_old = name != flag.name;
    flag.is_long() && (is_old || MEANT.contains(&name) || NEEDLESS.contains(&name))
}

/// What a command of Terragrunt means.
struct TerragruntMeaning {
    line: Line,
    /// Whether it is about all units at or below the working directory.
    all: bool,
}

/// Returns what was said, and what it means.
fn command(typed: &Line) -> Option<(String, TerragruntMeaning)> {
    let said = typed.command.first()?.as_str();
    let rest = || typed.rest.clone();
    let first = typed.rest.first().map(String::as_str);
    let meant = |name: &str, rest: Vec<String>, all: bool| {
        let line = Line { command: vec![name.to_owned()], rest, ..typed.clone() };
        (said.to_owned(), TerragruntMeaning { line, all })
    };
    match (said, first) {
        ("run-all" | "run", _) => run(typed, said),
        ("stack", Some("run")) => {
            let below = Line { rest: typed.rest[1..].to_vec(), ..typed.clone() };
            run(&below, "stack run").map(|(said, meant)| (said, TerragruntMeaning { all: true, ..meant }))
        }
        ("hclfmt", _) => Some(meant("fmt", without_hcl(rest()), false)),
        ("hcl", Some("fmt" | "format")) => Some(meant("fmt", without_hcl(typed.rest[1..].to_vec()), false)),
        ("hclvalidate" | "validate-inputs", _) => Some(meant("validate", Vec::new(), false)),
        ("hcl", Some("validate")) => Some(meant("validate", Vec::new(), false)),
        ("graph-dependencies", _) | ("dag", Some("graph")) => {
            Some(meant("stacks", vec!["--graph".to_owned(), "dot".to_owned()], false))
        }
        ("find" | "list" | "output-module-groups", _) => Some(meant("stacks", Vec::new(), false)),
        _ => {
            let name = said
                .strip_suffix("-all")
                .filter(|name| ["plan", "apply", "destroy", "validate", "output"].contains(name))?;
            Some(meant(name, rest(), true))
        }
    }
}

/// `hclfmt` has flags of its own for the one thing that `infra fmt --check` does.
fn without_hcl(words: Vec<String>) -> Vec<String> {
    let checks = words.iter().any(|word| word.contains("check") || word.contains("diff"));
    if checks { vec!["--check".to_owned()] } else { Vec::new() }
}

/// Reads `run-all plan …`, `run --all plan …`, `run --all -- plan …`.
fn run(typed: &Line, said: &str) -> Option<(String, TerragruntMeaning)> {
    let mut words = typed.rest.clone();
    let is_all = |word: &String| word == "--all" || word == "-a";
    let all = said == "run-all" || words.iter().any(is_all);
    words.retain(|word| !is_all(word) && word != "--graph");
    // Behind `--` Terragrunt has flags of tofu, some of which have a word of infra's.
    words.extend(typed.passed.clone().unwrap_or_default());
    let at = first_name(&words)?;
    let name = words.remove(at);
    let said = if said == "run" && all { "run --all".to_owned() } else { said.to_owned() };
    Some((
        said,
        TerragruntMeaning {
            line: Line { command: vec![name], rest: words, passed: None, globals: typed.globals.clone() },
            all,
        },
    ))
}

/// Returns where the first word is that is neither a flag nor the value of one.
fn first_name(words: &[String]) -> Option<usize> {
    let is_value = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| Flag::read(&words[before]));
        before.is_some_and(|flag| flag.value.is_none() && takes_value(&flag.name))
    };
    (0..words.len()).find(|&at| !words[at].starts_with('-') && !is_value(at))
}

/// Returns the choice, the global flags and the rest of the words; `None` if a flag means nothing here.
fn sorted(
    meant: &TerragruntMeaning,
    around: &ProjectAround,
) -> Option<(Vec<String>, Vec<String>, Vec<String>)> {
    let line = &meant.line;
    let changes = line.command.iter().any(|name| name == "apply" || name == "destroy");
    let (mut choice, mut globals, mut rest) = (Vec::new(), line.globals.clone(), Vec::new());
    let mut words = line.rest.iter();
    while let Some(word) = words.next() {
        let flag = Flag::read(word).filter(Flag::is_long);
        let Some(flag) = flag else {
            rest.push(word.clone());
            continue;
        };
        let value = match is_terragrunts_with_value(&flag.name) && flag.value.is_none() {
            true => Some(words.next()?.clone()),
            false => flag.value.clone(),
        };
        match without_terragrunt(&flag.name) {
            "non-interactive" => rest.push(if changes { "--yes" } else { "--no-input" }.to_owned()),
            "working-dir" => globals.extend(["-C".to_owned(), value?]),
            "parallelism" if flag.name.starts_with("terragrunt-") => {
                rest.extend(["--parallelism".to_owned(), value?]);
            }
            "exclude-dir" | "queue-exclude-dir" => rest.extend(["--exclude".to_owned(), value?]),
            "include-dir" | "queue-include-dir" => choice.push(value?),
            "filter" if !line.command.iter().any(|name| name == "test") => {
                let value = value.or_else(|| words.next().cloned())?;
                match value.strip_prefix('!') {
                    Some(left_out) => rest.extend(["--exclude".to_owned(), left_out.to_owned()]),
                    None => choice.push(value),
                }
            }
            name if NEEDLESS.contains(&name) => {}
            _ => rest.push(word.clone()),
        }
    }
    let names_folder = globals.iter().any(|word| word.starts_with("-C"));
    if meant.all && choice.is_empty() {
        choice.push(if around.is_root() && !names_folder { "--all" } else { "." }.to_owned());
    }
    Some((choice, globals, rest))
}
