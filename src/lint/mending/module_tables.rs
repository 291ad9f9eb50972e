//! The tables of a module's variables and outputs in its README, between two markers. All words around
//! them are a person's and stay, byte by byte.

use crate::lint::files::DeclarationKind;
use crate::lint::folder::{Folder, Merged};
use crate::lint::plaintext::{is_name_of_secret, may_hold_secrets};
use crate::syntax::Setting;

/// The lines around the tables.
const BEGIN: &str = "<!-- BEGIN_INFRA_TABLES: written by `infra lint --fix` -->";
const END: &str = "<!-- END_INFRA_TABLES -->";

/// What those lines begin with, whatever else a person wrote on them.
const BEGIN_MARK: &str = "<!-- BEGIN_INFRA_TABLES";
const END_MARK: &str = "<!-- END_INFRA_TABLES";

/// What another program writes between marks of its own.
const OF_TERRAFORM_DOCS: &str = "<!-- BEGIN_TF_DOCS -->";

/// How long a cell may be before it is cut.
const LONGEST: usize = 300;

/// The tables of a module.
#[derive(Debug)]
pub struct ModuleTables {
    inputs: Vec<Vec<String>>,
    outputs: Vec<Vec<String>>,
}

/// What is wrong with the tables that a README has.
#[derive(Debug, PartialEq)]
pub enum Staleness {
    /// They begin at this line, and would be written otherwise today.
    Old(usize),
    /// The markers make no sense.
    Broken(usize, &'static str),
}

impl ModuleTables {
    /// Makes the tables of a module.
    pub fn of(folder: &Folder<'_>) -> Self {
        let (mut variables, mut outputs) =
            (folder.declared(DeclarationKind::Variable), folder.declared(DeclarationKind::Output));
        for declared in [&mut variables, &mut outputs] {
            declared.sort_by(|one, other| one.block.name.cmp(&other.block.name));
            declared.dedup_by(|one, other| one.block.name == other.block.name);
        }
        Self {
            inputs: variables.iter().map(|variable| input_row(variable)).collect(),
            outputs: outputs.iter().map(|output| output_row(output)).collect(),
        }
    }

    /// Returns the tables with their markers.
    pub fn marked(&self, line_end: &str) -> String {
        let mut lines = vec![BEGIN.to_owned(), String::new(), "## Inputs".to_owned(), String::new()];
        lines.extend(table(
            &["name", "description", "type", "default"],
            &self.inputs,
            "This module takes nothing.",
        ));
        lines.extend([String::new(), "## Outputs".to_owned(), String::new()]);
        lines.extend(table(&["name", "description"], &self.outputs, "This module gives nothing."));
        lines.extend([String::new(), END.to_owned()]);
        lines.into_iter().map(|line| line + line_end).collect()
    }

    /// Returns what is wrong with the tables of a README, if it has any.
    pub fn staleness(&self, readme: &str) -> Option<Staleness> {
        match marked_part(readme) {
            Marked::None => None,
            Marked::Broken(line, why) => Some(Staleness::Broken(line, why)),
            Marked::Part { start, end, line } => {
                let is_new = readme.get(start..end) == Some(self.marked(line_end_of(readme)).as_str());
                (!is_new).then_some(Staleness::Old(line))
            }
        }
    }

    /// Returns a README with these tables in the place of those it has, or at its end.
    pub fn renewed_in(&self, readme: &str) -> Result<String, String> {
        let line_end = line_end_of(readme);
        let marked = self.marked(line_end);
        match marked_part(readme) {
            Marked::Part { start, end, .. } => {
                let (before, after) = (readme.get(..start), readme.get(end..));
                Ok(format!("{}{marked}{}", before.unwrap_or_default(), after.unwrap_or_default()))
            }
            Marked::Broken(_, why) => Err(why.to_owned()),
            Marked::None if readme.contains(OF_TERRAFORM_DOCS) => {
                Err("its tables are written by terraform-docs: run that".to_owned())
            }
            Marked::None if readme.trim().is_empty() => Ok(marked),
            Marked::None => {
                let gap = match (readme.ends_with('\n'), readme.ends_with(&line_end.repeat(2))) {
                    (_, true) => String::new(),
                    (true, false) => line_end.to_owned(),
                    (false, false) => line_end.repeat(2),
                };
                Ok(format!("{readme}{gap}{marked}"))
            }
        }
    }
}

/// The part of a README that is infra's.
enum Marked {
    None,
    Part { start: usize, end: usize, line: usize },
    Broken(usize, &'static str),
}

fn marked_part(readme: &str) -> Marked {
    let (mut at, mut begin, mut found) = (0, None, Marked::None);
    for (index, line) in readme.split_inclusive('\n').enumerate() {
        let (start, number) = (at, index + 1);
        at += line.len();
        if line.trim_start().starts_with(BEGIN_MARK) {
            if begin.is_some() || !matches!(found, Marked::None) {
                return Marked::Broken(number, "the marker `BEGIN_INFRA_TABLES` is there twice");
            }
            begin = Some((start, number));
        } else if line.trim_start().starts_with(END_MARK) {
            let Some((start, line)) = begin.take() else {
                return Marked::Broken(number, "the marker `END_INFRA_TABLES` has no beginning");
            };
            found = Marked::Part { start, end: at, line };
        }
    }
    match begin {
        Some((_, line)) => Marked::Broken(line, "the marker `END_INFRA_TABLES` is missing"),
        None => found,
    }
}

fn line_end_of(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn table(headings: &[&str], rows: &[Vec<String>], nothing: &str) -> Vec<String> {
    if rows.is_empty() {
        return vec![nothing.to_owned()];
    }
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let heading = line(&headings.iter().map(|heading| (*heading).to_owned()).collect::<Vec<_>>());
    let rule = format!("|{}", "---|".repeat(headings.len()));
    [heading, rule].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

fn input_row(variable: &Merged<'_>) -> Vec<String> {
    let default = match (variable.has("default"), variable.value("default")) {
        (false, _) => "required".to_owned(),
        (true, None) => code("null"),
        (true, Some(value)) if is_shown(variable, value) => code(&written(value)),
        (true, Some(_)) => "not shown".to_owned(),
    };
    let kind = variable.value("type").map(type_words).map_or_else(|| "any".to_owned(), |kind| code(&kind));
    vec![code(&variable.block.name), description(variable), kind, default]
}

fn output_row(output: &Merged<'_>) -> Vec<String> {
    vec![code(&output.block.name), description(output)]
}

/// A default that may be a secret is not written into another file.
fn is_shown(variable: &Merged<'_>, value: &Setting) -> bool {
    let is_sensitive = variable.value("sensitive").is_some_and(|value| value.literal() != Some("false"));
    let is_harmless = matches!(value.literal(), Some("" | "true" | "false"));
    let name = &variable.block.name;
    !is_sensitive
        && (is_harmless
            || !is_name_of_secret(name) && !may_hold_secrets(name) && !may_hold_secrets(&written(value)))
}

fn written(value: &Setting) -> String {
    match value {
        Setting::Literal(text) if is_bare(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Numbers and truth values are read without quotes; a text that looks like one loses them here, which
/// changes nothing for whoever reads it.
fn is_bare(text: &str) -> bool {
    matches!(text, "true" | "false") || !text.is_empty() && text.parse::<f64>().is_ok()
}

/// In the JSON form a type is a text.
fn type_words(kind: &Setting) -> String {
    match kind {
        Setting::Literal(text) | Setting::Expression(text) => text.clone(),
        Setting::Map(_) => kind.to_string(),
    }
}

fn description(of: &Merged<'_>) -> String {
    let text = match of.value("description") {
        Some(Setting::Literal(text) | Setting::Expression(text)) => text.as_str(),
        Some(Setting::Map(_)) | None => "",
    };
    let escaped = one_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('\\', "\\\\").replace('|', "\\|")
}

/// Returns a text as code in a cell: between more backticks than stand in it.
fn code(text: &str) -> String {
    let line = one_line(text).replace('|', "\\|");
    let longest = line.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let gap = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{line}{gap}{fence}")
}

/// Returns a text on one line, without what would turn or hide it, and cut where it is very long.
fn one_line(text: &str) -> String {
    let visible = |letter: &char| !letter.is_control() && !crate::model::turns_text(*letter);
    let words = text.split_whitespace().map(|word| word.chars().filter(visible).collect::<String>());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(description: &str) -> ModuleTables {
        let row = vec![code("size"), description.to_owned(), code("number"), "required".to_owned()];
        ModuleTables { inputs: vec![row], outputs: Vec::new() }
    }

    #[test]
    fn tables_go_to_the_end_and_are_renewed_in_their_place() {
        let first = tables("old").renewed_in("# vm\n\nWords.").expect("a README");
        let edited = format!("{first}\nMore words.\n");
        let second = tables("new").renewed_in(&edited).expect("a README");

        assert!(first.starts_with("# vm\n\nWords.\n\n<!-- BEGIN") && first.ends_with("-->\n"), "{first}");
        assert_eq!(second, edited.replace("| old |", "| new |"));
        assert_eq!(tables("new").renewed_in(&second).as_ref(), Ok(&second));
        assert_eq!(tables("new").staleness(&second), None);
        assert_eq!(tables("x").staleness(&second), Some(Staleness::Old(5)));
        assert_eq!(tables("x").staleness("# vm\n"), None);
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        let text = tables("a").renewed_in("# vm\r\n\r\nWords.\r\n").expect("a README");

        assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
        assert_eq!(tables("a").staleness(&text), None);
    }

    #[test]
    fn markers_that_make_no_sense_stop_the_pen() {
        for text in [
            "<!-- BEGIN_INFRA_TABLES -->\nx\n",
            "x\n<!-- END_INFRA_TABLES -->\n",
            "<!-- BEGIN_INFRA_TABLES -->\n<!-- BEGIN_INFRA_TABLES -->\n<!-- END_INFRA_TABLES -->\n",
            "# vm\n<!-- BEGIN_TF_DOCS -->\n<!-- END_TF_DOCS -->\n",
        ] {
            assert!(tables("a").renewed_in(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_cell_breaks_its_table() {
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("list(object({\n  a = string\n}))"), "`list(object({ a = string }))`");
        assert_eq!(code("`x"), "`` `x ``");
        assert_eq!(one_line("a\n\n<b>\u{202e} c"), "a <b> c");
        assert_eq!(one_line(&"x".repeat(400)).chars().count(), LONGEST + 1);
    }
}
