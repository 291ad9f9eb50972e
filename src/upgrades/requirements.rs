//! What one folder of OpenTofu files requires: every provider and module of a registry, with the constraint
//! as it stands in a file. Overrides count as for OpenTofu.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::constraint::{Constraint, Rules};
use super::entries::{ConstraintEntry, EntryKind, Said, read};
use super::source_file::SourceFile;
use crate::stacks::Folder;
use crate::syntax::line_and_column;
use crate::tofu::Flavour;
use crate::tofu::registry::{Dependency, ModuleAddress, ProviderAddress};

/// What a file asks for.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Which versions.
    pub wanted: Wanted,
    /// Where it stands.
    pub place: RequirementPlace,
}

/// Which versions a file asks for.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Any: no constraint is written down.
    Any,
    /// Those of a constraint.
    Said {
        /// The constraint as it is written.
        text: String,
        /// The same, understood.
        constraint: Constraint,
    },
    /// Nobody knows before it is evaluated, or at all.
    Unclear(String),
}

/// Where a constraint stands.
#[derive(Clone, Debug)]
pub struct RequirementPlace {
    pub(super) file: Arc<SourceFile>,
    pub(super) span: Range<usize>,
    pub(super) rules: Rules,
}

impl RequirementPlace {
    /// Returns the file as it is shown.
    pub fn shown(&self) -> &str {
        &self.file.shown
    }

    /// Returns the file without links.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Returns the line, from one.
    pub fn line(&self) -> usize {
        line_and_column(&self.file.text, self.span.start).0
    }
}

impl Requirement {
    /// Returns the constraint as it is written.
    pub fn text(&self) -> Option<&str> {
        match &self.wanted {
            Wanted::Said { text, .. } | Wanted::Unclear(text) => Some(text),
            Wanted::Any => None,
        }
    }

    /// Returns the constraint, if there is one that was understood.
    pub const fn constraint(&self) -> Option<&Constraint> {
        match &self.wanted {
            Wanted::Said { constraint, .. } => Some(constraint),
            Wanted::Any | Wanted::Unclear(_) => None,
        }
    }

    /// Returns whether it is the same text of the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.place.file.path == other.place.file.path && self.place.span == other.place.span
    }
}

/// What a folder requires.
#[derive(Debug, Default)]
pub(super) struct Folding {
    /// Providers and modules.
    pub required: Vec<(Dependency, Arc<Requirement>)>,
    /// `required_version`.
    pub tofu: Vec<Arc<Requirement>>,
    /// The files that were read.
    pub files: Vec<Arc<SourceFile>>,
    /// What is not looked at, with file and line.
    pub remarks: Vec<String>,
}

/// An entry with the file each part of it comes from.
struct Merged {
    entry: ConstraintEntry,
    file: Arc<SourceFile>,
    version_file: Arc<SourceFile>,
}

/// Reads a folder.
pub(super) fn read_folder(folder: &Path, root: &Path, flavour: Flavour) -> Folding {
    let mut folding = Folding::default();
    let mut merged: BTreeMap<(EntryKind, String), Merged> = BTreeMap::new();
    let names = Folder::list(folder).map(|listed| listed.files).unwrap_or_default();
    for name in names {
        let Some(mut file) = SourceFile::read(&folder.join(&name), root) else { continue };
        let (entries, fault) = read(&file.text, name.ends_with(".json"));
        if let Some(fault) = fault {
            let line = line_and_column(&file.text, fault.at).0;
            file.obstacle.get_or_insert(format!("line {line} makes no sense: {}", fault.what));
        }
        let file = Arc::new(file);
        entries.into_iter().for_each(|entry| merge(&mut merged, entry, &file));
        folding.files.push(file);
    }
    resolve(&merged, &mut folding, flavour);
    folding
}

/// Adds an entry; an override changes only what it names, and of a required provider the whole.
fn merge(merged: &mut BTreeMap<(EntryKind, String), Merged>, entry: ConstraintEntry, file: &Arc<SourceFile>) {
    let key = (entry.kind, entry.name.clone());
    let new = Merged { file: Arc::clone(file), version_file: Arc::clone(file), entry };
    match merged.get_mut(&key) {
        Some(known) if new.entry.kind != EntryKind::RequiredProvider => {
            if new.entry.source.is_some() {
                known.entry.source = new.entry.source;
                (known.entry.at, known.file) = (new.entry.at, new.file);
            }
            if new.entry.version.is_some() {
                (known.entry.version, known.version_file) = (new.entry.version, new.version_file);
            }
        }
        _ => drop(merged.insert(key, new)),
    }
}

/// Turns entries into addresses and constraints.
fn resolve(merged: &BTreeMap<(EntryKind, String), Merged>, folding: &mut Folding, flavour: Flavour) {
    for found in merged.values() {
        match found.entry.kind {
            EntryKind::Tofu => folding.tofu.extend(requirement(found, Rules::Others).map(Arc::new)),
            EntryKind::RequiredProvider => provider(found, &found.entry, folding, flavour),
            EntryKind::ProviderBlock => {
                let local = (EntryKind::RequiredProvider, found.entry.name.clone());
                let named = merged.get(&local).map_or(&found.entry, |found| &found.entry);
                // Without a version of its own it says nothing.
                if found.entry.version.is_some() {
                    provider(found, named, folding, flavour);
                }
            }
            EntryKind::Module => module(found, folding, flavour),
        }
    }
}

fn provider(found: &Merged, named: &ConstraintEntry, folding: &mut Folding, flavour: Flavour) {
    let source = match &named.source {
        Some(Said { text: Some(text), .. }) => Some(text.as_str()),
        Some(Said { text: None, .. }) => None,
        None => Some(named.name.as_str()),
    };
    let source = source.filter(|_| !named.is_unclear);
    match source.map(|source| ProviderAddress::parse(source, flavour)) {
        Some(Some(address)) => {
            let found = requirement_or_any(found, Rules::Providers);
            folding.required.push((Dependency::Provider(address), Arc::new(found)));
        }
        // Built into OpenTofu, or an address that it refuses.
        Some(None) => {}
        None => folding.remarks.push(remark(found, "provider", "it is an expression")),
    }
}

fn module(found: &Merged, folding: &mut Folding, flavour: Flavour) {
    match &found.entry.source {
        Some(Said { text: Some(source), .. }) => match ModuleAddress::parse(source, flavour) {
            Some(address) => {
                let found = requirement_or_any(found, Rules::Others);
                folding.required.push((Dependency::Module(address), Arc::new(found)));
            }
            None if source.starts_with('.') || source.starts_with('/') => {}
            None => folding.remarks.push(remark(found, "module", "its source is no registry")),
        },
        // A source without a registry's version is a path that is put together.
        Some(Said { text: None, .. }) if found.entry.version.is_some() => {
            folding.remarks.push(remark(found, "module", "its source is an expression"));
        }
        Some(_) | None => {}
    }
}

fn remark(found: &Merged, kind: &str, why: &str) -> String {
    let line = line_and_column(&found.file.text, found.entry.at).0;
    format!("{}:{line}: {kind} `{}` is not looked up: {why}", found.file.shown, found.entry.name)
}

fn requirement_or_any(found: &Merged, rules: Rules) -> Requirement {
    requirement(found, rules).unwrap_or_else(|| Requirement {
        wanted: Wanted::Any,
        place: RequirementPlace {
            file: Arc::clone(&found.file),
            span: found.entry.at..found.entry.at,
            rules,
        },
    })
}

fn requirement(found: &Merged, rules: Rules) -> Option<Requirement> {
    let Said { text, span } = found.entry.version.as_ref()?;
    let file = Arc::clone(&found.version_file);
    let written = file.text.get(span.clone()).unwrap_or_default().trim().to_owned();
    let wanted = match text {
        Some(text) => match Constraint::parse(text, rules) {
            Some(constraint) => Wanted::Said { text: text.clone(), constraint },
            None => Wanted::Unclear(text.clone()),
        },
        None => Wanted::Unclear(written),
    };
    Some(Requirement { wanted, place: RequirementPlace { file, span: span.clone(), rules } })
}
