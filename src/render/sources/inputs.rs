//! What a `configure` was made from: for each file that it reads the digest of its content.
//!
//! A later command compares it with the files as they are then, and knows without rendering
//! whether somebody edited one since. A file that cannot be read has no digest: whoever
//! renders says what is wrong with it. Begin at [`Inputs::read`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::walk;
use crate::model::Fingerprint;
use crate::model::project::ConfigureSettings;
use crate::render::jinja::MAX_FILE;
use crate::render::plugin;
use crate::render::settings::{BUILT_IN, RenderSettings, resolve};

/// The digests of the files that are read, by their path below the root.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<String, Fingerprint>);

impl Inputs {
    /// Reads what the settings of a project name; `data` are its data files.
    pub fn read(root: &Path, configure: &ConfigureSettings, data: &[String]) -> Self {
        let mut inputs = BTreeMap::from([("infra.yaml".to_owned(), digest_of_settings(configure))]);
        let Ok(settings) = resolve(root, configure) else { return Self(inputs) };
        let mut names = template_names(root, &settings);
        names.extend(data.iter().cloned().chain(["makejinja.toml".to_owned()]));
        let Ok(real) = root.canonicalize() else { return Self(inputs) };
        inputs.extend(names.into_iter().filter_map(|name| {
            let digest = digest(&real, &name)?;
            Some((name, digest))
        }));
        // Whatever a plugin may import counts for it.
        if let Ok(Some(plugins)) = plugin::find(root, &settings) {
            let digest = Fingerprint::of([plugins.plugin_hash().as_bytes()]);
            inputs.extend(plugins.files().iter().map(|name| (name.clone(), digest.clone())));
        }
        Self(inputs)
    }

    /// Returns the files that are not as they were: edited, new, or gone.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> Vec<&'a str> {
        let names: BTreeSet<&String> = self.0.keys().chain(before.0.keys()).collect();
        let differs = |name: &&String| self.0.get(*name) != before.0.get(*name);
        names.into_iter().filter(differs).map(String::as_str).collect()
    }
}

/// Only this part of `infra.yaml` is about rendering.
fn digest_of_settings(configure: &ConfigureSettings) -> Fingerprint {
    let ConfigureSettings { inputs, output, data, derive, python_plugins, delimiters, undefined, exclude } =
        configure;
    let texts = json!([inputs, output, data, derive, exclude]).to_string();
    let choices = format!("{python_plugins:?} {delimiters:?} {undefined:?}");
    Fingerprint::of([texts.as_bytes(), choices.as_bytes()])
}

fn template_names(root: &Path, settings: &RenderSettings) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for input in settings.inputs.iter().filter(|input| !input.starts_with(BUILT_IN)) {
        if !root.join(input).is_dir() {
            names.insert(input.clone());
            continue;
        }
        let below = walk::names_below(&root.join(input), settings).unwrap_or_default();
        names.extend(below.into_iter().map(|name| format!("{input}/{name}")));
    }
    names
}

/// Digests a regular file below a root without links; anything else could be endless, or is not ours to read.
fn digest(root: &Path, name: &str) -> Option<Fingerprint> {
    let real = root.join(name).canonicalize().ok()?;
    let facts = std::fs::metadata(&real).ok()?;
    if !facts.is_file() || facts.len() > MAX_FILE || !real.starts_with(root) {
        return None;
    }
    Fingerprint::of_reader(std::fs::File::open(real).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        files.iter().for_each(|(path, text)| write(&dir, path, text));
        dir
    }

    fn write(dir: &tempfile::TempDir, path: &str, text: &str) {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn read(dir: &tempfile::TempDir) -> Inputs {
        let data = ["cluster.yaml".to_owned()];
        Inputs::read(dir.path(), &ConfigureSettings::default(), &data)
    }

    #[test]
    fn edited_new_and_lost_files_are_named_and_the_same_content_is_not() {
        let dir = project(&[("cluster.yaml", "a: 1"), ("templates/config/x.j2", "x"), ("other", "")]);
        let before = read(&dir);

        write(&dir, "cluster.yaml", "a: 1");
        write(&dir, "other", "not read by anybody");
        assert!(read(&dir).changed_since(&before).is_empty());

        write(&dir, "cluster.yaml", "a: 2");
        write(&dir, "templates/config/deep/new.j2", "");
        std::fs::remove_file(dir.path().join("templates/config/x.j2")).expect("a file");
        assert_eq!(
            read(&dir).changed_since(&before),
            ["cluster.yaml", "templates/config/deep/new.j2", "templates/config/x.j2"]
        );
    }

    #[test]
    fn what_infra_yaml_says_about_rendering_counts() {
        let dir = project(&[("cluster.yaml", "a: 1")]);
        let configure = ConfigureSettings { exclude: vec!["x".to_owned()], ..ConfigureSettings::default() };

        let now = Inputs::read(dir.path(), &configure, &["cluster.yaml".to_owned()]);

        assert_eq!(now.changed_since(&read(&dir)), ["infra.yaml"]);
    }

    #[test]
    fn pipes_and_links_out_of_the_project_are_neither_read_nor_waited_for() {
        let dir = project(&[("templates/config/x.j2", "x")]);
        let before = read(&dir);
        let below = dir.path().join("templates/config");
        nix::unistd::mkfifo(&below.join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        std::os::unix::fs::symlink("/dev/zero", below.join("endless")).expect("a link");

        assert!(read(&dir).changed_since(&before).is_empty());
    }
}
