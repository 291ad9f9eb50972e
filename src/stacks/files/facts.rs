//! What was read about one folder of OpenTofu files. Both forms of the language fill
//! the same facts, in reading order, so that an override replaces what came before.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Fingerprint;
use crate::syntax::{Setting, Settings, one_line};

/// Everything that matters about a folder before OpenTofu runs in it.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The `backend` or `cloud` block.
    pub backend: Option<BackendBlock>,
    /// Names of declared variables.
    pub variables: BTreeSet<String>,
    /// Names of the variables that have a default.
    pub defaults: BTreeSet<String>,
    /// Names of declared outputs.
    pub outputs: BTreeSet<String>,
    /// Module blocks by name.
    pub modules: BTreeMap<String, ModuleBlock>,
    /// Entries of `required_providers` by local name.
    pub required_providers: BTreeMap<String, Setting>,
    /// Local names of provider blocks.
    pub provider_blocks: BTreeSet<String>,
    /// Managed resources, as `type.name`.
    pub resources: BTreeSet<String>,
    /// Local names of providers that resources and data sources use.
    pub used_providers: BTreeSet<String>,
    /// Data sources that read other states.
    pub remote_states: Vec<RemoteState>,
    /// Files that make no sense; what could be found in them counts all the same.
    pub unread: Vec<Unread>,
    /// Files that nobody can read, with file, line and column.
    pub problems: Vec<String>,
}

/// A file that makes no sense to this reader.
#[derive(Clone, Debug)]
pub struct Unread {
    /// What is wrong, with file, line and column.
    pub note: String,
    /// Everything that stands in it.
    pub digest: Fingerprint,
}

/// A `backend "KIND"` block, or `cloud`.
#[derive(Clone, Debug)]
pub struct BackendBlock {
    /// The label, or `cloud`.
    pub kind: String,
    /// File and line.
    pub place: String,
    /// Its attributes and nested blocks.
    pub settings: Settings,
}

/// A `module` block.
#[derive(Clone, Debug, Default)]
pub struct ModuleBlock {
    /// Where the module comes from.
    pub source: Option<Setting>,
    /// Which version, for registry modules.
    pub version: Option<Setting>,
    /// File and line of the source.
    pub place: String,
}

impl ModuleBlock {
    /// Returns the source if it is a path relative to the folder.
    pub fn local_source(&self) -> Option<&str> {
        let source = self.source.as_ref()?.literal()?;
        (source.starts_with("./") || source.starts_with("../")).then_some(source)
    }
}

/// A `terraform_remote_state` data source.
#[derive(Clone, Debug)]
pub struct RemoteState {
    /// Its name in the configuration.
    pub name: String,
    /// File and line.
    pub place: String,
    /// The `backend` attribute.
    pub kind: Option<Setting>,
    /// The `config` attribute.
    pub config: Option<Setting>,
    /// The `workspace` attribute.
    pub workspace: Option<Setting>,
}

impl RemoteState {
    /// Returns it with what paths stand for, where `module` leads from the stack to the file's folder.
    pub fn with_paths(&self, module: &str) -> Self {
        let config = self.config.as_ref().map(|config| config.with_paths(module));
        Self { config, ..self.clone() }
    }
}

impl Facts {
    /// Notes a variable; an override may give it a default.
    pub fn add_variable(&mut self, name: &str, has_default: bool) {
        self.variables.insert(name.to_owned());
        if has_default {
            self.defaults.insert(name.to_owned());
        }
    }

    /// Notes a module block; an override changes only what it names.
    pub fn add_module(&mut self, name: &str, block: ModuleBlock) {
        let known = self.modules.entry(name.to_owned()).or_default();
        if block.source.is_some() {
            known.source = block.source;
            known.place = block.place;
        }
        known.version = block.version.or_else(|| known.version.take());
    }

    /// Notes the provider of a resource: the one it names, or the first part of its type.
    pub fn add_provider_of(&mut self, kind: &str, provider: Option<&str>) {
        let named = provider.and_then(|text| text.split(['.', '[']).next()).map(str::trim);
        let name = named.or_else(|| kind.split('_').next()).unwrap_or(kind);
        // `terraform_data` and `terraform_remote_state` are built in: nothing is installed for them.
        if name != "terraform" {
            self.used_providers.insert(name.to_owned());
        }
    }

    /// Returns what `tofu init` depends on in this folder, a line each, led by the folder's name.
    pub fn init_lines(&self, folder: &str) -> Vec<String> {
        let backend =
            self.backend.iter().map(|block| format!("backend {} {}", block.kind, one_line(&block.settings)));
        let required = self.required_providers.iter().map(|(name, entry)| format!("provider {name} {entry}"));
        let implied = self
            .provider_blocks
            .union(&self.used_providers)
            .filter(|name| !self.required_providers.contains_key(*name))
            .map(|name| format!("provider {name}"));
        let modules = self.modules.iter().map(|(name, block)| {
            format!("module {name} source={} version={}", text_of(&block.source), text_of(&block.version))
        });
        // It may hold what was not found.
        let unread = self.unread.iter().map(|file| format!("unread {}", file.digest));
        backend
            .chain(required)
            .chain(implied)
            .chain(modules)
            .chain(unread)
            .map(|line| format!("{folder}: {line}"))
            .collect()
    }
}

fn text_of(setting: &Option<Setting>) -> String {
    setting.as_ref().map(Setting::to_string).unwrap_or_default()
}
