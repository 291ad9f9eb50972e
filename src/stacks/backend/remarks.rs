//! From the block as written to the backend of the model, and what is risky about it.

use crate::model::{Backend, Stack, quoted};
use crate::stacks::choice::shortened;
use crate::stacks::files::BackendBlock;
use crate::syntax::{flatten, with_paths};

/// How many stacks are named in an advice.
const SHOWN: usize = 5;

/// Returns the backend that a block describes; an empty `http` block is the embedded server.
pub fn backend(block: Option<&BackendBlock>) -> Backend {
    match block {
        None => Backend::None,
        Some(block) if block.kind == "http" && block.settings.is_empty() => Backend::Embedded,
        Some(block) => Backend::Configured {
            kind: block.kind.clone(),
            attributes: flatten(&with_paths(&block.settings, ".")),
        },
    }
}

/// What is risky about where a stack keeps its state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StateRisk {
    /// Nothing keeps two runs from writing an s3 state at once.
    NoLock,
    /// The s3 backend is written as it will not be understood for ever.
    OldEndpoint,
    /// The state is a file on this machine.
    LocalFile,
}

impl StateRisk {
    const ALL: [Self; 3] = [Self::NoLock, Self::OldEndpoint, Self::LocalFile];

    /// Returns what is risky, to stand behind the name of one stack or of several.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoLock => "s3 state without a lock, so that two runs at once can damage it",
            Self::OldEndpoint => "s3 state with the deprecated `endpoint`",
            Self::LocalFile => "state in a local file, which only this machine has",
        }
    }

    /// Returns what to do about it for stacks that have it.
    pub fn fix(self, stacks: &[&Stack]) -> String {
        let shown =
            stacks.iter().take(SHOWN).map(|stack| quoted(stack.id.as_str())).collect::<Vec<_>>().join(" ");
        let rest = if stacks.len() > SHOWN { ", and so for the others" } else { "" };
        match self {
            Self::NoLock => format!(
                "set `use_lockfile = true` in the s3 backend, then `infra init {shown} -- -reconfigure`{rest}"
            ),
            Self::OldEndpoint => format!(
                "write `endpoints = {{ s3 = … }}` instead of `endpoint = …`, then \
                 `infra init {shown} -- -reconfigure`{rest}"
            ),
            Self::LocalFile => {
                // One block is that of all workspaces, so that infra does not write another.
                let single: Vec<_> =
                    stacks.iter().filter(|stack| stack.declared_workspace().is_none()).collect();
                let rest = if single.len() > 1 { ", and so for the others" } else { "" };
                match single.first().map(|stack| quoted(stack.id.as_str())) {
                    Some(first) => format!(
                        "move it to where versions are kept: `infra state migrate {first} --to embedded`{rest}"
                    ),
                    None => "write `backend \"http\" {}`, and the next run says how each state comes along"
                        .to_owned(),
                }
            }
        }
    }
}

/// Returns what is risky about where a stack keeps its state.
pub fn state_risks(stack: &Stack) -> Vec<StateRisk> {
    match &stack.backend {
        Backend::Embedded | Backend::Unknown => Vec::new(),
        Backend::None => vec![StateRisk::LocalFile],
        Backend::Configured { kind, .. } if kind == "local" => vec![StateRisk::LocalFile],
        Backend::Configured { kind, .. } if kind == "s3" => s3_risks(&stack.backend),
        Backend::Configured { .. } => Vec::new(),
    }
}

/// A risk that stacks have in common.
#[derive(Clone, Debug)]
pub struct StateRemark {
    /// The risk.
    pub risk: StateRisk,
    /// A sentence that names the stacks.
    pub text: String,
    /// What to do about it.
    pub fix: String,
}

/// Returns each risk with the stacks that have it.
pub fn state_remarks(stacks: &[&Stack]) -> Vec<StateRemark> {
    let remark = |risk: StateRisk| {
        let has = |stack: &&&Stack| state_risks(stack).contains(&risk);
        let ids: Vec<&Stack> = stacks.iter().filter(has).copied().collect();
        let names: Vec<String> = ids.iter().map(|stack| stack.id.to_string()).collect();
        let text = format!("{}: {}", shortened(&names), risk.words());
        (!ids.is_empty()).then(|| StateRemark { risk, text, fix: risk.fix(&ids) })
    };
    StateRisk::ALL.into_iter().filter_map(remark).collect()
}

fn s3_risks(backend: &Backend) -> Vec<StateRisk> {
    let mut risks = Vec::new();
    // A block without bucket or key gets the rest on the command line, a lock perhaps among it.
    let is_complete = has(backend, "bucket") && has(backend, "key");
    let is_locked = has(backend, "dynamodb_table")
        || has(backend, "use_lockfile") && backend.attribute("use_lockfile") != Some("false");
    if is_complete && !is_locked {
        risks.push(StateRisk::NoLock);
    }
    if has(backend, "endpoint") {
        risks.push(StateRisk::OldEndpoint);
    }
    risks
}

/// Returns whether the block gives the attribute, literal or not.
fn has(backend: &Backend, name: &str) -> bool {
    matches!(backend, Backend::Configured { attributes, .. } if attributes.contains_key(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::sample::stack;
    use crate::syntax::Setting;
    use crate::syntax::Settings;

    /// Returns the risks of a stack with this block.
    fn risks(kind: &str, attributes: &[(&str, &str)]) -> Vec<StateRisk> {
        let literal = |(name, text): &(&str, &str)| ((*name).into(), Setting::Literal((*text).into()));
        let settings = attributes.iter().map(literal).collect::<Settings>();
        let block = BackendBlock { kind: kind.into(), place: String::new(), settings };
        state_risks(&Stack { backend: backend(Some(&block)), ..stack("a", &[]) })
    }

    #[test]
    fn an_s3_state_without_a_lock_is_a_risk() {
        let whole = [("bucket", "b"), ("key", "k")];
        let locked = [("bucket", "b"), ("key", "k"), ("use_lockfile", "true")];
        let unlocked = [("bucket", "b"), ("key", "k"), ("use_lockfile", "false")];

        assert_eq!(risks("s3", &whole), [StateRisk::NoLock]);
        assert_eq!(risks("s3", &unlocked), [StateRisk::NoLock]);
        assert_eq!(risks("s3", &locked), []);
        assert_eq!(risks("s3", &[("key", "k")]), []);
    }

    #[test]
    fn a_deprecated_endpoint_and_local_state_are_risks() {
        assert_eq!(risks("s3", &[("endpoint", "https://r2")]), [StateRisk::OldEndpoint]);
        assert_eq!(risks("local", &[]), [StateRisk::LocalFile]);
        assert_eq!(risks("http", &[]), []);
    }

    #[test]
    fn stacks_with_one_risk_are_named_in_one_sentence() {
        let local = |id| Stack { backend: Backend::None, ..stack(id, &[]) };
        let (one, other) = (local("a"), local("b"));

        let remarks = state_remarks(&[&one, &stack("c", &[]), &other]);

        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].text.starts_with("`a`, `b`: state in a local file"), "{remarks:?}");
        assert!(remarks[0].fix.contains("`infra state migrate a --to embedded`, and so"), "{remarks:?}");
    }

    #[test]
    fn only_an_empty_http_block_is_the_embedded_server() {
        let settings = Settings::from([("retry_max".into(), Setting::Literal("3".into()))]);
        let partial = BackendBlock { kind: "http".into(), place: String::new(), settings };
        let empty = BackendBlock { kind: "http".into(), place: String::new(), settings: Settings::new() };

        assert_eq!(backend(Some(&empty)), Backend::Embedded);
        assert!(matches!(backend(Some(&partial)), Backend::Configured { .. }));
        assert_eq!(backend(None), Backend::None);
    }
}
