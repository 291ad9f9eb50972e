//! Finds data files on disk and reads their text, within limits.
//!
//! A folder stands for all data files below it, sorted. Only regular files are read, and none
//! that is too large. Begin at [`find`].

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::DataWarning;
use super::formats::Lines;
use super::node::DataPlace;
use crate::error::{Error, Result, io};
use crate::model::nearest;

/// How large one data file may be.
const SIZE_LIMIT: u64 = 8 * 1024 * 1024;

/// What a file is called beside its name that is kept to be copied and filled in.
const SAMPLE_WORDS: [&str; 4] = ["sample", "example", "template", "dist"];

/// A data file, or a folder of them, that a project names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataFile {
    /// Where it is, relative to the root.
    pub path: PathBuf,
    /// Whether it must be there.
    pub presence: Presence,
}

/// Whether a data file must be there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Presence {
    /// The settings name it: its absence is a mistake.
    Required,
    /// It is looked for by convention.
    Optional,
}

impl DataFile {
    /// Makes a file that the settings name.
    pub fn required(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), presence: Presence::Required }
    }

    /// Makes a file that is read where it is there.
    pub fn optional(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), presence: Presence::Optional }
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// By YAML 1.2, in several documents or one.
    Yaml,
    /// As JSON.
    Json,
    /// As TOML.
    Toml,
}

/// A file that is there.
#[derive(Debug)]
pub struct Found {
    /// What to call it, relative to the root.
    pub name: Arc<str>,
    /// How it is written.
    pub format: Format,
    path: PathBuf,
}

/// Returns the files to read, in order, folders replaced by what is in them.
pub fn find(root: &Path, files: &[DataFile], warnings: &mut Vec<DataWarning>) -> Result<Vec<Found>> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for file in files {
        let path = root.join(&file.path);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => collect(root, &path, &mut found)?,
            Ok(metadata) if metadata.is_file() => match format_of(&path) {
                Some(format) => found.push(Found { name: name_of(root, &path), format, path }),
                None => warnings.push(passed_over(name_of(root, &path))),
            },
            Ok(_) => return Err(Error::invalid(format!("data file `{}` is no file", file.path.display()))),
            Err(_) if file.presence == Presence::Optional && path.symlink_metadata().is_err() => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing.push(file.path.as_path()),
            Err(error) => return Err(io("read", &path)(error)),
        }
    }
    if missing.is_empty() { Ok(found) } else { Err(not_there(root, &missing)) }
}

fn passed_over(name: Arc<str>) -> DataWarning {
    let message = "passed over: data files end in .yaml, .yml, .json or .toml".to_owned();
    DataWarning { place: DataPlace { file: name, line: 1, column: 1 }, message }
}

/// Tells which files are missing; one that was given a wrong name, with the right one.
fn not_there(root: &Path, missing: &[&Path]) -> Error {
    let message = match missing {
        [file] => format!("data file `{}` is not there", file.display()),
        files => {
            let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
            format!("data files {} are not there", names.join(", "))
        }
    };
    let guesses = missing.iter().filter(|file| sample_of(root, file).is_none());
    let guesses = guesses.filter_map(|file| near(root, file));
    guesses.fold(Error::invalid(message), |error, guess| {
        error.hint(format!("did you mean `{}`?", guess.display()))
    })
}

fn near(root: &Path, file: &Path) -> Option<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let names = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_data_name).collect();
    nearest(&name, names.iter().map(String::as_str)).map(|guess| folder.join(guess))
}

/// Returns the file beside a data file that is kept to be copied, such as `cluster.sample.yaml`.
pub fn sample_of(root: &Path, file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let (stem, extension) = name.rsplit_once('.')?;
    let names = SAMPLE_WORDS.iter().flat_map(|word| {
        [format!("{stem}.{word}.{extension}"), format!("{name}.{word}"), format!("{word}.{name}")]
    });
    names.map(|name| file.with_file_name(name)).find(|sample| root.join(sample).is_file())
}

fn is_data_name(name: &String) -> bool {
    format_of(Path::new(name)).is_some()
}

/// Adds the data files below a folder, in the order of their paths; hidden ones are left out.
fn collect(root: &Path, folder: &Path, found: &mut Vec<Found>) -> Result<()> {
    let mut files = Vec::new();
    walk(folder, &mut files)?;
    // Paths compare part by part, so `a/b.yaml` comes before `a.yaml` as in makejinja.
    files.sort();
    for path in files {
        if let Some(format) = format_of(&path) {
            found.push(Found { name: name_of(root, &path), format, path });
        }
    }
    Ok(())
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(io("read", folder))? {
        let entry = entry.map_err(io("read", folder))?;
        let kind = entry.file_type().map_err(io("read", &entry.path()))?;
        // A link to a folder could lead round in a circle.
        if kind.is_dir() {
            walk(&entry.path(), files)?;
        } else if !entry.file_name().to_string_lossy().starts_with('.') && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

pub fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "yaml" | "yml" => Some(Format::Yaml),
        "json" => Some(Format::Json),
        "toml" => Some(Format::Toml),
        _ => None,
    }
}

fn name_of(root: &Path, path: &Path) -> Arc<str> {
    let shown = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    shown.strip_prefix("./").unwrap_or(&shown).into()
}

/// Returns the text of a file; one that is too large is not read to its end.
pub fn text(file: &Found) -> Result<String> {
    let opened = fs::File::open(&file.path).map_err(io("read", &file.path))?;
    let mut bytes = Vec::new();
    opened.take(SIZE_LIMIT + 1).read_to_end(&mut bytes).map_err(io("read", &file.path))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SIZE_LIMIT {
        let limit = SIZE_LIMIT / (1024 * 1024);
        return Err(Error::invalid(format!("`{}` is larger than {limit} MiB", file.name))
            .hint("a data file describes a cluster; keep bulk data elsewhere"));
    }
    String::from_utf8(bytes).map_err(|error| not_text(&file.name, &error))
}

fn not_text(name: &Arc<str>, error: &std::string::FromUtf8Error) -> Error {
    let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let place = Lines::new(name, &String::from_utf8_lossy(valid)).place(valid.len());
    Error::invalid(format!("`{name}` is not text: expected UTF-8, found another byte"))
        .at(place)
        .hint("save the file as UTF-8")
}
