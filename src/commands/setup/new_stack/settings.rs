//! What `infra.yaml` says of a stack that has workspaces, said of its copy too: without it the
//! copy would be one stack where the original is several. Begin at [`copy`].

use std::path::PathBuf;

use regex::{Captures, Regex};

use crate::atomic_file;
use crate::model::{Project, StackId, StackSettings};
use crate::project;
use crate::stacks;

/// The file as it was before.
#[derive(Debug)]
pub struct FileBefore {
    path: PathBuf,
    text: String,
}

/// Repeats the entry of a stack for its copy, if it has workspaces that the copy would lack; returns what to
/// undo. Where the text cannot be repeated so that it says the same, nothing is changed.
pub fn copy(project: &Project, from: &StackId, to: &StackId) -> Option<FileBefore> {
    let names = |settings: StackSettings| settings.workspaces.into_keys().collect::<Vec<_>>();
    let wanted = names(stacks::settings_for(project, from));
    if wanted.is_empty() || names(stacks::settings_for(project, to)) == wanted {
        return None;
    }
    let path = project.root.join("infra.yaml");
    let text = std::fs::read_to_string(&path).ok()?;
    let repeated = repeated(&text, from, to)?;
    let before = FileBefore { path: path.clone(), text };
    atomic_file::replace(&path, repeated.as_bytes()).ok()?;
    let said = project::load(&project.root).map(|project| stacks::settings_for(&project, to));
    let is_former =
        |said: &StackSettings| said.was.is_some() || said.workspaces.values().any(|own| own.was.is_some());
    match said {
        // The state of before is the original's.
        Ok(said) if !is_former(&said) && names(said.clone()) == wanted => Some(before),
        _ => {
            undo(Some(&before));
            None
        }
    }
}

/// Puts the file back.
pub fn undo(before: Option<&FileBefore>) {
    if let Some(before) = before {
        // Whoever cannot write it now could not have changed it before.
        let _ = atomic_file::replace(&before.path, before.text.as_bytes());
    }
}

/// Returns the text with the entry of a stack repeated behind it under another id, without its former id.
fn repeated(text: &str, from: &StackId, to: &StackId) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let keys = [format!("\"{from}\":"), format!("'{from}':"), format!("{from}:")];
    let start = lines.iter().position(|line| {
        indent(line) > 0 && keys.iter().any(|key| line.trim_start().starts_with(key.as_str()))
    })?;
    let is_inside = |line: &&&str| line.trim().is_empty() || indent(line) > indent(lines[start]);
    let more = lines[start + 1..].iter().take_while(is_inside).count();
    let block = &lines[start..=start + more];
    let key = keys.iter().find(|key| block[0].trim_start().starts_with(key.as_str()))?;
    let mut copy = vec![block[0].replacen(key.as_str(), &format!("\"{to}\":"), 1)];
    let own =
        block[1..].iter().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("was:"));
    copy.extend(own.map(|line| without_former(line)));
    let mut all: Vec<String> = lines[..=start + more].iter().map(|line| (*line).to_owned()).collect();
    while all.last().is_some_and(|line| line.trim().is_empty()) {
        all.pop();
    }
    all.extend(copy);
    all.extend(lines[start + more + 1..].iter().map(|line| (*line).to_owned()));
    Some(all.join("\n") + "\n")
}

/// Returns a line without the former id among settings in braces.
fn without_former(line: &str) -> String {
    let former = Regex::new(r#"(?P<before>[{,])\s*was:\s*("[^"]*"|'[^']*'|[^\s,}]+)\s*(?P<after>,?)"#);
    let Ok(former) = former else { return line.to_owned() };
    let keep = |found: &Captures<'_>| match (&found["before"], &found["after"]) {
        ("{", _) => "{".to_owned(),
        (_, after) => after.to_owned(),
    };
    former.replace_all(line, keep).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_former_id_of_one_workspace_is_left_out_too() {
        for (line, without) in [
            ("dev: { was: \"web\" }", "dev: {}"),
            ("dev: { was: web, protect: true }", "dev: { protect: true }"),
            ("dev: { tags: [a], was: 'a b', env: {} }", "dev: { tags: [a], env: {} }"),
            ("dev: { tags: [was] }", "dev: { tags: [was] }"),
        ] {
            assert_eq!(without_former(line), without);
        }
    }

    #[test]
    fn the_entry_of_a_stack_is_repeated_without_its_former_id() {
        let text = "name: lab\nstacks:\n  \"a\":\n    was: x\n    workspaces:\n      dev: {}\n\nrun: { retries: 1 }\n";

        let repeated = repeated(text, &StackId::new("a"), &StackId::new("b/c")).expect("an entry");

        assert_eq!(
            repeated,
            "name: lab\nstacks:\n  \"a\":\n    was: x\n    workspaces:\n      dev: {}\n  \"b/c\":\n    workspaces:\n      dev: {}\nrun: { retries: 1 }\n"
        );
    }
}
