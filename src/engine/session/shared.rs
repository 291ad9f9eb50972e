//! What all stacks of a command share, opened once: the tofu binary, the child
//! environment, access to state, the requests to stop.
//!
//! Turns a stack into a tofu call in the right folder with the right environment.
//! Begin at [`Session::open`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::plan_keys::PlanKeys;
use super::progress::ProgressBook;
use super::repository::Repository;
use crate::backends::{
    HomeParts, InfraLock, StatePlace, open_place, read_infra_lock, store_environment, workspaces_at,
};
use crate::engine::variables::{Given, StackSecrets};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Backend, Clock, Environment, Project, Stack, StackId};
use crate::process::{Interrupts, available_memory};
use crate::secrets::redactor::Redactor;
use crate::stacks;
use crate::stacks::EarlyVariables;
use crate::state::{AwsSources, Embedded};
use crate::tofu::call::Narration;
use crate::tofu::{Flavour, Tofu, child_environment, with_rare_collection};

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

/// Opens where infra keeps the states of the project; `None` if no stack needs it.
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
struct MaskedValues {
    values: Vec<Zeroizing<String>>,
    redactor: Redactor,
}

impl std::fmt::Debug for MaskedValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.redactor.fmt(f)
    }
}

/// For each stack, what lets one at a time through.
type TurnLocks = RefCell<BTreeMap<StackId, Rc<Mutex<()>>>>;

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
    pub(in crate::engine) env: Environment,
    /// Where infra keeps the states of the project, if a stack needs it.
    pub(in crate::engine) place: Option<StatePlace>,
    /// What gives them to tofu, if they lie in a store.
    pub(in crate::engine) embedded: Option<Embedded>,
    secrets: BTreeMap<StackId, StackSecrets>,
    /// Everything that must not be shown, and what hides it.
    hidden: RefCell<MaskedValues>,
    /// Outputs that were read in this run; forgotten when their stack is applied.
    pub(in crate::engine) outputs: RefCell<BTreeMap<StackId, Value>>,
    /// Stacks whose state still has the name of a former id.
    pub(in crate::engine) former_names: RefCell<BTreeMap<StackId, StackId>>,
    /// Who asks buckets.
    pub(in crate::engine) sources: AwsSources,
    /// What `infra.lock` says, as it was when the command began.
    pub(in crate::engine) infra_lock: Result<InfraLock>,
    /// Stacks whose entry in it was changed by this command.
    pub(in crate::engine) noted: RefCell<BTreeSet<StackId>>,
    /// What was asked of git.
    pub(super) repository: Repository,
    /// What plans are encrypted with.
    pub(in crate::engine) plan_keys: PlanKeys,
    /// How far stacks came.
    pub(in crate::engine) progress: ProgressBook,
    /// What the command line gives to variables.
    pub(in crate::engine) given: Given,
    /// What is given to variables after `--`: tofu gets it there, but not for what is evaluated early.
    pub(in crate::engine) passed: Given,
    /// What each stack evaluates early.
    early: RefCell<BTreeMap<StackId, Rc<EarlyVariables>>>,
    /// Who prepares a folder, so that two stacks do not run `init` in a third at once.
    preparing: RefCell<BTreeMap<PathBuf, Arc<Mutex<()>>>>,
    /// Stacks that this command initialised.
    pub(in crate::engine) prepared: RefCell<BTreeSet<StackId>>,
    /// Stacks whose workspace was found in tofu's list.
    pub(in crate::engine) seen_workspaces: RefCell<BTreeSet<StackId>>,
    /// Who reads the outputs of a stack.
    reading: TurnLocks,
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
        crate::engine::variables::tell_left_out(session.secrets.values(), &session.events);
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
    pub(in crate::engine) fn hide(&self, values: Vec<Zeroizing<String>>) -> Result<()> {
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
    pub(in crate::engine) fn early_of(&self, stack: &Stack) -> Rc<EarlyVariables> {
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
    pub(in crate::engine) fn preparation_of(&self, stack: &Stack) -> Arc<Mutex<()>> {
        Arc::clone(self.preparing.borrow_mut().entry(stack.path.clone()).or_default())
    }

    /// Returns what lets one at a time read the outputs of a stack.
    pub(in crate::engine) fn reading_of(&self, id: &StackId) -> Rc<Mutex<()>> {
        Rc::clone(self.reading.borrow_mut().entry(id.clone()).or_default())
    }

    /// Returns what a stack gets from its encrypted files.
    pub(in crate::engine) fn secrets_of(&self, id: &StackId) -> Option<&StackSecrets> {
        self.secrets.get(id)
    }

    /// Returns whether a stack has encrypted files with anything in them.
    pub(in crate::engine) fn has_secrets(&self, id: &StackId) -> bool {
        self.secrets_of(id).is_some_and(|secrets| !secrets.values.is_empty())
    }

    /// Ends the embedded server once its requests are answered.
    pub async fn close(self) {
        if let Some(server) = self.embedded {
            // The run is over and recorded; a server that cannot end cleanly changes nothing about it.
            let _ = server.shutdown().await;
        }
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

    /// Returns the workspaces that the backend of a stack has; `None` where only tofu can tell.
    pub(in crate::engine) async fn workspaces_of(&self, stack: &Stack) -> Result<Option<Vec<String>>> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let (dir, env) = (self.dir_of(stack), self.environment_of(stack, own)?);
        let data_dir = dir.join(env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into()));
        let workspace = stack.workspace_name().map(str::to_owned);
        let (name, place, sources) = (self.state_name_of(stack)?, self.place.as_ref(), &self.sources);
        workspaces_at(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources }).await
    }
}
