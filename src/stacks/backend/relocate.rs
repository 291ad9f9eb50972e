//! What changes in a file of a stack when the stack is copied to another folder: the state that
//! its backend names, and the paths of modules outside of it. Everything else, comments and layout
//! too, stays. Text in, text out. Begin at [`relocate`].

use std::ops::Range;
use std::path::Path;

use super::backend_block::quoted_text;
use super::state_key::{StateKey, renamed};
use crate::error::Result;
use crate::model::{Stack, StackId, without_dots};
use crate::syntax;
use crate::syntax::{Block, Body, Setting};

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
    let body = syntax::read_sound(text, file)?;
    let mut edits = Edits { text, relocation, found: Vec::new() };
    for block in &body.blocks {
        match block.kind {
            "terraform" => edits.state(&block.body),
            "module" => edits.source(block),
            _ => {}
        }
    }
    Ok(edits.applied())
}

/// What changes in a text.
struct Edits<'a> {
    text: &'a str,
    relocation: Relocation<'a>,
    found: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    fn state(&mut self, terraform: &Body<'_>) {
        for block in &terraform.blocks {
            let kind = match (block.kind, block.labels.first()) {
                ("backend", Some(kind)) => kind,
                ("cloud", None) => "remote",
                _ => continue,
            };
            match kind {
                "http" => self.addresses(&block.body),
                "remote" => {
                    for workspaces in block.body.blocks_of("workspaces") {
                        self.rename(&workspaces.body, "name", StateKey::Name);
                    }
                }
                "kubernetes" => self.rename(&block.body, "secret_suffix", StateKey::Name),
                "pg" => self.rename(&block.body, "schema_name", StateKey::Name),
                "local" | "consul" => self.rename(&block.body, "path", StateKey::Path),
                "gcs" | "oss" => self.rename(&block.body, "prefix", StateKey::Path),
                _ => self.rename(&block.body, "key", StateKey::Path),
            }
        }
    }

    /// The addresses of locks follow that of the state.
    fn addresses(&mut self, backend: &Body<'_>) {
        let Some((_, old)) = self.literal(backend, "address") else { return };
        let new = renamed(&old, StateKey::Path, &self.relocation.from.id, self.relocation.to);
        for name in ["address", "lock_address", "unlock_address"] {
            let Some((span, text)) = self.literal(backend, name) else { continue };
            if let Some(rest) = text.strip_prefix(&old) {
                self.set(span, &format!("{new}{rest}"));
            }
        }
    }

    fn rename(&mut self, body: &Body<'_>, name: &str, kind: StateKey) {
        let Some((span, old)) = self.literal(body, name) else { return };
        self.set(span, &renamed(&old, kind, &self.relocation.from.id, self.relocation.to));
    }

    /// Writes the path of a module outside of the stack as the copy sees it.
    fn source(&mut self, module: &Block<'_>) {
        let Some((span, source)) = self.literal(&module.body, "source") else { return };
        if source.starts_with("../") {
            let target = without_dots(&self.relocation.from.path.join(source));
            self.set(span, &relative(&without_dots(self.relocation.path), &target));
        }
    }

    /// Returns an argument that is a text as it stands, and where.
    fn literal(&self, body: &Body<'_>, name: &str) -> Option<(Range<usize>, String)> {
        let span = body.attribute(name)?.value.clone();
        match syntax::value(self.text, &span)? {
            Setting::Literal(text) if self.text.get(span.clone())?.starts_with('"') => Some((span, text)),
            Setting::Literal(_) | Setting::Map(_) | Setting::Expression(_) => None,
        }
    }

    fn set(&mut self, span: Range<usize>, text: &str) {
        self.found.push((span, quoted_text(text)));
    }

    /// Returns the text with every change; the rest stays.
    fn applied(mut self) -> String {
        self.found.sort_by_key(|(span, _)| span.start);
        let mut text = self.text.to_owned();
        for (span, new) in self.found.into_iter().rev() {
            text.replace_range(span, &new);
        }
        text
    }
}

/// Returns the way from one folder to another, both relative to the same place.
pub(in crate::stacks) fn relative(from: &Path, to: &Path) -> String {
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

    use super::*;
    use crate::stacks::sample::stack;

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
