//! Plans for a bundle: each with the digests of what it was made from, and under the bundle's own key.

use std::path::{Path, PathBuf};

use super::life::{Planned, StackLife};
use super::state_mark::state_mark;
use crate::engine::bundle::{BundleMaker, BundledPlan, Sources, SourcesBuilder};
use crate::engine::calls::Stop;
use crate::engine::session::{file_fingerprint, source_files};
use crate::error::{Result, io};
use crate::model::without_dots;
use crate::tofu::PlanKey;

impl StackLife<'_> {
    /// Makes a plan that only this run knows, and puts it into the bundle.
    pub(super) async fn plan_for_bundle(self, maker: &BundleMaker) -> Result<Planned, Stop> {
        // What it is made from is looked at first: an edit meanwhile makes the plan a stale one.
        self.init(self.options.init, &[]).await?;
        let sources = self.sources(maker.key(), &[maker.file().to_owned()])?;
        let stack = &self.run.stack;
        let state = state_mark(self.session, stack).await;
        let planned = self.plan_privately().await?;
        let file = planned.plans.read(&stack.id)?;
        let sealed = match self.session.opened_plan(stack, &file) {
            Some(plain) => maker.key().seal(&plain)?,
            // Its own files or the caller encrypted it, and will open it.
            None => file,
        };
        maker.add(BundledPlan {
            tofu: planned.record.tofu.clone(),
            state,
            data_dir: self.session.data_dir_of(stack).display().to_string(),
            ..BundledPlan::new(stack.id.clone(), sources, &sealed)
        });
        Ok(planned)
    }

    /// Returns what a plan of the stack is made from now; `besides` are bundles, which may lie among it.
    pub(super) fn sources(self, key: &PlanKey, besides: &[PathBuf]) -> Result<Sources> {
        let root = &self.session.project.root;
        let name = |path: &Path| without_dots(path.strip_prefix(root).unwrap_or(path)).display().to_string();
        let mut builder = SourcesBuilder::new(key, self.settings_text().as_bytes());
        for file in source_files(self.session, self.run)? {
            if besides.contains(&file) {
                continue;
            }
            if let Some(digest) = file_fingerprint(&file).map_err(io("read", &file))? {
                builder.add(name(&file), digest);
            }
        }
        let secrets = self.session.secrets_of(&self.run.stack.id);
        let opened = secrets.into_iter().flat_map(|secrets| secrets.files.iter().zip(&secrets.digests));
        opened.for_each(|(file, digest)| builder.add_opened(name(file), digest));
        Ok(builder.build())
    }

    /// Returns what `infra.yaml` says of the stack that can change its plan.
    fn settings_text(self) -> String {
        let inputs = self.run.inputs.iter();
        let inputs: Vec<String> = inputs.map(|(name, from)| format!("{name}={from:?}")).collect();
        format!("{:?}\n{inputs:?}\n{:?}", self.run.env, self.run.var_files)
    }
}
