//! How a project's templates are rendered: `infra.yaml`, an existing `makejinja.toml` and the
//! conventions become one value. The first wins over the second key by key.
//!
//! Paths are checked to stay inside the project; nothing but `makejinja.toml` is read. Begin at
//! [`resolve`].

mod makejinja_toml;
mod marks;
mod pattern;

pub use marks::Marks;
pub use pattern::matches_glob;

use std::path::{Component, Path};

use serde_json::Value;

use self::makejinja_toml::MakejinjaToml;
use super::sources::TEMPLATE_SETS;
use crate::error::{Error, Result};
use crate::model::{ConfigureSettings, Delimiters, Undefined, Values};

/// The conventional folder of templates.
const INPUT: &str = "templates/config";

/// What marks an input as a set of templates that this program brings along.
pub const BUILT_IN: &str = "builtin:";

/// The conventional data files.
const DATA: [&str; 2] = ["cluster.yaml", "nodes.yaml"];

/// Everything that rendering is told.
#[derive(Clone, Debug)]
pub struct RenderSettings {
    /// Template folders relative to the root, the first that has a path wins; empty where there is
    /// none and the built-in templates are to be used.
    pub inputs: Vec<String>,
    /// Where the tree is written, relative to the root; empty is the root itself.
    pub output: String,
    /// Data files and folders relative to the root, in the order in which they are merged.
    pub data: Vec<String>,
    /// Values from `data_vars`, which win over the data files.
    pub data_vars: Values,
    /// A file of derived values.
    pub derive: Option<String>,
    /// What marks the tags.
    pub marks: Marks,
    /// What an undefined value does.
    pub undefined: UndefinedMode,
    /// How white space around tags is treated.
    pub whitespace: Whitespace,
    /// The suffix of a template; empty where every file is one.
    pub suffix: String,
    /// Whether the suffix stays.
    pub keep_suffix: bool,
    /// Whether blank outputs are written.
    pub keep_empty: bool,
    /// Patterns of files that are rendered; empty means all.
    pub include: Vec<String>,
    /// Patterns of files that are not written, matched from the right.
    pub exclude: Vec<String>,
    /// Python plugins by import path, in order.
    pub plugins: Vec<String>,
    /// Where Python looks for them, relative to the root.
    pub import_paths: Vec<String>,
}

/// What an undefined value in a template does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UndefinedMode {
    /// It is an error.
    Strict,
    /// It is empty, but has nothing below it.
    Lenient,
    /// It is empty, and so is everything below it.
    Chainable,
}

/// How white space around tags is treated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Whitespace {
    /// Whether the line end after a block goes.
    pub trim_blocks: bool,
    /// Whether the white space before a block goes.
    pub lstrip_blocks: bool,
    /// Whether the last line end stays.
    pub keep_trailing_newline: bool,
}

impl Default for Whitespace {
    fn default() -> Self {
        Self { trim_blocks: true, lstrip_blocks: true, keep_trailing_newline: true }
    }
}

impl RenderSettings {
    /// Returns the settings of the built-in templates: no input, everything else by convention.
    pub fn conventional() -> Self {
        Self {
            inputs: Vec::new(),
            output: String::new(),
            data: Vec::new(),
            data_vars: Values::new(),
            derive: None,
            marks: marks(&Delimiters::Hash),
            undefined: UndefinedMode::Strict,
            whitespace: Whitespace::default(),
            suffix: ".j2".to_owned(),
            keep_suffix: false,
            keep_empty: false,
            include: Vec::new(),
            exclude: Vec::new(),
            plugins: Vec::new(),
            import_paths: vec![".".to_owned()],
        }
    }

    /// Returns values with those of `data_vars` set into them.
    pub fn with_data_vars(&self, values: &Values) -> Values {
        let mut values = values.clone();
        merge(&mut values, &self.data_vars);
        values
    }

    /// Returns whether a file below an input is read at all.
    pub fn includes(&self, path: &str) -> bool {
        self.include.is_empty()
            || self.include.iter().any(|include| include == "**/*" || matches_glob(include, path))
    }

    /// Returns whether a file, named from the root, is left out of the output.
    pub fn excludes(&self, origin: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern::matches_from_right(pattern, origin))
    }

    /// Returns whether a file is a template, by the last suffix of its name.
    pub fn is_template(&self, path: &str) -> bool {
        self.suffix.is_empty() || suffix_of(path) == self.suffix
    }

    /// Returns where a file below an input is written below the output.
    pub fn output_of<'a>(&self, path: &'a str) -> &'a str {
        let drops = !self.suffix.is_empty() && !self.keep_suffix && self.is_template(path);
        if drops { path.strip_suffix(&self.suffix).unwrap_or(path) } else { path }
    }
}

fn merge(values: &mut Values, over: &Values) {
    for (key, value) in over {
        match (values.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(over)) => merge(below, over),
            _ => {
                values.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the last suffix of a file's name with its dot; that of `.j2` alone is none.
fn suffix_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => &name[at..],
        _ => "",
    }
}

/// Resolves the settings of a project from `infra.yaml` and the `makejinja.toml` at its root.
pub fn resolve(root: &Path, configure: &ConfigureSettings) -> Result<RenderSettings> {
    let toml = makejinja_toml::load(root)?;
    let (is_folder, is_file) =
        (|path: &str| root.join(path).is_dir(), |path: &str| root.join(path).is_file());
    resolve_parsed(toml.as_ref(), configure, &is_folder, &is_file)
}

/// Resolves the settings of a project that is not on the disk, from the text of its `makejinja.toml`.
pub fn resolve_elsewhere(
    toml: Option<&str>,
    configure: &ConfigureSettings,
    is_folder: &dyn Fn(&str) -> bool,
    is_file: &dyn Fn(&str) -> bool,
) -> Result<RenderSettings> {
    let toml = toml.map(makejinja_toml::parse).transpose()?;
    resolve_parsed(toml.as_ref(), configure, is_folder, is_file)
}

fn resolve_parsed(
    toml: Option<&MakejinjaToml>,
    configure: &ConfigureSettings,
    is_folder: &dyn Fn(&str) -> bool,
    is_file: &dyn Fn(&str) -> bool,
) -> Result<RenderSettings> {
    let mut settings = RenderSettings::conventional();
    if let Some(toml) = toml {
        apply_toml(&mut settings, toml)?;
    }
    apply_configure(&mut settings, configure);
    if settings.inputs.is_empty() && is_folder(INPUT) {
        settings.inputs.push(INPUT.to_owned());
    }
    if settings.data.is_empty() {
        settings.data.extend(DATA.iter().filter(|file| is_file(file)).map(|file| (*file).to_owned()));
    }
    if settings.inputs.is_empty() && !settings.data.is_empty() {
        settings.inputs.push(format!("{BUILT_IN}{}", TEMPLATE_SETS[0]));
    }
    if settings.inputs.iter().any(|input| input.starts_with(BUILT_IN)) {
        prepare_for_built_in(&mut settings)?;
    }
    check_paths(&mut settings)?;
    Ok(settings)
}

/// The built-in templates are written with `#` delimiters, and share parts that are not written as files.
fn prepare_for_built_in(settings: &mut RenderSettings) -> Result<()> {
    if settings.marks != marks(&Delimiters::Hash) {
        return Err(Error::invalid("built-in templates need `delimiters: hash`")
            .at("infra.yaml")
            .hint("copy the set into the project to change its delimiters: `infra new --example …`"));
    }
    settings.exclude.push("*.partial.*".to_owned());
    Ok(())
}

/// Takes over what `makejinja.toml` says, and makejinja's own defaults for what it does not say.
fn apply_toml(settings: &mut RenderSettings, toml: &MakejinjaToml) -> Result<()> {
    toml.check()?;
    settings.inputs.clone_from(&toml.inputs);
    settings.output = toml.output.clone().unwrap_or_default();
    settings.data.clone_from(&toml.data);
    settings.data_vars = toml.data_vars();
    settings.marks = toml.delimiter.marks();
    settings.undefined = toml.undefined()?;
    settings.whitespace = toml.whitespace();
    settings.suffix = toml.jinja_suffix.clone().unwrap_or_else(|| ".jinja".to_owned());
    settings.keep_suffix = toml.keep_jinja_suffix;
    settings.keep_empty = toml.keep_empty;
    settings.include.clone_from(&toml.include_patterns);
    settings.exclude.clone_from(&toml.exclude_patterns);
    settings.plugins = toml.plugins.iter().chain(&toml.loaders).cloned().collect();
    if !toml.import_paths.is_empty() {
        settings.import_paths.clone_from(&toml.import_paths);
    }
    Ok(())
}

fn apply_configure(settings: &mut RenderSettings, configure: &ConfigureSettings) {
    if !configure.inputs.is_empty() {
        settings.inputs.clone_from(&configure.inputs);
    }
    if let Some(output) = &configure.output {
        settings.output.clone_from(output);
    }
    if !configure.data.is_empty() {
        settings.data.clone_from(&configure.data);
    }
    if !configure.exclude.is_empty() {
        settings.exclude.clone_from(&configure.exclude);
    }
    if let Some(delimiters) = &configure.delimiters {
        settings.marks = marks(delimiters);
    }
    match configure.undefined {
        Some(Undefined::Strict) => settings.undefined = UndefinedMode::Strict,
        Some(Undefined::Chainable) => settings.undefined = UndefinedMode::Chainable,
        None => {}
    }
    settings.derive.clone_from(&configure.derive);
}

fn marks(delimiters: &Delimiters) -> Marks {
    let pair = |(start, end): (&str, &str)| (start.to_owned(), end.to_owned());
    let of = |block, variable, comment| Marks {
        block: pair(block),
        variable: pair(variable),
        comment: pair(comment),
    };
    match delimiters {
        Delimiters::Hash => of(("#%", "%#"), ("#{", "}#"), ("#|", "#|")),
        Delimiters::Jinja => of(("{%", "%}"), ("{{", "}}"), ("{#", "#}")),
        Delimiters::Custom { block, variable, comment } => {
            Marks { block: block.clone(), variable: variable.clone(), comment: comment.clone() }
        }
    }
}

/// Checks that every path stays inside the project, and writes each the short way.
fn check_paths(settings: &mut RenderSettings) -> Result<()> {
    settings.output = inside("output", &settings.output)?;
    for (key, paths) in [("inputs", &mut settings.inputs), ("data", &mut settings.data)] {
        for path in paths {
            *path = inside(key, path)?;
        }
    }
    Ok(())
}

/// Returns a path relative to the root without `.` and `..`; one that leaves the project is an error.
pub fn inside(key: &str, path: &str) -> Result<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.extend(name.to_str()),
            Component::CurDir => {}
            Component::ParentDir if parts.pop().is_some() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Error::invalid(format!("`{key}` must stay inside the project, found `{path}`"))
                    .hint("write a path relative to the project's root"));
            }
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(toml: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("makejinja.toml"), toml).unwrap();
        dir
    }

    #[test]
    fn makejinja_toml_alone_brings_makejinjas_own_defaults() {
        let dir = project("inputs = [\"./tpl\"]\noutput = \"out/\"\n");

        let settings = resolve(dir.path(), &ConfigureSettings::default()).unwrap();

        assert_eq!((settings.inputs, settings.output.as_str()), (vec!["tpl".to_owned()], "out"));
        assert_eq!((settings.suffix.as_str(), settings.undefined), (".jinja", UndefinedMode::Lenient));
        assert_eq!(settings.marks.block.0, "{%");
    }

    #[test]
    fn infra_yaml_wins_key_by_key() {
        let dir = project(
            "inputs = [\"tpl\"]\noutput = \"out\"\nundefined = \"chainable\"\njinja_suffix = \".j2\"\n",
        );
        let configure = ConfigureSettings { inputs: vec!["other".into()], ..ConfigureSettings::default() };

        let settings = resolve(dir.path(), &configure).unwrap();

        assert_eq!((settings.inputs, settings.output.as_str()), (vec!["other".to_owned()], "out"));
        assert_eq!(settings.undefined, UndefinedMode::Chainable);
    }

    #[test]
    fn without_any_file_the_conventions_hold() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("templates/config")).unwrap();
        std::fs::write(dir.path().join("nodes.yaml"), "").unwrap();

        let settings = resolve(dir.path(), &ConfigureSettings::default()).unwrap();

        assert_eq!(
            (settings.inputs, settings.data),
            (vec!["templates/config".to_owned()], vec!["nodes.yaml".to_owned()])
        );
        assert_eq!((settings.suffix.as_str(), settings.undefined), (".j2", UndefinedMode::Strict));
    }

    #[test]
    fn a_path_that_leaves_the_project_is_refused_by_name() {
        for path in ["../x", "/etc", "a/../../b"] {
            let error = inside("inputs", path).unwrap_err();
            assert!(error.message().contains(path), "{error}");
        }
        assert_eq!(inside("output", "./a/../b/").unwrap(), "b");
    }
}
