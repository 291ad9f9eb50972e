//! What a runner has to render: a project's generated files are in git, or made anew at each run, or
//! cannot be made there because git does not hold their data.

use std::path::PathBuf;

use super::place::WorkflowPlace;
use crate::error::Result;
use crate::model::Project;
use crate::render::load_inputs;
use crate::render::settings::resolve;

/// Where a runner gets the generated files from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::commands) enum Rendering {
    /// There are none, or they come with git and nothing there can check them.
    Given,
    /// They come with git, and so does what they are made from.
    Checked,
    /// Git leaves them out; each run makes them.
    Made,
}

impl Rendering {
    /// Looks at a project.
    pub(super) async fn of(project: &Project, place: &WorkflowPlace) -> Result<Self> {
        let settings = resolve(&project.root, &project.configure)?;
        if settings.inputs.is_empty() {
            return Ok(Self::Given);
        }
        let data: Vec<PathBuf> = settings.data.iter().map(PathBuf::from).collect();
        let sources = load_inputs(&project.root, &settings)?;
        let made = |path: &str| PathBuf::from(&settings.output).join(settings.output_of(path));
        let made: Vec<PathBuf> = sources.iter().map(|source| made(&source.path)).collect();
        let ignored = match &place.git {
            Some(git) => git.ignored_among(data.iter().chain(&made)).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let has_data = data.iter().all(|file| !ignored.contains(file) && project.root.join(file).exists());
        Ok(match has_data {
            false => Self::Given,
            true if !made.is_empty() && made.iter().all(|file| ignored.contains(file)) => Self::Made,
            true => Self::Checked,
        })
    }
}
