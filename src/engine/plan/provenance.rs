//! Who made a saved plan: a proof that only this user's key can make, over the plan, its
//! record, the stack and the state it is for.
//!
//! The folder does not count: another checkout of the same project has the same plans. Whoever
//! can write into a repository can put a plan there, but no proof. Begin at
//! [`Provenance::verdict`].

use super::saved_plan::{PlanRecord, SavedPlans};
use crate::engine::session::plan_form;
use crate::error::{Error, Kind, Result};
use crate::model::{Backend, Project, Stack, StackError, StackId};
use crate::stacks;
use crate::tofu::PlanForm;
use crate::trust::UserKey;

const PURPOSE: &str = "saved-plan";

/// What is to be done with a saved plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It is taken: this user made it, or trusts who did.
    Take,
    /// It is shown and asked about, or refused where nobody can be asked.
    Ask,
    /// It counts as no plan.
    Ignore(&'static str),
    /// It is refused.
    Refuse,
}

/// What is known about where saved plans come from.
#[derive(Clone, Copy, Debug)]
pub struct Provenance<'a> {
    /// The project.
    pub project: &'a Project,
    /// The plans.
    pub plans: &'a SavedPlans,
    /// This user's key, if there is one.
    pub key: Option<&'a UserKey>,
    /// Whether the caller trusts the project.
    pub trusted: bool,
}

impl Provenance<'_> {
    /// Says what is to be done with a plan.
    pub fn verdict(&self, record: &PlanRecord, stack: &Stack) -> Verdict {
        if self.key.is_some_and(|key| is_proven(key, self.project, stack, record)) {
            return Verdict::Take;
        }
        let usual = self.plans.is_at(&self.project.plans_dir());
        let form = plan_form(&self.plans.plan_path(&record.stack));
        match form {
            PlanForm::UserKey(mark) if !self.opens(&mark) && usual => Verdict::Ignore(OF_ANOTHER_KEY),
            PlanForm::UserKey(mark) if !self.opens(&mark) => Verdict::Refuse,
            _ if self.trusted => Verdict::Take,
            _ if usual && record.proof.is_none() => Verdict::Ignore(WITHOUT_PROOF),
            _ => Verdict::Ask,
        }
    }

    /// Returns whether this user made a plan, or trusts who did; the plan itself may be gone.
    pub fn is_own(&self, record: &PlanRecord, stack: &Stack) -> bool {
        self.trusted || self.key.is_some_and(|key| is_proven(key, self.project, stack, record))
    }

    fn opens(&self, mark: &str) -> bool {
        self.key.is_some_and(|key| key.plan_mark() == mark)
    }
}

const OF_ANOTHER_KEY: &str = "it is encrypted with a key that is not yours";
const WITHOUT_PROOF: &str = "nothing proves that you made it here";

/// Makes the error of a plan that this user did not make.
pub fn untrusted(stack: &StackId, plans: &SavedPlans) -> Error {
    Error::new(Kind::Refused, format!("the saved plan of `{stack}` was not made by you here"))
        .code(StackError::UNTRUSTED_PLAN)
        .at(plans.plan_path(stack).display())
        .detail("a plan can run programs when it is applied, and nothing proves who made this one")
        .hint("if you know who made it, take it: `--trust`, or `INFRA_TRUST=.`")
}

/// Adds the proof of this user to a record.
pub fn prove(key: &UserKey, project: &Project, stack: &Stack, record: &mut PlanRecord) -> Result<()> {
    record.proof = None;
    let parts = parts(project, stack, record)?;
    record.proof = Some(key.proof(PURPOSE, parts.iter().map(Vec::as_slice)));
    Ok(())
}

fn is_proven(key: &UserKey, project: &Project, stack: &Stack, record: &PlanRecord) -> bool {
    let Some(proof) = &record.proof else { return false };
    let bare = PlanRecord { proof: None, ..record.clone() };
    parts(project, stack, &bare)
        .is_ok_and(|parts| key.proves(PURPOSE, parts.iter().map(Vec::as_slice), proof))
}

/// Returns what a proof is about; the record without a proof, so that no part of it can be edited.
fn parts(project: &Project, stack: &Stack, record: &PlanRecord) -> Result<[Vec<u8>; 4]> {
    let whole = serde_json::to_vec(record)
        .map_err(|error| Error::bug("the record of a plan has no JSON form").because(error))?;
    let state = state_identity(project, stack);
    Ok([record.file.to_string().into_bytes(), stack.id.as_str().into(), state.into_bytes(), whole])
}

/// Returns what tells the state of a stack from those of other projects, and is the same in every
/// checkout of this one.
fn state_identity(project: &Project, stack: &Stack) -> String {
    let place = match &stack.backend {
        Backend::Embedded => {
            let (url, store) = (&project.state.url, &project.state.store);
            format!("embedded {url:?} {store:?} {}", stack.id.state_name())
        }
        Backend::Configured { kind, attributes } => {
            let known = stacks::identity_of(stack);
            format!("{kind} {known:?} {attributes:?}")
        }
        Backend::None | Backend::Unknown => format!("local {}", stack.path.display()),
    };
    let name = project.is_named.then_some(&project.name);
    format!("{name:?} {place}")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::model::StateSettings;

    fn project(root: &str, name: &str) -> Project {
        Project { root: root.into(), name: name.to_owned(), is_named: true, ..Project::default() }
    }

    fn stack(backend: Backend) -> Stack {
        Stack {
            id: StackId::new("01-a/x"),
            path: "infrastructure/01-a/x".into(),
            workspace: None,
            tags: Vec::new(),
            depends_on: BTreeSet::new(),
            reads: Vec::new(),
            modules: Vec::new(),
            backend,
            backend_place: None,
            variables: BTreeSet::new(),
            outputs: BTreeSet::new(),
            addresses: BTreeSet::new(),
            init_facts: BTreeSet::new(),
            warnings: Vec::new(),
            unread: Vec::new(),
            problems: Vec::new(),
            wrong_workspace: None,
        }
    }

    #[test]
    fn every_checkout_has_the_same_state_and_another_project_has_not() {
        let stack = stack(Backend::Embedded);
        let here = state_identity(&project("/a/lab", "lab"), &stack);

        assert_eq!(here, state_identity(&project("/b/clone", "lab"), &stack));
        assert_ne!(here, state_identity(&project("/a/lab", "other"), &stack));
        let unnamed = |root: &str| Project { is_named: false, ..project(root, root) };
        assert_eq!(state_identity(&unnamed("/a"), &stack), state_identity(&unnamed("/b"), &stack));
    }

    #[test]
    fn another_store_or_another_bucket_is_another_state() {
        let bucket = |name: &str| {
            let attributes = BTreeMap::from([("bucket".to_owned(), Some(name.to_owned()))]);
            stack(Backend::Configured { kind: "s3".to_owned(), attributes })
        };
        let plain = project("/a", "lab");
        let store = StateSettings { store: Some("../states".to_owned()), ..StateSettings::default() };
        let stored = Project { state: store, ..project("/a", "lab") };

        assert_ne!(state_identity(&plain, &bucket("one")), state_identity(&plain, &bucket("two")));
        let embedded = stack(Backend::Embedded);
        assert_ne!(state_identity(&plain, &embedded), state_identity(&stored, &embedded));
    }
}
