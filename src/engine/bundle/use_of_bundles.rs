//! What a run has to do with bundles: nothing, it makes one, or it applies some.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::Timestamp;

use super::content::{Bundle, BundledPlan};
use crate::error::{Error, Result};
use crate::model::{RunReport, StackId, StackResult};
use crate::tofu::PlanKey;

/// What a run has to do with bundles.
#[derive(Clone, Debug, Default)]
pub enum BundleUse {
    /// Nothing.
    #[default]
    None,
    /// Its plans become one.
    Make(Rc<BundleMaker>),
    /// Exactly the plans of these are applied.
    Apply(Rc<Bundles>),
}

/// Collects the plans of a run.
#[derive(Debug)]
pub struct BundleMaker {
    file: PathBuf,
    key: PlanKey,
    plans: RefCell<BTreeMap<StackId, BundledPlan>>,
}

impl BundleMaker {
    /// Begins a bundle that will lie there.
    pub fn new(file: PathBuf) -> Result<Self> {
        Ok(Self { file, key: PlanKey::fresh()?, plans: RefCell::default() })
    }

    /// Returns where it will lie.
    pub fn file(&self) -> &Path {
        &self.file
    }

    pub(in crate::engine) const fn key(&self) -> &PlanKey {
        &self.key
    }

    pub(in crate::engine) fn add(&self, plan: BundledPlan) {
        self.plans.borrow_mut().insert(plan.stack.clone(), plan);
    }

    /// Returns the bundle of a run that ended well; nothing if a stack has no plan that it should have.
    pub fn finish(&self, report: &RunReport, made_at: Timestamp) -> Result<Option<Bundle>> {
        let mut bundle = Bundle::new(&self.key, report.clone(), made_at);
        let mut plans = self.plans.take();
        for stack in &report.stacks {
            let id = &stack.id;
            match stack.result {
                StackResult::NoChanges if !stack.provisional => bundle.unchanged.push(id.clone()),
                StackResult::Succeeded | StackResult::NoChanges => {
                    let missing = || Error::bug(format!("the plan of `{id}` was not collected"));
                    bundle.plans.push(plans.remove(id).ok_or_else(missing)?);
                }
                StackResult::Deferred => {
                    bundle.deferred.insert(id.clone(), stack.reason.clone().unwrap_or_default());
                }
                StackResult::Failed | StackResult::Skipped | StackResult::Interrupted => return Ok(None),
            }
        }
        Ok(Some(bundle))
    }
}

/// The bundles that a run applies, each opened.
#[derive(Debug, Default)]
pub struct Bundles {
    files: Vec<PathBuf>,
    plans: BTreeMap<StackId, OpenedPlan>,
    deferred: BTreeMap<StackId, OpenedDeferral>,
}

/// A plan, and what it takes to open it.
#[derive(Debug)]
pub(in crate::engine) struct OpenedPlan {
    pub key: Rc<PlanKey>,
    pub plan: BundledPlan,
    /// The bundle, as it was typed.
    pub typed: String,
}

#[derive(Debug)]
struct OpenedDeferral {
    reason: String,
    typed: String,
}

impl Bundles {
    /// Adds one that was opened; a stack must not be in two.
    pub fn add(&mut self, file: PathBuf, typed: &str, bundle: Bundle) -> Result<()> {
        let key = Rc::new(bundle.key);
        self.files.push(file);
        for plan in bundle.plans {
            let (key, typed, id) = (Rc::clone(&key), typed.to_owned(), plan.stack.clone());
            self.check_new(&id, &typed)?;
            self.plans.insert(id, OpenedPlan { key, plan, typed });
        }
        for (id, reason) in bundle.deferred {
            self.check_new(&id, typed)?;
            self.deferred.insert(id, OpenedDeferral { reason, typed: typed.to_owned() });
        }
        Ok(())
    }

    fn check_new(&self, id: &StackId, typed: &str) -> Result<()> {
        let Some(other) = self.typed_of(id) else { return Ok(()) };
        let message = if other == typed {
            format!("`{id}` is twice in the bundle `{typed}`, or the bundle was named twice")
        } else {
            format!("`{id}` is in two bundles: `{other}` and `{typed}`")
        };
        Err(Error::failed(message).hint("let each stack be planned by one job"))
    }

    /// Returns the stacks that are planned or deferred in them.
    pub fn stacks(&self) -> BTreeSet<StackId> {
        self.plans.keys().chain(self.deferred.keys()).cloned().collect()
    }

    /// Returns the bundle that a stack is in, as it was typed.
    pub fn typed_of(&self, id: &StackId) -> Option<&str> {
        let planned = self.plans.get(id).map(|plan| &plan.typed);
        planned.or_else(|| self.deferred.get(id).map(|one| &one.typed)).map(String::as_str)
    }

    /// Returns the files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    pub(in crate::engine) fn plan_of(&self, id: &StackId) -> Option<&OpenedPlan> {
        self.plans.get(id)
    }

    /// Returns why a stack was not planned, if it was not.
    pub(in crate::engine) fn deferral_of(&self, id: &StackId) -> Option<&str> {
        self.deferred.get(id).map(|one| one.reason.as_str())
    }
}
