//! Builds OpenTofu from its Go module where the release cannot be reached.
//!
//! The module's `go.mod` replaces a dependency, so `go install MODULE@VERSION` refuses it
//! (<https://github.com/golang/go/issues/44840>).
//! Instead the module is downloaded, which Go verifies against its checksum database, and
//! built inside the read-only module cache with copies of `go.mod` and `go.sum` that Go
//! may write. Begin at [`build`].

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Job;
use crate::error::{Error, Result, io};
use crate::model::Environment;
use crate::process;
use crate::process::{Invocation, Stream};
use crate::tofu::binary::Progress;

const MODULE: &str = "github.com/opentofu/opentofu";

/// Strips symbols, and says that this is a release and no development build.
const LINKER_FLAGS: &str = "-s -w -X github.com/opentofu/opentofu/version.dev=no";

/// How many lines of a failed build are shown.
const LINES_SHOWN: usize = 8;

/// What `go mod download -json` answers.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    dir: Option<PathBuf>,
    error: Option<String>,
}

/// Builds the version into the staging folder.
pub(super) async fn build(job: &Job<'_>, go: &Path) -> Result<()> {
    (job.progress)(Progress::Building { version: job.version.clone(), line: None });
    require_checksums(job, go).await?;
    let module = download_module(job, go).await?;
    let mod_file = copy_mod_files(job, &module)?;
    let call = Invocation::new(go, &module, go_env(job.request.env))
        .args(["build", "-v", "-trimpath", "-ldflags", LINKER_FLAGS])
        .arg(format!("-modfile={}", mod_file.display()))
        .arg("-o")
        .arg(job.staging.binary())
        .arg("./cmd/tofu");
    run(job, call).await.map(drop)
}

/// Refuses a Go whose checksum database is switched off: nothing else vouches for the source.
async fn require_checksums(job: &Job<'_>, go: &Path) -> Result<()> {
    let call = Invocation::new(go, job.staging.folder(), go_env(job.request.env)).args(["env", "GOSUMDB"]);
    if run(job, call).await?.trim() != "off" {
        return Ok(());
    }
    Err(Error::unavailable(
        "Go's checksum database is switched off (`GOSUMDB=off`), so no source can be verified",
    ))
}

/// Downloads the module and returns its folder in Go's module cache.
async fn download_module(job: &Job<'_>, go: &Path) -> Result<PathBuf> {
    let module = format!("{MODULE}@v{}", job.version);
    let call = Invocation::new(go, job.staging.folder(), go_env(job.request.env));
    let answer = run_any(job, call.args(["mod", "download", "-json", &module])).await?;
    // A failed download says why in its answer, not on standard error.
    let found = serde_json::from_str::<Module>(&answer.stdout).unwrap_or_default();
    match (found.dir, found.error) {
        (Some(dir), None) => Ok(dir),
        (_, Some(error)) => Err(Error::unavailable(format!("Go cannot download `{module}`")).detail(error)),
        (None, None) => Err(answer.failed(&format!("download `{module}`"))),
    }
}

/// Copies `go.mod` and `go.sum`; as new files, because those in the module cache are read-only.
fn copy_mod_files(job: &Job<'_>, module: &Path) -> Result<PathBuf> {
    for name in ["go.mod", "go.sum"] {
        let (from, to) = (module.join(name), job.staging.path(name));
        let bytes = std::fs::read(&from).map_err(io("read", &from))?;
        std::fs::write(&to, bytes).map_err(io("write", &to))?;
    }
    Ok(job.staging.path("go.mod"))
}

/// Returns the environment for Go: the user's proxies and caches, none of the switches that change the result.
fn go_env(env: &Environment) -> Environment {
    let mut env = env.clone();
    env.remove_where(|name| matches!(name, "GOOS" | "GOARCH" | "GOPRIVATE" | "GOINSECURE"));
    env.with("GOFLAGS", "-mod=mod").with("GOWORK", "off").with("CGO_ENABLED", "0").with("GONOSUMDB", "none")
}

/// What a call of Go left behind.
struct Answer {
    success: bool,
    stdout: String,
    said: Vec<String>,
}

impl Answer {
    fn failed(&self, doing: &str) -> Error {
        let last = &self.said[self.said.len().saturating_sub(LINES_SHOWN)..];
        last.iter().fold(Error::unavailable(format!("Go cannot {doing}")), Error::detail)
    }
}

/// Runs Go and returns what it printed; anything but success is an error.
async fn run(job: &Job<'_>, call: Invocation) -> Result<String> {
    let answer = run_any(job, call).await?;
    match answer.success {
        true => Ok(answer.stdout),
        false => Err(answer.failed(&format!("build OpenTofu {}", job.version))),
    }
}

/// Runs Go and reports each line of its standard error.
async fn run_any(job: &Job<'_>, call: Invocation) -> Result<Answer> {
    let interrupts = job.request.interrupts;
    let before = interrupts.count();
    let (stdout, said) = (RefCell::new(String::new()), RefCell::new(Vec::new()));
    let status = process::run(call, interrupts, |stream, line| {
        // Go is given no secret, so there is none that it could tell.
        let line = String::from_utf8_lossy(line.unmasked()).into_owned();
        match stream {
            Stream::Stdout | Stream::Tap => *stdout.borrow_mut() += &format!("{line}\n"),
            Stream::Stderr => {
                said.borrow_mut().push(line.clone());
                (job.progress)(Progress::Building { version: job.version.clone(), line: Some(line) });
            }
        }
    })
    .await?;
    if interrupts.count() > before {
        return Err(Error::interrupted(format!("stopped while building OpenTofu {}", job.version)));
    }
    Ok(Answer { success: status.success(), stdout: stdout.into_inner(), said: said.into_inner() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_keeps_proxies_and_loses_what_would_change_the_build() {
        let env = Environment::default()
            .with("GOPROXY", "https://p")
            .with("GOARCH", "arm")
            .with("GOFLAGS", "-race");

        let env = go_env(&env);

        assert_eq!((env.get("GOPROXY"), env.get("GOARCH")), (Some("https://p"), None));
        assert_eq!((env.get("GOFLAGS"), env.get("GONOSUMDB")), (Some("-mod=mod"), Some("none")));
    }
}
