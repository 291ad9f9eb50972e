//! The keys that plans are encrypted with: this user's, or one that ends with the run.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::model::{Environment, hex};
use crate::process;
use crate::tofu::{Flavour, StateKey, Tofu};
use crate::trust::UserKey;

/// Where a plan that is about to be written will live.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlanHome {
    /// On this machine, for this user.
    Here,
    /// In a folder that the user named, to be taken elsewhere.
    Leaving,
}

/// What plans of a command are encrypted with, found out when it is needed.
#[derive(Debug)]
pub struct PlanKeys {
    /// The environment that says where the user's key is.
    pub env: Environment,
    /// This very program, as it was when the command began.
    program: Option<PathBuf>,
    user: OnceCell<Result<UserKey>>,
    /// For plans of this run where no key can be kept; it ends with the process.
    for_this_run: OnceCell<StateKey>,
    /// What was told already.
    told: RefCell<BTreeSet<String>>,
}

impl PlanKeys {
    /// Makes them for a command with this environment.
    pub fn new(env: Environment) -> Self {
        let program = process::this_program();
        let told = RefCell::default();
        Self { env, program, user: OnceCell::new(), for_this_run: OnceCell::new(), told }
    }

    /// Returns the key of this user; makes it if this is the first use.
    pub fn user(&self) -> Result<&UserKey> {
        self.user.get_or_init(|| UserKey::load(&self.env)).as_ref().map_err(Clone::clone)
    }

    /// Returns the key of this run; makes it at the first use.
    pub fn for_this_run(&self) -> Result<&StateKey> {
        if let Some(key) = self.for_this_run.get() {
            return Ok(key);
        }
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut_slice())
            .map_err(|error| Error::unavailable("the system has no random bytes").because(error))?;
        Ok(self.for_this_run.get_or_init(|| StateKey::new(Zeroizing::new(hex(bytes.as_slice())))))
    }

    /// Returns the key of this run, if it was used.
    pub fn used_in_this_run(&self) -> Option<&StateKey> {
        self.for_this_run.get()
    }

    /// Returns whether something is told for the first time in this command.
    pub fn is_news(&self, text: String) -> bool {
        self.told.borrow_mut().insert(text)
    }

    /// Returns this very program.
    pub fn program(&self) -> Result<&Path> {
        let gone = || Error::unavailable("this program was moved or removed while it ran");
        let program = self.program.as_deref().ok_or_else(gone)?;
        if program.is_file() { Ok(program) } else { Err(gone().at(program.display()).hint("start it again")) }
    }
}

/// Returns whether a tofu can encrypt plans with a key that another program hands out.
pub fn can_bind_plans(tofu: &Tofu) -> bool {
    // The provider `external` came with 1.10, which is older than any that is run.
    tofu.flavour == Flavour::OpenTofu
}
