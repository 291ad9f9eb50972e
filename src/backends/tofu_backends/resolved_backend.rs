//! The backend of a stack as `init` resolved it: turns a block that leaves things open, and
//! the workspace in use, into where the state lies.
//!
//! Reads what tofu keeps in its data folder and never starts it. What is written in the
//! block wins: a record that says otherwise is from before the last change of the files.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::model::{Backend, Stack, StackWorkspace};

/// The workspace that every backend begins with.
const DEFAULT: &str = StackWorkspace::DEFAULT;

/// What tofu keeps for a stack.
#[derive(Clone, Copy, Debug)]
pub struct BackendRecord<'a> {
    /// The folder that tofu keeps it in.
    pub data_dir: &'a Path,
    /// The workspace in use; `None` for the one that every backend begins with.
    pub workspace: Option<&'a str>,
}

impl BackendRecord<'_> {
    /// Returns the settings that `init` remembered for this kind of backend.
    fn settings(&self, kind: &str) -> BTreeMap<String, Option<String>> {
        let mut settings = BTreeMap::new();
        let Ok(bytes) = std::fs::read(self.data_dir.join("terraform.tfstate")) else { return settings };
        let record: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if record["backend"]["type"] == kind {
            flatten("", &record["backend"]["config"], &mut settings);
        }
        settings
    }
}

/// Returns the kind of backend that tofu last initialised a folder for, where it noted one.
pub fn noted_kind(data_dir: &Path) -> Option<String> {
    let bytes = std::fs::read(data_dir.join("terraform.tfstate")).ok()?;
    let record: Value = serde_json::from_slice(&bytes).ok()?;
    record["backend"]["type"].as_str().map(str::to_owned)
}

/// Returns the workspace that a stack runs in; `None` for the one that every backend begins with.
pub fn workspace_in_use(stack: &Stack, own: &BTreeMap<String, String>, data_dir: &Path) -> Option<String> {
    let named = stack.workspace_name().map(str::to_owned);
    let own = || own.get("TF_WORKSPACE").filter(|name| !name.is_empty()).cloned();
    let selected = || selected_workspace(data_dir).filter(|name| StackWorkspace::is_name(name));
    named.or_else(own).or_else(selected)
}

/// Returns the workspace that was selected, if it is not the one that every backend begins with.
pub fn selected_workspace(data_dir: &Path) -> Option<String> {
    let bytes = std::fs::read(data_dir.join("environment")).ok()?;
    let name = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!name.is_empty() && name != DEFAULT).then_some(name)
}

/// Returns the backend with everything that `init` resolved, and with the key or the path of the workspace.
pub fn resolved_backend(backend: &Backend, record: BackendRecord<'_>) -> Backend {
    let workspace = record.workspace.unwrap_or(DEFAULT);
    match backend {
        Backend::Embedded | Backend::Unknown => backend.clone(),
        Backend::None if workspace == DEFAULT => Backend::None,
        Backend::None => in_workspace("local", BTreeMap::new(), workspace),
        Backend::Configured { kind, attributes } => {
            let mut all = record.settings(kind);
            all.extend(
                attributes
                    .iter()
                    .filter(|(_, value)| value.is_some())
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
            in_workspace(kind, all, workspace)
        }
    }
}

fn in_workspace(kind: &str, mut attributes: BTreeMap<String, Option<String>>, workspace: &str) -> Backend {
    let text = |name: &str| attributes.get(name).cloned().flatten();
    let place = match kind {
        _ if workspace == DEFAULT => None,
        "s3" => text("key").map(|key| {
            let prefix = text("workspace_key_prefix").unwrap_or_else(|| "env:".to_owned());
            ("key", format!("{prefix}/{workspace}/{key}"))
        }),
        "local" => {
            let folder = text("workspace_dir").unwrap_or_else(|| "terraform.tfstate.d".to_owned());
            Some(("path", format!("{folder}/{workspace}/terraform.tfstate")))
        }
        _ => None,
    };
    if let Some((name, value)) = place {
        attributes.insert(name.to_owned(), Some(value));
    }
    Backend::Configured { kind: kind.to_owned(), attributes }
}

/// Gives nested values dotted names, as those of a block have.
fn flatten(prefix: &str, config: &Value, into: &mut BTreeMap<String, Option<String>>) {
    for (name, value) in config.as_object().into_iter().flatten() {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(_) => flatten(&format!("{name}."), value, into),
            Value::String(text) => _ = into.insert(name, Some(text.clone())),
            Value::Bool(_) | Value::Number(_) => _ = into.insert(name, Some(value.to_string())),
            Value::Array(values) => {
                let numbered =
                    values.iter().enumerate().map(|(number, value)| (number.to_string(), value.clone()));
                flatten(&format!("{name}."), &Value::Object(numbered.collect()), into);
            }
            Value::Null => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"backend":{"type":"s3","config":{"bucket":"b","key":"k","use_lockfile":true,
        "endpoints":{"s3":"http://127.0.0.1:1","iam":null},"region":"old"}}}"#;

    /// Resolves a block with these literals beside what `init` left.
    fn resolved(kind: &str, literals: &[(&str, &str)], workspace: Option<&str>) -> Backend {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join(".terraform")).expect("a folder");
        std::fs::write(dir.path().join(".terraform/terraform.tfstate"), RECORD).expect("a file");
        let attributes =
            literals.iter().map(|(name, value)| ((*name).into(), Some((*value).into()))).collect();
        let backend = Backend::Configured { kind: kind.into(), attributes };
        resolved_backend(&backend, BackendRecord { data_dir: &dir.path().join(".terraform"), workspace })
    }

    #[test]
    fn what_the_block_leaves_open_is_what_init_was_told() {
        let backend = resolved("s3", &[("region", "new")], None);

        let found = ["bucket", "key", "use_lockfile", "endpoints.s3", "endpoints.iam", "region"];
        assert_eq!(
            found.map(|name| backend.attribute(name)),
            [Some("b"), Some("k"), Some("true"), Some("http://127.0.0.1:1"), None, Some("new")]
        );
    }

    #[test]
    fn a_workspace_has_its_own_key_or_path() {
        assert_eq!(resolved("s3", &[], Some("prod")).attribute("key"), Some("env:/prod/k"));
        let prefixed = resolved("s3", &[("workspace_key_prefix", "w")], Some("prod"));
        assert_eq!(prefixed.attribute("key"), Some("w/prod/k"));
        let local = resolved("local", &[("path", "x.tfstate")], Some("prod"));
        assert_eq!(local.attribute("path"), Some("terraform.tfstate.d/prod/terraform.tfstate"));
        assert_eq!(resolved("local", &[("path", "x")], Some("default")).attribute("path"), Some("x"));
    }

    #[test]
    fn the_record_of_another_kind_says_nothing() {
        assert_eq!(resolved("gcs", &[], None).attribute("bucket"), None);
    }
}
