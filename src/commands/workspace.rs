//! The project as commands need it: loaded, its stacks discovered, a tofu at hand.

use super::Context;
use super::deps;
use super::stack_args::StackArgs;
use crate::engine::{Session, SessionParts, StateNeed};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Project, Stack, StackId};
use crate::project;
use crate::report::{Console, PlanOutput, listen};
use crate::stacks;

/// A loaded project.
#[derive(Debug)]
pub struct Workspace {
    /// The project.
    pub project: Project,
    /// Its stacks, sorted by id.
    pub stacks: Vec<Stack>,
    /// What is worth telling about the layout.
    pub notes: Vec<String>,
}

impl Workspace {
    /// Finds and reads the project around the working folder.
    pub fn load(context: &Context) -> Result<Self> {
        let root = project::find_root(&context.cwd)?;
        let project = project::load(&root)?;
        let discovery = stacks::discover(&project)?;
        Ok(Self { project, stacks: discovery.stacks, notes: discovery.notes })
    }

    /// Returns the chosen stacks.
    pub fn choose(&self, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
        if self.stacks.is_empty() {
            return Err(Error::invalid(format!("`{}` has no stacks", self.project.root.display())).hint(
                "a stack is a folder with `.tf` or `.tofu` files, for example below `infrastructure/`",
            ));
        }
        stacks::select(&self.project, &self.stacks, &args.selection(), &context.cwd)
    }

    /// Returns the one stack that is meant.
    pub fn choose_one(&self, stack: Option<String>, context: &Context) -> Result<&Stack> {
        let chosen = self.choose(&StackArgs::one(stack), context)?;
        match chosen.as_slice() {
            [id] => self.stack(id),
            several => Err(Error::usage("this command works on one stack").detail(format!(
                "chosen: {}",
                several.iter().map(StackId::as_str).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Returns a stack by its id.
    pub fn stack(&self, id: &StackId) -> Result<&Stack> {
        let found = self.stacks.iter().find(|stack| stack.id == *id);
        found.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))
    }

    /// Opens a session whose events go to `events`.
    pub async fn open_session(
        &self,
        context: &Context,
        events: Events,
        (state, run_id): (StateNeed, Option<String>),
    ) -> Result<Session> {
        let tofu = deps::ensure(&self.project, context).await?;
        Session::open(SessionParts {
            project: self.project.clone(),
            stacks: self.stacks.clone(),
            tofu,
            inherited: context.env.clone(),
            events,
            interrupts: context.interrupts.clone(),
            clock: context.clock,
            state,
            run_id,
        })
        .await
    }

    /// Opens a session for a command that is no run, does the work, and tells warnings on the way.
    pub async fn with_session<T>(
        &self,
        context: &Context,
        state: StateNeed,
        work: impl AsyncFnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let (events, messages) = Events::channel();
        let session = self.open_session(context, events, (state, None)).await?;
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
