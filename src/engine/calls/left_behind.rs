//! A state that stayed where it was when a person wrote another backend block by hand.
//!
//! tofu notes the backend that it last used; without a note, a `terraform.tfstate` beside a
//! block for another place is such a state. Those in a file and those that this program keeps
//! can be brought along without tofu, which would give them a new lineage. Begin at
//! [`left_behind`].

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::{Backend, Environment, Project, Stack, quoted};

/// tofu's own name for the state in a folder, and for its note.
const USUAL: &str = "terraform.tfstate";

/// Where a state was left behind.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LeftBehind {
    /// In this file.
    File(PathBuf),
    /// Where this program keeps states.
    Embedded,
}

impl fmt::Display for LeftBehind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Embedded => f.write_str("the place of `backend \"http\" {}`"),
        }
    }
}

/// Returns where the state of a stack may still lie, although its block names another place.
pub fn left_behind(project: &Project, env: &Environment, stack: &Stack) -> Option<LeftBehind> {
    let dir = project.root.join(&stack.path);
    if let Some(name) = stack.declared_workspace() {
        let file = dir.join("terraform.tfstate.d").join(name).join(USUAL);
        let is_elsewhere = !matches!(stack.backend.kind(), "local" | "unknown");
        let has_content = std::fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() > 0);
        return (is_elsewhere && has_content).then_some(LeftBehind::File(file));
    }
    let data_dir = dir.join(env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into()));
    match (former(&data_dir)?, &stack.backend) {
        (_, Backend::Unknown) | (Former::Embedded, Backend::Embedded) => None,
        (Former::Embedded, Backend::None | Backend::Configured { .. }) => Some(LeftBehind::Embedded),
        (Former::Path(path), now) => {
            let file = dir.join(path);
            let is_former = now.kind() != "local" || dir.join(now.attribute("path").unwrap_or(USUAL)) != file;
            let has_content = std::fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() > 0);
            (is_former && has_content).then_some(LeftBehind::File(file))
        }
    }
}

/// Returns the command that brings the state of a stack to where its block says that it is.
pub fn migration_command(project: &Project, env: &Environment, stack: &Stack) -> String {
    let id = quoted(stack.id.as_str());
    match (left_behind(project, env, stack), target(&stack.backend)) {
        // One block is that of all workspaces, so that infra does not write another.
        (Some(LeftBehind::File(file)), _) if stack.declared_workspace().is_some() => {
            let file = file.display().to_string();
            format!("infra state push {id} {}", quoted(&file))
        }
        (Some(_), Some(to)) => format!("infra state migrate {id} --to {to}"),
        _ => format!("infra init {id} -- -migrate-state -force-copy"),
    }
}

/// Returns a backend as `infra state migrate` takes it, where that is plain.
fn target(backend: &Backend) -> Option<String> {
    match backend {
        Backend::Embedded => Some("embedded".to_owned()),
        Backend::None => Some("local".to_owned()),
        Backend::Configured { kind, attributes } if kind == "local" => match attributes.get("path") {
            None if attributes.is_empty() => Some("local".to_owned()),
            Some(Some(path)) if attributes.len() == 1 => Some(format!("local:{}", quoted(path))),
            _ => None,
        },
        Backend::Unknown | Backend::Configured { .. } => None,
    }
}

/// What tofu last used, as far as it concerns us.
#[derive(Debug, Eq, PartialEq)]
enum Former {
    Path(String),
    Embedded,
}

fn former(data_dir: &Path) -> Option<Former> {
    let usual = || Some(Former::Path(USUAL.to_owned()));
    let Ok(bytes) = std::fs::read(data_dir.join(USUAL)) else { return usual() };
    let record: Value = serde_json::from_slice(&bytes).ok()?;
    let (kind, config) = (&record["backend"]["type"], &record["backend"]["config"]);
    match kind.as_str() {
        None => usual(),
        Some("local") => Some(Former::Path(config["path"].as_str().unwrap_or(USUAL).to_owned())),
        // Its address came from this program.
        Some("http") if config["address"].is_null() => Some(Former::Embedded),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(record: &str) -> Option<Former> {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join(USUAL), record).expect("a file");
        former(dir.path())
    }

    #[test]
    fn what_tofu_last_used_is_read_from_its_note() {
        let path = |path: &str| Some(Former::Path(path.to_owned()));
        let own = r#"{"backend":{"type":"local","config":{"path":"own.tfstate","workspace_dir":null}}}"#;

        assert_eq!(read(own), path("own.tfstate"));
        assert_eq!(read(r#"{"backend":{"type":"local","config":{}}}"#), path(USUAL));
        assert_eq!(read("{}"), path(USUAL));
        assert_eq!(former(Path::new("/nowhere")), path(USUAL));
        assert_eq!(read(r#"{"backend":{"type":"http","config":{"address":null}}}"#), Some(Former::Embedded));
        assert_eq!(read(r#"{"backend":{"type":"http","config":{"address":"http://x"}}}"#), None);
        assert_eq!(read("half"), None);
    }
}
