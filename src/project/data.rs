//! Turns the data files of a project (YAML, JSON, TOML) into the values that templates see.
//!
//! Files merge in order, per top-level key. Every key and value keeps its place, so that a
//! mistake is told with file, line and column. Begin at [`load_data`], then [`Data::check`].

mod check;
mod derivations;
mod fault;
mod formats;
mod misspelt_keys;
mod node;
mod read;
mod rules;
mod schema;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

pub use derivations::{load_derivation_text, load_derivations};
pub use misspelt_keys::{KeyLevel, OddKey};
pub use node::DataPlace;
pub use read::{DataFile, Presence, sample_of};
pub use schema::{cluster_schema, nodes_schema};

use self::node::{Content, MapEntry, Node};
use crate::error::{Error, Result};
use crate::model::Values;

/// Something that a person should know about the data, and that stops nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataWarning {
    /// Where it is.
    pub place: DataPlace,
    /// What it is.
    pub message: String,
}

impl fmt::Display for DataWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The merged data files: their values, and where each of them stands.
#[derive(Debug, Default)]
pub struct Data {
    /// What templates see.
    pub values: Values,
    /// What makejinja would read otherwise, and files that were passed over.
    pub warnings: Vec<DataWarning>,
    entries: Vec<MapEntry>,
}

impl Data {
    /// Returns where a value stands, by keys and positions in lists: `["nodes", "0", "name"]`.
    pub fn place_of(&self, path: &[&str]) -> Option<&DataPlace> {
        let (first, rest) = path.split_first()?;
        let mut node = &self.entries.iter().find(|entry| entry.key == *first)?.value;
        for step in rest {
            node = match &node.content {
                Content::Map(entries) => &entries.iter().find(|entry| entry.key == *step)?.value,
                Content::List(items) => items.get(step.parse::<usize>().ok()?)?,
                Content::Scalar(_) => return None,
            };
        }
        Some(&node.place)
    }

    /// Checks all that `cluster.yaml` and `nodes.yaml` promise; one error tells every mistake.
    ///
    /// Returns what is odd and still allowed.
    pub fn check(&self) -> Result<Vec<DataWarning>> {
        rules::check(&self.entries)
    }

    /// Returns the unknown keys that are probably known ones. They are no mistakes, and those that a
    /// template reads are the project's own.
    pub fn odd_keys(&self) -> Vec<OddKey> {
        misspelt_keys::find(&self.entries, &rules::whole_schema())
    }
}

/// Loads data files in their order; a later file replaces top-level keys of an earlier one.
///
/// Of several files that cannot be read every one is told.
pub fn load_data(root: &Path, files: &[DataFile]) -> Result<Data> {
    let mut overlay = Overlay::default();
    let (mut warnings, mut broken) = (Vec::new(), Vec::new());
    for file in read::find(root, files, &mut warnings)? {
        match maps(&file, &mut warnings) {
            Ok(maps) => overlay = maps.into_iter().fold(overlay, Overlay::with),
            Err(error) => broken.push(error),
        }
    }
    if let Some(error) = together(broken) {
        return Err(error);
    }
    let entries = overlay.entries;
    Ok(Data { values: node::to_values(&entries), warnings, entries })
}

/// Reads data from texts with the names of their files, in their order; none of another kind counts.
pub fn load_data_texts(files: &[(String, String)]) -> Result<Values> {
    let mut overlay = Overlay::default();
    for document in files.iter().map(|(name, text)| documents_in(name, text)) {
        for document in document? {
            let Content::Map(entries) = &document.content else { return Err(no_map(&document)) };
            overlay = overlay.with(entries.clone());
        }
    }
    Ok(node::to_values(&overlay.entries))
}

fn documents_in(name: &str, text: &str) -> Result<Vec<Arc<Node>>> {
    match read::format_of(Path::new(name)) {
        Some(format) => documents_of((&name.into(), format), text, &mut Vec::new()),
        None => Ok(Vec::new()),
    }
}

/// Returns the names of the data files that are there, folders replaced by what is in them.
pub fn data_names(root: &Path, files: &[DataFile]) -> Vec<String> {
    let optional = files.iter().map(|file| DataFile::optional(&file.path));
    let found = optional.flat_map(|file| read::find(root, &[file], &mut Vec::new()).unwrap_or_default());
    found.map(|found| found.name.to_string()).collect()
}

fn together(mut broken: Vec<Error>) -> Option<Error> {
    if broken.len() < 2 {
        return broken.pop();
    }
    let error = Error::invalid(format!("{} data files cannot be read", broken.len()));
    Some(broken.iter().fold(error, |all, one| all.detail(one.to_string())))
}

fn maps(file: &read::Found, warnings: &mut Vec<DataWarning>) -> Result<Vec<Vec<MapEntry>>> {
    let entries = |document: Arc<Node>| match &document.content {
        Content::Map(entries) => Ok(entries.clone()),
        Content::Scalar(_) | Content::List(_) => Err(no_map(&document)),
    };
    documents(file, warnings)?.into_iter().map(entries).collect()
}

fn documents(file: &read::Found, warnings: &mut Vec<DataWarning>) -> Result<Vec<Arc<Node>>> {
    documents_of((&file.name, file.format), &read::text(file)?, warnings)
}

fn documents_of(
    (name, format): (&Arc<str>, read::Format),
    text: &str,
    warnings: &mut Vec<DataWarning>,
) -> Result<Vec<Arc<Node>>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        read::Format::Yaml => {
            let documents = formats::parse_yaml(name, text)?;
            warnings.extend(documents.warnings);
            Ok(documents.roots)
        }
        read::Format::Json => Ok(vec![Arc::new(formats::parse_json(name, text)?)]),
        read::Format::Toml => Ok(vec![Arc::new(formats::parse_toml(name, text)?)]),
    }
}

fn no_map(document: &Node) -> Error {
    let found = match &document.content {
        Content::Scalar(value) if value.is_null() => "an empty document",
        Content::Scalar(_) => "a single value",
        Content::List(_) => "a list",
        Content::Map(_) => "a map",
    };
    Error::invalid(format!("`{}` must be a map of names and values", document.place.file))
        .at(&document.place)
        .fact("found", found)
}

/// Entries laid over each other: a key keeps its first position and gets its last value.
#[derive(Debug, Default)]
struct Overlay {
    entries: Vec<MapEntry>,
    positions: HashMap<String, usize>,
}

impl Overlay {
    fn with(mut self, entries: Vec<MapEntry>) -> Self {
        for entry in entries {
            match self.positions.get(&entry.key) {
                Some(position) => self.entries[*position] = entry,
                None => {
                    self.positions.insert(entry.key.clone(), self.entries.len());
                    self.entries.push(entry);
                }
            }
        }
        self
    }
}
