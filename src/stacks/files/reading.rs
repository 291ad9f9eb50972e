//! Reads the OpenTofu files of a folder into facts, each file once. A file that makes no sense
//! tells what can be found in it, and OpenTofu judges; one that cannot be opened is a problem of
//! its folder, never an error of the whole. Begin at [`read_folders`].

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use super::facts::{Facts, Unread};
use super::folder::Folder;
use super::tofu_files::is_json;
use super::tree::Tree;
use super::{hcl, json};
use crate::model::Fingerprint;
use crate::syntax;
use crate::syntax::{Fault, line_and_column};

/// How many folders make another thread worth its start.
const FOLDERS_PER_THREAD: usize = 16;

/// What somebody reads files for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Wanted {
    /// Everything in them.
    Facts,
    /// Only which modules they use: most files use none, and are not parsed.
    Modules,
}

/// Returns whether a file may have a module block; JSON may write it with escapes.
fn names_modules(bytes: &[u8]) -> bool {
    bytes.windows(6).any(|word| word == b"module") || bytes.contains(&b'\\')
}

/// Reads many folders, in their order, on as many cores as that takes: parsing is what discovery costs.
pub fn read_folders(tree: &dyn Tree, base: &Path, folders: &[&Folder], wanted: Wanted) -> Vec<Facts> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(folders.len() / FOLDERS_PER_THREAD);
    if threads < 2 {
        return folders.iter().map(|folder| read_folder(tree, base, folder, wanted)).collect();
    }
    let read = |part: &[&Folder]| {
        part.iter().map(|folder| read_folder(tree, base, folder, wanted)).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let parts = folders.chunks(folders.len().div_ceil(threads));
        let running = parts.map(|part| scope.spawn(move || read(part))).collect::<Vec<_>>();
        running
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Reads every file of a folder; names in problems are relative to `base`.
pub fn read_folder(tree: &dyn Tree, base: &Path, folder: &Folder, wanted: Wanted) -> Facts {
    let mut facts = Facts::default();
    for name in &folder.files {
        let path = folder.path.join(name);
        let shown = path.strip_prefix(base).unwrap_or(&path).display().to_string();
        match tree.content(&path) {
            Ok(bytes) if wanted == Wanted::Modules && !names_modules(&bytes) => {}
            Ok(bytes) => read_into(&bytes, &shown, &mut facts),
            Err(reason) => facts.problems.push(format!("{shown}: {reason}")),
        }
    }
    facts
}

fn read_into(bytes: &[u8], shown: &str, facts: &mut Facts) {
    let whole = String::from_utf8_lossy(bytes);
    let text = whole.strip_prefix('\u{feff}').unwrap_or(&whole);
    if text.starts_with("$ANSIBLE_VAULT;") {
        let what = "encrypted with Ansible Vault, which OpenTofu cannot read";
        facts.problems.push(format!("{shown}:1:1: {what}"));
        return;
    }
    let read = if is_json(shown) { json::read } else { hcl::read };
    // OpenTofu wants UTF-8 everywhere but in comments.
    let is_foreign = matches!(whole, Cow::Owned(_));
    let foreign = || syntax::outside_comments(text, '\u{fffd}').filter(|_| is_foreign);
    let foreign = || foreign().map(|at| Fault { at, what: "not UTF-8 text" });
    if let Some(fault) = read(text, shown, facts).or_else(foreign) {
        let (line, column) = line_and_column(text, fault.at);
        let note = format!("{shown}:{line}:{column}: infra cannot read this: {}", fault.what);
        facts.unread.push(Unread { note, digest: Fingerprint::of([bytes]) });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::tree::Disk;
    use super::*;

    /// Reads one file of the given name and text.
    fn facts(name: &str, text: impl AsRef<[u8]>) -> Facts {
        let temp = tempfile::tempdir().expect("a temp folder");
        fs::write(temp.path().join(name), text).expect("a file");
        read_folder(&Disk, temp.path(), &Folder::list(temp.path()).expect("a listing"), Wanted::Facts)
    }

    const NATIVE: &str = r#"
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox", version = "~> 0.80" }
  }
  backend "s3" {
    bucket    = "states"
    key       = "${var.name}.tfstate"
    endpoints = { s3 = "https://r2" }
  }
}
output "id" {
  value = 1
}
variable "name" {}
provider "proxmox" {}
module "vm" {
  source = "./vm"
}
resource "proxmox_vm" "a" {}
resource "aws_vpc" "b" { provider = cloud.west }
ephemeral "vault_token" "t" {}
check "up" {
  data "http" "probe" {}
}
"#;

    const JSON: &str = r#"{
"//": "a comment",
"terraform": [{
  "required_providers": {"proxmox": {"source": "bpg/proxmox", "version": "~> 0.80"}},
  "backend": {"s3": {"bucket": "states", "key": "${var.name}.tfstate", "endpoints": {"s3": "https://r2"}}}
}],
"variable": {"name": {}},
"output": {"id": {"value": 1}},
"provider": {"proxmox": [{}]},
"module": {"vm": {"source": "./vm"}},
"resource": {"proxmox_vm": {"a": {}}, "aws_vpc": {"b": {"provider": "cloud.west"}}},
"ephemeral": {"vault_token": {"t": {}}},
"check": {"up": {"data": {"http": {"probe": {}}}}}
}"#;

    #[test]
    fn both_forms_of_the_language_tell_the_same_facts() {
        let native = facts("main.tf", NATIVE);
        let json = facts("main.tf.json", JSON);

        assert_eq!((notes(&native), notes(&json)), (vec![], vec![]));
        assert_eq!(native.variables, json.variables);
        assert_eq!(native.outputs, json.outputs);
        assert_eq!(native.resources, BTreeSet::from(["aws_vpc.b".to_owned(), "proxmox_vm.a".to_owned()]));
        assert_eq!(native.resources, json.resources);
        assert_eq!(native.init_lines("."), json.init_lines("."));
    }

    #[test]
    fn init_depends_on_backend_providers_and_modules() {
        let lines = facts("main.tf", NATIVE).init_lines(".");

        assert_eq!(
            lines[0],
            r#".: backend s3 bucket="states" endpoints={s3="https://r2"} key="${var.name}.tfstate""#
        );
        assert_eq!(lines[1], r#".: provider proxmox {source="bpg/proxmox" version="~> 0.80"}"#);
        assert_eq!(lines[2..5], [".: provider cloud", ".: provider http", ".: provider vault"]);
        assert_eq!(lines[5], r#".: module vm source="./vm" version="#);
    }

    #[test]
    fn comments_and_layout_do_not_change_what_init_depends_on() {
        let roomy = facts("main.tf", "# one\nmodule \"a\" {\n  # two\n  source   = \"./a\" # three\n}\n");
        let tight = facts("main.tf", "module \"a\" { source=\"./a\" }");

        assert_eq!(roomy.init_lines("."), tight.init_lines("."));
    }

    #[test]
    fn a_byte_order_mark_and_dos_line_ends_are_read() {
        let facts = facts(
            "main.tf",
            "\u{feff}variable \"a\" {\r\n  type = string\r\n}\r\n\r\nmodule \"m\" {\r\n  source = \"./m\"\r\n}\r\n",
        );

        assert_eq!(notes(&facts), [""; 0]);
        assert!(facts.variables.contains("a"));
        assert_eq!(facts.modules["m"].place, "main.tf:6");
    }

    fn notes(facts: &Facts) -> Vec<&str> {
        facts.unread.iter().map(|unread| unread.note.as_str()).collect()
    }

    #[test]
    fn a_file_that_makes_no_sense_is_told_with_its_place_and_read_around_it() {
        let broken = "variable \"a\" {}\nresource \"x\" \"y\" {{\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n";
        let native = facts("main.tf", broken);
        let json = facts("main.tf.json", "{\"output\": {\"o\": {}},\n  \"variable\": [}");

        assert_eq!(notes(&native), ["main.tf:2:19: infra cannot read this: expected a block or an argument"]);
        assert_eq!((native.variables.len(), native.modules["m"].local_source()), (1, Some("./m")));
        assert_eq!(notes(&json), ["main.tf.json:2:16: infra cannot read this: expected a value"]);
        assert_eq!(json.outputs.len(), 1);
        assert_eq!((native.problems.len(), json.problems.len()), (0, 0), "OpenTofu judges");
    }

    #[test]
    fn init_depends_on_every_letter_of_what_cannot_be_read() {
        let lines = |text: &str| facts("main.tf", text).init_lines(".");

        assert_ne!(lines("a {{\n"), lines("a {{ \n"));
        assert_eq!(lines("a {{\n"), lines("a {{\n"));
    }

    #[test]
    fn an_encrypted_file_is_named_as_such() {
        let vault = facts("main.tf", "$ANSIBLE_VAULT;1.1;AES256\n6162\n").problems;

        assert_eq!(vault, ["main.tf:1:1: encrypted with Ansible Vault, which OpenTofu cannot read"]);
    }

    #[test]
    fn letters_that_are_not_utf_8_may_stand_in_comments_only() {
        let comment = facts("main.tf", b"# caf\xe9\nvariable \"a\" {} /* \xff */ // \xfe\n");
        let text = facts("main.tf", b"variable \"a\" {}\nlocals {\n  b = \"caf\xe9\"\n}\n");

        assert_eq!((notes(&comment), comment.variables.len()), (vec![], 1));
        assert_eq!(notes(&text), ["main.tf:3:11: infra cannot read this: not UTF-8 text"]);
        assert_eq!(text.variables.len(), 1);
    }

    #[test]
    fn a_file_that_nests_without_end_is_read() {
        let deep = format!("locals {{\n  a = {}{}\n}}\n", "[".repeat(20_000), "]".repeat(20_000));
        let blocks = format!("{}{}", "a {\n".repeat(20_000), "}\n".repeat(20_000));
        let json = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));

        for (name, text) in [("main.tf", deep), ("main.tf", blocks), ("main.tf.json", json)] {
            assert_eq!(notes(&facts(name, text)), [""; 0]);
        }
    }

    #[test]
    fn an_override_changes_only_what_it_names() {
        let temp = tempfile::tempdir().expect("a temp folder");
        let base = "module \"m\" {\n  source = \"./gone\"\n  version = \"1\"\n}\nterraform {\n backend \"s3\" {}\n}\n";
        fs::write(temp.path().join("main.tf"), base).expect("a file");
        let over = "module \"m\" {\n  source = \"./here\"\n}\nterraform {\n backend \"local\" {}\n}\n";
        fs::write(temp.path().join("a_override.tf"), over).expect("a file");

        let facts =
            read_folder(&Disk, temp.path(), &Folder::list(temp.path()).expect("a listing"), Wanted::Facts);

        assert_eq!(facts.modules["m"].local_source(), Some("./here"));
        assert!(facts.modules["m"].version.is_some());
        assert_eq!(facts.backend.expect("a backend").kind, "local");
    }
}
