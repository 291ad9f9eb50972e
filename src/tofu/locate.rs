//! Chooses the tofu of a project: the one that is named, one on PATH, one in the cache,
//! or one that is installed now.
//!
//! [`search`] only looks; [`locate`] also installs. A warm call reads two small files
//! and starts no process.

use std::path::{Path, PathBuf};

use super::binary::{LocateRequest, PassedOver, Progress, Search, Tofu, TofuSource, identify, on_path};
use super::constraint::{Constraint, below_floor};
use super::install as installing;
use super::version::{FLOOR, Flavour, Identity};
use crate::error::{Error, Result};
use crate::model::{Environment, TofuSettings};
use crate::process::is_executable;

/// Returns the project's tofu and installs it where there is none.
pub async fn locate(request: &LocateRequest<'_>, progress: &dyn Fn(Progress)) -> Result<Tofu> {
    let search = search(request).await?;
    if let Some(tofu) = search.found {
        return Ok(tofu);
    }
    search.passed_over.iter().cloned().map(Progress::PassedOver).for_each(progress);
    install(request, progress).await.map_err(|error| mention(error, &search.passed_over))
}

/// Returns the project's tofu if it is on this machine already.
pub async fn find(request: &LocateRequest<'_>) -> Result<Option<Tofu>> {
    Ok(search(request).await?.found)
}

/// Puts the version that the project asks for into the cache, unless it is there.
pub async fn install(request: &LocateRequest<'_>, progress: &dyn Fn(Progress)) -> Result<Tofu> {
    let version = Constraint::of(request.settings)?.target()?;
    installing::install(request, &version, progress).await
}

/// Looks for the project's tofu and says what was passed over on the way.
pub async fn search(request: &LocateRequest<'_>) -> Result<Search> {
    let wanted = Constraint::of(request.settings)?;
    if let Some(named) = named_binary(request)? {
        let found = Some(check_named(request, &wanted, named).await?);
        return Ok(Search { found, passed_over: Vec::new() });
    }
    let mut search = search_path(request, &wanted).await?;
    if search.found.is_none() {
        search.found = search_cache(request, &wanted).await?;
    }
    Ok(search)
}

/// Returns the path that `tofu.binary` names; the bare `tofu` is what is looked for anyway.
fn named_binary(request: &LocateRequest<'_>) -> Result<Option<PathBuf>> {
    let Some(name) = request.settings.binary.as_deref().filter(|name| *name != "tofu") else {
        return Ok(None);
    };
    if !name.contains('/') {
        let found = on_path(request.env, name).into_iter().next();
        return found.map(Some).ok_or_else(|| {
            Error::unavailable(format!("`tofu.binary` is `{name}`, and no such program is on PATH"))
                .hint("write a path, or leave `tofu.binary` out and the right OpenTofu is installed")
        });
    }
    let path = expand(request.root, name, request.env);
    if is_executable(&path) {
        return Ok(Some(path));
    }
    let what = if path.exists() { "is no program that may be run" } else { "does not exist" };
    Err(Error::unavailable(format!("`tofu.binary` is `{name}`, which {what}")).at(path.display()))
}

/// Returns a written path as an absolute one.
fn expand(root: &Path, name: &str, env: &Environment) -> PathBuf {
    let home = name.strip_prefix("~/").and_then(|rest| Some(env.path("HOME")?.join(rest)));
    home.unwrap_or_else(|| root.join(name))
}

/// Returns the path that `tofu.binary` writes down; a bare name is looked for on PATH and is none.
pub fn named_path(root: &Path, settings: &TofuSettings, env: &Environment) -> Option<PathBuf> {
    settings.binary.as_deref().filter(|name| name.contains('/')).map(|name| expand(root, name, env))
}

/// Checks a tofu that was named; Terraform has versions of its own and is taken as it is.
async fn check_named(request: &LocateRequest<'_>, wanted: &Constraint, path: PathBuf) -> Result<Tofu> {
    let identity = identify(request, &path).await?;
    if identity.flavour == Flavour::OpenTofu {
        check_named_version(request, wanted, &identity).map_err(|error| error.at(path.display()))?;
    }
    Ok(Tofu::new(path, identity, TofuSource::Settings))
}

fn check_named_version(request: &LocateRequest<'_>, wanted: &Constraint, identity: &Identity) -> Result<()> {
    let version = &identity.version;
    if *version < FLOOR {
        return Err(below_floor(version).hint("or remove `tofu.binary`, and the right OpenTofu is installed"));
    }
    if request.settings.version.is_none() || wanted.allows(version) {
        return Ok(());
    }
    Err(Error::invalid(format!("`tofu.binary` is OpenTofu {version}, but `tofu.version` is `{wanted}`"))
        .hint("remove `tofu.binary`, and the right OpenTofu is installed"))
}

async fn search_path(request: &LocateRequest<'_>, wanted: &Constraint) -> Result<Search> {
    let mut search = Search::default();
    for path in on_path(request.env, "tofu") {
        match consider(request, wanted, &path).await? {
            Ok(identity) => {
                search.found = Some(Tofu::new(path, identity, TofuSource::Path));
                return Ok(search);
            }
            Err(why) => search.passed_over.push(PassedOver { path, why }),
        }
    }
    Ok(search)
}

/// Returns what a tofu on PATH is, or why it does not suit; only a request to stop ends the search.
async fn consider(
    request: &LocateRequest<'_>,
    wanted: &Constraint,
    path: &Path,
) -> Result<std::result::Result<Identity, String>> {
    let identity = match identify(request, path).await {
        Ok(identity) => identity,
        Err(error) if error.kind() == crate::error::Kind::Interrupted => return Err(error),
        Err(error) => return Ok(Err(error.message().to_owned())),
    };
    let name = format!("{} {}", identity.flavour.name(), identity.version);
    Ok(match identity.flavour {
        Flavour::OpenTofu if wanted.allows(&identity.version) => Ok(identity),
        Flavour::OpenTofu if identity.version < FLOOR => Err(format!("{name} is older than {FLOOR}")),
        Flavour::OpenTofu => Err(format!("{name} does not satisfy `{wanted}`")),
        Flavour::Terraform => Err(format!("{name} is not OpenTofu")),
    })
}

/// Looks for the version that would be installed; where none would be, for the newest that is allowed.
async fn search_cache(request: &LocateRequest<'_>, wanted: &Constraint) -> Result<Option<Tofu>> {
    let version = wanted.target().ok().or_else(|| {
        installing::installed_versions(request.env).into_iter().filter(|version| wanted.allows(version)).max()
    });
    match version {
        Some(version) => installing::installed(request, &version).await,
        None => Ok(None),
    }
}

fn mention(error: Error, passed_over: &[PassedOver]) -> Error {
    passed_over
        .iter()
        .fold(error, |error, one| error.detail(format!("passed over {}: {}", one.path.display(), one.why)))
}
