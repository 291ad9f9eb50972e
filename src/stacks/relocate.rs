//! What changes in a file of a stack when the stack is copied to another folder: the state that
//! its backend names, and the paths of modules outside of it. Everything else, comments and layout
//! too, stays. Text in, text out. Begin at [`relocate`].

use std::path::Path;

use hcl_edit::Decorate as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{AttributeMut, Block, BlockLabel, Body};

use super::state_key::{StateKey, renamed};
use crate::error::{Error, Result};
use crate::model::{Stack, StackId, without_dots};

/// A copy of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Relocation<'a> {
    /// The stack that is copied.
    pub from: &'a Stack,
    /// The copy's id.
    pub to: &'a StackId,
    /// The copy's folder, relative to the project's root.
    pub path: &'a Path,
}

/// Returns the text of a file as the copy needs it.
pub fn relocate(text: &str, file: &Path, relocation: Relocation<'_>) -> Result<String> {
    let mut body = hcl_edit::parser::parse_body(text).map_err(|error| unreadable(file, &error))?;
    for block in body.blocks_mut() {
        match block.ident.as_str() {
            "terraform" => relocate_state(&mut block.body, relocation),
            "module" => relocate_source(block, relocation),
            _ => {}
        }
    }
    Ok(body.to_string())
}

fn unreadable(file: &Path, error: &hcl_edit::parser::Error) -> Error {
    let (line, column) = (error.location().line(), error.location().column());
    let place = format!("{}:{line}:{column}", file.display());
    Error::invalid(format!("`{}` is not valid HCL", file.display())).at(place).detail(error.message())
}

fn relocate_state(terraform: &mut Body, relocation: Relocation<'_>) {
    for block in terraform.blocks_mut() {
        let kind = match (block.ident.as_str(), block.labels.first().map(BlockLabel::as_str)) {
            ("backend", Some(kind)) => kind.to_owned(),
            ("cloud", None) => "remote".to_owned(),
            _ => continue,
        };
        match kind.as_str() {
            "http" => relocate_addresses(&mut block.body, relocation),
            "remote" => {
                for workspaces in block.body.get_blocks_mut("workspaces") {
                    rename(&mut workspaces.body, "name", StateKey::Name, relocation);
                }
            }
            "kubernetes" => rename(&mut block.body, "secret_suffix", StateKey::Name, relocation),
            "pg" => rename(&mut block.body, "schema_name", StateKey::Name, relocation),
            "local" | "consul" => rename(&mut block.body, "path", StateKey::Path, relocation),
            "gcs" | "oss" => rename(&mut block.body, "prefix", StateKey::Path, relocation),
            _ => rename(&mut block.body, "key", StateKey::Path, relocation),
        }
    }
}

/// The addresses of locks follow that of the state.
fn relocate_addresses(backend: &mut Body, relocation: Relocation<'_>) {
    let Some(old) = backend.get_attribute("address").and_then(|address| address.value.as_str()) else {
        return;
    };
    let old = old.to_owned();
    let new = renamed(&old, StateKey::Path, &relocation.from.id, relocation.to);
    for name in ["address", "lock_address", "unlock_address"] {
        let Some(mut attribute) = backend.get_attribute_mut(name) else { continue };
        let rest = attribute.get().value.as_str().and_then(|text| text.strip_prefix(&old)).map(str::to_owned);
        if let Some(rest) = rest {
            set(&mut attribute, format!("{new}{rest}"));
        }
    }
}

fn rename(body: &mut Body, name: &str, kind: StateKey, relocation: Relocation<'_>) {
    let Some(mut attribute) = body.get_attribute_mut(name) else { return };
    let Some(old) = attribute.get().value.as_str().map(str::to_owned) else { return };
    set(&mut attribute, renamed(&old, kind, &relocation.from.id, relocation.to));
}

/// Writes the path of a module outside of the stack as the copy sees it.
fn relocate_source(module: &mut Block, relocation: Relocation<'_>) {
    let Some(mut attribute) = module.body.get_attribute_mut("source") else { return };
    let Some(source) = attribute.get().value.as_str().filter(|source| source.starts_with("../")) else {
        return;
    };
    let target = without_dots(&relocation.from.path.join(source));
    set(&mut attribute, relative(&without_dots(relocation.path), &target));
}

/// Replaces a value; the space and the comments around it stay.
fn set(attribute: &mut AttributeMut<'_>, text: String) {
    let value = attribute.value_mut();
    let decor = value.decor().clone();
    *value = Expression::from(text).decorated(decor);
}

/// Returns the way from one folder to another, both relative to the same place.
pub(super) fn relative(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    let down = to[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let way = up.chain(down).collect::<Vec<_>>().join("/");
    if way.starts_with("..") { way } else { format!("./{way}") }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::sample::stack;
    use super::*;

    fn moved(text: &str, from: &str, to: &str) -> String {
        let from = Stack { path: PathBuf::from("infrastructure").join(from), ..stack(from, &[]) };
        let (id, path) = (StackId::new(to), PathBuf::from("infrastructure").join(to));
        let relocation = Relocation { from: &from, to: &id, path: &path };
        relocate(text, Path::new("main.tf"), relocation).expect("valid text")
    }

    #[test]
    fn a_copied_s3_state_gets_a_key_of_its_own_and_comments_stay() {
        let text = "terraform {\n  backend \"s3\" {\n    bucket = \"b\" # ours\n    key    = \"onprem/a.tfstate\" # unique\n  }\n}\n";

        let moved = moved(text, "onprem/a", "onprem/c");

        assert_eq!(moved, text.replace("onprem/a.", "onprem/c."));
    }

    #[test]
    fn the_addresses_of_locks_follow_the_state() {
        let text = r#"terraform {
  backend "http" {
    address        = "https://x.test/states/proxmox"
    lock_address   = "https://x.test/states/proxmox/lock"
    unlock_address = "https://x.test/states/proxmox/lock"
    lock_method    = "LOCK"
  }
}
"#;

        let moved = moved(text, "proxmox", "proxmox2");

        assert_eq!(moved, text.replace("states/proxmox", "states/proxmox2"));
    }

    #[test]
    fn workspaces_and_secrets_are_named_without_slashes() {
        let cloud = "terraform {\n  cloud {\n    workspaces {\n      name = \"dev-net\"\n    }\n  }\n}\n";
        let kubernetes = "terraform {\n  backend \"kubernetes\" {\n    secret_suffix = \"net\"\n  }\n}\n";

        assert!(moved(cloud, "dev/net", "prod/net").contains("name = \"prod-net\""));
        assert!(moved(kubernetes, "dev/net", "prod/net").contains("secret_suffix = \"prod-net\""));
    }

    #[test]
    fn modules_outside_are_found_from_the_new_folder() {
        let text =
            "module \"a\" {\n  source = \"../../modules/a\"\n}\nmodule \"b\" {\n  source = \"./b\"\n}\n";

        assert_eq!(moved(text, "01-x/a", "01-x/b"), text);
        assert_eq!(moved(text, "01-x/a", "b"), text.replace("../../modules", "../modules"));
        assert_eq!(moved(text, "01-x/a", "01-x/y/b"), text.replace("../../modules", "../../../modules"));
    }

    #[test]
    fn a_value_that_is_computed_stays() {
        let text = "terraform {\n  backend \"s3\" {\n    key = \"${var.name}/a\"\n  }\n}\n";

        assert_eq!(moved(text, "a", "b"), text);
    }

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let from = stack("a", &[]);
        let id = StackId::new("b");
        let relocation = Relocation { from: &from, to: &id, path: Path::new("b") };

        let error = relocate("resource {", Path::new("a/main.tf"), relocation).expect_err("no HCL");

        assert!(error.to_string().contains("a/main.tf:1"), "{error}");
    }
}
