//! The project as commands need it: loaded, its stacks discovered, a tofu at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::first_stacks::way_to_stacks;
use super::project_root::{of_terragrunt, root_of};
use crate::backends;
use crate::backends::StatePlace;
use crate::commands::args::{StackArgs, VarArgs};
use crate::commands::{Context, program, setup, trust};
use crate::engine;
use crate::engine::{
    Given, GivenItem, RemovedStack, Session, SessionParts, StackSecrets, StateNeed, Unopened,
};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Environment, Project, Stack, StackId, StackSettings, counted};
use crate::process;
use crate::project;
use crate::report::{Console, PlanOutput, Tone, listen, passphrase_prompt};
use crate::secrets::identities::Prompt;
use crate::secrets::{KeyPlaces, KeyTrust, Keyring};
use crate::stacks;
use crate::stacks::{EarlyVariables, Selection, SettingsBook};
use crate::tofu::with_plugin_cache;
use crate::trust::Thing;

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
    /// What becomes of it when an encrypted file stays shut.
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

    /// Returns the purpose of a command that looks into states: what cannot be had is left to tofu to miss.
    pub fn reading(stacks: &'a [StackId]) -> Self {
        Self { unopened: Unopened::LeftOut, ..Self::states_of(stacks) }
    }

    /// Returns the purpose of a command that writes states, but evaluates no more than a look at them.
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

/// A loaded project.
#[derive(Debug)]
pub struct Workspace {
    /// The project.
    pub project: Project,
    /// Its stacks, sorted by id.
    pub stacks: Vec<Stack>,
    /// What is worth telling about the layout.
    pub notes: Vec<String>,
    /// The stacks that changed, where only those are chosen.
    pub(in crate::commands) changed: Option<BTreeSet<StackId>>,
}

impl Workspace {
    /// Finds and reads the project around the working folder.
    pub fn load(context: &Context) -> Result<Self> {
        let root = root_of(context)?;
        let project = project::load(&root)?;
        let discovery = stacks::discover(&project)?;
        let mut workspace = Self { project, stacks: discovery.stacks, notes: discovery.notes, changed: None };
        workspace.enter_settled(context)?;
        Ok(workspace)
    }

    /// Returns the chosen stacks; one that is not chosen but meant is told from several.
    pub fn choose(&self, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
        self.tell_narrower(args, context);
        self.select(&args.selection(), context)
    }

    /// Returns the chosen stacks of a command that only looks at them: where nothing is chosen, all
    /// below the working directory.
    pub fn choose_to_read(&self, args: &StackArgs, context: &Context) -> Result<Vec<StackId>> {
        self.tell_narrower(args, context);
        self.select(&Selection { reads: true, ..args.selection() }, context)
    }

    /// Tells somebody in a folder of stacks that `--all` is more than those.
    fn tell_narrower(&self, args: &StackArgs, context: &Context) {
        let narrower =
            args.all.then(|| stacks::narrower(&self.project, &self.stacks, &context.cwd)).flatten();
        if let Some(count) = narrower {
            let all = counted(self.stacks.len(), "stack");
            let way = format!("{} {} .", program(context), context.command);
            context.terminal.note(&format!(
                "`--all` is the whole project: {all}; for the {count} in this folder: `{way}`"
            ));
        }
    }

    /// Returns the stacks of a selection.
    pub fn select(&self, selection: &Selection, context: &Context) -> Result<Vec<StackId>> {
        if self.stacks.is_empty() {
            // All of them may be what was removed.
            return if selection.changed { Ok(Vec::new()) } else { Err(self.no_stacks(context)) };
        }
        let workspace = selection.workspace.clone().or_else(|| Self::inherited(context));
        let selection = Selection { workspace, ..selection.clone() };
        let Some(changed) = &self.changed else {
            return stacks::select(&self.project, &self.stacks, &selection, &context.cwd);
        };
        // A stack that runs in a workspace which nothing declares is known by its folder.
        let has_changed = |stack: &Stack| changed.contains(&stack.id) || changed.contains(&stack.base_id());
        stacks::select_among(&self.project, &self.stacks, &selection, (&context.cwd, &has_changed))
    }

    /// Makes the error of a project without stacks.
    fn no_stacks(&self, context: &Context) -> Error {
        let root = &self.project.root;
        match stacks::terragrunt_units(root) {
            0 => {
                let error = Error::invalid(format!("`{}` has no stacks", root.display()));
                // Why none was found may stand in a note, such as a root that does not exist.
                let error = self.notes.iter().cloned().fold(error, Error::detail);
                error.hint(self.way_to_stacks(context))
            }
            units => of_terragrunt(root, units),
        }
    }

    /// Says how a project without stacks gets some.
    pub fn way_to_stacks(&self, context: &Context) -> String {
        way_to_stacks(&self.project, context)
    }

    /// Returns the stacks that are gone from the tree, those that somebody else applied included.
    pub async fn removed_stacks(&self, context: &Context) -> Result<Vec<RemovedStack>> {
        if self.project.state.shared() {
            let all: Vec<StackId> = self.stacks.iter().map(|stack| stack.id.clone()).collect();
            let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
            self.with_session(context, purpose, engine::fetch_copies).await?;
        }
        engine::removed_stacks(&self.project, &self.stacks, context.clock).await
    }

    /// Returns the stacks that `infra.lock` knows and of which only the state is left.
    pub async fn lost_stacks(&self, context: &Context) -> Result<Vec<StackId>> {
        let lock = backends::read_infra_lock(&self.project).unwrap_or_default();
        let is_there = |id: &StackId| self.stacks.iter().any(|stack| stack.id == *id);
        if lock.states.keys().all(is_there) {
            return Ok(Vec::new());
        }
        let all: Vec<StackId> = self.stacks.iter().map(|stack| stack.id.clone()).collect();
        let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(&all) };
        self.with_session(context, purpose, async |session| Ok(engine::lost_stacks(session).await)).await
    }

    /// Takes in stacks that are gone from the tree, as they were last applied.
    pub fn include(&mut self, removed: Vec<RemovedStack>) {
        if removed.is_empty() {
            return;
        }
        let gone: Vec<StackId> = removed.iter().map(|removed| removed.stack.id.clone()).collect();
        let known: Vec<StackId> =
            self.stacks.iter().map(|stack| stack.id.clone()).chain(gone.clone()).collect();
        for RemovedStack { stack, mut settings, .. } in removed {
            // What came from stacks that are gone for good can only be remembered.
            settings.inputs.retain(|_, from| known.contains(&from.stack));
            self.project.stack_settings.push((stack.id.to_string(), settings));
            self.stacks.push(stack);
        }
        self.connect_to(&gone);
    }

    /// Adds the edges of stacks that stood on ones that are gone now when they were last applied:
    /// their files can no longer say it.
    fn connect_to(&mut self, gone: &[StackId]) {
        let before = self.stacks.clone();
        for stack in self.stacks.iter_mut().filter(|stack| !gone.contains(&stack.id)) {
            let edges = engine::recorded_edges(&self.project, &stack.id);
            stack.depends_on.extend(edges.into_iter().filter(|id| gone.contains(id)));
        }
        // Edges of long ago may contradict those of today, which count.
        if !stacks::acyclic(&self.stacks) {
            self.stacks = before;
        }
    }

    /// Returns the one stack that is meant.
    pub fn choose_one(&self, stack: Option<String>, context: &Context) -> Result<&Stack> {
        self.choose_one_of(&StackArgs::one(stack), context)
    }

    /// Returns the one stack that arguments mean.
    pub fn choose_one_of(&self, args: &StackArgs, context: &Context) -> Result<&Stack> {
        let selection = Selection { one: true, ..args.selection() };
        let chosen = self.select(&selection, context)?;
        match chosen.as_slice() {
            [id] => self.stack(id),
            several => Err(Error::usage("this command works on one stack")
                .detail(format!(
                    "chosen: {}",
                    several.iter().map(StackId::as_str).collect::<Vec<_>>().join(", ")
                ))
                .hint_if(several.first().map(|id| format!("name one of them, such as `{id}`")))),
        }
    }

    /// Returns a stack by its id.
    pub fn stack(&self, id: &StackId) -> Result<&Stack> {
        let found = self.stacks.iter().find(|stack| stack.id == *id);
        found.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))
    }

    fn folders_of(&self, ids: &[StackId]) -> Result<Vec<PathBuf>> {
        ids.iter().map(|id| Ok(self.project.root.join(&self.stack(id)?.path))).collect()
    }

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
        let tofu = setup::ensure(&self.project, context).await?;
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

    /// Returns the stacks whose outputs are read for these: those they take values from, and those that in turn
    /// feed a stack which evaluates variables before its outputs can be read.
    pub fn feeding(&self, ids: &[StackId]) -> Result<BTreeSet<StackId>> {
        let (mut feeding, book) = (BTreeSet::new(), SettingsBook::of(&self.project));
        let mut open = ids.to_vec();
        while let Some(id) = open.pop() {
            let inputs = stacks::inputs_by(&book.settings_for(&id), &self.stacks, &id)?;
            for from in inputs.into_values().map(|from| from.stack) {
                let is_early = || self.stack(&from).is_ok_and(|stack| self.evaluates_early(stack));
                if !feeding.contains(&from) && !ids.contains(&from) && is_early() {
                    open.push(from.clone());
                }
                feeding.insert(from);
            }
        }
        Ok(feeding)
    }

    /// Opens the encrypted files of the chosen stacks and of those they take values from, once the
    /// project is trusted with everything that the purpose needs.
    pub async fn open_secrets(
        &self,
        context: &Context,
        purpose: &Purpose<'_>,
    ) -> Result<BTreeMap<StackId, StackSecrets>> {
        let feeding = self.feeding(purpose.stacks)?;
        let wanted = |stack: &&Stack| purpose.stacks.contains(&stack.id) || feeding.contains(&stack.id);
        let stacks: Vec<&Stack> = self.stacks.iter().filter(wanted).collect();
        let things = trust::items_of_run(&self.project, &stacks, context).await?;
        if purpose.state == StateNeed::No {
            trust::require(&self.project, things, context).await?;
            return Ok(self.secrets_at_hand(context, &stacks).await.unwrap_or_default());
        }
        let prompt = passphrase_prompt(context.asking());
        let keyring = self.trusted_keyring(context, &stacks, things, &prompt).await?;
        // Of a stack that only feeds others nothing but its outputs is wanted.
        let unopened = |id: &StackId| match purpose.stacks.contains(id) {
            true => purpose.unopened,
            false => Unopened::LeftOut,
        };
        engine::load_secrets(&keyring, &self.project, &stacks, unopened).await
    }

    /// Opens the files of stacks whose modules depend on variables, where that takes no question; what
    /// stays shut is left to tofu to miss.
    async fn secrets_at_hand(
        &self,
        context: &Context,
        stacks: &[&Stack],
    ) -> Result<BTreeMap<StackId, StackSecrets>> {
        let early: Vec<&Stack> = stacks.iter().copied().filter(|stack| self.evaluates_early(stack)).collect();
        if early.is_empty() {
            return Ok(BTreeMap::new());
        }
        let nobody = |_: &str| None;
        let mut keyring = Keyring::load(self.key_places(context, KeyTrust::NONE), &nobody).await;
        let keys = trust::key_items(&self.project, &early, &keyring)?;
        if !trust::untrusted(&self.project.root, keys, context)?.is_empty() {
            return Ok(BTreeMap::new());
        }
        keyring.release();
        engine::load_secrets(&keyring, &self.project, &early, |_| Unopened::LeftOut).await
    }

    fn evaluates_early(&self, stack: &Stack) -> bool {
        let dir = self.project.root.join(&stack.path);
        !EarlyVariables::read(&dir, &dir.join(".terraform")).is_empty()
    }

    /// Returns keys that may open the files of stacks, once the project is trusted with them and with these things.
    async fn trusted_keyring<'a>(
        &'a self,
        context: &'a Context,
        stacks: &[&Stack],
        mut things: Vec<Thing>,
        prompt: &'a Prompt<'a>,
    ) -> Result<Keyring<'a>> {
        let mut keyring = Keyring::load(self.key_places(context, KeyTrust::NONE), prompt).await;
        things.extend(trust::key_items(&self.project, stacks, &keyring)?);
        trust::require(&self.project, things, context).await?;
        keyring.release();
        Ok(keyring)
    }

    /// Returns the environment for the project's store: the inherited one, and what the secrets hold.
    ///
    /// No encrypted file is opened for a store that is a folder.
    pub async fn store_environment(&self, context: &Context) -> Result<Environment> {
        if !backends::store_place(&self.project)?.is_remote() {
            return Ok(context.env.clone());
        }
        let prompt = passphrase_prompt(context.asking());
        let stacks: Vec<&Stack> = self.stacks.iter().collect();
        let keyring = self.trusted_keyring(context, &stacks, Vec::new(), &prompt).await?;
        let secrets = engine::load_secrets(&keyring, &self.project, &stacks, |_| Unopened::LeftOut).await?;
        tell_left_out(&secrets, context);
        let variables = secrets.values().map(StackSecrets::backend_variables);
        Ok(backends::store_environment(&context.env, variables))
    }

    /// Opens the encrypted files of stacks.
    pub async fn secrets_of(
        &self,
        context: &Context,
        stacks: &[&Stack],
        unopened: Unopened,
    ) -> Result<BTreeMap<StackId, StackSecrets>> {
        let prompt = passphrase_prompt(context.asking());
        // Whoever opens them goes on to ask where the states are.
        let things = trust::credential_file_items(&self.project, stacks, &context.env)?;
        let keyring = self.trusted_keyring(context, stacks, things, &prompt).await?;
        let secrets = engine::load_secrets(&keyring, &self.project, stacks, |_| unopened).await?;
        tell_left_out(&secrets, context);
        Ok(secrets)
    }

    /// Opens where infra keeps the states of this project.
    pub async fn open_place(&self, context: &Context) -> Result<StatePlace> {
        let env = match self.project.state.url {
            Some(_) => context.env.clone(),
            None => self.store_environment(context).await?,
        };
        backends::open_place(&self.project, &env, context.clock).await
    }

    /// Returns where the keys of this project are looked for.
    pub fn key_places<'a>(&'a self, context: &'a Context, trust: KeyTrust) -> KeyPlaces<'a> {
        KeyPlaces {
            env: &context.env,
            dir: &context.cwd,
            project: Some(&self.project.root),
            settings: &self.project.secrets,
            vault_ids: &[],
            password_files: &[],
            trust,
            interrupts: &context.interrupts,
        }
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

/// Tells which files stayed shut where no session tells it.
fn tell_left_out(secrets: &BTreeMap<StackId, StackSecrets>, context: &Context) {
    // There each is a finding of its own.
    if context.command == "doctor" {
        return;
    }
    let told: BTreeSet<_> = secrets.values().flat_map(StackSecrets::left_out).collect();
    let warning = context.terminal.paint(Tone::Warn, "warning");
    for (text, hints) in told {
        context.terminal.alert(&format!("{warning}: {text}"));
        hints.iter().for_each(|hint| context.terminal.alert(&format!("  hint: {hint}")));
    }
}
