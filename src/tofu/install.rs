//! Puts a verified OpenTofu into the cache: the official release, or a build by Go where
//! the release cannot be reached.
//!
//! Everything happens in a staging folder under a lock; only a binary that was verified
//! and that runs is renamed into its place. A bad signature or digest never falls back
//! to anything. Layout: `tofu/1.12.6/{tofu,install.json}` below the cache folder.

mod archive;
mod download;
mod go_build;
mod lock;
mod place;
mod receipt;
mod release;
mod signature;

use semver::Version;

use self::download::Failure;
use self::place::{InstallPlace, Staging};
use super::binary::{KnownVersions, LocateRequest, Progress, Tofu, TofuSource, ask_version, on_path};
use super::version::{Flavour, Identity};
use crate::error::{Error, Result};
use crate::model::Environment;
use crate::process::is_executable;
pub(super) use download::root_cause;
pub use receipt::{Origin, Receipt, receipt};
pub use release::{newest_release, releases};

/// One install on its way: what is asked for, where it is put together, who is told.
#[derive(Clone, Copy)]
struct Job<'a> {
    request: &'a LocateRequest<'a>,
    version: &'a Version,
    staging: &'a Staging,
    progress: &'a dyn Fn(Progress),
}

/// Installs a version, or waits for the run that is installing it.
pub(super) async fn install(
    request: &LocateRequest<'_>,
    version: &Version,
    progress: &dyn Fn(Progress),
) -> Result<Tofu> {
    let place = InstallPlace::of(request.env, version)?;
    let waiting = || progress(Progress::Waiting { version: version.clone() });
    let _lock = lock::acquire(&place.lock_file(), request.interrupts, waiting).await?;
    if let Some(found) = installed(request, version).await? {
        return Ok(found);
    }
    let staging = Staging::begin(&place)?;
    let job = Job { request, version, staging: &staging, progress };
    let origin = fetch_or_build(&job).await?;
    let installed = finish(&job, &place, origin).await?;
    progress(Progress::Installed { path: installed.path.clone(), version: version.clone() });
    Ok(installed)
}

/// Returns an installed version if it is there and runs; a damaged one counts as missing.
pub(super) async fn installed(request: &LocateRequest<'_>, version: &Version) -> Result<Option<Tofu>> {
    let Ok(place) = InstallPlace::of(request.env, version) else { return Ok(None) };
    let path = place.binary();
    if !is_executable(&path) {
        return Ok(None);
    }
    if let Some(identity) = KnownVersions::of(request.env).recall(&path) {
        return Ok(expected(&identity, version).then(|| Tofu::new(path, identity, TofuSource::Cache)));
    }
    match ask_version(request, &path).await {
        Ok(identity) if expected(&identity, version) => {
            KnownVersions::of(request.env).remember_always(&path, &identity);
            Ok(Some(Tofu::new(path, identity, TofuSource::Cache)))
        }
        Err(error) if error.kind() == crate::error::Kind::Interrupted => Err(error),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Returns the versions in the cache.
pub(super) fn installed_versions(env: &Environment) -> Vec<Version> {
    place::versions(env)
}

/// Brings the binary into the staging folder.
async fn fetch_or_build(job: &Job<'_>) -> Result<Origin> {
    let unreachable = match until_interrupted(job, release::fetch(job)).await {
        Ok(()) => return Ok(Origin::Release),
        Err(Failure::Unreachable(error)) => error,
        Err(failure) => return Err(failure.into_error()),
    };
    let Some(go) = on_path(job.request.env, "go").into_iter().next() else {
        return Err(without_go(unreachable));
    };
    (job.progress)(Progress::Unreachable { why: unreachable.message().to_owned() });
    match go_build::build(job, &go).await {
        Ok(()) => Ok(Origin::Go),
        Err(error) if error.kind() == crate::error::Kind::Interrupted => Err(error),
        Err(error) => Err(way_out(error.detail(format!("it was built because {}", unreachable.message())))),
    }
}

/// Gives up a download as soon as a stop is requested; a download needs no orderly end.
async fn until_interrupted(
    job: &Job<'_>,
    download: impl Future<Output = std::result::Result<(), Failure>>,
) -> std::result::Result<(), Failure> {
    let mut interrupts = job.request.interrupts.clone();
    let before = interrupts.count();
    tokio::select! {
        ended = download => ended,
        _ = interrupts.beyond(before) => {
            Err(Failure::Failed(Error::interrupted(format!("stopped while installing OpenTofu {}", job.version))))
        }
    }
}

/// Checks that the staged binary runs, and moves it into its place.
async fn finish(job: &Job<'_>, place: &InstallPlace, origin: Origin) -> Result<Tofu> {
    let staged = job.staging.binary();
    let identity = ask_version(job.request, &staged).await.map_err(|error| {
        error.hint("the cache folder must allow programs to run; `XDG_CACHE_HOME` names another one")
    })?;
    if !expected(&identity, job.version) {
        let said = format!("{} {}", identity.flavour.name(), identity.version);
        return Err(Error::unavailable(format!(
            "what was installed as OpenTofu {} says it is {said}",
            job.version
        )));
    }
    let sha256 = receipt::digest_of(&staged).await?;
    let receipt = Receipt { source: origin, sha256, installed_at: job.request.clock.now() };
    place.take_over(job.staging, &receipt)?;
    let path = place.binary();
    KnownVersions::of(job.request.env).remember_always(&path, &identity);
    Ok(Tofu::new(path, identity, TofuSource::Cache))
}

fn expected(identity: &Identity, version: &Version) -> bool {
    identity.flavour == Flavour::OpenTofu && identity.version == *version
}

fn without_go(unreachable: Error) -> Error {
    way_out(unreachable).hint("or install Go, and OpenTofu is built from its source")
}

fn way_out(error: Error) -> Error {
    error
        .hint("install OpenTofu so that `tofu` is on PATH, or name it as `tofu.binary` in infra.yaml")
        .hint("or set `INFRA_TOFU_MIRROR` to the URL of a mirror of the releases")
}
