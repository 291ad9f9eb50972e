//! A workflow file as a forge reads it.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;

use serde_json::Value;

/// A workflow file.
pub struct Workflow {
    pub name: String,
    pub text: String,
}

/// Returns the workflow files in a project, by name.
pub fn written(root: &Path) -> Vec<Workflow> {
    let mut files: Vec<Workflow> = [".github/workflows", ".forgejo/workflows"]
        .into_iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .chain(Some(root.join(".gitlab-ci.yml")).filter(|file| file.exists()))
        .map(|path| Workflow {
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(&path).unwrap(),
        })
        .collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    files
}

impl Workflow {
    /// Reads it.
    pub fn yaml(&self) -> Value {
        serde_saphyr::from_str(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Returns whether it is one of jobs and steps.
    pub fn has_actions(&self) -> bool {
        self.name != ".gitlab-ci.yml"
    }

    /// Returns the steps of all jobs.
    pub fn steps(&self) -> Vec<Value> {
        let yaml = self.yaml();
        let jobs = yaml["jobs"].as_object().cloned().unwrap_or_default();
        jobs.values().flat_map(|job| job["steps"].as_array().cloned().unwrap_or_default()).collect()
    }

    /// Returns what a shell runs.
    pub fn scripts(&self) -> Vec<String> {
        if self.has_actions() {
            return self.steps().iter().filter_map(|step| step["run"].as_str().map(str::to_owned)).collect();
        }
        let yaml = self.yaml();
        let jobs = yaml.as_object().unwrap().values();
        let lines = jobs.flat_map(|job| [&job["before_script"], &job["script"]]).filter_map(Value::as_array);
        lines.flatten().map(|line| line.as_str().unwrap().to_owned()).collect()
    }
}
