//! What all stacks of a command share, opened once: the tofu binary, the child
//! environment, access to state, the requests to stop.
//!
//! Turns a stack into a tofu call in the right folder with the right environment.
//! Begin at [`Session::open`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::given::Given;
use super::plan_keys::PlanKeys;
use super::progress::ProgressBook;
use super::repository::Repository;
use super::stack_secrets::StackSecrets;
use crate::backends::{
    HomeParts, InfraLock, KnownState, StateHome, StatePlace, home_of, open_place, read_infra_lock,
    state_name, store_environment, workspace_in_use, workspaces_at,
};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Backend, Clock, Environment, Project, Stack, StackId, StateLock};
use crate::process::{Interrupts, Invocation, available_memory};
use crate::secrets::redactor::Redactor;
use crate::stacks::{self, EarlyVariables};
use crate::state::{AwsSources, Embedded, StateName};
use crate::tofu::call::Narration;
use crate::tofu::environment::{child_environment, with_http_backend, with_rare_collection};
use crate::tofu::{Flavour, Tofu};

/// Whether a command touches states.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StateNeed {
    /// Yes: those that this program keeps are served.
    Yes,
    /// Yes, and they are served even if no stack asks for it yet.
    Served,
    /// No: nothing is opened or started for them.
    No,
}

/// What a session is opened with.
#[derive(Debug)]
pub struct SessionParts {
    /// The project.
    pub project: Project,
    /// All of its stacks.
    pub stacks: Vec<Stack>,
    /// The binary.
    pub tofu: Tofu,
    /// The environment this program was started with.
    pub inherited: Environment,
    /// Where to tell what happens.
    pub events: Events,
    /// The requests to stop.
    pub interrupts: Interrupts,
    /// The clock.
    pub clock: Clock,
    /// What the stacks of the command get from their encrypted files.
    pub secrets: BTreeMap<StackId, StackSecrets>,
    /// Whether states are touched.
    pub state: StateNeed,
    /// Names the run in locks; none for commands that are no runs.
    pub run_id: Option<String>,
    /// What the command line gives to variables.
    pub given: Given,
    /// What is given to variables after `--`.
    pub passed: Given,
    /// How many processes share the memory: what runs at once, providers counted.
    pub processes: usize,
}

/// Opens where infra keeps the states of the project; nothing if no stack needs it.
async fn place_for(parts: &SessionParts) -> Result<Option<StatePlace>> {
    let project = &parts.project;
    let wanted = parts.stacks.iter().any(|stack| stack.backend == Backend::Embedded);
    if parts.state == StateNeed::No || (!wanted && parts.state != StateNeed::Served) {
        return Ok(None);
    }
    let secrets = parts.secrets.values().map(StackSecrets::backend_variables);
    let env = store_environment(&parts.inherited, secrets);
    open_place(project, &env, parts.clock).await.map(Some)
}

/// Starts the server that gives tofu the states of a store.
async fn serve(place: Option<&StatePlace>, parts: &SessionParts) -> Result<Option<Embedded>> {
    let project = parts.project.is_named.then(|| parts.project.name.clone());
    match place {
        Some(StatePlace::Store(store)) => {
            Embedded::start(store.clone(), parts.run_id.clone(), project).await.map(Some)
        }
        Some(StatePlace::Server(_) | StatePlace::Absent(_)) | None => Ok(None),
    }
}

/// Values that must not be shown, and the redactor made of them.
#[derive(Default)]
struct Hidden {
    values: Vec<Zeroizing<String>>,
    redactor: Redactor,
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.redactor.fmt(f)
    }
}

/// For each stack, what lets one at a time through.
type Turnstiles = RefCell<BTreeMap<StackId, Rc<Mutex<()>>>>;

/// The shared part of a run.
#[derive(Debug)]
pub struct Session {
    /// The project.
    pub project: Project,
    /// All of its stacks, whether chosen or not.
    pub stacks: Vec<Stack>,
    /// The binary.
    pub tofu: Tofu,
    /// Where to tell what happens.
    pub events: Events,
    /// The requests to stop.
    pub interrupts: Interrupts,
    /// The clock.
    pub clock: Clock,
    pub(super) env: Environment,
    /// Where infra keeps the states of the project, if a stack needs it.
    pub(super) place: Option<StatePlace>,
    /// What gives them to tofu, if they lie in a store.
    embedded: Option<Embedded>,
    secrets: BTreeMap<StackId, StackSecrets>,
    /// Everything that must not be shown, and what hides it.
    hidden: RefCell<Hidden>,
    /// Outputs that were read in this run; forgotten when their stack is applied.
    pub(super) outputs: RefCell<BTreeMap<StackId, Value>>,
    /// Stacks whose state still has the name of a former id.
    pub(super) former_names: RefCell<BTreeMap<StackId, StackId>>,
    /// Who asks buckets.
    sources: AwsSources,
    /// What `infra.lock` says, as it was when the command began.
    pub(super) infra_lock: Result<InfraLock>,
    /// Stacks whose entry in it was changed by this command.
    pub(super) noted: RefCell<BTreeSet<StackId>>,
    /// What was asked of git.
    pub(super) repository: Repository,
    /// What plans are encrypted with.
    pub(super) plan_keys: PlanKeys,
    /// How far stacks came.
    pub(super) progress: ProgressBook,
    /// What the command line gives to variables.
    pub(super) given: Given,
    /// What is given to variables after `--`: tofu gets it there, but not for what is evaluated early.
    pub(super) passed: Given,
    /// What each stack evaluates early.
    early: RefCell<BTreeMap<StackId, Rc<EarlyVariables>>>,
    /// Who prepares a folder, so that two stacks do not run `init` in a third at once.
    preparing: RefCell<BTreeMap<PathBuf, Arc<Mutex<()>>>>,
    /// Stacks that this command initialised.
    pub(super) prepared: RefCell<BTreeSet<StackId>>,
    /// Stacks whose workspace was found in tofu's list.
    pub(super) seen_workspaces: RefCell<BTreeSet<StackId>>,
    /// Who reads the outputs of a stack.
    reading: Turnstiles,
}

impl Session {
    /// Starts the embedded server where it is wanted and prepares the child environment.
    pub async fn open(parts: SessionParts) -> Result<Self> {
        let child = child_environment(&parts.inherited);
        for warning in child.warnings {
            parts.events.warn(warning, Vec::new());
        }
        let place = place_for(&parts).await?;
        let embedded = serve(place.as_ref(), &parts).await?;
        let infra_lock = read_infra_lock(&parts.project);
        let sources = AwsSources::new(parts.clock, parts.interrupts.clone());
        let plan_keys = PlanKeys::new(parts.inherited);
        let session = Self {
            project: parts.project,
            stacks: parts.stacks,
            tofu: parts.tofu,
            events: parts.events,
            interrupts: parts.interrupts,
            clock: parts.clock,
            env: with_rare_collection(child.env, available_memory(), parts.processes),
            place,
            embedded,
            secrets: parts.secrets,
            hidden: RefCell::default(),
            outputs: RefCell::default(),
            former_names: RefCell::default(),
            sources,
            infra_lock,
            noted: RefCell::default(),
            repository: Repository::default(),
            plan_keys,
            progress: ProgressBook::default(),
            given: parts.given,
            passed: parts.passed,
            early: RefCell::default(),
            preparing: RefCell::default(),
            prepared: RefCell::default(),
            seen_workspaces: RefCell::default(),
            reading: RefCell::default(),
        };
        super::stack_secrets::tell_left_out(session.secrets.values(), &session.events);
        let values = session.secrets.values().flat_map(|secrets| secrets.values.iter().cloned());
        let password = session.embedded.as_ref().map(Embedded::password);
        session.hide(values.chain(password).collect())?;
        if !session.given.is_empty() {
            let stacks = session.stacks.iter().map(|stack| session.early_of(stack));
            session.hide(stacks.flat_map(|early| session.given.hidden(&early)).collect())?;
        }
        Ok(session)
    }

    /// Hides values in everything that is told from now on.
    pub(super) fn hide(&self, values: Vec<Zeroizing<String>>) -> Result<()> {
        let mut hidden = self.hidden.borrow_mut();
        let known = hidden.values.len();
        for value in values {
            if !hidden.values.contains(&value) {
                hidden.values.push(value);
            }
        }
        if hidden.values.len() > known {
            hidden.redactor = Redactor::new(hidden.values.iter().map(|value| value.as_bytes()))?;
        }
        Ok(())
    }

    /// Returns what leaves out everything that must not be shown, as far as that is known by now.
    pub fn mask(&self) -> Redactor {
        // Too many values for one mask are refused where they come from; the old one still holds.
        let _ = self.hide(self.sources.secrets());
        self.hidden.borrow().redactor.clone()
    }

    /// Returns which variables of a stack are evaluated before anything else; Terraform knows no such.
    pub(super) fn early_of(&self, stack: &Stack) -> Rc<EarlyVariables> {
        if self.tofu.flavour != Flavour::OpenTofu {
            return Rc::default();
        }
        if let Some(known) = self.early.borrow().get(&stack.id) {
            return Rc::clone(known);
        }
        let early = Rc::new(EarlyVariables::read(&self.dir_of(stack), &self.data_dir_of(stack)));
        self.early.borrow_mut().insert(stack.id.clone(), Rc::clone(&early));
        early
    }

    /// Returns what lets one at a time of this process prepare the folder of a stack.
    pub(super) fn preparation_of(&self, stack: &Stack) -> Arc<Mutex<()>> {
        Arc::clone(self.preparing.borrow_mut().entry(stack.path.clone()).or_default())
    }

    /// Returns what lets one at a time read the outputs of a stack.
    pub(super) fn reading_of(&self, id: &StackId) -> Rc<Mutex<()>> {
        Rc::clone(self.reading.borrow_mut().entry(id.clone()).or_default())
    }

    /// Returns what a stack gets from its encrypted files.
    pub(super) fn secrets_of(&self, id: &StackId) -> Option<&StackSecrets> {
        self.secrets.get(id)
    }

    /// Returns whether a stack has encrypted files with anything in them.
    pub(super) fn has_secrets(&self, id: &StackId) -> bool {
        self.secrets_of(id).is_some_and(|secrets| !secrets.values.is_empty())
    }

    /// Ends the embedded server once its requests are answered.
    pub async fn close(self) {
        if let Some(server) = self.embedded {
            // The run is over and recorded; a server that cannot end cleanly changes nothing about it.
            let _ = server.shutdown().await;
        }
    }

    /// Returns a tofu call in the stack's folder, still without a subcommand.
    pub fn call(&self, stack: &Stack, own: &BTreeMap<String, String>) -> Result<Invocation> {
        Ok(Invocation::new(&self.tofu.path, self.dir_of(stack), self.environment_of(stack, own)?))
    }

    /// Returns a tofu call for a stack in another folder, still without a subcommand.
    pub(super) fn call_in(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
        dir: &Path,
    ) -> Result<Invocation> {
        Ok(Invocation::new(&self.tofu.path, dir, self.environment_of(stack, own)?))
    }

    /// Returns the environment of everything that is done for a stack.
    pub(super) fn environment_of(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
    ) -> Result<Environment> {
        let mut env = self.backend_environment(stack)?;
        for (name, value) in self.secrets_of(&stack.id).into_iter().flat_map(|secrets| &secrets.env) {
            // A stack that this program serves gets its credentials from the server.
            if !(name.starts_with("TF_HTTP_")
                && stack.backend == Backend::Embedded
                && self.embedded.is_some())
            {
                env.set(name, value.as_str());
            }
        }
        for (name, value) in own {
            env.set(name, value);
        }
        self.put_in_workspace(stack, &mut env);
        Ok(env)
    }

    /// Returns a tofu call in the project's root that touches no state.
    pub fn plain_call(&self) -> Invocation {
        Invocation::new(&self.tofu.path, &self.project.root, self.env.clone())
    }

    /// Returns the absolute folder of a stack.
    pub fn dir_of(&self, stack: &Stack) -> PathBuf {
        self.project.root.join(&stack.path)
    }

    /// Returns where tofu keeps a stack's providers and modules.
    pub fn data_dir_of(&self, stack: &Stack) -> PathBuf {
        if stack.declared_workspace().is_some() {
            return self.workspace_folder(stack);
        }
        let name = self.env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into());
        self.dir_of(stack).join(name)
    }

    /// Returns a stack of the project.
    pub fn stack(&self, id: &StackId) -> Result<&Stack> {
        let found = self.stacks.iter().find(|stack| stack.id == *id);
        found.ok_or_else(|| Error::invalid(format!("there is no stack `{id}`")))
    }

    /// Returns what this tofu can tell while it works.
    pub fn narration(&self) -> Narration {
        Narration::of(&self.tofu)
    }

    /// Returns the lock of a stack whose state lies in a store that this program opens itself.
    pub async fn lock_of(&self, stack: &Stack) -> Result<Option<StateLock>> {
        match self.home_of(stack)? {
            home @ StateHome::Store { .. } => home.lock_of().await,
            _ => Ok(None),
        }
    }

    /// Releases a lock that a child of this process left behind; the child must be dead.
    pub async fn release_left_lock(&self, stack: &Stack) -> Result<bool> {
        match (&self.embedded, &stack.backend) {
            (Some(server), Backend::Embedded) => {
                server.release_locks_of_this_process(&self.state_name_of(stack)?).await
            }
            _ => Ok(false),
        }
    }

    /// Returns the name that the state of a stack has: its own, or the one that it still has from before.
    pub(super) fn state_name_of(&self, stack: &Stack) -> Result<StateName> {
        match self.former_names.borrow().get(&stack.id) {
            Some(former) => StateName::parse(&former.state_name()),
            None => state_name(stack),
        }
    }

    /// Returns what `infra.lock` knows of the state of a stack, as far as it can be read.
    pub(super) fn known_state(&self, id: &StackId) -> Option<&KnownState> {
        self.infra_lock.as_ref().ok()?.states.get(id)
    }

    /// Returns where the state of a stack lies.
    pub fn home_of(&self, stack: &Stack) -> Result<StateHome> {
        self.home_in(stack, &self.dir_of(stack))
    }

    /// Returns where the state of a stack lies according to what tofu resolved in this folder.
    pub(super) fn home_in(&self, stack: &Stack, dir: &Path) -> Result<StateHome> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let env = self.environment_of(stack, own)?;
        let name = self.state_name_of(stack)?;
        let data_dir = dir.join(env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into()));
        let former = self.former_workspace(stack);
        let workspace = former.or_else(|| workspace_in_use(stack, own, &data_dir));
        let (place, sources) = (self.place.as_ref(), &self.sources);
        home_of(HomeParts { stack, name, place, dir, env, data_dir, workspace, sources })
    }

    /// Returns the workspaces that the backend of a stack has; nothing where only tofu can tell.
    pub(super) async fn workspaces_of(&self, stack: &Stack) -> Result<Option<Vec<String>>> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let (dir, env) = (self.dir_of(stack), self.environment_of(stack, own)?);
        let data_dir = dir.join(env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into()));
        let workspace = stack.workspace_name().map(str::to_owned);
        let (name, place, sources) = (self.state_name_of(stack)?, self.place.as_ref(), &self.sources);
        workspaces_at(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources }).await
    }

    /// Returns where the state of a stack's folder lies in another workspace of its backend.
    pub(super) fn home_in_workspace(&self, stack: &Stack, name: &str) -> Result<StateHome> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let (dir, env) = (self.dir_of(stack), self.environment_of(stack, own)?);
        let (workspace, data_dir) = (Some(name.to_owned()), self.data_dir_of(stack));
        let (name, place, sources) = (self.state_name_of(stack)?, self.place.as_ref(), &self.sources);
        home_of(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources })
    }

    /// Returns where a state of the project lies that may belong to no stack any more.
    pub(super) fn home_named(&self, name: &StateName) -> Result<Option<StateHome>> {
        let Some(place) = &self.place else { return Ok(None) };
        place.home(name, self.some_environment()).map(Some)
    }

    /// Returns the environment with the credentials of any stack that has some for a server or a bucket.
    pub(super) fn some_environment(&self) -> Environment {
        let mut env = self.env.clone();
        let embedded = self.stacks.iter().filter(|stack| stack.backend == Backend::Embedded);
        let secrets = embedded.filter_map(|stack| self.secrets_of(&stack.id));
        let mut secrets = secrets.map(StackSecrets::backend_variables).filter(|all| !all.is_empty());
        for (name, value) in secrets.next().into_iter().flatten() {
            env.set(name, value.as_str());
        }
        env
    }

    fn backend_environment(&self, stack: &Stack) -> Result<Environment> {
        let env = self.env.clone();
        if stack.backend != Backend::Embedded {
            return Ok(env);
        }
        let name = self.state_name_of(stack)?;
        Ok(match (&self.embedded, &self.place) {
            (Some(server), _) => with_http_backend(env, server.environment_for(&name)),
            (None, Some(place)) => place.environment(env, &name),
            (None, None) => env,
        })
    }
}
