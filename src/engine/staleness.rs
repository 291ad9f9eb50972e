//! Whether a saved plan still fits what it was made from.

use super::failure::Stop;
use super::saved_plan::{PlanRecord, SavedPlans};
use super::source::source_fingerprint;
use super::stack_life::StackLife;
use crate::error::Result;
use crate::model::Fingerprint;
use crate::tofu::call::PlanMode;

pub(super) const OTHER_VALUES: &str = "the values it takes from other stacks changed since";

/// Why a saved plan must not be applied as it is.
pub(super) enum Staleness {
    /// It still fits.
    Fresh,
    /// What it takes from other stacks changed.
    Inputs,
    /// Anything else, in words.
    Other(String),
}

impl StackLife<'_> {
    /// Says whether a saved plan may still be applied.
    pub(super) async fn staleness(self, saved: &SavedPlans, record: &PlanRecord) -> Result<Staleness, Stop> {
        let inputs = self.inputs().await?;
        let version = self.session.tofu.version.to_string();
        let destroys = |mode| mode == PlanMode::Destroy;
        Ok(if destroys(record.mode) != destroys(self.options.mode) {
            Staleness::Other(format!("it was made {}", record.mode))
        } else if record.tofu != version {
            Staleness::Other(format!("it was made by tofu {}, this is {version}", record.tofu))
        } else if record.extra != self.options.extra && !self.options.extra.is_empty() {
            Staleness::Other("it was made with other arguments after `--`".to_owned())
        } else if record.source != source_fingerprint(self.session, self.run)? {
            Staleness::Other("the files of the stack or of its modules changed since".to_owned())
        } else if let Some(flaw) = saved.flaw(record) {
            Staleness::Other(flaw)
        } else if record.settings != self.settings()? {
            Staleness::Other(
                "its `env` in infra.yaml, or TF_VAR_ in the environment, changed since".to_owned(),
            )
        } else if let Some(path) = self.change_around(record).await {
            Staleness::Other(format!("`{path}` changed since"))
        } else if record.inputs != inputs.fingerprint() {
            Staleness::Inputs
        } else {
            Staleness::Fresh
        })
    }

    async fn change_around(self, record: &PlanRecord) -> Option<String> {
        record.around.as_ref()?.change_since(self.session).await
    }

    /// Returns a digest of the variables that the environment gives to tofu.
    pub(super) fn settings(self) -> Result<Fingerprint> {
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
        Ok(Fingerprint::of(parts.into_iter().flat_map(|(name, value)| [name, value])))
    }

    /// Returns whether a plan was made with a narrower question than that of this run.
    pub(super) fn asks_for_more_than(self, record: &PlanRecord) -> bool {
        record.extra != self.options.extra || record.mode != self.options.mode
    }
}
