//! What a tree is rendered from on one side, read from its tree in memory, and what it renders to.
//!
//! No plugin is run and nothing is written. Begin at [`RenderSide::read`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::PythonPlugins;
use crate::model::{Environment, Project, Values};
use crate::project::{load_data_texts, load_derivation_text};
use crate::render::settings::{BUILT_IN, resolve_elsewhere};
use crate::render::{
    Engine, GeneratedFile, RenderSettings, SourceFile, TemplateAccess, derive, evaluate_derivations,
    load_inputs, render_tree,
};
use crate::stacks::{EntryKind, Tree};

/// The file of derived values that is read where none is named.
const DERIVE: &str = "derive.yaml";

/// One side of the rendering.
pub(super) struct RenderSide<'a> {
    pub project: &'a Project,
    pub root: &'a Path,
    pub tree: &'a dyn Tree,
    pub settings: RenderSettings,
    /// Templates that may be run; what they make may be, too.
    pub executable: &'a BTreeMap<PathBuf, bool>,
}

/// What came out of a side.
pub(super) struct Outcome {
    pub files: BTreeMap<PathBuf, GeneratedFile>,
    pub values: Values,
    pub sources: Vec<SourceFile>,
}

impl<'a> RenderSide<'a> {
    /// Reads the settings of a side.
    pub fn read(
        project: &'a Project,
        root: &'a Path,
        tree: &'a dyn Tree,
        executable: &'a BTreeMap<PathBuf, bool>,
    ) -> Result<Self> {
        let toml = tree.content(&root.join("makejinja.toml")).ok();
        let toml = toml.map(text_of).transpose()?;
        let is_folder = |path: &str| tree.is_folder(&root.join(path));
        let is_file = |path: &str| tree.content(&root.join(path)).is_ok();
        let settings = resolve_elsewhere(toml.as_deref(), &project.configure, &is_folder, &is_file)?;
        Ok(Self { project, root, tree, settings, executable })
    }

    /// Returns whether anything is rendered at all.
    pub fn has_templates(&self) -> bool {
        !self.settings.inputs.is_empty()
    }

    /// Returns whether a plugin would have to run.
    pub fn needs_plugin(&self) -> bool {
        let is_denied = self.project.configure.python_plugins == Some(PythonPlugins::Deny);
        !self.settings.plugins.is_empty() && !is_denied
    }

    /// Returns whether a path, from the root, is read to render; also the code of a plugin.
    pub fn reads(&self, path: &Path) -> bool {
        let named = self.settings.inputs.iter().chain(&self.settings.data).chain(&self.settings.derive);
        let is_named = named.clone().any(|name| path.starts_with(name));
        let is_known = ["makejinja.toml", DERIVE].iter().any(|name| path == Path::new(name));
        let is_code = path.extension().is_some_and(|ending| ending == "py");
        let is_below = |folder: &String| folder == "." || path.starts_with(folder);
        let is_plugin = is_code && self.needs_plugin() && self.settings.import_paths.iter().any(is_below);
        is_named || is_known || is_plugin
    }

    /// Returns whether a path, from the root, is a file of data.
    pub fn is_data(&self, path: &Path) -> bool {
        self.settings.data.iter().any(|name| path.starts_with(name))
    }

    /// Renders.
    pub fn render(&self, env: &Environment) -> Result<Outcome> {
        let sources = self.sources()?;
        let access = TemplateAccess { root: self.project.root.clone(), env: env.clone() };
        let engine = Engine::new(&self.settings, &access)?;
        let values = self.values(&engine)?;
        let rendered = render_tree(&engine, &sources, &values, Path::new(&self.settings.output))?;
        let files = rendered.files.into_iter().map(|file| (file.path.clone(), file)).collect();
        Ok(Outcome { files, values, sources })
    }

    /// Returns where templates would be rendered to, by their names alone.
    pub fn outputs(&self) -> BTreeSet<PathBuf> {
        let sources = self.sources().unwrap_or_default();
        let made = sources.iter().filter(|source| !self.settings.excludes(&source.origin));
        made.map(|source| Path::new(&self.settings.output).join(self.settings.output_of(&source.path)))
            .collect()
    }

    fn values(&self, engine: &Engine) -> Result<Values> {
        let mut texts = Vec::new();
        for name in &self.settings.data {
            for path in self.data_files(name)? {
                texts.push((path.clone(), text_of(self.content(&path)?)?));
            }
        }
        let mut values = self.settings.with_data_vars(&load_data_texts(&texts)?);
        derive(&mut values);
        let (name, is_named) = match &self.settings.derive {
            Some(name) => (name.as_str(), true),
            None => (DERIVE, false),
        };
        if is_named || self.content(name).is_ok() {
            let derivations = load_derivation_text(name, &text_of(self.content(name)?)?)?;
            evaluate_derivations(&derivations, &mut values, &|text, values| engine.evaluate(text, values))?;
        }
        Ok(values)
    }

    /// Returns a file of data, or those below a folder, as `configure` reads them.
    fn data_files(&self, name: &str) -> Result<Vec<String>> {
        if !self.tree.is_folder(&self.root.join(name)) {
            return Ok(vec![name.to_owned()]);
        }
        let mut files = self.below(name)?;
        files.retain(|path| !path.rsplit('/').next().unwrap_or_default().starts_with('.'));
        files.sort_by(|one, other| Path::new(one).cmp(Path::new(other)));
        Ok(files)
    }

    /// Reads the templates of every input; of two with one path the first counts.
    fn sources(&self) -> Result<Vec<SourceFile>> {
        let mut seen = BTreeSet::new();
        let mut sources = Vec::new();
        for input in &self.settings.inputs {
            let found = match input.starts_with(BUILT_IN) {
                true => {
                    let only = RenderSettings { inputs: vec![input.clone()], ..self.settings.clone() };
                    load_inputs(self.root, &only)?
                }
                false => self.input(input)?,
            };
            sources.extend(found.into_iter().filter(|source| seen.insert(source.path.clone())));
        }
        Ok(sources)
    }

    fn input(&self, input: &str) -> Result<Vec<SourceFile>> {
        if !self.tree.is_folder(&self.root.join(input)) {
            let name = input.rsplit('/').next().unwrap_or(input);
            return Ok(vec![self.source(input, name)?]);
        }
        let prefix = if input.is_empty() { String::new() } else { format!("{input}/") };
        let mut paths = self.below(input)?;
        paths.sort_by(|one, other| one.split('/').cmp(other.split('/')));
        let below = paths.iter().filter_map(|path| Some((path, path.strip_prefix(&prefix)?)));
        let read = below.filter(|(_, below)| self.settings.includes(below));
        read.map(|(path, below)| self.source(path, below)).collect()
    }

    fn source(&self, origin: &str, path: &str) -> Result<SourceFile> {
        let bytes = self.content(origin)?.into();
        let is_program = self.executable.get(&self.root.join(origin)).copied().unwrap_or_default();
        let mode = if is_program { 0o755 } else { 0o644 };
        Ok(SourceFile { path: path.to_owned(), bytes, mode, origin: origin.to_owned() })
    }

    /// Returns the files below a folder, from the root; links to folders are not followed.
    fn below(&self, folder: &str) -> Result<Vec<String>> {
        let mut files = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            let path = self.root.join(&folder);
            let entries = self.tree.entries(&path).map_err(crate::error::io("read", &path))?;
            for (name, kind) in entries.iter() {
                let name = name.to_string_lossy();
                let below = if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
                match kind {
                    EntryKind::Folder => open.push(below),
                    EntryKind::Link if self.tree.is_folder(&self.root.join(&below)) => {}
                    EntryKind::Link | EntryKind::Other => files.push(below),
                }
            }
        }
        Ok(files)
    }

    fn content(&self, path: &str) -> Result<Vec<u8>> {
        let read = self.tree.content(&self.root.join(path));
        read.map_err(|why| Error::invalid(format!("`{path}` cannot be read: {why}")))
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| Error::invalid("a file that is read to render is not text"))
}
