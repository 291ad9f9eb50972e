//! The first lines of files that a module lacks, formatted as `tofu fmt` does.

use super::module_tables::ModuleTables;

/// Returns a README that a person goes on with.
pub fn readme(module: &str, tables: &ModuleTables) -> String {
    let name = module.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("module");
    let name: String = name.chars().filter(|letter| !letter.is_control()).collect();
    format!("# {name}\n\nSay here what this module makes, and when to use it.\n\n{}", tables.marked("\n"))
}

/// Returns a file of OpenTofu with nothing in it but a comment.
pub fn tofu_file(name: &str) -> String {
    let what = match name {
        "variables.tf" => "What this module takes.",
        "outputs.tf" => "What this module gives.",
        _ => "What this module makes.",
    };
    format!("# {what}\n")
}
