//! What a CI system tells through the environment: which forge, which repository, which pull request.
//!
//! A pure function of the environment and of the event that started the workflow.

use serde_json::Value;

use super::dialect::ForgeKind;
use super::event::{PullRequestEvent, read_event};
use crate::model::Environment;

/// What the surroundings say; nothing of it outside of a CI system.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The forge.
    pub kind: Option<ForgeKind>,
    /// The root of its API.
    pub root: Option<String>,
    /// The repository that comments belong to.
    pub repository: Option<String>,
    /// The number of the pull request.
    pub number: Option<u64>,
    /// Why there is no number.
    pub why_no_number: Option<String>,
    /// The commit at the head of the pull request.
    pub head: Option<String>,
    /// The commit that is checked out; a merge of the head on GitHub.
    pub checkout: Option<String>,
    /// Where people see the run.
    pub run_address: Option<String>,
    /// Whether the pull request comes from another repository, whose tokens may do little.
    pub is_fork: bool,
    /// Whether the names are those of GitHub, whoever has taken them over.
    pub speaks_github: bool,
    /// Whether it is a workflow of Gitea or Forgejo, where the token has GitHub's name as well.
    pub is_gitea_workflow: bool,
}

impl Surroundings {
    /// Reads the environment, and the event file that it names.
    pub fn read(env: &Environment) -> Self {
        Self::of(env, read_event(env).as_ref())
    }

    /// Says what an environment and an event tell.
    pub fn of(env: &Environment, event: Option<&Value>) -> Self {
        let is_on = |name: &str| env.get(name).is_some_and(|value| !matches!(value, "false" | "0"));
        if is_on("GITEA_ACTIONS") || is_on("FORGEJO_ACTIONS") {
            return Self::of_workflow(ForgeKind::Gitea, env, event);
        }
        if is_on("GITHUB_ACTIONS") || env.get("GITHUB_EVENT_PATH").is_some() {
            let is_gitea =
                env.get("GITHUB_API_URL").is_some_and(|url| url.trim_end_matches('/').ends_with("/api/v1"));
            let kind = if is_gitea { ForgeKind::Gitea } else { ForgeKind::Github };
            return Self::of_workflow(kind, env, event);
        }
        if is_on("GITLAB_CI") {
            return Self::of_gitlab(env);
        }
        if env.get("CI_FORGE_TYPE").is_some() {
            return Self::of_woodpecker(env);
        }
        Self::default()
    }

    /// Returns what of it is about a forge that was named by hand.
    #[must_use]
    pub fn about(self, kind: ForgeKind) -> Self {
        let fits = self.kind == Some(kind) || (self.speaks_github && kind == ForgeKind::Gitea);
        if fits { Self { kind: Some(kind), ..self } } else { Self::default() }
    }

    fn of_workflow(kind: ForgeKind, env: &Environment, event: Option<&Value>) -> Self {
        let told = event.map(PullRequestEvent::of);
        let from_ref = merge_ref_number(env.get("GITHUB_REF").unwrap_or_default());
        let number = match &told {
            Some(told) => told.number,
            None => from_ref,
        };
        let (server, repository) = (env.get("GITHUB_SERVER_URL"), env.get("GITHUB_REPOSITORY"));
        let run = env.get(if kind == ForgeKind::Gitea { "GITHUB_RUN_NUMBER" } else { "GITHUB_RUN_ID" });
        let run_address = match (server, repository, run) {
            (Some(server), Some(repository), Some(run)) => {
                Some(format!("{server}/{repository}/actions/runs/{run}"))
            }
            _ => None,
        };
        let other = told.as_ref().and_then(|told| told.other);
        let event_name = env.get("GITHUB_EVENT_NAME").or(other);
        let why = match event_name {
            Some(name) => format!("the event `{name}` is about no pull request"),
            None => "the event file says nothing of a pull request".to_owned(),
        };
        Self {
            kind: Some(kind),
            root: env.get("GITHUB_API_URL").map(str::to_owned),
            repository: repository.map(str::to_owned),
            why_no_number: number.is_none().then_some(why),
            number,
            is_fork: told.as_ref().is_some_and(|told| told.is_fork),
            head: told.and_then(|told| told.head),
            checkout: env.get("GITHUB_SHA").map(str::to_owned),
            run_address: run_address.and_then(address),
            speaks_github: true,
            is_gitea_workflow: kind == ForgeKind::Gitea,
        }
    }

    fn of_gitlab(env: &Environment) -> Self {
        let number = env.get("CI_MERGE_REQUEST_IID").and_then(|text| text.parse().ok());
        let why = "this pipeline is none of a merge request: `CI_MERGE_REQUEST_IID` is not set";
        let project = env.get("CI_MERGE_REQUEST_PROJECT_ID").or_else(|| env.get("CI_PROJECT_ID"));
        // In a pipeline of the merged result the commit is the merge.
        let head = env.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| env.get("CI_COMMIT_SHA"));
        Self {
            kind: Some(ForgeKind::Gitlab),
            root: env.get("CI_API_V4_URL").map(str::to_owned),
            repository: project.or_else(|| env.get("CI_PROJECT_PATH")).map(str::to_owned),
            why_no_number: number.is_none().then(|| why.to_owned()),
            number,
            head: head.map(str::to_owned),
            checkout: env.get("CI_COMMIT_SHA").map(str::to_owned),
            run_address: env.get("CI_JOB_URL").or_else(|| env.get("CI_PIPELINE_URL")).and_then(address),
            ..Self::default()
        }
    }

    fn of_woodpecker(env: &Environment) -> Self {
        let kind = match env.get("CI_FORGE_TYPE") {
            Some("github") => Some(ForgeKind::Github),
            Some("gitlab") => Some(ForgeKind::Gitlab),
            Some("gitea" | "forgejo") => Some(ForgeKind::Gitea),
            _ => None,
        };
        let server = env.get("CI_FORGE_URL").map(|url| url.trim_end_matches('/'));
        let root = kind.zip(server).map(|(kind, server)| match kind {
            ForgeKind::Github if server == "https://github.com" => "https://api.github.com".to_owned(),
            ForgeKind::Github => format!("{server}/api/v3"),
            ForgeKind::Gitlab => format!("{server}/api/v4"),
            ForgeKind::Gitea => format!("{server}/api/v1"),
        });
        let number = env.get("CI_COMMIT_PULL_REQUEST").and_then(|text| text.parse().ok());
        let why = "this pipeline is none of a pull request: `CI_COMMIT_PULL_REQUEST` is not set";
        Self {
            kind,
            root,
            repository: env.get("CI_REPO").map(str::to_owned),
            why_no_number: number.is_none().then(|| why.to_owned()),
            number,
            head: env.get("CI_COMMIT_SHA").map(str::to_owned),
            checkout: env.get("CI_COMMIT_SHA").map(str::to_owned),
            run_address: env.get("CI_PIPELINE_URL").and_then(address),
            ..Self::default()
        }
    }
}

/// Returns the number in `refs/pull/7/merge`.
fn merge_ref_number(name: &str) -> Option<u64> {
    name.strip_prefix("refs/pull/")?.split_once('/')?.0.parse().ok()
}

/// Returns an address that may stand in a link.
fn address(text: impl AsRef<str>) -> Option<String> {
    let text = text.as_ref();
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'*+,;=%".contains(&byte));
    (is_web && is_plain).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().fold(Environment::default(), |env, (name, value)| env.with(name, *value))
    }

    #[test]
    fn a_workflow_of_gitea_is_told_apart_by_its_own_variable() {
        let event = json!({"pull_request": {"number": 7}});
        let github = env(&[("GITHUB_ACTIONS", "true"), ("GITHUB_REPOSITORY", "dana/lab")]);

        let told = |env: &Environment| Surroundings::of(env, Some(&event));

        assert_eq!((told(&github).kind, told(&github).number), (Some(ForgeKind::Github), Some(7)));
        for name in ["GITEA_ACTIONS", "FORGEJO_ACTIONS"] {
            assert_eq!(told(&github.clone().with(name, "true")).kind, Some(ForgeKind::Gitea));
        }
    }

    #[test]
    fn a_fork_on_gitlab_comments_on_the_project_of_the_merge_request() {
        let told = Surroundings::of(
            &env(&[
                ("GITLAB_CI", "true"),
                ("CI_PROJECT_ID", "1"),
                ("CI_MERGE_REQUEST_PROJECT_ID", "2"),
                ("CI_MERGE_REQUEST_IID", "9"),
                ("CI_COMMIT_SHA", "aaaaaaaa"),
                ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", "bbbbbbbb"),
            ]),
            None,
        );

        assert_eq!((told.repository.as_deref(), told.number), (Some("2"), Some(9)));
        assert_eq!(told.head.as_deref(), Some("bbbbbbbb"));
    }

    #[test]
    fn woodpecker_names_the_forge() {
        let told = Surroundings::of(
            &env(&[
                ("CI_FORGE_TYPE", "forgejo"),
                ("CI_FORGE_URL", "https://h/git/"),
                ("CI_REPO", "a/b"),
                ("CI_COMMIT_PULL_REQUEST", "3"),
            ]),
            None,
        );

        assert_eq!(
            (told.kind, told.root.as_deref(), told.number),
            (Some(ForgeKind::Gitea), Some("https://h/git/api/v1"), Some(3))
        );
    }

    #[test]
    fn what_another_forge_says_counts_for_nothing() {
        let told = Surroundings::of(&env(&[("GITLAB_CI", "true"), ("CI_PROJECT_ID", "1")]), None);

        assert!(told.about(ForgeKind::Github).repository.is_none());
    }

    #[test]
    fn a_push_has_no_number_and_says_why() {
        let told = Surroundings::of(
            &env(&[("GITHUB_ACTIONS", "true"), ("GITHUB_EVENT_NAME", "push")]),
            Some(&json!({"after": "x"})),
        );

        assert!(told.why_no_number.is_some_and(|why| why.contains("push")));
    }

    #[test]
    fn an_address_that_is_none_is_no_link() {
        assert_eq!(address("javascript:alert(1)"), None);
        assert_eq!(address("https://h/a) [x](https://evil"), None);
    }
}
