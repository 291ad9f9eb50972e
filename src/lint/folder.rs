//! A folder as OpenTofu sees it: its files together, overrides merged over the others.

use std::collections::BTreeMap;

use super::files::{Declaration, DeclarationKind, SourceFile};
use super::finding::FindingPlace;
use super::tree::ListedFolder;
use crate::syntax::Setting;

/// A folder with its files.
#[derive(Debug)]
pub struct Folder<'a> {
    /// What is in it.
    pub listed: &'a ListedFolder,
    /// The files that OpenTofu reads, in reading order.
    pub files: Vec<&'a SourceFile>,
}

/// A declaration with what overrides say of it.
#[derive(Debug)]
pub struct Merged<'a> {
    /// The block that is found fault with.
    pub block: &'a Declaration,
    /// Where it is.
    pub place: FindingPlace,
    /// What holds in the end.
    arguments: BTreeMap<&'a str, Option<&'a Setting>>,
}

impl<'a> Merged<'a> {
    /// Returns the value of an argument; none where it is not given, or `null`.
    pub fn value(&self, name: &str) -> Option<&'a Setting> {
        self.arguments.get(name).copied().flatten()
    }

    /// Returns whether an argument is given, `null` included.
    pub fn has(&self, name: &str) -> bool {
        self.arguments.contains_key(name)
    }
}

/// The file that explains a module.
pub const README: &str = "README.md";

impl<'a> Folder<'a> {
    /// Returns the name of its README, in whatever letters.
    pub fn readme_file(&self) -> Option<&'a str> {
        let exact = self.listed.names.get(README);
        let found = exact.or_else(|| self.listed.names.iter().find(|name| name.eq_ignore_ascii_case(README)));
        found.map(String::as_str)
    }

    /// Returns what is declared of a kind, in the order of the files; what is declared twice is there once,
    /// unless both are in files of their own right.
    pub fn declared(&self, kind: DeclarationKind) -> Vec<Merged<'a>> {
        let mut found: Vec<Merged<'a>> = Vec::new();
        for file in &self.files {
            for block in file.declarations.iter().filter(|block| block.kind == kind) {
                let arguments = block.arguments.iter();
                let arguments = arguments.map(|(name, value)| (name.as_str(), value.as_ref()));
                let base = found.iter_mut().find(|base| file.is_override && base.block.name == block.name);
                match base {
                    Some(base) => base.arguments.extend(arguments),
                    None => {
                        let (place, arguments) = (file.place(block.at), arguments.collect());
                        found.push(Merged { block, place, arguments });
                    }
                }
            }
        }
        found
    }
}
