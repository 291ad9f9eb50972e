//! The Python plugin that a makejinja project may have: only its `data()` is run, by `python3`,
//! once, and only with a permission that the caller hands in.
//!
//! makejinja itself need not be installed: the program handed to Python brings a stand-in for
//! the few names that plugins import from it. Begin at [`find`], then [`run`].

mod code;
mod failure;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use self::code::digest_code;
use self::failure::failed;
use super::settings::{RenderSettings, inside};
use crate::error::{Error, Result};
use crate::model::{Environment, Values};
use crate::process;
use crate::process::{Interrupts, Invocation};

/// What Python runs; it prints one line of JSON.
const PROGRAM: &str = include_str!("plugin/run_plugin.py");

/// The largest answer of a plugin.
const MAX_ANSWER: usize = 64 << 20;

/// The plugins of a project, found but not run.
#[derive(Clone, Debug)]
pub struct Plugins {
    /// Import paths such as `plugin:Plugin`, in order.
    names: Vec<String>,
    /// The files they are in, relative to the root.
    files: Vec<String>,
    /// Folders in which Python looks, absolute.
    import_paths: Vec<PathBuf>,
    hash: String,
}

/// Permission to run the plugins as they were when this was made.
#[derive(Clone, Debug)]
pub struct Permission {
    hash: String,
}

impl Permission {
    /// Allows plugins with this content, and no other.
    pub fn for_hash(hash: impl Into<String>) -> Self {
        Self { hash: hash.into() }
    }
}

impl Plugins {
    /// Returns the files whose code would run, relative to the root.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Returns a hash over names and content, by which a permission is remembered.
    pub fn plugin_hash(&self) -> &str {
        &self.hash
    }
}

/// Finds the plugins that the settings name; `None` where they name none.
pub fn find(root: &Path, settings: &RenderSettings) -> Result<Option<Plugins>> {
    if settings.plugins.is_empty() {
        return Ok(None);
    }
    let mut digest = Sha256::new();
    let mut files = Vec::new();
    for name in &settings.plugins {
        let file = locate(root, settings, name)?;
        digest.update(name.as_bytes());
        digest.update([0]);
        files.push(file);
    }
    for folder in &settings.import_paths {
        digest_code(&root.join(folder), &mut digest)?;
    }
    let hash = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let import_paths = settings.import_paths.iter().map(|path| root.join(path)).collect();
    Ok(Some(Plugins { names: settings.plugins.clone(), files, import_paths, hash }))
}

/// Returns the file of a plugin, relative to the root.
fn locate(root: &Path, settings: &RenderSettings, name: &str) -> Result<String> {
    let module = module_of(name).replace('.', "/");
    for folder in &settings.import_paths {
        for file in [format!("{folder}/{module}.py"), format!("{folder}/{module}/__init__.py")] {
            let file = inside("import_paths", &file)?;
            if root.join(&file).is_file() {
                return Ok(file);
            }
        }
    }
    Err(Error::invalid(format!("the plugin `{name}` has no file below {}", quoted(&settings.import_paths)))
        .at("makejinja.toml")
        .hint("say with `import_paths` where it is"))
}

/// Returns the module of `package.module:Class` or `package.module.Class`.
fn module_of(name: &str) -> &str {
    name.split_once(':').or_else(|| name.rsplit_once('.')).map_or(name, |(module, _)| module)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Runs `data()` of the plugins and returns what they add to the data.
pub async fn run(
    plugins: &Plugins,
    permission: &Permission,
    call: PluginCall<'_>,
    interrupts: &Interrupts,
) -> Result<Values> {
    if permission.hash != plugins.hash {
        return Err(Error::invalid("the Python plugin changed since it was allowed to run")
            .detail(plugins.files.join(", ")));
    }
    let import_paths: Vec<String> =
        plugins.import_paths.iter().map(|path| path.display().to_string()).collect();
    let asked =
        serde_json::json!({"plugins": plugins.names, "import_paths": import_paths, "data": call.values});
    let (invocation, from) = Invocation::new("python3", call.root, python_env(call.root, call.env))
        // Compiled files in the tree could differ from the source that was looked at, and new ones
        // would change what was said yes to: none are read, none written.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPYCACHEPREFIX", "/dev/null/none")
        .arg("-c")
        .arg(PROGRAM)
        .feed_quietly(asked.to_string().into_bytes());
    let captured = process::capture(invocation.arg(from), interrupts)
        .await
        .map_err(|error| error.hint("install Python, or move what the plugin computes into `derive.yaml`"))?;
    if !captured.status.success() {
        return Err(failed(plugins, call.root, captured.stderr.unmasked()));
    }
    read_answer(plugins, captured.stdout.unmasked())
}

/// Returns the environment without places of the project, from which code would come that no person has reviewed.
fn python_env(root: &Path, caller: &Environment) -> Environment {
    let mut env = caller.clone();
    keep_paths(&mut env, "PATH", &|path| path.is_absolute());
    keep_paths(&mut env, "PYTHONPATH", &|path| path.is_absolute() && !path.starts_with(root));
    env
}

fn keep_paths(env: &mut Environment, name: &str, is_kept: &dyn Fn(&Path) -> bool) {
    if let Some(list) = env.path(name) {
        let paths = std::env::split_paths(&list).filter(|path| is_kept(path));
        env.set(name, std::env::join_paths(paths).unwrap_or_default());
    }
}

/// What a plugin is run with.
#[derive(Clone, Copy, Debug)]
pub struct PluginCall<'a> {
    /// The project's root, in which Python runs.
    pub root: &'a Path,
    /// The environment of the process.
    pub env: &'a Environment,
    /// The data that the plugin is handed.
    pub values: &'a Values,
}

/// What the program prints.
#[derive(Deserialize)]
struct Answer {
    data: Values,
    /// Methods of the plugin that would change what is rendered.
    refused: Vec<String>,
}

fn read_answer(plugins: &Plugins, stdout: &[u8]) -> Result<Values> {
    let place = plugins.files.join(", ");
    if stdout.len() > MAX_ANSWER {
        return Err(Error::invalid("the Python plugin returned too much data").at(place));
    }
    // What a plugin prints itself comes before.
    let last = stdout.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(answer) = serde_json::from_slice::<Answer>(last) else {
        return Err(Error::invalid("the Python plugin returned no map of data").at(place));
    };
    match answer.refused.first() {
        None => Ok(answer.data),
        Some(method) => {
            Err(Error::invalid(format!("the Python plugin has `{method}()`, which is not supported"))
                .at(place)
                .hint("only `data()` of a plugin is run"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(plugin: &str) -> RenderSettings {
        let import_paths = vec!["scripts".to_owned()];
        RenderSettings { plugins: vec![plugin.to_owned()], import_paths, ..RenderSettings::conventional() }
    }

    fn project(code: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("scripts")).unwrap();
        std::fs::write(dir.path().join("scripts/plugin.py"), code).unwrap();
        dir
    }

    async fn data(dir: &Path, plugins: &Plugins, permission: &Permission) -> Result<Values> {
        let values = serde_json::json!({"a": 1}).as_object().unwrap().clone();
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let env = Environment::default().with("PATH", path);
        let call = PluginCall { root: dir, env: &env, values: &values };
        run(plugins, permission, call, &Interrupts::listen().unwrap()).await
    }

    const PLUGIN: &str = "import makejinja\n\
        class Plugin(makejinja.plugin.Plugin):\n    def __init__(self, data: dict):\n        self._data = data\n\
        \x20   def data(self):\n        print('noise')\n        return {'b': self._data['a'] + 1}\n";

    #[tokio::test]
    async fn data_of_an_allowed_plugin_is_returned() {
        let dir = project(PLUGIN);
        let plugins = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();

        let values = data(dir.path(), &plugins, &Permission::for_hash(plugins.plugin_hash())).await.unwrap();

        assert_eq!(serde_json::json!(values), serde_json::json!({"b": 2}));
        assert_eq!(plugins.files(), ["scripts/plugin.py"]);
    }

    #[tokio::test]
    async fn a_permission_holds_for_one_content_only() {
        let dir = project(PLUGIN);
        let before = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();
        std::fs::write(dir.path().join("scripts/plugin.py"), format!("{PLUGIN}\n# changed\n")).unwrap();
        let after = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();

        let error = data(dir.path(), &after, &Permission::for_hash(before.plugin_hash())).await.unwrap_err();

        assert!(error.message().contains("changed since"), "{error}");
    }

    #[tokio::test]
    async fn a_failing_plugin_is_told_without_its_values() {
        let dir = project("class Plugin:\n    def data(self):\n        raise ValueError('hunter2')\n");
        let plugins = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();

        let error =
            data(dir.path(), &plugins, &Permission::for_hash(plugins.plugin_hash())).await.unwrap_err();

        assert_eq!(error.message(), "the Python plugin failed: ValueError");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[tokio::test]
    async fn a_plugin_that_this_python_cannot_run_says_where_or_what_it_wants() {
        let broken = project("import helper\n");
        std::fs::write(broken.path().join("scripts/helper.py"), "x = 1\nif x == 1\n    pass\n").unwrap();
        let wanting = project("import no_such_module_here\n");
        std::fs::write(wanting.path().join("uv.lock"), "").unwrap();
        let mut told = Vec::new();

        for dir in [broken.path(), wanting.path()] {
            let plugins = find(dir, &settings("plugin:Plugin")).unwrap().unwrap();
            let permission = Permission::for_hash(plugins.plugin_hash());
            told.push(data(dir, &plugins, &permission).await.unwrap_err().to_string());
        }

        assert!(told[0].contains("SyntaxError") && told[0].contains("at scripts/helper.py:2"), "{told:?}");
        assert!(told[1].contains("No module named 'no_such_module_here'"), "{told:?}");
        assert!(told[1].contains("`uv run infra configure`"), "{told:?}");
    }

    #[tokio::test]
    async fn a_plugin_that_picks_files_is_refused_by_the_methods_name() {
        let dir =
            project("class Plugin:\n    def path_filters(self):\n        return [lambda path: False]\n");
        let plugins = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();

        let error =
            data(dir.path(), &plugins, &Permission::for_hash(plugins.plugin_hash())).await.unwrap_err();

        assert!(error.message().contains("`path_filters()`"), "{error}");
    }

    #[test]
    fn a_file_beside_the_plugin_counts_for_its_hash() {
        let dir = project(PLUGIN);
        let before = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();
        std::fs::write(dir.path().join("scripts/imported.py"), "x = 1\n").unwrap();

        let after = find(dir.path(), &settings("plugin:Plugin")).unwrap().unwrap();

        assert_ne!(before.plugin_hash(), after.plugin_hash());
    }

    #[test]
    fn a_package_and_a_second_import_path_count_for_its_hash() {
        let dir = project(PLUGIN);
        std::fs::create_dir_all(dir.path().join("scripts/deep/er")).unwrap();
        std::fs::create_dir(dir.path().join("lib")).unwrap();
        let mut settings = settings("plugin:Plugin");
        settings.import_paths.push("lib".to_owned());
        let hash = || find(dir.path(), &settings).unwrap().unwrap().plugin_hash().to_owned();
        let mut seen = vec![hash()];

        for file in ["scripts/deep/er/code.py", "lib/other.py", "lib/native.so", "lib/old.pyc"] {
            std::fs::write(dir.path().join(file), "x = 1\n").unwrap();
            seen.push(hash());
        }
        std::fs::create_dir(dir.path().join("lib/__pycache__")).unwrap();
        std::fs::write(dir.path().join("lib/__pycache__/other.cpython-311.pyc"), "x").unwrap();
        std::fs::write(dir.path().join("lib/readme.md"), "x").unwrap();

        assert_eq!(seen.iter().collect::<std::collections::BTreeSet<_>>().len(), 5, "{seen:?}");
        assert_eq!(hash(), seen[4]);
    }

    #[test]
    fn python_looks_into_no_place_of_the_project_that_was_not_named() {
        let caller = Environment::default()
            .with("PATH", ".:/usr/bin::bin")
            .with("PYTHONPATH", ".:/srv/lab/lib:/opt/python:./lib");

        let env = python_env(Path::new("/srv/lab"), &caller);

        assert_eq!((env.get("PATH"), env.get("PYTHONPATH")), (Some("/usr/bin"), Some("/opt/python")));
    }

    #[test]
    fn a_plugin_without_a_file_is_named() {
        let dir = project("");

        let error = find(dir.path(), &settings("other.Plugin")).unwrap_err();

        assert!(error.message().contains("`other.Plugin`"), "{error}");
    }
}
