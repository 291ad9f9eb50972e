//! Whether a saved plan still fits what it was made from.

use super::life::StackLife;
use super::state_mark::state_mark;
use crate::engine::calls::Stop;
use crate::engine::plan::{PlanRecord, SavedPlans, SealedGiven};
use crate::engine::session::{change_around, source_fingerprint};
use crate::engine::variables::{Given, given_var_files};
use crate::error::{Result, io};
use crate::model::Fingerprint;
use crate::tofu::call::PlanMode;

/// Why a saved plan must not be applied as it is.
pub(super) enum Staleness {
    /// It still fits.
    Fresh,
    /// What it takes from other stacks changed.
    Inputs,
    /// Anything else, in words.
    Other(String),
}

impl Staleness {
    /// Says it in words.
    pub fn words(self) -> String {
        match self {
            Self::Fresh => "nothing changed since".to_owned(),
            Self::Inputs => "the values it takes from other stacks changed since".to_owned(),
            Self::Other(reason) => reason,
        }
    }
}

impl StackLife<'_> {
    /// Says whether a saved plan may still be applied.
    pub(super) async fn staleness(self, saved: &SavedPlans, record: &PlanRecord) -> Result<Staleness, Stop> {
        let inputs = self.inputs().await?;
        Ok(if let Some(reason) = self.change_since(record).await? {
            Staleness::Other(reason)
        } else if let Some(flaw) = saved.flaw(record) {
            Staleness::Other(flaw)
        } else if self.has_another_state(record).await {
            Staleness::Other("its state changed since the plan was made".to_owned())
        } else if record.inputs != inputs.fingerprint() {
            Staleness::Inputs
        } else {
            Staleness::Fresh
        })
    }

    /// Says what of that which a plan was made from is another now, but for states.
    pub(in crate::engine) async fn change_since(self, record: &PlanRecord) -> Result<Option<String>> {
        let version = self.session.tofu.version.to_string();
        Ok(if !self.is_of_the_kind(record) {
            Some(format!("it was made {}", record.mode))
        } else if record.tofu != version {
            Some(format!("it was made by tofu {}, this is {version}", record.tofu))
        } else if record.extra != self.options.extra && !self.options.extra.is_empty() {
            Some("it was made with other arguments after `--`".to_owned())
        } else if !self.session.given.is_empty() && self.session.given != self.remembered_given(record) {
            Some("it was made with other `--var` or `--var-file`".to_owned())
        } else if record.source != source_fingerprint(self.session, self.run)? {
            Some("the files of the stack or of its modules changed since".to_owned())
        } else if record.settings != self.settings(&record.extra, &self.given_for(record))? {
            Some(
                "its `env` in infra.yaml, TF_VAR_ in the environment, or a file of `-var-file` changed since"
                    .to_owned(),
            )
        } else {
            self.change_around(record).await.map(|path| format!("`{path}` changed since"))
        })
    }

    /// Returns whether a plan is there to destroy exactly if this run is.
    pub(super) fn is_of_the_kind(self, record: &PlanRecord) -> bool {
        (record.mode == PlanMode::Destroy) == (self.options.mode == PlanMode::Destroy)
    }

    /// Where a state cannot be read, tofu will say it.
    async fn has_another_state(self, record: &PlanRecord) -> bool {
        let Some(made_from) = &record.state else { return false };
        state_mark(self.session, &self.run.stack).await.is_some_and(|now| now != *made_from)
    }

    async fn change_around(self, record: &PlanRecord) -> Option<String> {
        change_around(self.session, record.around.as_ref()?).await
    }

    /// Returns a digest of the variables that the environment, and files on the command line, give to tofu.
    pub(in crate::engine) fn settings(self, extra: &[String], given: &Given) -> Result<Fingerprint> {
        let mut files = self.given_files(extra)?;
        files.extend(given.digests()?);
        let env = self.session.environment_of(&self.run.stack, &self.run.env)?;
        let own = env.iter().filter(|(name, _)| {
            let name = name.to_string_lossy();
            name.starts_with("TF_VAR_")
                || name.starts_with("TF_CLI_ARGS")
                || self.run.env.contains_key(&*name)
        });
        let mut parts: Vec<(&[u8], &[u8])> =
            own.map(|(name, value)| (name.as_encoded_bytes(), value.as_encoded_bytes())).collect();
        parts.sort_unstable();
        let env = parts.into_iter().flat_map(|(name, value)| [name, value]);
        Ok(Fingerprint::of(env.chain(files.iter().map(Vec::as_slice))))
    }

    /// Returns digests of the variable files among the arguments of a plan.
    fn given_files(self, extra: &[String]) -> Result<Vec<Vec<u8>>> {
        let dir = self.session.dir_of(&self.run.stack);
        let digest = |file: &str| {
            let path = dir.join(file);
            // One that is missing is tofu's to judge; a pipe can be read only once.
            if !path.is_file() {
                return Ok(Vec::new());
            }
            let file = std::fs::File::open(&path).map_err(io("read", &path))?;
            let digest = Fingerprint::of_reader(file).map_err(io("read", &path))?;
            Ok(digest.to_string().into_bytes())
        };
        given_var_files(extra).into_iter().map(digest).collect()
    }

    /// Returns what the command line gave when a plan was made, as far as this user can read it.
    fn remembered_given(self, record: &PlanRecord) -> Given {
        let key = self.session.plan_keys.user().ok();
        let sealed = record.given.as_ref().map(|given| given.sealed.as_str());
        key.zip(sealed).and_then(|(key, sealed)| Given::open(sealed, key)).unwrap_or_default()
    }

    /// Returns what is given to a plan when it is applied: what this command line gives, or what it was
    /// made with.
    pub(super) fn given_for(self, record: &PlanRecord) -> Given {
        let now = &self.session.given;
        if now.is_empty() { self.remembered_given(record) } else { now.clone() }
    }

    /// Returns what this command line gives, for the record of a plan.
    pub(super) fn sealed_given(self) -> Option<SealedGiven> {
        let (given, key) = (&self.session.given, self.session.plan_keys.user().ok()?);
        if given.is_empty() {
            return None;
        }
        Some(SealedGiven { has_files: given.has_files(), sealed: given.seal(key)? })
    }

    /// Returns whether a plan was made with a narrower question than that of this run.
    pub(super) fn asks_for_more_than(self, record: &PlanRecord) -> bool {
        record.extra != self.options.extra || record.mode != self.options.mode
    }
}
