//! Reads the files below the inputs, and nothing that a link leads out of the project to.
//!
//! Sorted, hidden files included; of two inputs with the same path the first wins. Excluded
//! files are read too: other templates may include them. Begin at [`load_inputs`].

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::built_in::{TEMPLATE_SETS, built_in};
use crate::error::{Error, Result, io};
use crate::model::nearest;
use crate::render::SourceFile;
use crate::render::jinja::MAX_FILE;
use crate::render::regular_file::{open_regular, read_whole};
use crate::render::settings::{BUILT_IN, RenderSettings};

/// Loads the files of every input, in the order of the inputs and of the paths within each.
pub fn load_inputs(root: &Path, settings: &RenderSettings) -> Result<Vec<SourceFile>> {
    let real = root.canonicalize().map_err(io("open", root))?;
    let mut found = Found { root, real, seen: BTreeSet::new(), files: Vec::new() };
    for input in &settings.inputs {
        match input.strip_prefix(BUILT_IN) {
            Some(set) => found.built_in(set)?,
            None => found.input(input, settings)?,
        }
    }
    Ok(found.files)
}

struct Found<'a> {
    root: &'a Path,
    /// The root without links.
    real: PathBuf,
    seen: BTreeSet<String>,
    files: Vec<SourceFile>,
}

impl Found<'_> {
    fn input(&mut self, input: &str, settings: &RenderSettings) -> Result<()> {
        let path = self.root.join(input);
        let metadata = fs::metadata(&path).map_err(|error| {
            Error::invalid(format!("the input `{input}` cannot be opened"))
                .because(error)
                .hint("`inputs` names folders of templates")
        })?;
        let real = self.check_inside(&path)?;
        if metadata.is_file() {
            let name = input.rsplit('/').next().unwrap_or(input).to_owned();
            return self.file(&real, &path, name);
        }
        for listed in files_below(&path, settings)? {
            self.entry(&path, listed)?;
        }
        Ok(())
    }

    fn built_in(&mut self, set: &str) -> Result<()> {
        let files = built_in(set).ok_or_else(|| {
            let near = nearest(set, TEMPLATE_SETS).map(|name| format!("did you mean `{BUILT_IN}{name}`?"));
            let names = TEMPLATE_SETS.join("`, `");
            Error::invalid(format!("there are no built-in templates `{set}`"))
                .hint(near.unwrap_or_else(|| format!("there are `{names}`")))
        })?;
        let new = files.into_iter().filter(|file| self.seen.insert(file.path.clone()));
        self.files.extend(new);
        Ok(())
    }

    /// A regular file in a folder that is no link is inside of the project, because its input is.
    fn entry(&mut self, input: &Path, listed: Listed) -> Result<()> {
        let path = input.join(&listed.path);
        if listed.kind == ListedKind::Regular {
            return self.file(&path, &path, listed.path);
        }
        let real = self.check_inside(&path)?;
        let metadata = fs::metadata(&real).map_err(io("read", &path))?;
        // A link to a folder is not followed, as in makejinja.
        if metadata.is_file() { self.file(&real, &path, listed.path) } else { Ok(()) }
    }

    /// Reads a file at its place without links; `shown` is the path that messages name.
    fn file(&mut self, real: &Path, shown: &Path, below: String) -> Result<()> {
        if !self.seen.insert(below.clone()) {
            return Ok(());
        }
        let origin = self.shown(shown);
        let (file, metadata) = open_regular(real).map_err(io("read", shown))?;
        if metadata.len() > MAX_FILE {
            let (limit, found) = (MAX_FILE >> 20, metadata.len());
            let message = format!("`{origin}` is larger than {limit} MiB, found {found} bytes");
            return Err(Error::invalid(message));
        }
        let bytes = read_whole(&file, metadata.len()).map_err(io("read", shown))?;
        let mode = metadata.permissions().mode() & 0o777;
        self.files.push(SourceFile { path: below, bytes: Cow::Owned(bytes), mode, origin });
        Ok(())
    }

    /// Returns a path without links, if it stays inside of the project.
    fn check_inside(&self, path: &Path) -> Result<PathBuf> {
        let real = path.canonicalize().map_err(io("open", path))?;
        if real.starts_with(&self.real) {
            return Ok(real);
        }
        Err(Error::invalid(format!("`{}` is a link that leads out of the project", self.shown(path)))
            .hint("copy the file into the project, or remove the link"))
    }

    fn shown(&self, path: &Path) -> String {
        origin_of(self.root, path)
    }
}

/// Returns what a file is called: its path below the root.
pub fn origin_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// A path below an input that is no folder.
#[derive(Debug)]
pub struct Listed {
    /// The path below the input, with `/`. None of its folders is a link.
    pub path: String,
    /// What the folder says it is.
    pub kind: ListedKind,
}

/// What a folder says about one of its entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ListedKind {
    /// A regular file.
    Regular,
    /// A link, a pipe or something else that has to be looked at before it is opened.
    Other,
}

/// Returns what is below an input and counts, in the order of the paths.
pub fn files_below(input: &Path, settings: &RenderSettings) -> Result<Vec<Listed>> {
    let mut files = Vec::new();
    list(input, "", &mut files)?;
    files.sort_by(|left, right| left.path.split('/').cmp(right.path.split('/')));
    files.retain(|file| settings.includes(&file.path));
    Ok(files)
}

/// Lists every path below a folder that is no folder itself.
fn list(folder: &Path, below: &str, files: &mut Vec<Listed>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(io("read", folder))? {
        let entry = entry.map_err(io("read", folder))?;
        let name = entry.file_name().into_string().map_err(|name| {
            Error::invalid(format!("the name `{}` is not UTF-8", name.display())).at(folder.display())
        })?;
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        let kind = entry.file_type().map_err(io("read", &entry.path()))?;
        if kind.is_dir() {
            list(&entry.path(), &path, files)?;
        } else {
            let kind = if kind.is_file() { ListedKind::Regular } else { ListedKind::Other };
            files.push(Listed { path, kind });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn settings(inputs: &[&str]) -> RenderSettings {
        let inputs = inputs.iter().map(|input| (*input).to_owned()).collect();
        RenderSettings { inputs, ..RenderSettings::conventional() }
    }

    #[test]
    fn files_come_sorted_hidden_ones_included_and_the_first_input_wins() {
        let dir = project(&[("a/z.j2", "first"), ("a/.hidden", ""), ("b/z.j2", "second"), ("b/c/d", "")]);

        let files = load_inputs(dir.path(), &settings(&["a", "b"])).unwrap();

        let found: Vec<(&str, &str)> = files.iter().map(|file| (&*file.path, &*file.origin)).collect();
        assert_eq!(found, [(".hidden", "a/.hidden"), ("z.j2", "a/z.j2"), ("c/d", "b/c/d")]);
        assert_eq!(&*files[1].bytes, b"first");
    }

    #[test]
    fn a_link_out_of_the_project_is_refused_and_named() {
        let (dir, outside) = (project(&[("a/x", "")]), project(&[("secret", "")]));
        std::os::unix::fs::symlink(outside.path().join("secret"), dir.path().join("a/link")).unwrap();

        let error = load_inputs(dir.path(), &settings(&["a"])).unwrap_err();

        assert_eq!(error.message(), "`a/link` is a link that leads out of the project");
    }

    #[test]
    fn the_mode_of_a_file_is_kept() {
        let dir = project(&[("a/run.sh", "")]);
        fs::set_permissions(dir.path().join("a/run.sh"), fs::Permissions::from_mode(0o750)).unwrap();

        let files = load_inputs(dir.path(), &settings(&["a"])).unwrap();

        assert_eq!(files[0].mode, 0o750);
    }
}
