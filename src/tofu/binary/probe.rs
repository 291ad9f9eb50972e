//! Finds programs on PATH and asks a binary which version it is.
//!
//! The question runs without the variables that change tofu's behaviour, and without
//! any configuration file. Answers are remembered; begin at [`identify`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::found::LocateRequest;
use super::known_versions::KnownVersions;
use crate::error::{Error, Result};
use crate::model::Environment;
use crate::process;
use crate::process::{Captured, Invocation, is_executable};
use crate::tofu::version::Identity;

/// How often a binary that is still held open for writing is tried again.
const BUSY_TRIES: u32 = 40;

/// How long to wait between two such tries.
const BUSY_PAUSE: Duration = Duration::from_millis(25);

/// Returns the executables of a name on PATH, in its order; relative entries are not trusted.
pub fn on_path(env: &Environment, name: &str) -> Vec<PathBuf> {
    let Some(path) = env.path("PATH") else { return Vec::new() };
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect::<Vec<_>>();
    folders.into_iter().map(|folder| folder.join(name)).filter(|file| is_executable(file)).collect()
}

/// Returns what a binary is: from memory, or by asking it.
pub async fn identify(request: &LocateRequest<'_>, path: &Path) -> Result<Identity> {
    let known = KnownVersions::of(request.env);
    if let Some(identity) = known.recall(path) {
        return Ok(identity);
    }
    let identity = ask_version(request, path).await?;
    known.remember(path, &identity);
    Ok(identity)
}

/// Asks a binary what it is.
pub async fn ask_version(request: &LocateRequest<'_>, path: &Path) -> Result<Identity> {
    let before = request.interrupts.count();
    // A launcher chooses by folder, so the question is put where the project is.
    let call = Invocation::new(path, request.root, question_env(request.env)).args(["version", "-json"]);
    let captured = capture_when_free(request, call).await?;
    if let Some(identity) = Identity::from_output(&String::from_utf8_lossy(captured.stdout.unmasked())) {
        return Ok(identity);
    }
    if request.interrupts.count() > before {
        return Err(Error::interrupted("stopped while asking tofu for its version"));
    }
    Err(no_answer(path, &captured))
}

/// Runs a call, again if the file is busy: a child that another task forks at the wrong moment
/// holds a freshly written binary open until it execs (<https://github.com/golang/go/issues/22315>).
async fn capture_when_free(request: &LocateRequest<'_>, call: Invocation) -> Result<Captured> {
    for _ in 0..BUSY_TRIES {
        match process::capture(call.clone(), request.interrupts).await {
            Err(error) if is_busy(&error) => tokio::time::sleep(BUSY_PAUSE).await,
            other => return other,
        }
    }
    process::capture(call, request.interrupts).await
}

fn is_busy(error: &Error) -> bool {
    error.cause().map(std::io::Error::kind) == Some(std::io::ErrorKind::ExecutableFileBusy)
}

/// Returns the environment for the question: nothing of the user's that changes the answer's form.
fn question_env(env: &Environment) -> Environment {
    let mut env = env.clone();
    env.remove_where(|name| name.starts_with("TF_") || name.starts_with("TOFU_LOG"));
    // Terraform asks home for newer versions unless told otherwise.
    env.with("TF_CLI_CONFIG_FILE", "/dev/null").with("CHECKPOINT_DISABLE", "1")
}

fn no_answer(path: &Path, captured: &Captured) -> Error {
    let said = String::from_utf8_lossy(captured.stderr.unmasked());
    let error = Error::unavailable(format!("`{} version -json` names no version", path.display()));
    let error = error.detail(format!("it ended with {}", captured.status));
    said.lines().filter(|line| !line.trim().is_empty()).take(5).fold(error, Error::detail)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_question_is_asked_without_the_users_own_switches() {
        let env =
            Environment::default().with("TF_CLI_ARGS", "-help").with("TF_LOG", "trace").with("HOME", "/h");

        let env = question_env(&env);

        assert_eq!((env.get("TF_CLI_ARGS"), env.get("TF_LOG"), env.get("HOME")), (None, None, Some("/h")));
    }

    #[test]
    fn only_executables_below_absolute_folders_count_as_on_the_path() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("tofu");
        std::fs::write(&file, "").expect("a temporary folder");
        let env = Environment::default().with("PATH", format!("relative::{}", folder.path().display()));

        let before = on_path(&env, "tofu");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("its own file");

        assert_eq!((before, on_path(&env, "tofu")), (Vec::new(), vec![file]));
    }
}
