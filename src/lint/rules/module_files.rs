//! `module-required-files` and `module-readme`: a module has the files that everybody looks for, and its
//! README names all that it takes and gives.

use std::collections::BTreeSet;
use std::fs;

use crate::lint::files::DeclarationKind;
use crate::lint::finding::{Finding, FindingPlace};
use crate::lint::folder::{Folder, README};
use crate::lint::mending::{ModuleTables, Staleness};
use crate::model::LintRule;
use crate::model::TOFU_ENDINGS;

/// What every module has.
const REQUIRED_FILES: [&str; 4] = ["main.tf", "variables.tf", "outputs.tf", README];

/// Tells which files a module lacks.
pub fn required_files(folder: &Folder<'_>) -> Vec<Finding> {
    let missing = REQUIRED_FILES.into_iter().filter(|name| is_missing(folder, name));
    let finding = |name: &str| {
        let module = match folder.listed.shown.as_str() {
            "" => "the module in the project's root".to_owned(),
            shown => format!("the module `{shown}`"),
        };
        let message = format!("{module} has no `{name}`");
        let place = FindingPlace::start_of(folder.listed.shown_file(name));
        Finding::new(LintRule::ModuleRequiredFiles, place, name, message)
    };
    missing.map(finding).collect()
}

/// Returns whether a module lacks a file, in every form that counts for it.
fn is_missing(folder: &Folder<'_>, name: &str) -> bool {
    match name.strip_suffix(".tf") {
        None => folder.readme_file().is_none(),
        Some(stem) => {
            !TOFU_ENDINGS.iter().any(|ending| folder.listed.names.contains(&format!("{stem}{ending}")))
        }
    }
}

/// Tells what a module's README does not name. One that is missing is told by the other rule.
pub fn readme(folder: &Folder<'_>) -> Vec<Finding> {
    let Some(name) = folder.readme_file() else { return Vec::new() };
    let file = folder.listed.shown_file(name);
    let path = folder.listed.path.join(name);
    if !fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        let message = format!("`{file}` cannot be read: it is no regular file, or a link that leads nowhere");
        return vec![Finding::new(LintRule::ModuleReadme, FindingPlace::start_of(file), "readme", message)];
    }
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            let message = format!("`{file}` cannot be read: {error}");
            return vec![Finding::new(
                LintRule::ModuleReadme,
                FindingPlace::start_of(file),
                "readme",
                message,
            )];
        }
    };
    let mut found = unnamed(folder, &text, &file);
    found.extend(stale_tables(folder, &text, &file));
    found
}

fn unnamed(folder: &Folder<'_>, text: &str, file: &str) -> Vec<Finding> {
    let named = words(text);
    let mut found = Vec::new();
    for kind in [DeclarationKind::Variable, DeclarationKind::Output] {
        for declared in folder.declared(kind) {
            let name = &declared.block.name;
            if !named.contains(name.as_str()) {
                let message = format!("{} `{name}` is not named in `{file}`", kind.word());
                let (place, subject) = (declared.place.clone(), declared.block.subject());
                found.push(Finding::new(LintRule::ModuleReadme, place, subject, message));
            }
        }
    }
    found
}

/// Tells tables that infra wrote and that are no longer as it would write them.
fn stale_tables(folder: &Folder<'_>, text: &str, file: &str) -> Option<Finding> {
    let (line, what) = match ModuleTables::of(folder).staleness(text)? {
        Staleness::Old(line) => {
            (line, "its tables are not those of the variables and outputs: `infra lint --fix`")
        }
        Staleness::Broken(line, why) => (line, why),
    };
    let place = FindingPlace { line, ..FindingPlace::start_of(file) };
    Some(Finding::new(LintRule::ModuleReadme, place, "tables", format!("`{file}`: {what}")))
}

/// Returns the words of a README that may be names; Markdown may put a backslash before a `_`.
fn words(text: &str) -> BTreeSet<String> {
    let plain = text.replace("\\_", "_");
    let is_in_name = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    let mut found = BTreeSet::new();
    for word in plain.split(|letter: char| !is_in_name(letter)).filter(|word| !word.is_empty()) {
        // `_name_` is a name that is stressed, `-name` one in a list.
        for trimmed in [word, word.trim_matches('-'), word.trim_matches('_'), word.trim_matches(['-', '_'])] {
            if !found.contains(trimmed) {
                found.insert(trimmed.to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_of_its_own() {
        let words = words("| `disk_size` | _count_, **name** host\\_name [`ip-v4`](x) - tags: sizes");

        for name in ["disk_size", "count", "name", "host_name", "ip-v4", "tags"] {
            assert!(words.contains(name), "{name}");
        }
        for name in ["size", "disk", "host", "ip"] {
            assert!(!words.contains(name), "{name}");
        }
    }
}
