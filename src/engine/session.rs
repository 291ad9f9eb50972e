//! What all stacks of a command share, opened once: the tofu binary, the child
//! environment, access to state, the requests to stop.
//!
//! Turns a stack into a tofu call in the right folder with the right environment.
//! Begin at [`Session::open`].

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::plan_keys::PlanKeys;
use super::reached::Reached;
use super::stack_locks::http_state;
use super::stack_secrets::StackSecrets;
use super::store::{open_store, store_environment};
use super::surroundings::{Repository, Surroundings};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Backend, Clock, Environment, Project, Stack, StackId, StateLock};
use crate::process::{Interrupts, Invocation, available_memory};
use crate::secrets::redactor::Redactor;
use crate::state::{Embedded, RemoteState, StateName, StateStore};
use crate::tofu::Tofu;
use crate::tofu::call::Narration;
use crate::tofu::environment::{child_environment, with_http_backend, with_rare_collection};

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
    /// How many processes share the memory: what runs at once, providers counted.
    pub processes: usize,
}

/// Who serves the state of stacks with an empty `backend "http" {}`.
#[derive(Debug)]
pub(super) enum StateAccess {
    /// Nobody: no stack needs it.
    Nobody,
    /// This process.
    Embedded(Box<Embedded>),
    /// A server at this address; credentials come from the environment.
    Remote(String),
}

/// Where a state can be looked at without tofu.
#[derive(Debug)]
pub(super) enum StateSource<'a> {
    /// In the store that this process serves.
    Store(&'a StateStore),
    /// On another server.
    Remote(Box<RemoteState>),
    /// Nowhere: the backend of this kind is tofu's business.
    Foreign(String),
}

impl StateAccess {
    async fn open(parts: &SessionParts) -> Result<Self> {
        let project = &parts.project;
        let served = parts.stacks.iter().any(|stack| stack.backend == Backend::Embedded);
        if parts.state == StateNeed::No || (!served && parts.state != StateNeed::Served) {
            return Ok(Self::Nobody);
        }
        if let Some(url) = &project.state.url {
            return Ok(Self::Remote(url.trim_end_matches('/').to_owned()));
        }
        let env = store_environment(&parts.inherited, parts.secrets.values());
        let store = open_store(project, &env, parts.clock).await?;
        Ok(Self::Embedded(Box::new(Embedded::start(store, parts.run_id.clone()).await?)))
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
    pub(super) access: StateAccess,
    secrets: BTreeMap<StackId, StackSecrets>,
    /// Everything that must not be shown, and what hides it.
    hidden: RefCell<Hidden>,
    /// Outputs that were read in this run; forgotten when their stack is applied.
    pub(super) outputs: RefCell<BTreeMap<StackId, Value>>,
    /// What was asked of git.
    pub(super) repository: Repository,
    /// What plans are encrypted with.
    pub(super) plan_keys: PlanKeys,
    /// How far stacks came.
    pub(super) reached: RefCell<BTreeMap<StackId, Reached>>,
    /// Who prepares a folder, so that two stacks do not run `init` in a third at once.
    preparing: Turnstiles,
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
        let access = StateAccess::open(&parts).await?;
        let plan_keys = PlanKeys::new(parts.inherited);
        let session = Self {
            project: parts.project,
            stacks: parts.stacks,
            tofu: parts.tofu,
            events: parts.events,
            interrupts: parts.interrupts,
            clock: parts.clock,
            env: with_rare_collection(child.env, available_memory(), parts.processes),
            access,
            secrets: parts.secrets,
            hidden: RefCell::default(),
            outputs: RefCell::default(),
            repository: Repository::default(),
            plan_keys,
            reached: RefCell::default(),
            preparing: RefCell::default(),
            reading: RefCell::default(),
        };
        let values = session.secrets.values().flat_map(|secrets| secrets.values.iter().cloned());
        let password = session.embedded().map(Embedded::password);
        session.hide(values.chain(password).collect())?;
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
        self.hidden.borrow().redactor.clone()
    }

    /// Returns what lies around the stacks, as it was when the first plan was made.
    pub(super) async fn surroundings(&self) -> Option<&Surroundings> {
        self.repository.now(self).await
    }

    /// Returns what lets one at a time prepare the folder of a stack.
    pub(super) fn preparation_of(&self, id: &StackId) -> Rc<Mutex<()>> {
        Rc::clone(self.preparing.borrow_mut().entry(id.clone()).or_default())
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

    fn embedded(&self) -> Option<&Embedded> {
        match &self.access {
            StateAccess::Embedded(server) => Some(server),
            StateAccess::Nobody | StateAccess::Remote(_) => None,
        }
    }

    /// Ends the embedded server once its requests are answered.
    pub async fn close(self) {
        if let StateAccess::Embedded(server) = self.access {
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
                && self.embedded().is_some())
            {
                env.set(name, value.as_str());
            }
        }
        for (name, value) in own {
            env.set(name, value);
        }
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

    /// Returns the lock of a stack that this program serves.
    pub async fn lock_of(&self, stack: &Stack) -> Result<Option<StateLock>> {
        match (&self.access, &stack.backend) {
            (StateAccess::Embedded(server), Backend::Embedded) => {
                let held = server.store().lock_of(&state_name(stack)?).await?;
                Ok(held.map(|held| held.to_state_lock()))
            }
            _ => Ok(None),
        }
    }

    /// Releases a lock that a child of this process left behind; the child must be dead.
    pub async fn release_left_lock(&self, stack: &Stack) -> Result<bool> {
        match (&self.access, &stack.backend) {
            (StateAccess::Embedded(server), Backend::Embedded) => {
                server.release_locks_of_this_process(&state_name(stack)?).await
            }
            _ => Ok(false),
        }
    }

    /// Returns where the state of a stack can be looked at without tofu.
    pub(super) fn state_source(&self, stack: &Stack) -> Result<StateSource<'_>> {
        match (&self.access, &stack.backend) {
            (StateAccess::Embedded(server), Backend::Embedded) => Ok(StateSource::Store(server.store())),
            (StateAccess::Remote(_), Backend::Embedded) => {
                let env = self.environment_of(stack, &BTreeMap::new())?;
                RemoteState::from_environment(&env).map(|remote| StateSource::Remote(Box::new(remote)))
            }
            (_, Backend::Configured { kind, .. }) if kind == "http" => {
                let env = self.environment_of(stack, &BTreeMap::new())?;
                Ok(match http_state(&stack.backend, env)? {
                    Some(remote) => StateSource::Remote(Box::new(remote)),
                    None => StateSource::Foreign(kind.clone()),
                })
            }
            _ => Ok(StateSource::Foreign(stack.backend.kind().to_owned())),
        }
    }

    fn backend_environment(&self, stack: &Stack) -> Result<Environment> {
        if stack.backend != Backend::Embedded {
            return Ok(self.env.clone());
        }
        let name = state_name(stack)?;
        Ok(match &self.access {
            StateAccess::Nobody => self.env.clone(),
            StateAccess::Embedded(server) => {
                with_http_backend(self.env.clone(), server.environment_for(&name))
            }
            StateAccess::Remote(url) => remote_environment(self.env.clone(), url, &name),
        })
    }
}

/// Returns the name a stack's state is kept under.
pub fn state_name(stack: &Stack) -> Result<StateName> {
    StateName::parse(stack.id.state_name())
}

pub(super) fn remote_environment(env: Environment, url: &str, name: &StateName) -> Environment {
    // Both are rooted at `/states`: the configured address ends with it, the path begins with it.
    let address = format!("{url}{}", name.url_path().trim_start_matches("/states"));
    let lock = format!("{address}/lock");
    env.with("TF_HTTP_ADDRESS", &address)
        .with("TF_HTTP_LOCK_ADDRESS", &lock)
        .with("TF_HTTP_UNLOCK_ADDRESS", &lock)
}
