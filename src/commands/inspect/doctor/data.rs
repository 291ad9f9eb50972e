//! What `doctor` says about the data that templates are rendered with.

use super::finding::Finding;
use crate::commands::setup::data_warnings;
use crate::model::Project;

/// How many warnings are told.
const MOST: usize = 20;

/// Returns what is wrong with the data or odd about it; empty where a project has none.
pub(super) fn data_findings(project: &Project) -> Vec<Finding> {
    let warnings = match data_warnings(project) {
        Ok(Some(warnings)) => warnings,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![Finding::fail("data", &error)],
    };
    if warnings.is_empty() {
        return vec![Finding::pass("data", "keeps its rules")];
    }
    let fix = "change it there, then `infra configure`";
    let more = warnings.len().saturating_sub(MOST);
    let mut findings: Vec<Finding> =
        warnings.iter().take(MOST).map(|warning| Finding::warn("data", warning.to_string(), fix)).collect();
    if more > 0 {
        findings.push(Finding::warn("data", format!("{more} more warnings"), "`infra configure --diff`"));
    }
    findings
}
