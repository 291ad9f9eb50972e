//! Sessions over stacks of the project: what a command needs of them is opened, and closed behind it.

use std::path::PathBuf;

use super::load::LoadedProject;
use super::tofu_binary::installed_tofu;
use crate::commands::Context;
use crate::commands::args::VarArgs;
use crate::engine::{Given, GivenItem, Session, SessionParts, StateNeed, Unopened};
use crate::error::Result;
use crate::events::Events;
use crate::model::{Stack, StackId, StackSettings};
use crate::process;
use crate::report::{Console, PlanOutput, listen};
use crate::tofu::with_plugin_cache;

/// What a session is opened for.
#[derive(Debug)]
pub struct Purpose<'a> {
    /// The chosen stacks.
    pub stacks: &'a [StackId],
    /// Whether their states are touched.
    pub state: StateNeed,
    /// The run, if it is one.
    pub run_id: Option<String>,
    /// How many stacks run at once, where somebody said it.
    pub at_once: Option<usize>,
    /// What the command line gives to variables.
    pub given: &'a [GivenItem],
    /// What happens if an encrypted file cannot be opened.
    pub unopened: Unopened,
    /// What the user wrote after `--`.
    pub extra: &'a [String],
}

impl<'a> Purpose<'a> {
    /// Returns the purpose of a command that works with states, and needs every secret.
    pub const fn states_of(stacks: &'a [StackId]) -> Self {
        let (state, unopened) = (StateNeed::Yes, Unopened::Ends);
        Self { stacks, state, run_id: None, at_once: None, given: &[], unopened, extra: &[] }
    }

    /// Returns the purpose of a command that reads states: it goes on without secrets that cannot be opened.
    pub fn reading(stacks: &'a [StackId]) -> Self {
        Self { unopened: Unopened::LeftOut, ..Self::states_of(stacks) }
    }

    /// Returns the purpose of a command that writes states, but evaluates only what reading them needs.
    pub fn editing(stacks: &'a [StackId]) -> Self {
        Self { unopened: Unopened::LeftOutOfWriting, ..Self::states_of(stacks) }
    }

    /// Returns the same purpose with what the command line gives to variables.
    pub fn given(self, variables: &'a VarArgs) -> Self {
        Self { given: &variables.items, ..self }
    }

    /// Returns the purpose of a command that touches files only.
    pub fn files_of(stacks: &'a [StackId]) -> Self {
        Self { state: StateNeed::No, ..Self::reading(stacks) }
    }
}

impl LoadedProject {
    /// Opens a session whose events go to `events`.
    pub async fn open_session(
        &self,
        context: &Context,
        events: Events,
        purpose: Purpose<'_>,
    ) -> Result<Session> {
        let (given, sealed) = Given::resolve(purpose.given, &context.cwd)?;
        if !sealed.is_empty() {
            let opening = self.with_sealed_files(&sealed);
            let bare = Purpose { given: &[], ..purpose };
            return Box::pin(opening.open_session_given(context, events, bare, given)).await;
        }
        self.open_session_given(context, events, purpose, given).await
    }

    /// Returns the same project in which every stack has these encrypted files of variables too.
    fn with_sealed_files(&self, files: &[PathBuf]) -> Self {
        let mut project = self.project.clone();
        let var_files = files.iter().map(|file| file.display().to_string()).collect();
        project
            .stack_settings
            .push(("**".to_owned(), StackSettings { var_files, ..StackSettings::default() }));
        Self { project, stacks: self.stacks.clone(), notes: Vec::new(), changed: None }
    }

    async fn open_session_given(
        &self,
        context: &Context,
        events: Events,
        purpose: Purpose<'_>,
        given: Given,
    ) -> Result<Session> {
        let chosen: Vec<&Stack> =
            self.stacks.iter().filter(|stack| purpose.stacks.contains(&stack.id)).collect();
        given.check(&chosen)?;
        let secrets = self.open_secrets(context, &purpose).await?;
        let tofu = installed_tofu(&self.project, context).await?;
        let inherited = match purpose.stacks.len() {
            0 | 1 => context.env.clone(),
            _ => with_plugin_cache(&context.env, &tofu, &self.folders_of(purpose.stacks)?)?,
        };
        Session::open(SessionParts {
            project: self.project.clone(),
            stacks: self.stacks.clone(),
            tofu,
            inherited,
            events,
            interrupts: context.interrupts.clone(),
            clock: context.clock,
            secrets,
            state: purpose.state,
            given,
            passed: Given::passed_on(purpose.extra),
            processes: self.processes_of(&purpose),
            run_id: purpose.run_id,
        })
        .await
    }

    /// Returns how many processes may run at once: each tofu has its providers beside it, at least one.
    fn processes_of(&self, purpose: &Purpose<'_>) -> usize {
        let chosen = self.stacks.iter().filter(|stack| purpose.stacks.contains(&stack.id));
        let providers = chosen.map(Stack::provider_count).max().unwrap_or_default().max(1);
        let at_once = purpose.at_once.unwrap_or_else(process::bearable_parallelism);
        at_once.min(purpose.stacks.len()).max(1).saturating_mul(1 + providers)
    }

    fn folders_of(&self, ids: &[StackId]) -> Result<Vec<PathBuf>> {
        ids.iter().map(|id| Ok(self.project.root.join(&self.stack(id)?.path))).collect()
    }

    /// Opens a session for a command that is no run, does the work, and tells warnings on the way.
    pub async fn with_session<T>(
        &self,
        context: &Context,
        purpose: Purpose<'_>,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let (events, messages) = Events::channel(context.clock);
        let session = self.open_session(context, events, purpose).await?;
        let console = Console::new(context.terminal, PlanOutput::Hidden);
        let working = async move {
            let result = work(&session).await;
            session.close().await;
            result
        };
        let (result, ()) = tokio::join!(working, listen(messages, vec![Box::new(console)], context.asking()));
        result
    }
}
