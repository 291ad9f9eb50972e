//! What registries answered within the last hour, kept in the user's cache, so that a second look costs
//! nobody anything. Only answers are kept, never a failure, and nothing of a question but its digest.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use semver::Version;
use serde::{Deserialize, Serialize};

use super::releases::Release;
use crate::atomic_file;
use crate::model::{Clock, Environment, Fingerprint};

/// How long an answer counts.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// The answers of the last hour.
#[derive(Debug)]
pub(super) struct Answers {
    folder: Option<PathBuf>,
    clock: Clock,
    reads: bool,
}

#[derive(Deserialize, Serialize)]
struct Answer {
    at: Timestamp,
    releases: Vec<Kept>,
}

#[derive(Deserialize, Serialize)]
struct Kept {
    version: String,
    platforms: Option<Vec<String>>,
}

impl Kept {
    fn of(release: &Release) -> Self {
        Self { version: release.version.to_string(), platforms: release.platforms.clone() }
    }

    fn release(self) -> Option<Release> {
        Some(Release { version: Version::parse(&self.version).ok()?, platforms: self.platforms })
    }
}

impl Answers {
    /// Opens the user's cache; with `reads` off everybody is asked anew.
    pub fn new(env: &Environment, clock: Clock, reads: bool) -> Self {
        Self { folder: env.cache_dir().map(|cache| cache.join("registry")), clock, reads }
    }

    /// Returns an answer of the last hour.
    pub fn recall(&self, question: &str) -> Option<Vec<Release>> {
        let bytes = std::fs::read(self.file(question).filter(|_| self.reads)?).ok()?;
        let answer: Answer = serde_json::from_slice(&bytes).ok()?;
        let age = self.clock.now().duration_since(answer.at);
        let releases = answer.releases.into_iter().map(Kept::release).collect::<Option<Vec<_>>>()?;
        (!age.is_negative() && age < FRESH).then_some(releases)
    }

    /// Keeps an answer; a cache that cannot be written is none.
    pub fn keep(&self, question: &str, releases: &[Release]) {
        let answer = Answer { at: self.clock.now(), releases: releases.iter().map(Kept::of).collect() };
        if let (Some(file), Ok(bytes)) = (self.file(question), serde_json::to_vec(&answer)) {
            let _ = atomic_file::write(&file, &bytes);
        }
    }

    fn file(&self, question: &str) -> Option<PathBuf> {
        let name = Fingerprint::of([question.as_bytes()]);
        Some(self.folder.as_ref()?.join(format!("{name}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_answer_counts_for_an_hour_and_for_its_question() {
        let home = tempfile::tempdir().unwrap();
        let env = Environment::default().with("HOME", home.path());
        let at = |clock| Answers::new(&env, Clock::new(clock), true);
        let release = Release { version: Version::new(1, 2, 3), platforms: None };
        at(noon).keep("a", std::slice::from_ref(&release));

        let later = || "2026-01-01T12:59:59Z".parse().unwrap();
        assert_eq!(at(later).recall("a"), Some(vec![release]));
        assert_eq!(at(noon).recall("b"), None);
        assert_eq!(Answers::new(&env, Clock::new(noon), false).recall("a"), None);
        assert_eq!(at(|| "2026-01-01T13:00:00Z".parse().unwrap()).recall("a"), None);
        assert_eq!(at(|| "2026-01-01T11:00:00Z".parse().unwrap()).recall("a"), None);
    }
}
