//! Reads the OpenTofu files of a folder into facts, each file once. A file that cannot be
//! read is a problem of its folder, never an error of the whole. Begin at [`read_folders`].

use std::fs;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use super::facts::Facts;
use super::files::is_json;
use super::folder::Folder;
use super::{hcl, json};

/// How many folders make another thread worth its start.
const FOLDERS_PER_THREAD: usize = 16;

/// Reads many folders, in their order, on as many cores as that takes: parsing is what discovery costs.
pub fn read_folders(base: &Path, folders: &[&Folder]) -> Vec<Facts> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(folders.len() / FOLDERS_PER_THREAD);
    if threads < 2 {
        return folders.iter().map(|folder| read_folder(base, folder)).collect();
    }
    let read = |part: &[&Folder]| part.iter().map(|folder| read_folder(base, folder)).collect::<Vec<_>>();
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
pub fn read_folder(base: &Path, folder: &Folder) -> Facts {
    let mut facts = Facts::default();
    for name in &folder.files {
        let path = folder.path.join(name);
        let shown = path.strip_prefix(base).unwrap_or(&path).display().to_string();
        match read_text(&path) {
            Ok(text) => read_text_into(&text, &shown, &mut facts),
            Err(reason) => facts.problems.push(format!("{shown}: {reason}")),
        }
    }
    facts
}

fn read_text_into(text: &str, shown: &str, facts: &mut Facts) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.starts_with("$ANSIBLE_VAULT;") {
        let what = "encrypted with Ansible Vault, which OpenTofu cannot read";
        facts.problems.push(format!("{shown}:1:1: {what}"));
    } else if is_json(shown) {
        json::read(text, shown, facts);
    } else {
        hcl::read(text, shown, facts);
    }
}

/// Returns the text of a file, or why there is none.
fn read_text(path: &Path) -> Result<String, String> {
    // A pipe or a device would block or never end.
    let found = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !found.is_file() {
        return Err("not a regular file".to_owned());
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = valid.filter(|byte| **byte == b'\n').count() + 1;
        format!("not UTF-8 text (line {line})")
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    match fs::read_link(path) {
        Ok(target) => format!("link to `{}` leads nowhere: {error}", target.display()),
        Err(_) => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Reads one file of the given name and text.
    fn facts(name: &str, text: impl AsRef<[u8]>) -> Facts {
        let temp = tempfile::tempdir().expect("a temp folder");
        fs::write(temp.path().join(name), text).expect("a file");
        read_folder(temp.path(), &Folder::list(temp.path()).expect("a listing"))
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

        assert_eq!(native.problems, [""; 0]);
        assert_eq!(json.problems, [""; 0]);
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

        assert_eq!(facts.problems, [""; 0]);
        assert!(facts.variables.contains("a"));
        assert_eq!(facts.modules["m"].place, "main.tf:6");
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_problem_with_its_place() {
        let native = facts("main.tf", "variable \"a\" {}\nresource \"x\" {{\n").problems;
        let json = facts("main.tf.json", "{\n  \"variable\": [}").problems;

        assert!(native[0].starts_with("main.tf:2:"), "{native:?}");
        assert!(json[0].starts_with("main.tf.json:2:16: not valid JSON"), "{json:?}");
    }

    #[test]
    fn encrypted_and_binary_files_are_named_as_such() {
        let vault = facts("main.tf", "$ANSIBLE_VAULT;1.1;AES256\n6162\n").problems;
        let binary = facts("main.tf", b"a = 1\n\xff\xfe").problems;

        assert_eq!(vault, ["main.tf:1:1: encrypted with Ansible Vault, which OpenTofu cannot read"]);
        assert_eq!(binary, ["main.tf: not UTF-8 text (line 2)"]);
    }

    #[test]
    fn a_file_that_nests_without_end_is_a_problem_and_no_crash() {
        let deep = format!("locals {{\n  a = {}{}\n}}\n", "[".repeat(20_000), "]".repeat(20_000));
        let blocks = format!("{}{}", "a {\n".repeat(20_000), "}\n".repeat(20_000));
        let json = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));

        assert_eq!(facts("main.tf", deep).problems.len(), 1);
        assert_eq!(facts("main.tf", blocks).problems.len(), 1);
        assert_eq!(facts("main.tf.json", json).problems.len(), 1);
    }

    #[test]
    fn an_override_changes_only_what_it_names() {
        let temp = tempfile::tempdir().expect("a temp folder");
        let base = "module \"m\" {\n  source = \"./gone\"\n  version = \"1\"\n}\nterraform {\n backend \"s3\" {}\n}\n";
        fs::write(temp.path().join("main.tf"), base).expect("a file");
        let over = "module \"m\" {\n  source = \"./here\"\n}\nterraform {\n backend \"local\" {}\n}\n";
        fs::write(temp.path().join("a_override.tf"), over).expect("a file");

        let facts = read_folder(temp.path(), &Folder::list(temp.path()).expect("a listing"));

        assert_eq!(facts.modules["m"].local_source(), Some("./here"));
        assert!(facts.modules["m"].version.is_some());
        assert_eq!(facts.backend.expect("a backend").kind, "local");
    }
}
