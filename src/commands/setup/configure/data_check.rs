//! What is wrong with the data, and what is odd: also for those who only look.

use super::data_files::derive_file;
use super::samples::copy_samples;
use crate::error::Result;
use crate::model::Project;
use crate::project;
use crate::project::{Data, DataFile, DataWarning, KeyLevel, OddKey, cluster_schema};
use crate::render::settings::resolve;
use crate::render::{ReadKeys, Readers, RenderSettings, SourceFile, load_inputs, plugin};

/// The data of a project, looked at.
pub(super) struct CheckedData {
    /// The data.
    pub data: Data,
    /// What is odd, in the order of the files.
    pub warnings: Vec<DataWarning>,
    /// Whether the data keeps its rules.
    pub outcome: Result<()>,
}

/// Returns what is odd about the data of a project; an error where it breaks its rules, and nothing
/// where there is none.
pub fn data_warnings(project: &Project) -> Result<Option<Vec<DataWarning>>> {
    let settings = resolve(&project.root, &project.configure)?;
    if settings.data.is_empty() {
        return Ok(None);
    }
    let sources = load_inputs(&project.root, &settings)?;
    let CheckedData { warnings, outcome, .. } = check(project, &settings, &sources)?;
    outcome.map(|()| Some(warnings))
}

/// Reads the data and checks it.
pub(super) fn check(
    project: &Project,
    settings: &RenderSettings,
    sources: &[SourceFile],
) -> Result<CheckedData> {
    let files: Vec<DataFile> = settings.data.iter().map(DataFile::required).collect();
    let data = project::load_data(&project.root, &files)
        .map_err(|error| error.hint_if(copy_samples(&project.root, &settings.data)))?;
    let mut warnings = data.warnings.clone();
    warnings.extend(odd_keys(project, settings, sources, &data));
    let outcome = data.check().map(|odd| warnings.extend(odd));
    warnings.sort_by(|one, other| {
        let key =
            |warning: &DataWarning| (warning.place.file.clone(), warning.place.line, warning.place.column);
        key(one).cmp(&key(other))
    });
    Ok(CheckedData { data, warnings, outcome })
}

/// Returns a warning for each key that is probably a known one misspelt, and that nothing reads.
fn odd_keys(
    project: &Project,
    settings: &RenderSettings,
    sources: &[SourceFile],
    data: &Data,
) -> Vec<DataWarning> {
    let odd = data.odd_keys();
    if odd.is_empty() {
        // Reading every template once more costs something.
        return Vec::new();
    }
    let templates = sources.iter().filter(|source| settings.is_template(&source.path));
    let derivations = project::load_derivations(&project.root, &derive_file(settings)).unwrap_or_default();
    let schema = cluster_schema();
    let known = schema["properties"].as_object().into_iter().flat_map(|keys| keys.keys().map(String::as_str));
    let read = ReadKeys::of(&Readers {
        templates: templates.filter_map(|source| std::str::from_utf8(&source.bytes).ok()).collect(),
        marks: &settings.marks,
        derivations: &derivations,
        plugins: plugin_texts(project, settings),
        others: data.values.keys().map(String::as_str).chain(known).filter(|key| *key != "nodes").collect(),
    });
    let is_read = |odd: &OddKey| match odd.level {
        KeyLevel::Top => read.has(&odd.key),
        KeyLevel::Map => read.has_attribute(&odd.key),
        KeyLevel::Node => read.has_of_node(&odd.key),
    };
    odd.into_iter().filter(|odd| !is_read(odd)).map(|odd| warning(&odd)).collect()
}

fn plugin_texts(project: &Project, settings: &RenderSettings) -> Vec<String> {
    let plugins = plugin::find(&project.root, settings).ok().flatten();
    let files = plugins.iter().flat_map(plugin::Plugins::files);
    files.filter_map(|file| std::fs::read_to_string(project.root.join(file)).ok()).collect()
}

fn warning(odd: &OddKey) -> DataWarning {
    let also = match odd.others {
        0 => String::new(),
        1 => " (one more node has it)".to_owned(),
        others => format!(" ({others} more nodes have it)"),
    };
    let meant: Vec<String> = odd.meant.iter().map(|key| format!("`{key}`")).collect();
    let message = format!(
        "unknown key `{}` is read by no template{also}; did you mean {}?",
        odd.path,
        meant.join(" or ")
    );
    DataWarning { place: odd.place.clone(), message }
}
