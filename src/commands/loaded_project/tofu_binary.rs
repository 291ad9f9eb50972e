//! The tofu of a project: found or installed, which is told meanwhile.

use crate::commands::Context;
use crate::error::Result;
use crate::model::Project;
use crate::report::{InstallProgress, Tone};
use crate::tofu;
use crate::tofu::{LocateRequest, Progress, ReleaseSource, Tofu};

/// Returns the project's tofu; gets it first where it is missing.
pub async fn installed_tofu(project: &Project, context: &Context) -> Result<Tofu> {
    let progress = InstallProgress::new(context.terminal);
    let source = ReleaseSource::official(&context.env);
    tofu::locate(&tofu_request(project, &source, context), &|step| tell(&progress, &step)).await
}

/// Returns the project's tofu if it is there.
pub async fn search_tofu(project: &Project, context: &Context) -> Result<tofu::Search> {
    let source = ReleaseSource::official(&context.env);
    tofu::search(&tofu_request(project, &source, context)).await
}

/// Returns everything that decides which tofu the project uses.
pub fn tofu_request<'a>(
    project: &'a Project,
    source: &'a ReleaseSource,
    context: &'a Context,
) -> LocateRequest<'a> {
    LocateRequest {
        root: &project.root,
        settings: &project.tofu,
        env: &context.env,
        source,
        clock: context.clock,
        interrupts: &context.interrupts,
    }
}

/// Puts a step into words.
fn tell(progress: &InstallProgress, step: &Progress) {
    match step {
        Progress::PassedOver(other) => {
            progress.keep("·", Tone::Dim, &format!("not used: {}: {}", other.path.display(), other.why));
        }
        Progress::Waiting { version } => {
            progress.show(format!("waiting for another run that installs tofu {version}"));
        }
        Progress::Downloading { name, done, total } => {
            progress.show(format!("downloading {name}: {}", amount(*done, *total)));
        }
        Progress::Verifying { name } => progress.show(format!("verifying {name}")),
        Progress::Unreachable { why } => {
            progress.keep(
                "·",
                Tone::Dim,
                &format!("the release cannot be fetched ({why}); building tofu with Go instead"),
            );
        }
        Progress::Building { version, line } => {
            let last = line.as_ref().map(|line| format!(": {line}")).unwrap_or_default();
            progress.show(format!("building tofu {version}, which takes some minutes{last}"));
        }
        Progress::Installed { path, version } => {
            progress.keep("✓", Tone::Good, &format!("tofu {version} installed at {}", path.display()));
        }
    }
}

fn amount(done: u64, total: Option<u64>) -> String {
    let mebibytes = |bytes: u64| format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20);
    match total {
        Some(total) => format!("{} of {}", mebibytes(done), mebibytes(total)),
        None => mebibytes(done),
    }
}
