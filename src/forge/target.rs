//! Which repository and which pull request is meant: flags first, then what the CI system says.

use super::api::Token;
use super::dialect::{ForgeKind, Repository};
use super::surroundings::Surroundings;
use crate::error::{Error, Kind, Result};
use crate::model::Environment;

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The forge.
    pub forge: Option<ForgeKind>,
    /// The repository.
    pub repository: Option<String>,
    /// The number of the pull request.
    pub number: Option<u64>,
    /// The root of the API.
    pub root: Option<String>,
}

/// Where something is written to.
#[derive(Debug)]
pub struct Target {
    pub(super) repository: Repository,
    number: Option<u64>,
    why_no_number: Option<String>,
    token: Option<Token>,
    surroundings: Surroundings,
    has_job_token: bool,
}

impl Given {
    /// Returns the forge that is meant.
    pub fn kind(&self, surroundings: &Surroundings) -> Option<ForgeKind> {
        let by_root =
            self.root.as_deref().map(|root| root.trim_end_matches('/')).and_then(|root| match root {
                root if root.ends_with("/api/v1") => Some(ForgeKind::Gitea),
                root if root.ends_with("/api/v3") || root == "https://api.github.com" => {
                    Some(ForgeKind::Github)
                }
                root if root.ends_with("/api/v4") => Some(ForgeKind::Gitlab),
                _ => None,
            });
        self.forge.or(surroundings.kind).or(by_root)
    }
}

impl Target {
    /// Finds out what is meant.
    pub fn resolve(given: &Given, surroundings: Surroundings, env: &Environment) -> Result<Self> {
        let kind = given.kind(&surroundings).ok_or_else(no_forge)?;
        let surroundings = surroundings.about(kind);
        let root = given.root.clone().or_else(|| surroundings.root.clone());
        let root = root.or_else(|| kind.usual_root().map(str::to_owned)).ok_or_else(|| no_root(kind))?;
        let name = given.repository.clone().or_else(|| surroundings.repository.clone());
        let name = name.ok_or_else(|| {
            Error::invalid(format!("nothing says which repository of {} is meant", kind.name()))
                .hint("name it: `--repo`")
        })?;
        Ok(Self {
            repository: Repository::new(kind, &root, &name)?,
            number: given.number.or(surroundings.number),
            why_no_number: surroundings.why_no_number.clone(),
            token: find_token(kind, &surroundings, env),
            has_job_token: env.get("CI_JOB_TOKEN").is_some(),
            surroundings,
        })
    }

    /// Returns how many bytes of text are sent at most.
    pub const fn most_bytes(&self) -> usize {
        self.repository.kind.most_bytes()
    }

    /// Returns the number of the pull request.
    pub fn number(&self) -> Result<u64> {
        let word = self.repository.kind.request_word();
        self.number.ok_or_else(|| {
            let why = self.why_no_number.clone();
            let why = why.unwrap_or_else(|| format!("nothing says which {word} is meant"));
            Error::invalid(format!("no {word} to comment on: {why}")).hint("name one: `--pr NUMBER`")
        })
    }

    /// Returns the token.
    pub fn token(&self) -> Result<&Token> {
        self.token.as_ref().ok_or_else(|| self.no_token())
    }

    fn no_token(&self) -> Error {
        let kind = self.repository.kind;
        let variable = variables_of(kind)[0];
        let error =
            Error::new(Kind::Refused, format!("no token for {}: `{variable}` is not set", kind.name()))
                .code("no-token");
        match kind {
            ForgeKind::Gitlab if self.has_job_token => error
                .detail("`CI_JOB_TOKEN` is there, but cannot write notes")
                .hint("make a project access token with the scope `api`, and give it as the variable `GITLAB_TOKEN`"),
            ForgeKind::Github if self.surroundings.speaks_github => {
                error.hint("give it to the step: `env: { GITHUB_TOKEN: \"${{ github.token }}\" }`")
            }
            _ => error.hint(format!("it needs {}", kind.permission())),
        }
    }

    /// Returns what helps where a token may not write.
    pub(super) fn ways_out(&self) -> Vec<String> {
        if !self.surroundings.speaks_github {
            return Vec::new();
        }
        let fork = match self.surroundings.is_fork {
            true => "this pull request comes from a fork, whose workflows get a token that only reads",
            false => "workflows of forks and of Dependabot get a token that only reads",
        };
        vec![
            format!(
                "{fork}: let a second workflow comment, on `workflow_run`, with the folder of the run as an \
                 artefact: `infra comment --report DIR --pr NUMBER`"
            ),
            "or show the plans on the page of the job, which takes no token: \
             `infra comment --dry-run >> \"$GITHUB_STEP_SUMMARY\"`"
                .to_owned(),
        ]
    }
}

/// Returns the variables that may hold the token of a forge, the one to name first.
const fn variables_of(kind: ForgeKind) -> &'static [&'static str] {
    match kind {
        ForgeKind::Github => &["GITHUB_TOKEN"],
        ForgeKind::Gitlab => &["GITLAB_TOKEN"],
        ForgeKind::Gitea => &["GITEA_TOKEN", "GITHUB_TOKEN"],
    }
}

fn find_token(kind: ForgeKind, surroundings: &Surroundings, env: &Environment) -> Option<Token> {
    // Elsewhere it is a token of GitHub, which is nobody else's business.
    let is_meant =
        |name: &str| kind != ForgeKind::Gitea || name != "GITHUB_TOKEN" || surroundings.is_gitea_workflow;
    let names = variables_of(kind).iter().filter(|name| is_meant(name));
    names.filter_map(|name| Some(Token::new(name, env.get(name)?))).next()
}

fn no_forge() -> Error {
    Error::invalid("nothing says which forge is meant: no CI system is known here")
        .hint("name it: `--forge github|gitlab|gitea`, and the repository: `--repo OWNER/NAME`")
}

fn no_root(kind: ForgeKind) -> Error {
    Error::invalid(format!("nothing says where the API of {} is", kind.name()))
        .hint("name it: `--api-url https://git.example.com/api/v1`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_github_goes_to_no_gitea_outside_of_its_workflows() {
        let env = Environment::default().with("GITHUB_TOKEN", "ghp_x");
        let given = Given {
            forge: Some(ForgeKind::Gitea),
            repository: Some("a/b".to_owned()),
            number: Some(1),
            root: Some("https://h/api/v1".to_owned()),
        };

        let outside = Target::resolve(&given, Surroundings::default(), &env).expect("a target");
        let inside =
            Surroundings { kind: Some(ForgeKind::Gitea), is_gitea_workflow: true, ..Surroundings::default() };
        let inside = Target::resolve(&given, inside, &env).expect("a target");

        assert!(outside.token().expect_err("no token").to_string().contains("GITEA_TOKEN"));
        assert_eq!(inside.token().expect("a token").variable(), "GITHUB_TOKEN");
    }
}
