//! tofu's commands that infra has none for: passed on as they are, to the stack that is meant.

use super::Advice;
use super::line::{Line, own_flag, takes_next};
use super::surroundings::ProjectAround;
use crate::model::StackId;

/// Stands for a stack where nobody can know which.
const SOME: &str = "STACK";

/// A command of tofu that infra has none for.
struct TofuCommand {
    name: &'static str,
    /// How many names it takes; one more, and the first is the stack. Nothing: none is ever a stack.
    names: Option<usize>,
    /// Whether it is the same whatever stack it is run for.
    anywhere: bool,
}

const fn about_a_stack(name: &'static str, names: usize) -> TofuCommand {
    TofuCommand { name, names: Some(names), anywhere: false }
}

const fn anywhere(name: &'static str) -> TofuCommand {
    TofuCommand { name, names: None, anywhere: true }
}

const COMMANDS: [TofuCommand; 13] = [
    about_a_stack("import", 2),
    about_a_stack("console", 0),
    about_a_stack("graph", 0),
    about_a_stack("refresh", 0),
    about_a_stack("taint", 1),
    about_a_stack("untaint", 1),
    about_a_stack("providers", 0),
    about_a_stack("get", 0),
    TofuCommand { name: "workspace", names: None, anywhere: false },
    anywhere("login"),
    anywhere("logout"),
    anywhere("metadata"),
    anywhere("version"),
];

/// Returns how a command of tofu is passed on.
pub fn advice(typed: &Line, definition: &clap::Command, around: &ProjectAround) -> Option<Advice> {
    let name = typed.command.first()?;
    if typed.definition(definition).is_some() {
        return None;
    }
    if typed.command == ["state", "replace-provider"] {
        return through(
            typed,
            "`state replace-provider` is a command of tofu".to_owned(),
            definition,
            around,
        );
    }
    let command = COMMANDS.iter().find(|command| command.name == name)?;
    let passing = PassedOnCommand::of(typed, command, definition, around);
    let others = others(command.name, &passing);
    let advice = passing.advice(format!("`{name}` is a command of tofu"), around);
    Some(Advice { others, ..advice })
}

/// Returns how a command that infra has too is passed on, for a flag that only tofu has.
pub fn through(
    typed: &Line,
    message: String,
    definition: &clap::Command,
    around: &ProjectAround,
) -> Option<Advice> {
    let command = TofuCommand { name: "", names: Some(0), anywhere: false };
    Some(PassedOnCommand::of(typed, &command, definition, around).advice(message, around))
}

/// Returns `state show`, `state rm` and `state mv` with the stack that tofu's have no need of.
pub fn state_of_this_stack(
    typed: &Line,
    definition: &clap::Command,
    around: &ProjectAround,
) -> Option<Advice> {
    let is_meant = ["state show", "state rm", "state mv"].contains(&typed.name().as_str());
    let first = typed.rest.iter().find(|word| !word.starts_with('-')).filter(|_| is_meant)?;
    typed.definition(definition)?;
    if around.stack_called(first).is_some() {
        return None;
    }
    let stack = around.stack_here();
    let rest = std::iter::once(name_of(stack.as_ref())).chain(typed.rest.clone()).collect();
    Some(Advice {
        message: format!("`{}` wants the stack first", typed.name()),
        line: Line { rest, ..typed.clone() },
        open: open(stack.as_ref(), around),
        ..Advice::default()
    })
}

/// Returns the words of a line that choose stacks.
pub fn choosing_words(line: &Line, definition: &clap::Command) -> Vec<String> {
    let Some(init) = definition.find_subcommand("stacks") else { return Vec::new() };
    let mut words = line.rest.iter();
    let mut chosen = Vec::new();
    while let Some(word) = words.next() {
        let next = takes_next(word, definition).then(|| words.next()).flatten();
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        if !word.starts_with('-') || own_flag(init, name).is_some_and(|arg| arg.get_id() != "json") {
            chosen.extend(std::iter::once(word).chain(next).cloned());
        }
    }
    chosen
}

/// A command that is passed on to tofu.
struct PassedOnCommand {
    globals: Vec<String>,
    stack: Option<StackId>,
    words: Vec<String>,
}

impl PassedOnCommand {
    /// Tells infra's own flags and the stack from what is tofu's.
    fn of(typed: &Line, command: &TofuCommand, definition: &clap::Command, around: &ProjectAround) -> Self {
        let mut passing = Self { globals: typed.globals.clone(), stack: None, words: typed.command.clone() };
        let names = passing.sort(&typed.rest, definition);
        passing.words.extend(typed.passed.clone().unwrap_or_default());
        if let Some(first) = names.first().filter(|_| command.names.is_some_and(|count| names.len() > count))
            && let Some(stack) = around.stack_called(first)
            && passing.stack.is_none()
        {
            passing.stack = Some(stack);
            let at = passing.words.iter().skip(typed.command.len()).position(|word| word == first);
            at.map(|at| passing.words.remove(at + typed.command.len()));
        }
        let known = passing.stack.take().or_else(|| around.stack_here());
        let any = || around.stacks().first().map(|id| (*id).clone()).filter(|_| command.anywhere);
        passing.stack = known.or_else(any);
        passing
    }

    /// Takes the words apart, and returns those that are no flags.
    fn sort(&mut self, words: &[String], definition: &clap::Command) -> Vec<String> {
        let mut names = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let next = takes_next(word, definition).then(|| words.next()).flatten();
            let both = std::iter::once(word).chain(next).cloned();
            let long = word.strip_prefix("--").map(|name| name.split('=').next().unwrap_or(name));
            let is_global = long.is_some_and(|name| own_flag(definition, name).is_some());
            let is_letter = ["-C", "-q", "-v"].contains(&word.as_str());
            match (long, word.strip_prefix("--stack=").map(str::to_owned).or_else(|| next.cloned())) {
                (Some("stack"), Some(stack)) => self.stack = Some(StackId::new(stack)),
                _ if is_global || is_letter => self.globals.extend(both),
                _ => {
                    names.extend((!word.starts_with('-')).then(|| word.clone()));
                    self.words.extend(both);
                }
            }
        }
        names
    }

    fn line(&self) -> Line {
        let stack = name_of(self.stack.as_ref());
        let rest = match stack.starts_with('-') {
            true => vec![format!("--stack={stack}")],
            false => vec!["--stack".to_owned(), stack],
        };
        Line {
            globals: self.globals.clone(),
            command: vec!["tofu".to_owned()],
            rest,
            passed: Some(self.words.clone()),
        }
    }

    fn advice(&self, message: String, around: &ProjectAround) -> Advice {
        let open = open(self.stack.as_ref(), around);
        Advice { message, line: self.line(), open, ..Advice::default() }
    }

    /// Returns a line of infra's own about the same stack.
    fn own(&self, command: &str, passed: Option<String>) -> Line {
        let stack = self.stack.iter().map(ToString::to_string).filter(|id| !id.starts_with('-'));
        Line {
            globals: self.globals.clone(),
            command: vec![command.to_owned()],
            rest: stack.collect(),
            passed: passed.map(|word| vec![word]),
        }
    }
}

fn name_of(stack: Option<&StackId>) -> String {
    stack.map_or(SOME.to_owned(), ToString::to_string)
}

/// Says what to put where the stack is not known.
fn open(stack: Option<&StackId>, around: &ProjectAround) -> Option<String> {
    const SHOWN: usize = 10;
    if stack.is_some() {
        return None;
    }
    let stacks = around.stacks();
    let names: Vec<String> = stacks.iter().take(SHOWN).map(|id| format!("`{id}`")).collect();
    let more = if stacks.len() > SHOWN { " …: `infra stacks`" } else { "" };
    (!names.is_empty()).then(|| format!("{SOME} is one of {}{more}", names.join(", ")))
}

/// Returns what infra has of its own beside a command of tofu.
fn others(name: &str, passing: &PassedOnCommand) -> Vec<(String, Line)> {
    let mut given = passing.words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let address = given.next();
    let (words, line) = match (name, address) {
        ("workspace", Some(verb)) => return in_workspace(verb, given.next(), passing),
        ("refresh", _) => ("see what changed outside", passing.own("drift", None)),
        ("taint", Some(address)) => {
            ("plan its replacement", passing.own("plan", Some(format!("-replace={address}"))))
        }
        ("get", _) => ("modules, providers and backend at once", passing.own("init", None)),
        ("graph", _) => {
            let rest = vec!["--graph".to_owned(), "dot".to_owned()];
            ("the graph of the stacks", Line { rest, ..passing.own("stacks", None) })
        }
        ("version", _) => {
            let globals = vec!["--version".to_owned()];
            ("of infra itself", Line { globals, ..Line::default() })
        }
        _ => return Vec::new(),
    };
    vec![(words.to_owned(), line)]
}

/// Returns how a run is told its workspace, which infra selects for that run alone.
fn in_workspace(verb: &str, workspace: Option<&String>, passing: &PassedOnCommand) -> Vec<(String, Line)> {
    let own = passing.own("plan", None);
    let creates: &[&str] = match verb {
        "select" => &[],
        "new" => &["--create"],
        _ => return Vec::new(),
    };
    let Some(workspace) = workspace else { return Vec::new() };
    let flags = ["--workspace", workspace.as_str()].into_iter().chain(creates.iter().copied());
    let rest = own.rest.iter().cloned().chain(flags.map(str::to_owned)).collect();
    vec![("for one run, with nothing selected".to_owned(), Line { rest, ..own })]
}
