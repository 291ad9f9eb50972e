//! Which variables of a stack somebody gives by hand: after `--`, in a variables file, in the
//! environment, among its secrets. Names only; no value is kept.

use std::collections::BTreeSet;
use std::path::Path;

use super::variable_flags::{Flag, flags};
use crate::engine::session::Session;
use crate::error::Result;
use crate::model::StackRun;
use crate::syntax;
use crate::syntax::{Document, JsonNode, read_json};

/// A larger file is no list of variables.
const LARGEST: u64 = 10 * 1024 * 1024;

/// What is given by hand.
#[derive(Debug, Default)]
pub(super) struct GivenVariables {
    names: BTreeSet<String>,
    /// Whether something is given that cannot be read without taking it away from tofu, such as a pipe.
    unread: bool,
}

impl GivenVariables {
    /// Looks everywhere that tofu looks.
    pub fn of(session: &Session, run: &StackRun, extra: &[String]) -> Result<Self> {
        let dir = session.dir_of(&run.stack);
        let mut given = Self::default();
        given.add_arguments(&dir, extra);
        run.var_files.iter().for_each(|file| given.add_file(&dir.join(file)));
        tofus_own(&dir).iter().for_each(|name| given.add_file(&dir.join(name)));
        let env = session.environment_of(&run.stack, &run.env)?;
        let names = env.iter().filter_map(|(name, _)| name.to_str()?.strip_prefix("TF_VAR_"));
        given.names.extend(names.map(str::to_owned));
        given.names.extend(session.given.names().map(str::to_owned));
        session.given.files().for_each(|file| given.add_file(file));
        let secrets = session.secrets_of(&run.stack.id);
        given.names.extend(secrets.into_iter().flat_map(|secrets| secrets.variables.keys().cloned()));
        Ok(given)
    }

    /// Returns whether a variable is given, as far as that can be known.
    pub fn has(&self, variable: &str) -> bool {
        self.unread || self.names.contains(variable)
    }

    fn add_arguments(&mut self, dir: &Path, extra: &[String]) {
        for Flag { name, value, .. } in flags(extra) {
            match name {
                "var" => self.names.extend(value.split_once('=').map(|(name, _)| name.trim().to_owned())),
                "var-file" => self.add_file(&dir.join(value)),
                _ => {}
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        match std::fs::metadata(path) {
            Ok(facts) if facts.is_file() && facts.len() <= LARGEST => {}
            Ok(_) => {
                self.unread = true;
                return;
            }
            // tofu says that it is not there.
            Err(_) => return,
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        let text = syntax::decoded(&bytes);
        match path.extension().is_some_and(|ending| ending == "json") {
            true => self.names.extend(names_in_json(&text)),
            false => self.names.extend(names_in_hcl(&text)),
        }
    }
}

/// Returns what a variables file sets, as far as it can be read: tofu judges the rest.
fn names_in_hcl(text: &str) -> Vec<String> {
    let Document { body, .. } = syntax::read(text);
    body.attributes.iter().map(|attribute| attribute.name.to_owned()).collect()
}

fn names_in_json(text: &str) -> Vec<String> {
    match read_json(text).0 {
        JsonNode::Object(entries) => entries.into_iter().map(|entry| entry.name).collect(),
        _ => Vec::new(),
    }
}

/// Returns the variables files that tofu reads by itself.
pub(super) fn tofus_own(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_own = |name: &String| {
        ["terraform.tfvars", "terraform.tfvars.json"].contains(&name.as_str())
            || name.ends_with(".auto.tfvars")
            || name.ends_with(".auto.tfvars.json")
    };
    let mut names: Vec<String> = names.filter(is_own).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(dir: &Path, args: &[&str]) -> GivenVariables {
        let extra: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut given = GivenVariables::default();
        given.add_arguments(dir, &extra);
        given
    }

    #[test]
    fn a_variable_is_given_in_each_way_that_tofu_knows() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("x.tfvars"), "in_file = 1\n# not = 2\nlist = [\n  3,\n]\n")
            .expect("a file");
        std::fs::write(dir.path().join("x.json"), r#"{"in_json": {"not": 1}}"#).expect("a file");

        let found = given(
            dir.path(),
            &["-var", "one=a=b", "--var=two=", "-var-file", "x.tfvars", "--var-file=x.json", "-target=x=y"],
        );

        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        assert_eq!(names, ["in_file", "in_json", "list", "one", "two"]);
        assert!(!found.has("not"));
    }

    #[test]
    fn a_pipe_is_not_read_and_may_give_anything() {
        assert!(given(Path::new("/"), &["-var-file=/dev/null"]).has("anything"));
        assert!(!given(Path::new("/"), &["-var-file=/not/there", "-var", "broken", "-var"]).has("anything"));
    }
}
