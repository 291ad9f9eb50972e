//! `plan --bundle` and `apply --bundle`: plans in one encrypted file, from the job that made them to the
//! one that applies them.
//!
//! What a bundle is worth is decided by the engine; here it gets its recipients, is written, and opened.
//! Begin at [`Bundling::of`].

mod opening;
mod recipients;
mod writing;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

use self::opening::open_all;
use self::recipients::recipients_for;
use self::writing::{Target, write};
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::loaded_project::root_of;
use crate::commands::run::Request;
use crate::engine::{BundleMaker, BundleUse, Bundles};
use crate::error::{Error, Result};
use crate::model::{PlanMode, Project, RunReport, StackId};
use crate::project;
use crate::report::passphrase_prompt;
use crate::secrets::{KeyPlaces, KeyTrust, Keyring};

/// What a run has to do with bundles.
#[derive(Debug)]
pub(super) enum Bundling {
    /// Nothing.
    None,
    /// It makes one.
    Make(Box<Target>, Rc<BundleMaker>),
    /// It applies some.
    Apply(Rc<Bundles>),
}

impl Bundling {
    /// Opens the bundles that a request names, or finds out for whom it makes one; both before anything runs.
    pub async fn of(request: &mut Request, context: &Context) -> Result<Self> {
        if let Some(file) = request.bundle_file.clone() {
            return Self::to_make(file, request, context).await;
        }
        if request.bundles.is_empty() {
            return Ok(Self::None);
        }
        check_choice(request)?;
        let project = project::load(&root_of(context)?)?;
        let bundles = open_all(&request.bundles, &project, context).await?;
        // An id with a workspace that `infra.yaml` does not declare has to be said to be known.
        let is_in_workspace = |id: &&StackId| id.as_str().contains('@');
        request.stacks.names =
            bundles.stacks().iter().filter(is_in_workspace).map(StackId::to_string).collect();
        request.undone = Some(bundles.stacks());
        Ok(Self::Apply(Rc::new(bundles)))
    }

    async fn to_make(file: PathBuf, request: &Request, context: &Context) -> Result<Self> {
        check_mode(request.mode)?;
        let project = project::load(&root_of(context)?)?;
        let target = Target {
            path: context.cwd.join(&file),
            recipients: recipients_for(&context.cwd.join(&file), &project, context).await?,
            project: project.is_named.then(|| project.name.clone()),
            typed: file,
        };
        if !request.run.dry_run {
            target.clear()?;
        }
        let maker = BundleMaker::new(target.path.clone())?;
        Ok(Self::Make(Box::new(target), Rc::new(maker)))
    }

    /// Refuses bundles with stacks that are not here.
    pub fn check(&self, chosen: &[StackId]) -> Result<()> {
        let Self::Apply(bundles) = self else { return Ok(()) };
        let chosen: BTreeSet<&StackId> = chosen.iter().collect();
        let wanted = bundles.stacks();
        let Some(missing) = wanted.iter().find(|id| !chosen.contains(id)) else { return Ok(()) };
        let bundle = bundles.typed_of(missing).unwrap_or_default();
        Err(Error::failed(format!("the bundle is stale: there is no stack `{missing}` in this checkout"))
            .at(bundle)
            .hint("the stacks that there are: `infra stacks`"))
    }

    /// Returns what the engine is to do about it.
    pub fn for_engine(&self) -> BundleUse {
        match self {
            Self::None => BundleUse::None,
            Self::Make(_, maker) => BundleUse::Make(Rc::clone(maker)),
            Self::Apply(bundles) => BundleUse::Apply(Rc::clone(bundles)),
        }
    }

    /// Writes the bundle of a run that ended well.
    pub fn end(&self, report: &RunReport, context: &Context) -> Result<()> {
        let Self::Make(target, maker) = self else { return Ok(()) };
        match maker.finish(report, context.clock.now())? {
            Some(bundle) => write(target, bundle, context),
            None => {
                context.terminal.note("no bundle is made of a run in which a stack has no plan");
                Ok(())
            }
        }
    }
}

/// A bundle says itself which stacks it is about.
fn check_choice(request: &Request) -> Result<()> {
    let StackArgs { exclude, with_dependencies, with_dependents, .. } = &request.stacks;
    let is_narrowed = !exclude.is_empty() || *with_dependencies || *with_dependents;
    if request.stacks.typed().is_none() && !is_narrowed {
        return Ok(());
    }
    Err(Error::usage("a bundle says itself which stacks are applied: none can be chosen beside `--bundle`")
        .hint("choose them for the plan: `infra plan STACK --bundle FILE`"))
}

/// `apply` plans again to prove a bundle, and it makes no such plans.
fn check_mode(mode: PlanMode) -> Result<()> {
    let flag = match mode {
        PlanMode::Normal => return Ok(()),
        PlanMode::Destroy => "--destroy",
        PlanMode::RefreshOnly => "--refresh-only",
    };
    Err(Error::failed(format!("a bundle of `{flag}` would be refused by `apply`, which plans without it"))
        .hint("leave out one of the two"))
}

/// Does something with the keys of this person and of the project: what they open stays in this process.
async fn with_keys<T>(
    project: &Project,
    context: &Context,
    work: impl FnOnce(&Keyring<'_>) -> Result<T>,
) -> Result<T> {
    let prompt = passphrase_prompt(context.asking());
    let places = KeyPlaces {
        env: &context.env,
        dir: &context.cwd,
        project: Some(&project.root),
        settings: &project.secrets,
        vault_ids: &[],
        password_files: &[],
        trust: KeyTrust::NO_PROGRAMS,
        interrupts: &context.interrupts,
    };
    work(&Keyring::load(places, &prompt).await)
}
