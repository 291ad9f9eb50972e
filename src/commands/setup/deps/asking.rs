//! Asks for the releases of tofu and of everything that the chosen stacks require: each thing once, a few at
//! a time.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use semver::Version;

use super::surveyed::OutdatedSurvey;
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::tofu;
use crate::tofu::registry::{Dependency, Registries, Release, ReleaseOrigin};
use crate::tofu::{Constraint, LocateRequest};
use crate::upgrades::{Judgement, Use, judge};

/// How many are asked at once.
const AT_ONCE: usize = 4;

/// What was asked, with the answers.
pub(super) struct Asked {
    /// About tofu itself.
    pub tofu: TofuAnswer,
    /// About providers and modules, by address.
    pub findings: Vec<Finding>,
}

/// What is known of tofu.
pub(super) struct TofuAnswer {
    /// The version in use.
    pub used: Option<Version>,
    /// The newest release.
    pub newest: Result<Version>,
    /// What the project allows.
    pub constraint: Constraint,
}

/// One thing that is required.
pub(super) struct Finding {
    pub dependency: Dependency,
    /// Its releases, or why they are not known.
    pub releases: Result<Vec<Release>>,
    /// By whom it is used; judged if the releases are known.
    pub uses: Vec<(Use, Judgement)>,
}

impl TofuAnswer {
    /// Returns whether there is a newer one; nothing if that is not known.
    pub fn is_outdated(&self) -> Option<bool> {
        let newest = self.newest.as_ref().ok()?;
        Some(self.used.as_ref().is_none_or(|used| used < newest))
    }
}

impl Finding {
    /// Returns the newest release that counts for one of the uses.
    pub fn newest(&self) -> Option<&Version> {
        let releases = self.releases.as_ref().ok()?;
        let with_pre = self.uses.iter().flat_map(|(found, _)| crate::upgrades::candidates(found, releases));
        with_pre.max()
    }

    /// Returns whether anything is newer; nothing if that is not known.
    pub fn is_outdated(&self) -> Option<bool> {
        self.releases.as_ref().ok()?;
        Some(self.uses.iter().any(|(_, judgement)| judgement.is_outdated()))
    }
}

impl Asked {
    /// Returns whether everything is known.
    pub fn is_complete(&self) -> bool {
        self.tofu.newest.is_ok() && self.findings.iter().all(|finding| finding.releases.is_ok())
    }

    /// Returns whether anything is newer, or nothing fits.
    pub fn is_outdated(&self) -> bool {
        let is_stuck =
            |finding: &Finding| finding.uses.iter().any(|(_, judgement)| judgement.current.is_none());
        let is_worth = |finding: &Finding| finding.is_outdated() == Some(true) || is_stuck(finding);
        self.tofu.is_outdated() == Some(true) || self.findings.iter().any(is_worth)
    }
}

/// Asks everybody, until a person says stop.
pub(super) async fn ask(
    look: &OutdatedSurvey<'_>,
    used: Option<Version>,
    registries: &Registries,
    request: &LocateRequest<'_>,
    context: &Context,
) -> Result<Asked> {
    let constraint = Constraint::of(request.settings)?;
    let mut interrupts = context.interrupts.clone();
    let before = interrupts.count();
    let both = async { futures::join!(tofu::newest_release(request), ask_registries(look, registries)) };
    let (newest, findings) = tokio::select! {
        answers = both => answers,
        _ = interrupts.beyond(before) => return Err(Error::interrupted("stopped while asking for releases")),
    };
    Ok(Asked { tofu: TofuAnswer { used, newest, constraint }, findings })
}

async fn ask_registries(look: &OutdatedSurvey<'_>, registries: &Registries) -> Vec<Finding> {
    let mut questions: BTreeMap<(Dependency, Vec<ReleaseOrigin>), Vec<Use>> = BTreeMap::new();
    let is_chosen = |found: &&Use| !found.stacks.is_disjoint(look.chosen);
    for found in look.survey.uses.iter().filter(is_chosen) {
        let sources = registries.sources_of(&found.dependency, &found.folder);
        questions.entry((found.dependency.clone(), sources)).or_default().push(found.clone());
    }
    let asked = questions.into_iter().map(|((dependency, sources), uses)| async move {
        let releases = registries.releases(&dependency, &sources).await;
        let judged = |found: Use| {
            let judgement = releases.as_ref().map(|releases| judge(&found, releases)).unwrap_or_default();
            (found, judgement)
        };
        let uses = uses.into_iter().map(judged).collect();
        Finding { dependency, releases, uses }
    });
    let mut findings: Vec<Finding> = futures::stream::iter(asked).buffer_unordered(AT_ONCE).collect().await;
    findings.sort_by(|one, other| one.dependency.cmp(&other.dependency));
    findings
}
