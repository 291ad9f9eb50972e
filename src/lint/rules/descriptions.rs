//! `variable-type`, `variable-description`, `output-description`: a module says what it takes and gives.

use crate::lint::files::DeclarationKind;
use crate::lint::finding::Finding;
use crate::lint::folder::{Folder, Merged};
use crate::model::LintRule;
use crate::syntax::Setting;

/// Judges the variables and outputs of a module.
pub fn descriptions(folder: &Folder<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for variable in folder.declared(DeclarationKind::Variable) {
        let name = &variable.block.name;
        if !variable.has("type") {
            let message = format!("variable `{name}` has no type, such as `type = string`");
            found.push(finding(LintRule::VariableType, &variable, message));
        }
        if !is_described(&variable) {
            let message = format!("variable `{name}` has no description: say what it is for");
            found.push(finding(LintRule::VariableDescription, &variable, message));
        }
    }
    for output in folder.declared(DeclarationKind::Output).iter().filter(|output| !is_described(output)) {
        let message = format!("output `{}` has no description: say what it holds", output.block.name);
        found.push(finding(LintRule::OutputDescription, output, message));
    }
    found
}

fn finding(rule: LintRule, of: &Merged<'_>, message: String) -> Finding {
    Finding::new(rule, of.place.clone(), of.block.subject(), message)
}

/// Returns whether there is a description that says anything.
fn is_described(of: &Merged<'_>) -> bool {
    match of.value("description") {
        Some(Setting::Literal(text)) => !text.trim().is_empty(),
        Some(Setting::Expression(_) | Setting::Map(_)) => true,
        None => false,
    }
}
