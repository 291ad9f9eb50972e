//! Which source file imports from which: turns the text of all files into pairs of modules.
//!
//! Reads `use` trees and paths that begin with `crate`, `super` or `self`, outside of tests, and
//! follows what doors re-export to the file that has it. Begin at [`Imports::of`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

static USED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse\s+([^;]+);").unwrap());
static EXPORTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);").unwrap());
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(?:crate|super|self)(?:::\w+)+").unwrap());
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"//[^\n]*").unwrap());
static TEXT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""(?:\\.|[^"\\])*""#).unwrap());

/// The segments of a path in the crate, without `crate`.
pub type Module = Vec<String>;

/// All files and what they import.
pub struct Imports {
    code: BTreeMap<Module, String>,
    reexports: BTreeMap<Module, Module>,
}

impl Imports {
    /// Reads the files, each with its module and its text.
    pub fn of(files: impl IntoIterator<Item = (Module, String)>) -> Self {
        let code = files.into_iter().map(|(module, text)| (module, plain_code(&text))).collect();
        let mut imports = Self { code, reexports: BTreeMap::new() };
        imports.reexports =
            imports.code.iter().flat_map(|(module, code)| imports.exported(module, code)).collect();
        imports
    }

    /// Returns every pair of files that import each other; a door and what is behind it may.
    pub fn mutual(&self) -> Vec<(Module, Module)> {
        let graph: BTreeMap<&Module, BTreeSet<Module>> =
            self.code.iter().map(|(module, code)| (module, self.imported(module, code))).collect();
        let is_back = |one: &Module, other: &Module| graph.get(other).is_some_and(|back| back.contains(one));
        let pairs = graph.iter().flat_map(|(one, all)| all.iter().map(move |other| (*one, other)));
        pairs
            .filter(|(one, other)| one < other && is_back(one, other) && !other.starts_with(one))
            .map(|(one, other)| (one.clone(), other.clone()))
            .collect()
    }

    fn imported(&self, module: &Module, code: &str) -> BTreeSet<Module> {
        let rest = USED.replace_all(code, "");
        let used = self.used(module, code, &USED);
        let used = used.into_iter().flat_map(|path| self.named_through(path, &rest)).collect::<Vec<_>>();
        let named =
            NAMED.find_iter(&rest).filter_map(|found| self.absolute(module, &segments(found.as_str())));
        let owners = used.into_iter().chain(named).filter_map(|path| self.owner(&self.followed(path)));
        owners.filter(|owner| owner != module).collect()
    }

    /// Returns what a file names with an imported module in front, such as `trust::require`, instead of the
    /// module.
    fn named_through(&self, path: Module, code: &str) -> Vec<Module> {
        let Some(module) = path.last().filter(|_| self.code.contains_key(&path)) else { return vec![path] };
        let behind = Regex::new(&format!(r"(?:^|[^\w:]){module}::(\w+)")).unwrap();
        behind.captures_iter(code).map(|found| [path.as_slice(), &[found[1].to_owned()]].concat()).collect()
    }

    fn exported(&self, module: &Module, code: &str) -> Vec<(Module, Module)> {
        let used = self.used(module, code, &EXPORTED);
        used.into_iter()
            .map(|path| ([module.clone(), path[path.len() - 1..].to_vec()].concat(), path))
            .collect()
    }

    fn used(&self, module: &Module, code: &str, trees: &Regex) -> Vec<Module> {
        let paths = trees.captures_iter(code).flat_map(|found| expanded(&found[1]));
        paths.filter_map(|path| self.absolute(module, &path)).collect()
    }

    /// Returns a path from the root of the crate; `None` for what another crate has.
    fn absolute(&self, module: &Module, path: &[String]) -> Option<Module> {
        let ups = path.iter().take_while(|segment| *segment == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len().checked_sub(ups)?], &path[ups..]].concat()),
            first => {
                let child = [module.as_slice(), &[first.to_owned()]].concat();
                self.code.contains_key(&child).then(|| [module.as_slice(), path].concat())
            }
        }
    }

    /// Returns where a path leads behind all re-exports.
    fn followed(&self, mut path: Module) -> Module {
        for _ in 0..10 {
            let found = (1..=path.len()).rev().find_map(|end| Some((end, self.reexports.get(&path[..end])?)));
            match found {
                Some((end, target)) if path[..end] != target[..] => {
                    path = [target.as_slice(), &path[end..]].concat();
                }
                _ => break,
            }
        }
        path
    }

    fn owner(&self, path: &Module) -> Option<Module> {
        (1..=path.len()).rev().map(|end| path[..end].to_vec()).find(|start| self.code.contains_key(start))
    }
}

/// Returns the code without tests, comments and texts.
fn plain_code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let code = COMMENT.replace_all(code, "").into_owned();
    TEXT.replace_all(&code, "\"\"").into_owned()
}

/// Returns the paths of a tree such as `a::{b, c::d}`.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((prefix, inner)) = tree.split_once('{') else {
        return vec![segments(tree.split(" as ").next().unwrap_or(tree))];
    };
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    let below = branches(inner).into_iter().flat_map(expanded);
    below.map(|path| [segments(prefix), path].concat()).collect()
}

/// Splits at the commas that are in no braces.
fn branches(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (index, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.into_iter().filter(|branch| !branch.trim().is_empty()).collect()
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
