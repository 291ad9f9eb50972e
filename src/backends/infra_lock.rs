//! `infra.lock`: which state each stack has, by its lineage, and where it was last kept.
//!
//! The file lies in the project's root and is made to be committed, so that whoever checks
//! the project out knows which states must be there. Anybody may have written it: it is read
//! strictly, and what it says is never more than a reason to refuse. Begin at
//! [`InfraLock::read`] and [`InfraLock::update`].

use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_saphyr::Spanned;

use super::file_lock::lock_file;
use crate::atomic_file;
use crate::error::{Error, Result};
use crate::model::{StackId, is_zero_width, quoted, turns_text};
use crate::project::YamlSource;
use crate::state::StateName;

/// Its name in the project's root.
const FILE: &str = "infra.lock";

/// What is locked while it is changed, below `.infra`.
const TURN: &str = "infra.lock.turn";

/// The format that is written and read.
const FORMAT: u64 = 1;

/// Far more than a project of thousands of stacks has.
const LARGEST: u64 = 16 << 20;

/// The lines that git leaves where two branches changed the same place.
const CONFLICTS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

const HEADING: &str = "\
# The states of this project: which one each stack has (its lineage) and where it is kept.
# Written by `infra` when a state is made, moved, renamed or removed. Commit this file: by it
# every checkout notices a state that is missing or kept elsewhere, before anything is made twice.
";

/// What is known about the state of a stack.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownState {
    /// What tells this state from every other, as tofu wrote it.
    pub lineage: String,
    /// `embedded`, or the URL of a store without credentials.
    pub kept: String,
}

/// The states of a project as `infra.lock` has them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InfraLock {
    /// By stack.
    pub states: BTreeMap<StackId, KnownState>,
}

impl InfraLock {
    /// Reads the file in this root; `None` if there is none.
    pub fn read(root: &Path) -> Result<Option<Self>> {
        match read_text(&root.join(FILE))? {
            Some(text) => Self::parse(&text).map(Some),
            None => Ok(None),
        }
    }

    /// Changes the file, if that makes a difference, and returns whether it did.
    ///
    /// Nobody else in this checkout changes it meanwhile. A file that cannot be read stays as it is.
    pub fn update(root: &Path, infra_dir: &Path, change: impl FnOnce(&mut Self)) -> Result<bool> {
        let _lock = lock_file(&infra_dir.join(TURN))?;
        let before = Self::read(root)?.unwrap_or_default();
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(false);
        }
        after.check()?;
        atomic_file::replace(&root.join(FILE), after.to_text().as_bytes())?;
        Ok(true)
    }

    /// Returns the text of the file: a heading, then one line a stack, sorted.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADING}format: {FORMAT}\n");
        if self.states.is_empty() {
            return text + "states: {}\n";
        }
        text.push_str("states:\n");
        for (id, KnownState { lineage, kept }) in &self.states {
            let [id, lineage, kept] = [id.as_str(), lineage, kept].map(in_quotes);
            text.push_str(&format!("  {id}: {{ lineage: {lineage}, kept: {kept} }}\n"));
        }
        text
    }

    /// Refuses what could not be read again.
    fn check(&self) -> Result<()> {
        let flaw = self.states.iter().find_map(|(id, known)| Some((id, flaw_of(id.as_str(), known)?)));
        match flaw {
            Some((id, flaw)) => Err(Error::invalid(format!(
                "the state of `{}` cannot be noted in `{FILE}`",
                shown(id.as_str())
            ))
            .detail(flaw)),
            None => Ok(()),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        refuse_conflict(text)?;
        refuse_newer(text)?;
        let source = YamlSource { file: FILE, text };
        let file: LockFile = serde_saphyr::from_str_with_options(text, options())
            .map_err(|error| repairable(source.explain(&error)))?;
        if file.format.value != FORMAT {
            return Err(newer(&file.format.value.to_string()).at(place(file.format.referenced.line())));
        }
        let mut states = BTreeMap::new();
        for (id, entry) in file.states.0 {
            let known = KnownState { lineage: entry.lineage, kept: entry.kept };
            if let Some(flaw) = flaw_of(&id.value, &known) {
                let message = format!("the entry `{}` in `{FILE}` cannot be used", shown(&id.value));
                return Err(repairable(source.wrong(id.referenced, message).detail(flaw)));
            }
            states.insert(StackId::new(id.value), known);
        }
        Ok(Self { states })
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    format: Spanned<u64>,
    states: Entries,
}

/// One line of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine {
    lineage: String,
    kept: String,
}

/// The entries with their places, which a map of strings would lose.
struct Entries(Vec<(Spanned<String>, EntryLine)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of stacks")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// Room for the largest file, and none for anything that refers to something else.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        with_snippet: false,
        no_schema: true,
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_merge_keys: 0,
            max_documents: 1,
            max_nodes: 4_000_000,
            max_events: 8_000_000,
            simple_key_max_lookahead: 16 << 10,
        },
    }
}

/// Reads the file, if it is one; nothing is followed and nothing is waited for.
fn read_text(path: &Path) -> Result<Option<String>> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable().because(error)),
    };
    if !found.is_file() {
        let what = if found.is_symlink() { "a link" } else { "not a file" };
        return Err(Error::invalid(format!("`{FILE}` is {what}: expected a file"))
            .at(path.display())
            .hint(format!("remove it: `rm -r {}`", quoted(&path.display().to_string()))));
    }
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let mut bytes = Vec::new();
    let file = file.map_err(|error| unreadable().because(error))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable().because(error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(repairable(Error::invalid(format!("`{FILE}` is larger than {} MiB", LARGEST >> 20))));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = valid.filter(|byte| **byte == b'\n').count() + 1;
        repairable(Error::invalid(format!("`{FILE}` is not text: expected UTF-8, found another byte")))
            .at(format!("{FILE}:{line}"))
    })?;
    Ok(Some(text))
}

fn unreadable() -> Error {
    Error::invalid(format!("`{FILE}` cannot be read"))
}

fn refuse_conflict(text: &str) -> Result<()> {
    let is_conflict = |line: &&str| CONFLICTS.iter().any(|mark| line.starts_with(mark));
    let Some(index) = text.lines().position(|line| is_conflict(&line)) else { return Ok(()) };
    Err(Error::invalid(format!("`{FILE}` has a merge conflict that is not resolved"))
        .at(place(index as u64 + 1))
        .fact("found", text.lines().nth(index).map(shown).unwrap_or_default())
        .hint("keep the lines of both sides, each stack once, and remove the lines of git between them")
        .hint(format!("then: `git add {FILE}`")))
}

/// Refuses another format before its content is judged by the rules of this one.
fn refuse_newer(text: &str) -> Result<()> {
    let mut lines = text.lines().enumerate();
    let found = lines.find_map(|(index, line)| Some((index, line.strip_prefix("format:")?)));
    let Some((index, rest)) = found else { return Ok(()) };
    let number = rest.split('#').next().unwrap_or_default().trim();
    match number.parse::<u64>() {
        Ok(FORMAT) | Err(_) => Ok(()),
        Ok(_) => Err(newer(number).at(place(index as u64 + 1))),
    }
}

fn newer(format: &str) -> Error {
    Error::invalid(format!("`{FILE}` has format {format}: expected format {FORMAT}"))
        .detail("a newer infra wrote it")
        .hint("take the infra that the others of this project use: `infra --version`")
}

/// Adds how to get a file back that is right.
fn repairable(error: Error) -> Error {
    error.hint(format!("take the committed one: `git checkout -- {FILE}`"))
}

fn place(line: u64) -> String {
    format!("{FILE}:{line}")
}

/// Returns why an entry cannot be used, if so.
fn flaw_of(id: &str, known: &KnownState) -> Option<String> {
    if let Err(error) = StateName::parse(&StackId::new(id).state_name()) {
        return Some(error.body().into_iter().next().unwrap_or_else(|| "it is no id of a stack".to_owned()));
    }
    [("lineage", &known.lineage), ("kept", &known.kept)].into_iter().find_map(|(key, text)| match text {
        text if text.trim().is_empty() => Some(format!("`{key}` must be a text, not empty")),
        text if text.chars().any(is_hidden) => Some(format!("`{key}` contains a control character")),
        _ => None,
    })
}

fn is_hidden(character: char) -> bool {
    character.is_control() || turns_text(character) || is_zero_width(character)
}

fn shown(text: &str) -> String {
    text.escape_debug().take(120).collect()
}

/// Quotes a text so that YAML reads it back, whatever it is.
fn in_quotes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' ' => quoted.push(' '),
            // Line ends of every kind, and what nobody sees.
            character if is_hidden(character) || character.is_whitespace() || !is_printable(character) => {
                quoted.push_str(&format!("\\U{:08X}", u32::from(character)));
            }
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// Returns whether YAML lets a character stand as it is.
fn is_printable(character: char) -> bool {
    !matches!(character, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests;
