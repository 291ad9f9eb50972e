//! What needs no state of a stack: `validate` and `test`.
//!
//! Both prepare the folder without its backend, so that no credentials are needed for it.

use std::path::Path;

use super::init::init_without_backend;
use super::life::StackLife;
use crate::engine::calls::{Stop, TofuOutput, Watched, explain, watch};
use crate::engine::run::WhenToInit;
use crate::engine::variables::{resolve_inputs, sources_of, with_early_values};
use crate::events::RunEvent;
use crate::model::{StackResult, Step};
use crate::process;
use crate::process::Raw;
use crate::tofu;
use crate::tofu::call;
use crate::tofu::call::TestCall;

impl StackLife<'_> {
    /// Checks the configuration; needs no backend and no credentials.
    pub async fn validate(self) -> Result<(), Stop> {
        self.check_files()?;
        let prepared = init_without_backend(self.session, self.run, WhenToInit::Needed).await?;
        self.step(Step::Validate);
        let prepared = with_early_values(self.session, self.run, prepared).await;
        let call = call::validate(prepared, &self.options.extra);
        let captured = process::capture(call, &self.session.interrupts).await?;
        if captured.status.success() {
            return Ok(());
        }
        let output = self.validation(&captured.stdout);
        let watched = Watched { status: captured.status, output };
        Err(explain(self.session, &self.run.stack, &watched).await)
    }

    /// Runs the tests of the stack; one without any has nothing to do.
    pub async fn test(self) -> Result<StackResult, Stop> {
        self.check_files()?;
        if !has_tests(&self.session.dir_of(&self.run.stack)) {
            return Ok(StackResult::NoChanges);
        }
        let prepared = init_without_backend(self.session, self.run, self.options.init).await?;
        let inputs = resolve_inputs(self.session, self.run).await?;
        self.step(Step::Test);
        let variables = sources_of(self.session, self.run, &inputs);
        let test = TestCall { variables: &variables, extra: &self.options.extra };
        let call = call::test(prepared, test, self.session.narration());
        let watched = watch(self.session, &self.run.stack.id, Step::Test, call).await?;
        match watched.status.success() {
            true => Ok(StackResult::Succeeded),
            false => Err(explain(self.session, &self.run.stack, &watched).await),
        }
    }

    /// Reads the one JSON document of `tofu validate`.
    fn validation(self, stdout: &Raw) -> TofuOutput {
        let mut diagnostics = Vec::new();
        for diagnostic in tofu::validation_diagnostics(stdout, &self.session.mask()) {
            if !diagnostics.contains(&diagnostic) {
                diagnostics.push(diagnostic);
            }
        }
        for diagnostic in &diagnostics {
            let (stack, diagnostic) = (self.run.stack.id.clone(), diagnostic.clone());
            self.session.events.emit(RunEvent::Diagnostic { stack, diagnostic });
        }
        TofuOutput { diagnostics, ..TofuOutput::default() }
    }
}

/// Returns whether tofu would find a test: in the folder itself or in `tests`.
fn has_tests(dir: &Path) -> bool {
    const ENDINGS: [&str; 4] = [".tftest.hcl", ".tftest.json", ".tofutest.hcl", ".tofutest.json"];
    let files =
        [dir.to_owned(), dir.join("tests")].into_iter().flat_map(std::fs::read_dir).flatten().flatten();
    let mut names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.any(|name| ENDINGS.iter().any(|ending| name.ends_with(ending)))
}
