//! What to do where a project has no stacks yet: who makes them there.

use super::project_root::{is_empty_folder, new_command};
use crate::commands::Context;
use crate::commands::setup::has_templates;
use crate::model::{Project, counted};
use crate::stacks::{FETCH_SUBMODULES, missing_submodules, shortened, terragrunt_units};

/// Returns how to get to stacks, for a project without any.
pub fn how_to_get_stacks(project: &Project, context: &Context) -> String {
    let root = &project.root;
    let submodules: Vec<String> = missing_submodules(root).into_iter().map(|one| one.name).collect();
    match terragrunt_units(root) {
        0 if has_templates(project).unwrap_or_default() => {
            "its templates are not rendered yet: `infra configure`".to_owned()
        }
        0 if root.join("cdktf.json").is_file() => {
            "CDKTF writes them into `cdktf.out/stacks`: `cdktf synth`".to_owned()
        }
        0 if !submodules.is_empty() => {
            format!("not checked out: {}; `{FETCH_SUBMODULES}`", shortened(&submodules))
        }
        0 if is_empty_folder(root) => {
            format!("make a project from an example: `{}`", new_command(root, context))
        }
        0 => {
            "a stack is a folder with `.tf` or `.tofu` files, for example below `infrastructure/`".to_owned()
        }
        units => format!("{} of Terragrunt are here, which infra does not run", counted(units, "unit")),
    }
}
