//! What is inside a plan file beside the changes: the configuration it was made from with the manifest
//! of its modules, the locked providers, the backend, and which state it is about.
//!
//! tofu never compares these with the files of a checkout: a plan brings its own copies. Two plans are
//! compared byte by byte; where the folder of fetched modules lies may differ between machines.
//! Begin at [`PlanParts::difference`].

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::archive::entries;

const CONFIGURATION: &str = "tfconfig/";
const MANIFEST: &str = "tfconfig/modules.json";
const LOCK_FILE: &str = ".terraform.lock.hcl";
const PLAN: &str = "tfplan";
/// The state as it was refreshed; of the two only this one says which state it is.
const STATE: &str = "tfstate";

/// The field of a plan that holds the backend, in the numbering of tofu's `planfile.proto`.
const BACKEND_FIELD: u64 = 13;

/// The parts of one plan file.
#[derive(Debug)]
pub struct PlanParts {
    files: BTreeMap<String, Vec<u8>>,
    modules: Vec<Module>,
    backend: Vec<u8>,
    state: (Value, Value),
}

/// One module as the manifest of a plan lists it.
#[derive(Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Module {
    key: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    version: Option<String>,
    dir: String,
}

impl PlanParts {
    /// Reads a plan file; `data_dir` is where the stack's modules were fetched to when it was made.
    pub fn of(plan: &[u8], data_dir: &str) -> Option<Self> {
        let mut all = entries(plan)?;
        let manifest = all.remove(MANIFEST)?;
        let mut modules: Vec<Module> = serde_json::from_slice(&manifest).ok()?;
        for module in &mut modules {
            if let Some(rest) = module.dir.strip_prefix(data_dir).filter(|_| !data_dir.is_empty()) {
                module.dir = format!("<data>{rest}");
            }
        }
        modules.sort_by(|one, other| one.key.cmp(&other.key));
        let state: Value = serde_json::from_slice(all.get(STATE)?).ok()?;
        let backend = field(all.get(PLAN)?, BACKEND_FIELD)?.to_vec();
        all.retain(|name, _| name.starts_with(CONFIGURATION) || name == LOCK_FILE);
        let state = (state["lineage"].clone(), state["serial"].clone());
        Some(Self { files: all, modules, backend, state })
    }

    /// Says what of another plan of the same stack is not the same, the gravest first.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let names: BTreeSet<&String> = self.files.keys().chain(other.files.keys()).collect();
        let differing = names.into_iter().find(|name| self.files.get(*name) != other.files.get(*name));
        if let Some(name) = differing {
            return Some(format!(
                "the configuration inside it differs from this checkout: {}",
                self.words(name, other)
            ));
        }
        if self.modules != other.modules {
            let module = self.other_module(other);
            return Some(format!("the manifest of modules inside it differs from this checkout: {module}"));
        }
        if self.backend != other.backend {
            return Some("the backend inside it differs from that of the stack".to_owned());
        }
        (self.state != other.state).then(|| "it is about another version of the state".to_owned())
    }

    /// Returns the file that an entry is a copy of.
    fn words(&self, name: &str, other: &Self) -> String {
        let Some(path) = name.strip_prefix(CONFIGURATION) else { return format!("`{name}`") };
        let Some((folder, file)) = path.split_once('/') else { return format!("`{path}`") };
        let key = folder.strip_prefix("m-").unwrap_or(folder);
        let known = other.modules.iter().chain(&self.modules).find(|module| module.key == key);
        match known {
            Some(module) if module.dir != "." => format!("`{}/{file}`", module.dir),
            _ => format!("`{file}`"),
        }
    }

    fn other_module(&self, other: &Self) -> String {
        let is_unknown = |module: &&Module| !other.modules.contains(module);
        let named = self.modules.iter().find(is_unknown);
        let named = named.or_else(|| other.modules.iter().find(|module| !self.modules.contains(module)));
        named.map_or_else(String::new, |module| match module.key.as_str() {
            "" => "the stack itself".to_owned(),
            key => format!("module `{key}`"),
        })
    }
}

/// Returns a field of a message of protocol buffers; all that are not of that number are passed over.
fn field(message: &[u8], wanted: u64) -> Option<&[u8]> {
    let (mut rest, mut found) = (message, Some(&[][..]));
    while !rest.is_empty() {
        let (tag, after) = varint(rest)?;
        let (value, after) = match tag & 7 {
            0 => {
                let (_, end) = varint(after)?;
                after.split_at_checked(after.len() - end.len())?
            }
            1 => after.split_at_checked(8)?,
            2 => {
                let (length, data) = varint(after)?;
                data.split_at_checked(usize::try_from(length).ok()?)?
            }
            5 => after.split_at_checked(4)?,
            _ => return None,
        };
        if tag >> 3 == wanted {
            // A decoder would merge several; a plan has one.
            found = found.filter(|earlier| earlier.is_empty()).map(|_| value);
            found?;
        }
        rest = after;
    }
    found
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f).checked_shl(u32::try_from(place * 7).ok()?)?;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(place + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(files: &[(&str, &str)], dir: &str) -> PlanParts {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        let module = |key: &str, dir: &str| Module {
            key: key.to_owned(),
            source: None,
            version: None,
            dir: dir.to_owned(),
        };
        PlanParts {
            files: files.collect(),
            modules: vec![module("", "."), module("m", dir)],
            backend: b"http".to_vec(),
            state: (Value::from("l"), Value::from(1)),
        }
    }

    #[test]
    fn another_file_another_module_and_another_backend_are_told() {
        let one = parts(&[("tfconfig/m-/main.tf", "a"), ("tfconfig/m-m/x.tf", "b")], "../modules/m");
        let same = parts(&[("tfconfig/m-/main.tf", "a"), ("tfconfig/m-m/x.tf", "b")], "../modules/m");
        let edited = parts(&[("tfconfig/m-/main.tf", "a"), ("tfconfig/m-m/x.tf", "c")], "../modules/m");
        let missing = parts(&[("tfconfig/m-/main.tf", "a")], "../modules/m");
        let moved = parts(&[("tfconfig/m-/main.tf", "a"), ("tfconfig/m-m/x.tf", "b")], "../modules/n");

        assert_eq!(one.difference(&same), None);
        for other in [&edited, &missing] {
            assert!(one.difference(other).expect("a difference").contains("`../modules/m/x.tf`"));
        }
        assert!(one.difference(&moved).expect("a difference").contains("module `m`"));
        let elsewhere =
            PlanParts { backend: b"s3".to_vec(), ..parts(&[("tfconfig/m-/main.tf", "a")], "../modules/m") };
        assert!(missing.difference(&elsewhere).expect("a difference").contains("backend"));
    }

    #[test]
    fn a_field_is_found_among_others_and_nonsense_is_none() {
        let message =
            [&[0x08, 0x01][..], &[0x6a, 0x02, b'h', b'i'], &[0x11, 0, 0, 0, 0, 0, 0, 0, 0]].concat();

        assert_eq!(field(&message, 13), Some(b"hi".as_slice()));
        assert_eq!(field(&[0x08, 0x01], 13), Some(b"".as_slice()));
        assert_eq!(field(&[message.clone(), message].concat(), 13), None);
        for odd in [&[0x6a, 0x7f][..], &[0xff; 12], &[0x6b], &[0x6d, 1]] {
            assert_eq!(field(odd, 13), None);
        }
    }
}
