//! What a change is measured from: a commit that is named, or the one that the CI system means.
//!
//! On GitHub's merge ref it is the first parent: that commit is made of the base as it is today,
//! while the event names one that may be old. Nothing is ever fetched; what is missing is told with
//! the command that brings it. Begin at [`find_base`].

use crate::error::{Error, Result};
use crate::model::{Environment, nearest, quoted};
use crate::process::Git;

/// Who says what to look for, where no CI system does.
const DEFAULT: &str = "by default";
const ASKED: &str = "on the command line";

/// What is to be done in the files of CI systems.
const WHOLE_HISTORY: &str =
    "in GitHub's workflow: `fetch-depth: 0` under `with:` of actions/checkout; GitLab: `GIT_DEPTH: \"0\"`";

/// The commit that a change is measured from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::commands) struct Base {
    /// Its full id.
    pub commit: String,
    /// What led to it.
    pub name: String,
    /// How many common ancestors are as good as this one.
    pub others: usize,
}

/// Names to look for, in order, and what they are to people.
#[derive(Debug, Eq, PartialEq)]
struct Wanted {
    /// Names as git reads them, with the one that is told.
    names: Vec<(String, String)>,
    /// The branch of the remote that would settle it.
    branch: Option<String>,
    /// The id of a commit that would.
    id: Option<String>,
    /// Who says so.
    said_by: &'static str,
}

/// Returns the merge base of the working tree's commit and what is named, or what the surroundings mean.
pub(super) async fn find_base(git: &Git, asked: Option<&str>, env: &Environment) -> Result<Base> {
    let merge_ref = asked.is_none().then(|| merge_ref(env)).flatten();
    let wanted = wanted(asked, env)?;
    let parents = ["HEAD", "HEAD^1", "HEAD^2"].map(str::to_owned);
    let names: Vec<String> =
        parents.into_iter().chain(wanted.names.iter().map(|(name, _)| name.clone())).collect();
    let found = git.commits(&names).await?;
    let [Some(head), first, second, tips @ ..] = found.as_slice() else {
        return Err(unborn());
    };
    if let Some(name) = merge_ref.filter(|_| is_of_this_run(head, env)) {
        match (first, second) {
            (Some(first), Some(_)) => {
                let name = format!("the first parent of `{name}`");
                return Ok(Base { commit: first.clone(), name, others: 0 });
            }
            (None, _) if git.is_shallow().await => return Err(without_parents(name)),
            _ => {}
        }
    }
    let tip = tips.iter().zip(&wanted.names).find_map(|(tip, (_, told))| Some((tip.as_ref()?, told)));
    let Some((tip, told)) = tip else { return Err(not_found(git, &wanted).await) };
    let bases = git.merge_bases(tip, head).await?;
    match bases.split_first() {
        Some((commit, others)) => {
            Ok(Base { commit: commit.clone(), name: told.clone(), others: others.len() })
        }
        None => Err(without_ancestor(git, told, &wanted).await),
    }
}

/// Returns the ref that GitHub merged for a pull request, if it is what was checked out.
fn merge_ref(env: &Environment) -> Option<&str> {
    let name = env.get("GITHUB_REF")?;
    let number = name.strip_prefix("refs/pull/")?.strip_suffix("/merge")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(name)
}

/// Whoever checked out the branch itself has another commit than the one that the run is about.
fn is_of_this_run(head: &str, env: &Environment) -> bool {
    set(env, "GITHUB_SHA").is_none_or(|sha| sha.eq_ignore_ascii_case(head))
}

/// Returns the value of a variable; CI systems set those that mean nothing to nothing.
fn set<'e>(env: &'e Environment, name: &str) -> Option<&'e str> {
    env.get(name).filter(|value| !value.is_empty())
}

/// Returns what is looked for.
fn wanted(asked: Option<&str>, env: &Environment) -> Result<Wanted> {
    if let Some(name) = asked {
        return asked_for(name);
    }
    match target_branch(env) {
        Some((branch, said_by)) => {
            check_branch(branch, said_by)?;
            let names = vec![of_origin(branch)];
            Ok(Wanted { names, branch: Some(branch.to_owned()), id: None, said_by })
        }
        None => {
            let names = ["HEAD", "main", "master"].map(of_origin).to_vec();
            Ok(Wanted { names, branch: None, id: None, said_by: DEFAULT })
        }
    }
}

fn asked_for(name: &str) -> Result<Wanted> {
    if name.trim().is_empty() {
        return Err(
            Error::usage("`--base` is empty").hint("name a commit, a branch or a tag: `--base origin/main`")
        );
    }
    if name.len() >= 40 && name.bytes().all(|byte| byte == b'0') {
        return Err(Error::invalid("the base is forty zeros: there was no commit before this one")
            .detail("CI systems say so of a branch that is new")
            .hint("measure from the main branch: leave `--base` out, or name it: `--base origin/main`"));
    }
    let plain = !name.contains(char::is_control) && !name.starts_with('-');
    let mut names = vec![(name.to_owned(), name.to_owned())];
    // What only the remote has is meant by its short name, too.
    names.extend((plain && is_branch(name)).then(|| of_origin(name)));
    let branch = name.strip_prefix("origin/").unwrap_or(name);
    let is_id = branch.len() >= 7 && branch.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id = is_id.then(|| name.to_owned());
    let branch = (plain && is_branch(branch) && !is_id).then(|| branch.to_owned());
    Ok(Wanted { names, branch, id, said_by: ASKED })
}

/// Returns the branch that a change is to be merged into, and who says so.
fn target_branch(env: &Environment) -> Option<(&str, &'static str)> {
    let woodpecker = set(env, "CI") == Some("woodpecker") && set(env, "CI_COMMIT_PULL_REQUEST").is_some();
    let known = [
        ("GITHUB_BASE_REF", true),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", true),
        ("CI_COMMIT_TARGET_BRANCH", woodpecker),
    ];
    known.into_iter().filter(|(_, counts)| *counts).find_map(|(name, _)| Some((set(env, name)?, name)))
}

/// Returns the name of a remote branch as git reads it and as it is told.
fn of_origin(branch: &str) -> (String, String) {
    (format!("refs/remotes/origin/{branch}"), format!("origin/{branch}"))
}

fn check_branch(branch: &str, said_by: &str) -> Result<()> {
    if is_branch(branch) {
        return Ok(());
    }
    Err(Error::invalid(format!("`{said_by}` holds no name of a branch: `{}`", branch.escape_debug()))
        .hint("name the base yourself: `--base origin/main`"))
}

/// Returns whether git would take a text as the name of a branch, and a shell as one word.
fn is_branch(name: &str) -> bool {
    let is_odd = |sign: char| sign.is_control() || sign.is_whitespace() || "~^:?*[\\@{}".contains(sign);
    !name.is_empty() && !name.starts_with('-') && !name.contains("..") && !name.contains(is_odd)
}

/// Returns the command that fetches a branch, with all of its history where the clone ends early.
fn fetch(branch: &str, shallow: bool) -> String {
    let whole = if shallow { "--unshallow " } else { "" };
    let refs = quoted(&format!("+refs/heads/{branch}:refs/remotes/origin/{branch}"));
    format!("git fetch {whole}origin {refs}")
}

/// Returns the command that brings what is wanted; none where nobody can say what that is.
fn bring(wanted: &Wanted, shallow: bool) -> Option<String> {
    let whole = if shallow { "--unshallow " } else { "" };
    match (&wanted.branch, &wanted.id) {
        (Some(branch), _) => Some(fetch(branch, shallow)),
        (None, Some(id)) => Some(format!("git fetch {whole}origin {id}")),
        (None, None) if wanted.said_by == DEFAULT => {
            Some(format!("git fetch {whole}origin && git remote set-head origin --auto"))
        }
        (None, None) => None,
    }
}

fn unborn() -> Error {
    Error::invalid("there is no commit to compare: the branch has none yet")
        .hint("commit first: `git add . && git commit -m first`")
}

fn without_parents(name: &str) -> Error {
    let number = name.trim_start_matches("refs/pull/").trim_end_matches("/merge");
    Error::unavailable(format!("this clone is shallow: the parents of `{name}` are not here"))
        .hint("in the workflow: `fetch-depth: 2` under `with:` of actions/checkout")
        .hint(format!("here: `git fetch --depth 2 origin {name}:refs/remotes/pull/{number}/merge`"))
}

async fn not_found(git: &Git, wanted: &Wanted) -> Error {
    let told: Vec<String> =
        wanted.names.iter().map(|(_, told)| format!("`{}`", told.escape_debug())).collect();
    let shallow = git.is_shallow().await;
    let message = match (told.as_slice(), shallow) {
        ([one, ..], true) => format!("the base {one} is not here: this clone is shallow"),
        ([one, ..], false) => format!("the base {one} is not here"),
        ([], _) => "there is no base".to_owned(),
    };
    let error =
        Error::unavailable(message).detail(format!("looked for {} ({})", told.join(", "), wanted.said_by));
    let refs = git.branches().await;
    let remotes = git.remotes().await;
    let has_origin = remotes.iter().any(|remote| remote == "origin");
    let guess = wanted.names.first().and_then(|(name, _)| nearest(name, refs.iter().map(String::as_str)));
    let guess = guess.filter(|_| wanted.said_by == ASKED);
    let error = error.hint_if(guess.map(|name| format!("did you mean `--base {}`?", quoted(name))));
    let error = match bring(wanted, shallow).filter(|_| has_origin) {
        Some(way) => error.hint(format!("bring it here: `{way}`")),
        None => error
            .hint_if(refs.first().map(|name| format!("name one that is here: `--base {}`", quoted(name)))),
    };
    error.hint_if(shallow.then_some(WHOLE_HISTORY))
}

async fn without_ancestor(git: &Git, told: &str, wanted: &Wanted) -> Error {
    let branch = wanted.branch.clone().or_else(|| told.strip_prefix("origin/").map(str::to_owned));
    if git.is_shallow().await {
        let branch = branch.filter(|branch| branch != "HEAD");
        let way =
            branch.map_or_else(|| "git fetch --unshallow origin".to_owned(), |branch| fetch(&branch, true));
        let message = format!("this clone is shallow: where it left `{told}` is not here");
        let error = Error::unavailable(message).hint(format!("bring the history here: `{way}`"));
        return error.hint(WHOLE_HISTORY);
    }
    Error::invalid(format!("`{told}` and this branch have no commit in common"))
        .hint("name a commit of this branch: `--base HEAD~1`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().fold(Environment::default(), |env, (name, value)| env.with(name, value))
    }

    fn names(asked: Option<&str>, pairs: &[(&str, &str)]) -> Vec<String> {
        let wanted = wanted(asked, &env(pairs)).expect("names");
        wanted.names.into_iter().map(|(_, told)| told).collect()
    }

    #[test]
    fn the_flag_wins_over_what_the_ci_system_says_and_that_over_the_default() {
        let ci = [("GITHUB_BASE_REF", "release/1"), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")];

        assert_eq!(names(Some("v1"), &ci), ["v1", "origin/v1"]);
        assert_eq!(names(None, &ci), ["origin/release/1"]);
        assert_eq!(names(None, &[("GITHUB_BASE_REF", "")]), ["origin/HEAD", "origin/main", "origin/master"]);
        assert_eq!(names(None, &[("CI_COMMIT_TARGET_BRANCH", "x")]).len(), 3, "not of Woodpecker");
        let woodpecker =
            [("CI", "woodpecker"), ("CI_COMMIT_PULL_REQUEST", "7"), ("CI_COMMIT_TARGET_BRANCH", "x")];
        assert_eq!(names(None, &woodpecker), ["origin/x"]);
    }

    #[test]
    fn only_the_ref_of_a_merged_pull_request_is_one() {
        for (name, is_one) in
            [("refs/pull/7/merge", true), ("refs/pull/7/head", false), ("refs/pull//merge", false)]
        {
            assert_eq!(merge_ref(&env(&[("GITHUB_REF", name)])).is_some(), is_one, "{name}");
        }
    }

    #[test]
    fn what_is_no_branch_never_becomes_a_part_of_a_command() {
        for name in ["--output=x", "a b", "main;rm", "a..b", "x~1", "main^{/x}", "a\nb"] {
            let is_fine = name == "main;rm";
            assert_eq!(is_branch(name), is_fine, "{name}");
        }
        assert!(fetch("main;rm", false).contains("'+refs/heads/main;rm"), "{}", fetch("main;rm", false));
        assert!(wanted(None, &env(&[("GITHUB_BASE_REF", "--output=x")])).is_err());
    }
}
