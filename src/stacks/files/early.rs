//! Which variables tofu needs before it does anything: at `init`, and at every command that opens
//! a state.
//!
//! Follows local values, and the arguments of modules whose own sources depend on them, as tofu's
//! static evaluation does. Begin at [`EarlyVariables::read`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::folder::Folder;
use super::references::{Declaration, FolderReferences, ModuleCall, References};
use super::source_template::possible_folders;
use super::tree::Disk;

/// What early evaluation refers to in a stack.
#[derive(Clone, Debug, Default)]
pub struct EarlyVariables {
    /// Variables that the result of `init` depends on.
    init: BTreeSet<String>,
    /// Variables that say how states and plans are encrypted.
    encryption: BTreeSet<String>,
    /// Defaults and local values that the result of `init` depends on, as they are written.
    definitions: BTreeSet<String>,
    declarations: BTreeMap<String, Declaration>,
}

impl EarlyVariables {
    /// Reads the files of a stack, of its local modules, and of those that `init` installed before.
    pub fn read(dir: &Path, data_dir: &Path) -> Self {
        let mut reader = Reader {
            stack: dir,
            installed: installed(data_dir),
            known: BTreeMap::new(),
            definitions: BTreeSet::new(),
        };
        let root = folder(dir);
        let init = reader.needed(dir, &root, &[]);
        let mut ignored = BTreeSet::new();
        let encryption = closure(&root, root.encryption.clone(), "", &mut ignored);
        Self { init, encryption, definitions: reader.definitions, declarations: root.variables }
    }

    /// Returns whether nothing is needed early.
    pub fn is_empty(&self) -> bool {
        self.init.is_empty() && self.encryption.is_empty()
    }

    /// Returns whether a variable is needed early.
    pub fn has(&self, variable: &str) -> bool {
        self.init.contains(variable) || self.encryption.contains(variable)
    }

    /// Returns the variables that the result of `init` depends on.
    pub const fn of_init(&self) -> &BTreeSet<String> {
        &self.init
    }

    /// Returns the variables that say how states and plans are encrypted.
    pub const fn of_encryption(&self) -> &BTreeSet<String> {
        &self.encryption
    }

    /// Returns what is written in the files about them.
    pub fn definitions(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(String::as_str)
    }

    /// Returns whether a value on the command line is a text; else it is an expression.
    pub fn takes_text(&self, variable: &str) -> bool {
        self.declarations.get(variable).is_none_or(|declared| declared.is_primitive)
    }

    /// Returns whether the value of a variable must not be shown.
    pub fn is_sensitive(&self, variable: &str) -> bool {
        self.declarations.get(variable).is_some_and(|declared| declared.is_sensitive)
    }
}

struct Reader<'a> {
    stack: &'a Path,
    /// Where modules were installed, by their address.
    installed: BTreeMap<String, PathBuf>,
    /// What is known of folders; nothing yet of one that is being read, so that a ring has an end.
    known: BTreeMap<PathBuf, BTreeSet<String>>,
    definitions: BTreeSet<String>,
}

impl Reader<'_> {
    /// Returns the variables of a folder that are needed early; `address` leads to it from the stack.
    fn needed(&mut self, dir: &Path, here: &FolderReferences, address: &[&str]) -> BTreeSet<String> {
        let mut wanted = here.others.clone();
        for (name, call) in &here.modules {
            wanted.variables.extend(call.origin.variables.iter().cloned());
            wanted.locals.extend(call.origin.locals.iter().cloned());
            let address: Vec<&str> = address.iter().copied().chain([name.as_str()]).collect();
            for target in self.targets(dir, call, &address) {
                let inputs = self.inputs_of(target, &address);
                let given = inputs.iter().filter_map(|input| call.arguments.get(input));
                for References { variables, locals } in given {
                    wanted.variables.extend(variables.iter().cloned());
                    wanted.locals.extend(locals.iter().cloned());
                }
            }
        }
        closure(here, wanted, &address.join("."), &mut self.definitions)
    }

    /// Returns the inputs of a module that are needed early.
    fn inputs_of(&mut self, target: PathBuf, address: &[&str]) -> BTreeSet<String> {
        let target = std::fs::canonicalize(&target).unwrap_or(target);
        if let Some(known) = self.known.get(&target) {
            return known.clone();
        }
        self.known.insert(target.clone(), BTreeSet::new());
        let inputs = self.needed(&target, &folder(&target), address);
        self.known.insert(target, inputs.clone());
        inputs
    }

    /// Returns the folders that a module may be read from.
    fn targets(&self, dir: &Path, call: &ModuleCall, address: &[&str]) -> BTreeSet<PathBuf> {
        // A module without arguments takes nothing from here.
        if call.arguments.is_empty() {
            return BTreeSet::new();
        }
        let local = call.sources.iter().flat_map(|source| local_folders(dir, source));
        let installed = self.installed.get(&address.join(".")).map(|folder| self.stack.join(folder));
        local.chain(installed).collect()
    }
}

/// Returns the variables that references lead to, through local values.
fn closure(
    here: &FolderReferences,
    wanted: References,
    address: &str,
    definitions: &mut BTreeSet<String>,
) -> BTreeSet<String> {
    let References { mut variables, locals } = wanted;
    let mut open: Vec<String> = locals.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        let Some(text) = here.locals.get(&name) else { continue };
        if !seen.insert(name.clone()) {
            continue;
        }
        definitions.insert(format!("{address}: local {name} {text}"));
        let next = References::of(text);
        variables.extend(next.variables);
        open.extend(next.locals);
    }
    for name in &variables {
        let default = here.variables.get(name).map(|declared| declared.default.as_str()).unwrap_or_default();
        definitions.insert(format!("{address}: default {name} {default}"));
    }
    variables
}

fn folder(dir: &Path) -> FolderReferences {
    let listed = Folder::list(dir).unwrap_or_default();
    FolderReferences::read(dir, &listed.files)
}

/// Returns the folders that a source can lead to: one, or all that stand where a template is.
fn local_folders(dir: &Path, source: &str) -> Vec<PathBuf> {
    let plain = source.trim_matches('"');
    let is_plain = !source.contains("${") && (plain.starts_with("./") || plain.starts_with("../"));
    if is_plain { vec![dir.join(plain)] } else { possible_folders(&Disk, dir, source) }
}

/// Returns where `init` put the modules of a stack, relative to its folder.
fn installed(data_dir: &Path) -> BTreeMap<String, PathBuf> {
    #[derive(Deserialize)]
    struct Manifest {
        #[serde(rename = "Modules")]
        modules: Vec<Module>,
    }
    #[derive(Deserialize)]
    struct Module {
        #[serde(rename = "Key")]
        key: String,
        #[serde(rename = "Dir")]
        dir: PathBuf,
    }
    let bytes = std::fs::read(data_dir.join("modules/modules.json")).unwrap_or_default();
    let manifest = serde_json::from_slice::<Manifest>(&bytes).ok();
    manifest
        .into_iter()
        .flat_map(|manifest| manifest.modules)
        .map(|module| (module.key, module.dir))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, path: &str, text: &str) {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn read(dir: &Path) -> EarlyVariables {
        EarlyVariables::read(dir, &dir.join(".terraform"))
    }

    fn init(dir: &Path) -> Vec<String> {
        read(dir).of_init().iter().cloned().collect()
    }

    #[test]
    fn local_values_are_followed_to_the_variables_behind_them() {
        let temp = tempfile::tempdir().expect("a folder");
        let text = "locals {\n a = local.b\n b = \"${var.x}-${local.a}\"\n c = var.no\n}\n\
                    terraform {\n backend \"local\" { path = local.a }\n}\n";
        write(temp.path(), "main.tf", text);

        assert_eq!(init(temp.path()), ["x"]);
        assert!(read(temp.path()).definitions().any(|line| line.contains("local b")));
    }

    #[test]
    fn what_only_encrypts_is_no_matter_of_init() {
        let temp = tempfile::tempdir().expect("a folder");
        let text = "locals {\n p = var.pass\n}\nterraform {\n encryption {\n \
                    key_provider \"pbkdf2\" \"k\" {\n passphrase = local.p\n }\n }\n}\n";
        write(temp.path(), "main.tf", text);
        let early = read(temp.path());

        assert!(early.of_init().is_empty() && early.definitions().next().is_none());
        assert!(early.has("pass") && !early.is_empty());
    }

    #[test]
    fn arguments_of_modules_count_where_their_own_sources_depend_on_them() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path();
        write(
            root,
            "main.tf",
            "module \"m\" {\n source = \"./m\"\n cloud = var.cloud\n size = var.size\n}\n",
        );
        write(
            root,
            "m/main.tf",
            "variable \"cloud\" {}\nvariable \"size\" {}\n\
                                  module \"n\" {\n source = \"./${var.cloud}\"\n kind = var.size\n}\n",
        );
        write(root, "m/aws/main.tf", "variable \"kind\" {}\n");

        assert_eq!(init(root), ["cloud"]);
        // What may stand where the template is counts too.
        write(root, "m/gcp/main.tf", "module \"o\" {\n source = \"./${var.kind}\"\n}\n");
        assert_eq!(init(root), ["cloud", "size"]);
    }

    #[test]
    fn modules_that_were_installed_count_and_a_ring_has_an_end() {
        let temp = tempfile::tempdir().expect("a folder");
        let root = temp.path();
        write(
            root,
            "main.tf",
            "module \"far\" {\n source = \"example/far\"\n a = var.a\n}\n\
                                module \"ring\" {\n source = \"./.\"\n x = var.x\n}\n",
        );
        assert_eq!(init(root), [""; 0]);
        let manifest =
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"far","Dir":".terraform/modules/far"}]}"#;
        write(root, ".terraform/modules/modules.json", manifest);
        write(root, ".terraform/modules/far/main.tf", "module \"b\" {\n source = \"./${var.a}\"\n}\n");

        assert_eq!(init(root), ["a"]);
    }
}
