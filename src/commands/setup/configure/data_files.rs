//! Which files hold the data of a project, and which its own derived values.

use crate::project::DataFile;
use crate::render::RenderSettings;

/// The conventional file of a project's own derived values.
pub const DERIVE_FILE: &str = "derive.yaml";

/// Returns every file of data and derived values that may be read.
pub fn data_files(settings: &RenderSettings) -> Vec<DataFile> {
    settings.data.iter().map(DataFile::optional).chain([derive_file(settings)]).collect()
}

/// Returns the file of derived values: the one that is named, or the conventional one.
pub(super) fn derive_file(settings: &RenderSettings) -> DataFile {
    settings.derive.as_ref().map_or_else(|| DataFile::optional(DERIVE_FILE), DataFile::required)
}
