//! The encrypted files of stacks, opened once the project is trusted with what that takes.

use std::collections::{BTreeMap, BTreeSet};

use super::load::LoadedProject;
use super::session::Purpose;
use crate::backends;
use crate::backends::StatePlace;
use crate::commands::{Context, trust};
use crate::engine;
use crate::engine::{StackLocks, StackSecrets, StateHomes, StateNeed, Unopened};
use crate::error::Result;
use crate::model::{Backend, Environment, Stack, StackId};
use crate::report::{Tone, passphrase_prompt};
use crate::secrets::identities::Prompt;
use crate::secrets::{KeyTrust, Keyring};
use crate::stacks;
use crate::stacks::{EarlyVariables, SettingsBook};
use crate::state::AwsSources;
use crate::trust::{TrustItem, UNTRUSTED};

impl LoadedProject {
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
        let items = trust::items_of_run(&self.project, &stacks, context).await?;
        if purpose.state == StateNeed::No {
            trust::require(&self.project, items, context).await?;
            return Ok(self.secrets_at_hand(context, &stacks).await.unwrap_or_default());
        }
        let prompt = passphrase_prompt(context.asking());
        let keyring = self.trusted_keyring(context, &stacks, items, &prompt).await?;
        // Of a stack that only gives values to others, only the outputs are needed.
        let unopened = |id: &StackId| match purpose.stacks.contains(id) {
            true => purpose.unopened,
            false => Unopened::LeftOut,
        };
        engine::load_secrets(&keyring, &self.project, &stacks, unopened).await
    }

    /// Opens the files of stacks whose modules depend on variables, where that takes no question; tofu
    /// tells what is missing.
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

    /// Returns keys that may open the files of stacks, once the project is trusted with them and with these items.
    async fn trusted_keyring<'a>(
        &'a self,
        context: &'a Context,
        stacks: &[&Stack],
        mut items: Vec<TrustItem>,
        prompt: &'a Prompt<'a>,
    ) -> Result<Keyring<'a>> {
        let mut keyring = Keyring::load(self.key_places(context, KeyTrust::NONE), prompt).await;
        items.extend(trust::key_items(&self.project, stacks, &keyring)?);
        trust::require(&self.project, items, context).await?;
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
        // The caller asks afterwards where the states are.
        let items = trust::credential_file_items(&self.project, stacks, &context.env)?;
        let keyring = self.trusted_keyring(context, stacks, items, &prompt).await?;
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

    /// Opens what it takes to find the states of stacks without a tofu; what stays closed fails for those
    /// alone that need it.
    pub async fn state_homes<'a>(&'a self, context: &'a Context, stacks: &[&Stack]) -> StateHomes<'a> {
        let place = match stacks.iter().any(|stack| stack.backend == Backend::Embedded) {
            true => self.open_place(context).await.map(Some),
            false => Ok(None),
        };
        // Files are opened for those only whose backend needs credentials.
        let is_own = |stack: &Stack| stack.backend == Backend::Embedded && self.project.state.url.is_none();
        let needs_none = |stack: &Stack| matches!(stack.backend, Backend::None | Backend::Unknown);
        let foreign: Vec<&Stack> =
            stacks.iter().filter(|stack| !is_own(stack) && !needs_none(stack)).copied().collect();
        let secrets = open_each(self, &foreign, context).await;
        let sources = AwsSources::new(context.clock, context.interrupts.clone());
        StateHomes { project: &self.project, place, secrets, env: &context.env, sources }
    }

    /// Reads the locks of stacks, whichever backend keeps them; one that fails hides no other.
    pub async fn locks_of(&self, chosen: &[StackId], context: &Context) -> Result<StackLocks> {
        let stacks = chosen.iter().map(|id| self.stack(id)).collect::<Result<Vec<&Stack>>>()?;
        Ok(self.state_homes(context, &stacks).await.locks_of(&stacks).await)
    }
}

/// Tells which files were not opened, where no session tells it.
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

/// Opens the encrypted files of stacks, one stack at a time if not all of them open.
async fn open_each(
    loaded: &LoadedProject,
    stacks: &[&Stack],
    context: &Context,
) -> BTreeMap<StackId, Result<StackSecrets>> {
    if stacks.is_empty() {
        return BTreeMap::new();
    }
    match loaded.secrets_of(context, stacks, Unopened::Ends).await {
        Ok(all) => return all.into_iter().map(|(id, secrets)| (id, Ok(secrets))).collect(),
        // A person who said no is not asked again for every stack.
        Err(error) if error.label() == Some(UNTRUSTED) => {
            return stacks.iter().map(|stack| (stack.id.clone(), Err(error.clone()))).collect();
        }
        Err(_) => {}
    }
    let mut opened = BTreeMap::new();
    for stack in stacks {
        // The backend may not need what could not be opened.
        match loaded.secrets_of(context, &[stack], Unopened::LeftOut).await {
            Ok(own) => opened.extend(own.into_iter().map(|(id, secrets)| (id, Ok(secrets)))),
            Err(error) => drop(opened.insert(stack.id.clone(), Err(error))),
        }
    }
    opened
}
