//! What a `configure` was made from: for each file that it reads the digest of its content.
//!
//! A later command compares it with the files as they are then, and knows without rendering
//! whether one was edited since. A file that cannot be read has no digest: rendering
//! reports what is wrong with it. What was read for the rendering is not read again: its bytes
//! are digested. Begin at [`Inputs::read`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::walk;
use super::walk::{Listed, ListedKind, origin_of};
use crate::model::Fingerprint;
use crate::model::project::ConfigureSettings;
use crate::render::SourceFile;
use crate::render::jinja::MAX_FILE;
use crate::render::plugin;
use crate::render::regular_file::open_regular;
use crate::render::settings::{BUILT_IN, RenderSettings, resolve};

/// The digests of the files that are read, by their path below the root.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<String, Fingerprint>);

impl Inputs {
    /// Reads what the settings of a project name; `data` are its data files, `sources` what was read of
    /// its templates.
    pub fn read(root: &Path, configure: &ConfigureSettings, data: &[String], sources: &[SourceFile]) -> Self {
        let mut inputs = BTreeMap::from([("infra.yaml".to_owned(), digest_of_settings(configure))]);
        let Ok(settings) = resolve(root, configure) else { return Self(inputs) };
        let Ok(real) = root.canonicalize() else { return Self(inputs) };
        let sources = sources.iter().map(|source| (source.origin.as_str(), &*source.bytes)).collect();
        Templates { root, real: &real, sources }.add_to(&mut inputs, &settings);
        for name in data.iter().map(String::as_str).chain(["makejinja.toml"]) {
            inputs.extend(digest(&real, name).map(|digest| (name.to_owned(), digest)));
        }
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

/// The templates of a project.
struct Templates<'a> {
    root: &'a Path,
    /// The root without links.
    real: &'a Path,
    /// What was read of them, by what each is called.
    sources: HashMap<&'a str, &'a [u8]>,
}

impl Templates<'_> {
    fn add_to(&self, inputs: &mut BTreeMap<String, Fingerprint>, settings: &RenderSettings) {
        for input in settings.inputs.iter().filter(|input| !input.starts_with(BUILT_IN)) {
            let Some(folder) = real_folder(self.real, input) else {
                let unread = || digest(self.real, input);
                inputs.extend(self.digest(input, unread).map(|digest| (input.clone(), digest)));
                continue;
            };
            for Listed { path, kind } in walk::files_below(&folder, settings).unwrap_or_default() {
                let name = format!("{input}/{path}");
                let unread = || match kind {
                    ListedKind::Regular => digest_of_regular(&folder.join(&path)),
                    ListedKind::Other => digest(self.real, &name),
                };
                let digest = self.digest(&name, unread);
                inputs.extend(digest.map(|digest| (name, digest)));
            }
        }
    }

    /// Digests what was read of a file below the root, or the file where nothing was: an input before
    /// this one has another of its name.
    fn digest(&self, name: &str, unread: impl FnOnce() -> Option<Fingerprint>) -> Option<Fingerprint> {
        let origin = origin_of(self.root, &self.root.join(name));
        self.sources.get(origin.as_str()).map(|bytes| Fingerprint::of_content(bytes)).or_else(unread)
    }
}

/// Returns a folder of the project without links; `None` if there is no such folder.
fn real_folder(root: &Path, input: &str) -> Option<PathBuf> {
    let folder = root.join(input).canonicalize().ok()?;
    (folder.starts_with(root) && folder.is_dir()).then_some(folder)
}

/// Digests a regular file below a root without links; anything else could be endless, or is not ours to read.
fn digest(root: &Path, name: &str) -> Option<Fingerprint> {
    let real = root.join(name).canonicalize().ok()?;
    if !real.starts_with(root) || !std::fs::metadata(&real).ok()?.is_file() {
        return None;
    }
    digest_of_regular(&real)
}

fn digest_of_regular(path: &Path) -> Option<Fingerprint> {
    let (file, metadata) = open_regular(path).ok()?;
    if metadata.len() > MAX_FILE {
        return None;
    }
    Fingerprint::of_reader(file).ok()
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
        Inputs::read(dir.path(), &ConfigureSettings::default(), &data, &[])
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
    fn what_was_read_for_the_rendering_is_digested_as_the_files_are() {
        let dir =
            project(&[("a/x.j2", "x"), ("a/deep/y", "y"), ("b/x.j2", "hidden by a"), ("c", "one file")]);
        std::os::unix::fs::symlink("x.j2", dir.path().join("a/link")).expect("a link");
        let inputs = ["./a", "b", "c"].map(str::to_owned).to_vec();
        let configure = ConfigureSettings { inputs, ..ConfigureSettings::default() };
        let settings = resolve(dir.path(), &configure).expect("settings");
        let sources = walk::load_inputs(dir.path(), &settings).expect("readable files");
        let read = |sources: &[SourceFile]| Inputs::read(dir.path(), &configure, &[], sources);

        assert_eq!(read(&sources), read(&[]));
        assert_eq!(read(&sources).0.len(), 6, "infra.yaml and five files: {:?}", read(&sources));

        // It is the bytes that were read which count, not those that lie there by now.
        let before = read(&sources);
        write(&dir, "a/deep/y", "edited meanwhile");
        assert_eq!(read(&[]).changed_since(&before).len(), 1);
        assert_eq!(read(&sources), before);
    }

    #[test]
    fn what_infra_yaml_says_about_rendering_counts() {
        let dir = project(&[("cluster.yaml", "a: 1")]);
        let configure = ConfigureSettings { exclude: vec!["x".to_owned()], ..ConfigureSettings::default() };

        let now = Inputs::read(dir.path(), &configure, &["cluster.yaml".to_owned()], &[]);

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
