//! `infra deps outdated --write`: edits the constraints of the chosen stacks.

use std::path::Path;

use semver::Version;

use super::asking::{Asked, Finding};
use super::surveyed::OutdatedSurvey;
use crate::commands::generated_files::template_behind;
use crate::error::Result;
use crate::model::Project;
use crate::upgrades::{Bounds, Edit, Left, Level, Use, plan_edits, write};

/// What was edited, and what was left.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// The edits, by file and line.
    pub edits: Vec<Edit>,
    /// What is left although something is newer.
    pub left: Vec<Left>,
}

/// Edits what is known to be outdated.
pub(super) fn take(
    look: &OutdatedSurvey<'_>,
    asked: &Asked,
    level: Level,
    project: &Project,
) -> Result<Taken> {
    let template_of = |file: &Path| template_behind(project, file);
    let bounds = Bounds { chosen: look.chosen, level, template_of: &template_of };
    let mut taken = Taken::default();
    for finding in &asked.findings {
        let Ok(releases) = &finding.releases else { continue };
        let planned = plan_edits(look.survey, &outdated(finding), releases, bounds);
        taken.edits.extend(planned.edits);
        taken.left.extend(planned.left);
    }
    taken.edits.sort_by(|one, other| one.place().cmp(&other.place()));
    write(&taken.edits)?;
    Ok(taken)
}

fn outdated(finding: &Finding) -> Vec<(&Use, &Version)> {
    let with_version =
        finding.uses.iter().filter_map(|(found, judgement)| Some((found, judgement.current.as_ref()?)));
    with_version.collect()
}
