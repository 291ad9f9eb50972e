//! tofu's flags before `--`: infra's own flag where it has one, else their place behind `--`.

use super::flag_names::{OF_APPLY, OF_INIT, OF_PLAN, OF_TEST, OF_VALIDATE, is_tofus, takes_value};
use super::line::{Flag, Line, own_flag, takes_next};
use super::surroundings::ProjectAround;
use super::{Advice, passthrough};
use crate::stacks;

/// What infra's flag of this name means is another thing.
const OTHER_MEANING: [&str; 4] = ["exclude", "force", "parallelism", "state"];

/// What becomes of a flag.
enum FlagUse {
    /// It is said in infra's words.
    Own(Vec<String>),
    /// It goes behind `--`.
    Passed,
    /// Nothing is needed in its place, for this reason.
    Needless(Option<&'static str>),
    /// The command is another one.
    Command(&'static str),
    /// It is a flag of `tofu init`.
    OfInit,
    /// Only tofu itself does it.
    Through,
}

/// Returns the line with tofu's flags where they belong.
pub fn advice(typed: &Line, definition: &clap::Command, around: &ProjectAround) -> Option<Advice> {
    let command = if typed.command.is_empty() { definition } else { typed.definition(definition)? };
    let mut moving = FlagMove { line: Line { passed: None, ..typed.clone() }, ..FlagMove::default() };
    moving.line.globals = moving.sorted(&typed.globals, command, typed)?;
    moving.line.rest = moving.sorted(&typed.rest, command, typed)?;
    moving.passed.extend(typed.passed.clone().unwrap_or_default());
    if moving.told.is_empty() {
        return None;
    }
    moving.take_saved_plan(around);
    moving.finish(typed, definition, around)
}

/// A line whose flags are being moved.
#[derive(Default)]
struct FlagMove {
    line: Line,
    passed: Vec<String>,
    of_init: Vec<String>,
    told: Vec<String>,
    notes: Vec<String>,
    parallelism: Option<String>,
    through: bool,
    /// What has to be filled in for a flag that was given no value.
    open: Option<String>,
}

impl FlagMove {
    /// Returns the words that stay before `--`; `None` if a flag is nobody's.
    fn sorted(&mut self, words: &[String], command: &clap::Command, typed: &Line) -> Option<Vec<String>> {
        let mut kept = Vec::new();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let flag = Flag::read(word).filter(|flag| !is_own(flag, word, command));
            let Some(mut flag) = flag else {
                kept.push(word.clone());
                if takes_next(word, command) {
                    kept.extend(words.next().cloned());
                }
                continue;
            };
            let is_switch = |next: &&&String| ["true", "false"].contains(&next.as_str());
            let needs = takes_value(&flag.name)
                || own_flag(command, &flag.name).is_some_and(|arg| arg.get_action().takes_values());
            if flag.value.is_none() && (needs || words.peek().filter(is_switch).is_some()) {
                flag.value = Some(words.next().cloned().unwrap_or_else(|| self.missing(&flag)));
            }
            self.told.push(flag.typed.clone());
            kept.extend(self.take(&flag, command, typed)?);
        }
        Some(kept)
    }

    /// Returns what stands for the value of a flag at the end of a line, and notes that it is open.
    fn missing(&mut self, flag: &Flag) -> String {
        let (value, meaning) = match flag.name.as_str() {
            "target" | "replace" | "exclude" => {
                ("ADDRESS", "ADDRESS is that of a resource or module: `infra state list`")
            }
            "var" => ("NAME=VALUE", "NAME is a variable of the stack"),
            "lock-timeout" => ("5m", "it wants a time, for example `5m`"),
            "parallelism" => ("10", "it wants a number, for example `10`"),
            _ => ("VALUE", "it wants a value"),
        };
        self.open = Some(meaning.to_owned());
        value.to_owned()
    }

    /// Notes what becomes of a flag, and returns what stands in its place.
    fn take(&mut self, flag: &Flag, command: &clap::Command, typed: &Line) -> Option<Vec<String>> {
        match fate(flag, command, &typed.name())? {
            FlagUse::Own(words) => return Some(words),
            FlagUse::Passed => self.passed.push(as_tofu(flag)),
            FlagUse::Needless(why) => self.notes.extend(why.map(str::to_owned)),
            FlagUse::Command(command) => self.line.command = vec![command.to_owned()],
            FlagUse::OfInit => self.of_init.push(as_tofu(flag)),
            FlagUse::Through => self.through = true,
        }
        if flag.name == "parallelism" {
            self.parallelism.clone_from(&flag.value);
        }
        Some(Vec::new())
    }

    /// Takes the file of a plan for what it is: infra keeps plans by stack.
    fn take_saved_plan(&mut self, around: &ProjectAround) {
        let flag = match self.line.name().as_str() {
            "apply" => "--saved",
            "show" => "--plan",
            _ => return,
        };
        let is_file = |word: &String| stacks::is_plan(word) && around.stack_called(word).is_none();
        let before = self.line.rest.len();
        self.line.rest.retain(|word| word.starts_with('-') || !is_file(word));
        if self.line.rest.len() < before {
            // What was planned is not asked about again.
            self.line.rest.retain(|word| word != "--yes");
            self.line.rest.push(flag.to_owned());
        }
    }

    fn finish(self, typed: &Line, definition: &clap::Command, around: &ProjectAround) -> Option<Advice> {
        let mut told = self.told.clone();
        told.dedup();
        let names = told.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ");
        let are_tofus = told.iter().all(|flag| Flag::read(flag).is_some_and(|flag| is_tofus(&flag.name)));
        let message = match (told.as_slice(), are_tofus) {
            ([_], true) => format!("{names} is a flag of tofu"),
            (_, true) => format!("{names} are flags of tofu"),
            (_, false) => format!("{names}: not written so here"),
        };
        let open = self.open.clone();
        if self.through {
            return passthrough::through(typed, message, definition, around);
        }
        let with = |passed: Vec<String>| (!passed.is_empty()).then_some(passed);
        let line = Line { passed: with(self.passed.clone()), ..self.line.clone() };
        if !self.of_init.is_empty() {
            let choice = passthrough::choosing_words(&self.line, definition);
            let init = Line {
                command: vec!["init".to_owned()],
                rest: choice,
                passed: with(self.of_init),
                globals: self.line.globals,
            };
            let message =
                format!("{names}: `tofu init` has it, and infra runs that by itself where it is needed");
            return Some(Advice {
                message,
                line: init,
                others: vec![("then".to_owned(), line)],
                ..Advice::default()
            });
        }
        let others = self.parallelism.map(|count| {
            let own = ["--parallelism".to_owned(), count];
            let rest = self.line.rest.iter().cloned().chain(own).collect();
            let passed = self.passed.into_iter().filter(|word| !word.starts_with("-parallelism")).collect();
            ("or so many stacks at once".to_owned(), Line { rest, passed: with(passed), ..self.line })
        });
        Some(Advice { message, notes: self.notes, line, others: others.into_iter().collect(), open })
    }
}

/// Returns whether a word is a flag that infra knows as it is typed.
fn is_own(flag: &Flag, word: &str, command: &clap::Command) -> bool {
    let known = own_flag(command, &flag.name).is_some();
    match flag.is_long() {
        true => known,
        // A cluster of letters, or `-C/folder`.
        false => !known && !is_tofus(&flag.name) || word.starts_with("-C"),
    }
}

fn as_tofu(flag: &Flag) -> String {
    match &flag.value {
        Some(value) => format!("-{}={value}", flag.name),
        None => format!("-{}", flag.name),
    }
}

/// Returns what becomes of a flag that infra does not know as it was typed.
fn fate(flag: &Flag, command: &clap::Command, name: &str) -> Option<FlagUse> {
    let is_off = flag.value.as_deref() == Some("false");
    let own = |word: &str| Some(FlagUse::Own(vec![word.to_owned()]));
    match (flag.name.as_str(), name) {
        ("chdir", _) => Some(FlagUse::Own(vec!["-C".to_owned(), flag.value.clone()?])),
        ("no-color", _) if !is_off => Some(FlagUse::Own(vec!["--color".to_owned(), "never".to_owned()])),
        ("input", _) if is_off => own("--no-input"),
        ("no-color" | "input", _) => Some(FlagUse::Needless(None)),
        ("verbose", "test") => Some(FlagUse::Passed),
        ("help" | "version", _) => own(&format!("--{}", flag.name)),
        ("out", "plan") => Some(FlagUse::Needless(Some(
            "each plan is saved by itself; `infra apply --saved` applies exactly those",
        ))),
        ("json-into", _) => own("--jsonl"),
        ("auto-approve", _) if own_flag(command, "yes").is_none() => Some(FlagUse::Needless(None)),
        ("destroy", "apply") if !is_off => Some(FlagUse::Command("destroy")),
        ("destroy", "destroy") | ("refresh-only" | "detailed-exitcode", "drift") => {
            Some(FlagUse::Needless(None))
        }
        ("auto-approve", _) if !is_off => own("--yes"),
        ("force", "force-unlock" | "destroy") => own("--yes"),
        ("diff", "fmt") => own("--check"),
        ("write", "fmt") if is_off => own("--check"),
        ("write" | "recursive", "fmt") => Some(FlagUse::Needless(None)),
        _ => own_word(flag, command, is_off).or_else(|| place(flag, command, name)),
    }
}

/// Returns infra's own flag of the same name and meaning.
fn own_word(flag: &Flag, command: &clap::Command, is_off: bool) -> Option<FlagUse> {
    let arg = own_flag(command, &flag.name).filter(|_| !OTHER_MEANING.contains(&flag.name.as_str()))?;
    let word = format!("--{}", flag.name);
    match (arg.get_action().takes_values(), &flag.value) {
        (true, Some(value)) => Some(FlagUse::Own(vec![word, value.clone()])),
        (true, None) => None,
        (false, _) if is_off => Some(FlagUse::Needless(None)),
        (false, _) => Some(FlagUse::Own(vec![word])),
    }
}

/// Returns where a flag goes that infra has none for.
fn place(flag: &Flag, command: &clap::Command, name: &str) -> Option<FlagUse> {
    let passes_on = command.get_arguments().any(clap::Arg::is_last_set);
    let flag = flag.name.as_str();
    let is_of_tofu = |flags: &[&str]| flags.contains(&flag);
    match name {
        "plan" | "apply" | "destroy" | "drift" if is_of_tofu(&OF_PLAN) || flag == "var-file" => {
            Some(FlagUse::Passed)
        }
        "init" if is_of_tofu(&OF_INIT) => Some(FlagUse::Passed),
        "validate" if is_of_tofu(&OF_VALIDATE) => Some(FlagUse::Passed),
        "test" if is_of_tofu(&OF_TEST) => Some(FlagUse::Passed),
        "state list" if ["id", "state"].contains(&flag) => Some(FlagUse::Passed),
        "plan" | "apply" | "destroy" | "drift" if is_of_tofu(&OF_INIT) => Some(FlagUse::OfInit),
        "apply" | "destroy" if is_of_tofu(&OF_APPLY) => Some(FlagUse::Through),
        "output" | "show" | "fmt" | "state list" | "state show" | "state pull"
            if is_tofus(flag) && !passes_on || flag == "json" =>
        {
            Some(FlagUse::Through)
        }
        _ => None,
    }
}
