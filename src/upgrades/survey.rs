//! What the stacks of a project require of registries, with the local modules they use. Reads files only.
//! Begin at [`Survey::of`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use semver::Version;

use super::lock_file::LockFile;
use super::requirements::{Folding, Requirement, read_folder};
use crate::model::{Stack, StackId};
use crate::tofu::Flavour;
use crate::tofu::registry::{Dependency, ProviderAddress};

/// What a project requires.
#[derive(Debug, Default)]
pub struct Survey {
    /// Every use of a provider by a stack, and every module block.
    pub uses: Vec<Use>,
    /// Every `required_version`, with the stacks it is read by.
    pub tofu: Vec<(Arc<Requirement>, BTreeSet<StackId>)>,
    /// What is not looked at, with file and line, and who reads that file.
    pub remarks: BTreeMap<String, BTreeSet<StackId>>,
    readers: BTreeMap<PathBuf, BTreeSet<StackId>>,
}

/// One thing that is required, as one version.
#[derive(Clone, Debug)]
pub struct Use {
    /// What is required.
    pub dependency: Dependency,
    /// By which stacks: one of a provider, all that share the block of a module.
    pub stacks: BTreeSet<StackId>,
    /// The folder of the first of them.
    pub folder: PathBuf,
    /// What its lock file holds.
    pub locked: Option<Version>,
    /// The constraints that must all be met.
    pub requirements: Vec<Arc<Requirement>>,
}

impl Survey {
    /// Reads what stacks require; every stack of the project, so that it is known who shares a file.
    pub fn of(root: &Path, stacks: &[Stack], flavour: Flavour) -> Self {
        let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let mut survey = Self::default();
        let mut folders: BTreeMap<PathBuf, Folding> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        // The workspaces of a folder are one stack here.
        for stack in stacks.iter().filter(|stack| seen.insert(&stack.path)) {
            let own = root.join(&stack.path);
            let parts: Vec<PathBuf> = std::iter::once(own.clone())
                .chain(stack.modules.iter().map(|module| root.join(module)))
                .collect();
            for part in &parts {
                folders.entry(part.clone()).or_insert_with(|| read_folder(part, &root, flavour));
            }
            let read: Vec<&Folding> = parts.iter().filter_map(|part| folders.get(part)).collect();
            survey.add(stack, &own, &read, flavour);
        }
        survey
    }

    fn add(&mut self, stack: &Stack, folder: &Path, parts: &[&Folding], flavour: Flavour) {
        let id = stack.base_id();
        let lock = LockFile::read(folder, flavour);
        let mut providers: BTreeMap<ProviderAddress, Vec<Arc<Requirement>>> = BTreeMap::new();
        for part in parts {
            for file in &part.files {
                self.readers.entry(file.path.clone()).or_default().insert(id.clone());
            }
            for remark in &part.remarks {
                self.remarks.entry(remark.clone()).or_default().insert(id.clone());
            }
            part.tofu.iter().for_each(|found| self.add_tofu(found, &id));
            for (dependency, requirement) in &part.required {
                match dependency {
                    Dependency::Provider(address) => {
                        providers.entry(address.clone()).or_default().push(Arc::clone(requirement));
                    }
                    Dependency::Module(_) => self.add_module(dependency, requirement, &id, folder),
                }
            }
        }
        for address in implied(stack, &lock, &providers, flavour) {
            providers.entry(address).or_default();
        }
        let uses = providers.into_iter().map(|(address, requirements)| Use {
            locked: lock.version(&address).cloned(),
            dependency: Dependency::Provider(address),
            stacks: BTreeSet::from([id.clone()]),
            folder: folder.to_owned(),
            requirements,
        });
        self.uses.extend(uses);
    }

    fn add_tofu(&mut self, found: &Arc<Requirement>, id: &StackId) {
        match self.tofu.iter_mut().find(|(known, _)| known.is_same(found)) {
            Some((_, stacks)) => _ = stacks.insert(id.clone()),
            None => self.tofu.push((Arc::clone(found), BTreeSet::from([id.clone()]))),
        }
    }

    /// A block of a module is one use, however many stacks share its file.
    fn add_module(&mut self, dependency: &Dependency, found: &Arc<Requirement>, id: &StackId, folder: &Path) {
        let is_known = |one: &&mut Use| {
            one.dependency == *dependency && one.requirements.iter().any(|known| known.is_same(found))
        };
        if let Some(known) = self.uses.iter_mut().find(is_known) {
            known.stacks.insert(id.clone());
            return;
        }
        self.uses.push(Use {
            dependency: dependency.clone(),
            stacks: BTreeSet::from([id.clone()]),
            folder: folder.to_owned(),
            locked: None,
            requirements: vec![Arc::clone(found)],
        });
    }

    /// Returns the stacks that read a file.
    pub fn readers_of(&self, file: &Path) -> &BTreeSet<StackId> {
        static NOBODY: BTreeSet<StackId> = BTreeSet::new();
        self.readers.get(file).unwrap_or(&NOBODY)
    }
}

/// Returns the providers that no file names: those in the lock file, which modules from elsewhere may need,
/// or, where there is none, those that OpenTofu takes resources to mean.
fn implied(
    stack: &Stack,
    lock: &LockFile,
    declared: &BTreeMap<ProviderAddress, Vec<Arc<Requirement>>>,
    flavour: Flavour,
) -> Vec<ProviderAddress> {
    let named: Vec<ProviderAddress> = match lock.is_there {
        true => lock.providers().cloned().collect(),
        false => {
            let names = stack.init_facts.iter().filter_map(|line| line.split_once(": provider "));
            let bare = names.filter(|(_, name)| !name.contains([' ', '/']));
            bare.filter_map(|(_, name)| ProviderAddress::parse(name, flavour)).collect()
        }
    };
    let is_declared = |address: &ProviderAddress| {
        let other = address.of_other_program();
        declared.contains_key(address) || other.is_some_and(|other| declared.contains_key(&other))
    };
    named.into_iter().filter(|address| !is_declared(address)).collect()
}
