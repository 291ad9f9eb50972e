//! What `infra deps outdated` looks at, and for whom.

use std::collections::BTreeSet;

use crate::model::StackId;
use crate::tofu::Flavour;
use crate::upgrades::Survey;

/// What was looked at.
pub(super) struct OutdatedSurvey<'a> {
    /// What all stacks require.
    pub survey: &'a Survey,
    /// The chosen stacks.
    pub chosen: &'a BTreeSet<StackId>,
    /// Whose short addresses count.
    pub flavour: Flavour,
}
