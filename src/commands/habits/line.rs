//! A command line in its parts, and back as a shell takes it.

use super::flag_names::takes_value;
use crate::model::quoted;

/// Parts of names of variables whose values are not written into a log.
const SECRET_NAMES: [&str; 8] = ["pass", "secret", "token", "key", "credential", "private", "pwd", "auth"];

/// A command line in its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Flags before the command.
    pub globals: Vec<String>,
    /// The command: `plan`, `state list`.
    pub command: Vec<String>,
    /// What follows it.
    pub rest: Vec<String>,
    /// What follows `--`.
    pub passed: Option<Vec<String>>,
}

/// A flag as it was typed.
#[derive(Clone, Debug)]
pub struct Flag {
    /// As it was typed, without its value.
    pub typed: String,
    /// Its name without dashes.
    pub name: String,
    /// What follows `=`.
    pub value: Option<String>,
}

impl Flag {
    /// Reads a word that begins with a dash and is more than a letter: `-target=x`, `--refresh`.
    pub fn read(word: &str) -> Option<Self> {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (name, None),
        };
        let typed = word.split('=').next().unwrap_or(word).to_owned();
        (name.len() > 1 && !name.starts_with('-')).then(|| Self { typed, name: name.to_owned(), value })
    }

    /// Returns whether it has two dashes, as infra's long flags have.
    pub fn is_long(&self) -> bool {
        self.typed.starts_with("--")
    }
}

impl Line {
    /// Takes words apart.
    pub fn read(words: Vec<String>, definition: &clap::Command) -> Self {
        let mut line = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--" {
                line.passed = Some(words.collect());
                break;
            }
            let part = if line.command.is_empty() { &mut line.globals } else { &mut line.rest };
            if word.starts_with('-') {
                let takes_next = takes_next(&word, definition);
                part.push(word);
                part.extend(takes_next.then(|| words.next()).flatten());
            } else if line.is_command(definition) {
                line.command.push(word);
            } else {
                line.rest.push(word);
            }
        }
        line
    }

    /// Returns whether the next word belongs to the command: the first one, or one below `state`.
    fn is_command(&self, definition: &clap::Command) -> bool {
        self.command.is_empty()
            || self.rest.is_empty() && self.definition(definition).is_some_and(clap::Command::has_subcommands)
    }

    /// Returns what is known of its command.
    pub fn definition<'a>(&self, definition: &'a clap::Command) -> Option<&'a clap::Command> {
        let (first, below) = self.command.split_first()?;
        let first = definition.find_subcommand(first)?;
        below.iter().try_fold(first, |command, word| command.find_subcommand(word))
    }

    /// Returns the command as it is typed.
    pub fn name(&self) -> String {
        self.command.join(" ")
    }

    /// Returns all words after the name of the program.
    pub fn words(&self) -> Vec<String> {
        let passed =
            self.passed.iter().flat_map(|passed| std::iter::once("--".to_owned()).chain(passed.clone()));
        [&self.globals, &self.command, &self.rest].into_iter().flatten().cloned().chain(passed).collect()
    }

    /// Returns the line as a shell takes it; in a log, values that are secret by their name are left out.
    pub fn text(&self, is_log: bool) -> String {
        let words = self.words();
        let words = if is_log { without_secrets(words) } else { words };
        let words = words.iter().map(|word| shell_word(word));
        std::iter::once("infra".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the argument of a command that has a long name.
pub fn own_flag<'a>(command: &'a clap::Command, name: &str) -> Option<&'a clap::Arg> {
    let is_called = |arg: &&clap::Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|names| names.contains(&name))
    };
    command.get_arguments().find(is_called)
}

/// Returns whether the word after a flag is its value.
pub fn takes_next(word: &str, definition: &clap::Command) -> bool {
    if word == "-C" {
        return true;
    }
    let Some(flag) = Flag::read(word).filter(|flag| flag.value.is_none()) else { return false };
    let everywhere = std::iter::once(definition).chain(definition.get_subcommands());
    let own = everywhere.filter_map(|command| own_flag(command, &flag.name)).next();
    match own.filter(|_| flag.is_long()) {
        Some(arg) => arg.get_action().takes_values() && !arg.is_require_equals_set(),
        None => takes_value(&flag.name),
    }
}

/// Writes a word so that a shell gives it back as it is.
fn shell_word(word: &str) -> String {
    if word.chars().any(char::is_control) {
        // A line that is broken could not be copied.
        let escaped: String = word.chars().map(escaped).collect();
        return format!("$'{escaped}'");
    }
    match word.strip_prefix(['~', '=']) {
        Some(_) => format!("'{}'", word.replace('\'', "'\\''")),
        None => quoted(word),
    }
}

fn escaped(char: char) -> String {
    match char {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\'' | '\\' => format!("\\{char}"),
        char if char.is_ascii_control() => format!("\\x{:02x}", u32::from(char)),
        char if char.is_control() => format!("\\u{:04x}", u32::from(char)),
        char => char.to_string(),
    }
}

/// Replaces the values of variables that are secret by their name.
fn without_secrets(words: Vec<String>) -> Vec<String> {
    let gives = |flag: &str| ["-var", "--var", "-backend-config", "--backend-config"].contains(&flag);
    let mut hidden = Vec::with_capacity(words.len());
    let mut is_value = false;
    for word in words {
        let joined = word.split_once('=').filter(|(flag, _)| gives(flag));
        hidden.push(match joined {
            Some((flag, value)) => format!("{flag}={}", without_secret(value)),
            None if is_value => without_secret(&word),
            None => word.clone(),
        });
        is_value = gives(&word);
    }
    hidden
}

fn without_secret(assignment: &str) -> String {
    match assignment.split_once('=') {
        Some((name, _)) if SECRET_NAMES.iter().any(|part| name.to_lowercase().contains(part)) => {
            format!("{name}=…")
        }
        _ => assignment.to_owned(),
    }
}
