//! The workflow files of each forge, and what of them depends on the project.
//!
//! A line that begins with `#:NAME` is there for some projects only; `__NAME__` stands for a text.

use std::path::Path;

use clap::ValueEnum;

use super::rendering::Rendering;

/// What hosts a repository and runs its workflows.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(in crate::commands) enum Forge {
    /// GitHub Actions.
    Github,
    /// GitLab CI.
    Gitlab,
    /// Forgejo Actions.
    Forgejo,
}

/// What of a workflow depends on the project.
#[derive(Debug)]
pub(in crate::commands) struct Layout<'a> {
    /// The branch that is merged into.
    pub branch: &'a str,
    /// The project's folder in its repository; empty where it is the top.
    pub folder: &'a Path,
    /// Where generated files come from.
    pub rendering: Rendering,
}

/// A workflow file.
#[derive(Debug)]
pub(in crate::commands) struct WorkflowFile {
    /// Where it stands, from the top of the repository.
    pub path: &'static str,
    /// What it holds.
    pub text: String,
}

type Source = (&'static str, &'static str);

const GITHUB: [Source; 3] = [
    (".github/workflows/infra-review.yaml", include_str!("github/review.yaml")),
    (".github/workflows/infra-apply.yaml", include_str!("github/apply.yaml")),
    (".github/workflows/infra-drift.yaml", include_str!("github/drift.yaml")),
];
const GITLAB: [Source; 1] = [(".gitlab-ci.yml", include_str!("gitlab/gitlab-ci.yaml"))];
const FORGEJO: [Source; 3] = [
    (".forgejo/workflows/infra-review.yaml", include_str!("forgejo/review.yaml")),
    (".forgejo/workflows/infra-apply.yaml", include_str!("forgejo/apply.yaml")),
    (".forgejo/workflows/infra-drift.yaml", include_str!("forgejo/drift.yaml")),
];

/// What a secret of a forge is to hold.
const KEYS: &str = "make a key for the bundles: `infra secrets keygen`; its public half goes into infra.yaml as \
    `bundle: { recipients: [age1...] }`";
const STATE: &str = "let the runners reach the state: `state.url`, or a bucket in `state.store`";

impl Forge {
    fn sources(self) -> &'static [Source] {
        match self {
            Self::Github => &GITHUB,
            Self::Gitlab => &GITLAB,
            Self::Forgejo => &FORGEJO,
        }
    }

    /// Returns what is left to do in the forge.
    pub(super) const fn next_steps(self) -> [&'static str; 4] {
        let secrets = match self {
            Self::Github => {
                "secrets: SOPS_AGE_KEY; in the environment `infra` it also holds the bundles' key"
            }
            Self::Gitlab => {
                "variables: GITLAB_TOKEN, SOPS_AGE_KEY; for the environment `infra` with the bundles' key"
            }
            Self::Forgejo => "secrets: SOPS_AGE_KEY, with the bundles' key in it, and INFRA_PACKAGES_TOKEN",
        };
        let check = match self {
            Self::Github | Self::Forgejo => "require the check `infra` before a merge",
            Self::Gitlab => "require that pipelines succeed before a merge; make a schedule for drift",
        };
        [STATE, KEYS, secrets, check]
    }
}

/// Returns the files of a forge.
pub(in crate::commands) fn workflows(forge: Forge, layout: &Layout<'_>) -> Vec<WorkflowFile> {
    let file = |(path, source): &Source| WorkflowFile { path, text: filled(source, layout) };
    forge.sources().iter().map(file).collect()
}

fn filled(source: &str, layout: &Layout<'_>) -> String {
    let folder = layout.folder.to_string_lossy();
    let runs = layout.folder.join(".infra/runs");
    let lines = source.lines().filter_map(|line| kept(line, layout));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    text.replace("__BRANCH__", layout.branch)
        .replace("__FOLDER__", &serde_json::Value::from(folder.as_ref()).to_string())
        .replace("__RUNS__", &runs.to_string_lossy())
}

/// Returns a line without its condition; none where that does not hold.
fn kept<'a>(line: &'a str, layout: &Layout<'_>) -> Option<&'a str> {
    let Some(marked) = line.strip_prefix("#:") else { return Some(line) };
    let conditions = [
        ("folder", !layout.folder.as_os_str().is_empty()),
        ("configure", layout.rendering == Rendering::Made),
        ("stale", layout.rendering == Rendering::Checked),
    ];
    let (name, holds) = conditions.iter().find(|(name, _)| marked.starts_with(name))?;
    holds.then(|| &marked[name.len()..])
}
