//! Whole layouts of files and the stacks that are found in them.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use infra::error::{Error, Kind};
use infra::model::{Backend, Stack, StackId};
use infra::project::load;
use infra::stacks::{self, Discovery, discover, shared_states};

/// A project folder that is built file by file.
struct Tree {
    temp: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        Self { temp: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    fn file(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Makes a stack with an empty http backend.
    fn stack(self, folder: &str) -> Self {
        self.file(&format!("{folder}/main.tf"), "terraform {\n  backend \"http\" {}\n}\n")
    }

    /// Makes a folder with a module block for each source.
    fn using(self, folder: &str, sources: &[&str]) -> Self {
        let blocks = sources
            .iter()
            .enumerate()
            .map(|(n, source)| format!("module \"m{n}\" {{\n  source = \"{source}\"\n}}\n"));
        self.file(&format!("{folder}/modules.tf"), &blocks.collect::<String>())
    }

    fn link(self, name: &str, target: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    fn found(&self) -> Discovery {
        discover(&load(self.temp.path()).unwrap()).unwrap()
    }

    fn refused(&self) -> Error {
        discover(&load(self.temp.path()).unwrap()).unwrap_err()
    }

    fn ids(&self) -> Vec<String> {
        self.found().stacks.iter().map(|stack| stack.id.to_string()).collect()
    }

    fn stack_called(&self, id: &str) -> Stack {
        self.found().stacks.into_iter().find(|stack| stack.id.as_str() == id).unwrap()
    }
}

fn names(ids: impl IntoIterator<Item = impl ToString>) -> Vec<String> {
    ids.into_iter().map(|id| id.to_string()).collect()
}

fn paths(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn layered_infrastructure_is_found_with_its_modules() {
    let tree = Tree::new()
        .stack("infrastructure/01-hypervisors/01-bootstrap_cluster")
        .stack("infrastructure/01-hypervisors/02-srv01")
        .stack("infrastructure/02-platforms/k8s-prod")
        .using("infrastructure/02-platforms/k8s-prod", &["../../modules/talos_cluster"])
        .using("infrastructure/modules/talos_cluster", &["../vm"])
        .file("infrastructure/modules/vm/main.tf", "")
        .file("infrastructure/03-legacy/.keep", "");

    assert_eq!(
        tree.ids(),
        ["01-hypervisors/01-bootstrap_cluster", "01-hypervisors/02-srv01", "02-platforms/k8s-prod"]
    );
    let k8s = tree.stack_called("02-platforms/k8s-prod");
    assert_eq!(k8s.path, Path::new("infrastructure/02-platforms/k8s-prod"));
    assert_eq!(paths(&k8s.modules), ["infrastructure/modules/talos_cluster", "infrastructure/modules/vm"]);
    assert_eq!(k8s.backend, Backend::Embedded);
    assert_eq!(tree.found().notes, [""; 0]);
}

#[test]
fn stacks_below_tofu_are_found_at_any_depth() {
    let tree = Tree::new()
        .stack("tofu/stacks/onprem/proxmox_server_A_gpu")
        .using("tofu/stacks/onprem/proxmox_server_A_gpu", &["../../../modules/proxmox_vm"])
        .file("tofu/stacks/onprem/proxmox_server_A_gpu/vms.tfvars", "")
        .stack("tofu/stacks/cloud/aws_global")
        .file("tofu/modules/proxmox_vm/main.tf", "");

    assert_eq!(tree.ids(), ["cloud/aws_global", "onprem/proxmox_server_A_gpu"]);
    assert_eq!(paths(&tree.stack_called("onprem/proxmox_server_A_gpu").modules), ["tofu/modules/proxmox_vm"]);
    assert_eq!(tree.found().notes, [""; 0]);
}

#[test]
fn a_lone_folder_is_a_stack_called_dot() {
    let tree = Tree::new().stack(".").using(".", &["./modules/vm"]).file("modules/vm/main.tf", "");

    let stack = tree.stack_called(".");

    assert_eq!(tree.ids(), ["."]);
    assert_eq!(stack.path, Path::new("."));
    assert_eq!(paths(&stack.modules), ["modules/vm"]);
}

#[test]
fn a_stack_root_with_files_of_its_own_is_a_stack_beside_those_below() {
    let tree = Tree::new().stack("terraform").stack("terraform/dns");

    assert_eq!(tree.ids(), [".", "dns"]);
    assert_eq!(tree.stack_called(".").path, Path::new("terraform"));
}

#[test]
fn the_first_root_that_contains_a_stack_is_the_only_one() {
    let tree = Tree::new()
        .file("infrastructure/apps/kustomization.yaml", "")
        .file("infrastructure/modules/vm/main.tf", "")
        .stack("stacks/a")
        .stack("terraform/b")
        .stack("elsewhere/c");

    assert_eq!(tree.ids(), ["a"]);
    assert_eq!(
        tree.found().notes,
        ["OpenTofu files outside `stacks` are not listed: `elsewhere/c`, `terraform/b`"]
    );
}

#[test]
fn roots_that_infra_yaml_names_replace_the_conventional_ones() {
    let tree = Tree::new()
        .file("infra.yaml", "stacks:\n  roots: [live, live2, lvie]\n")
        .stack("infrastructure/a")
        .stack("live/b")
        .stack("live2/c");

    assert_eq!(tree.ids(), ["b", "c"]);
    assert_eq!(
        tree.found().notes,
        ["infra.yaml: the stack root `lvie` does not exist; did you mean `live`?"]
    );
}

#[test]
fn roots_that_overlap_or_use_each_other_list_each_stack_once() {
    let tree = Tree::new()
        .file("infra.yaml", "stacks:\n  roots: [live, live/02-b, shared]\n")
        .stack("live/02-b/app")
        .using("live/02-b/app", &["../../../shared/net"])
        .stack("shared/net")
        .stack("shared/dns");

    assert_eq!(tree.ids(), ["02-b/app", "dns"]);
}

#[test]
fn one_id_below_two_roots_is_an_error_that_names_both_folders() {
    let tree = Tree::new().file("infra.yaml", "stacks:\n  roots: [x, y]\n").stack("x/a").stack("y/a");

    let error = tree.refused();

    assert_eq!(error.kind(), Kind::Invalid);
    assert_eq!(error.message(), "two stacks have the id `a`");
    assert!(error.to_string().contains("x/a") && error.to_string().contains("y/a"), "{error}");
}

#[test]
fn module_folders_hidden_folders_and_tests_hold_no_stacks() {
    let tree = [
        "modules-v2/a",
        "shared_modules/b",
        "tests/c",
        ".hidden/d",
        "x/.terraform/modules/e",
        "node_modules/f",
    ]
    .iter()
    .fold(Tree::new().stack("x"), |tree, folder| tree.stack(folder));

    assert_eq!(tree.ids(), ["x"]);
}

#[test]
fn the_target_of_a_local_source_is_a_module_wherever_it_lies() {
    let tree = Tree::new()
        .stack("stacks/app")
        .using("stacks/app", &["./parts/vm", "../shared/net"])
        .file("stacks/app/parts/vm/main.tf", "")
        .stack("stacks/shared/net");

    assert_eq!(tree.ids(), ["app"]);
    assert_eq!(paths(&tree.stack_called("app").modules), ["stacks/app/parts/vm", "stacks/shared/net"]);
}

#[test]
fn a_source_in_tests_does_not_make_its_target_a_module() {
    let tree = Tree::new().stack("stacks/app").using("stacks/tests/e2e", &["../../app"]);

    assert_eq!(tree.ids(), ["app"]);
}

#[test]
fn modules_that_use_each_other_end_where_they_began() {
    let tree = Tree::new()
        .stack("stacks/app")
        .using("stacks/app", &["../modules/a"])
        .using("stacks/modules/a", &["../b", "./"])
        .using("stacks/modules/b", &["../a"]);

    assert_eq!(paths(&tree.stack_called("app").modules), ["stacks/modules/a", "stacks/modules/b"]);
}

#[test]
fn a_source_that_leads_nowhere_is_a_warning_with_file_and_line() {
    let tree = Tree::new().stack("stacks/app").using("stacks/app", &["../modules/gone", "hashicorp/x/aws"]);

    let stack = tree.stack_called("app");

    assert_eq!(stack.warnings, ["stacks/app/modules.tf:2: module `m0` leads nowhere: `../modules/gone`"]);
    assert_eq!(stack.problems, [""; 0]);
}

#[test]
fn a_folder_of_shared_snippets_is_no_stack_and_its_links_are_read() {
    let tree = Tree::new()
        .file("stacks/shared/backend.tf", "terraform {\n  backend \"http\" {}\n}\n")
        .file("stacks/a/main.tf", "variable \"x\" {}\n")
        .link("stacks/a/backend.tf", "../shared/backend.tf")
        .link("stacks/b/backend.tf", "../shared/backend.tf");

    assert_eq!(tree.ids(), ["a", "b"]);
    assert_eq!(tree.stack_called("a").backend, Backend::Embedded);
}

#[test]
fn a_folder_with_one_file_that_nobody_links_stays_a_stack() {
    let tree = Tree::new()
        .stack("stacks/a")
        .file("stacks/a/shared.tf", "")
        .link("stacks/b/shared.tf", "../a/shared.tf");

    assert_eq!(tree.ids(), ["a", "b"]);
}

#[test]
fn links_to_folders_are_not_entered() {
    let tree = Tree::new().stack("stacks/a").link("stacks/again", "a").link("stacks/a/loop", "..");

    assert_eq!(tree.ids(), ["a"]);
}

#[test]
fn dangling_links_and_rings_are_problems_of_their_stack_only() {
    let tree = Tree::new()
        .stack("stacks/a")
        .link("stacks/a/gone.tf", "../nowhere.tf")
        .link("stacks/b/ring.tf", "ring.tf")
        .stack("stacks/c");

    assert_eq!(tree.ids(), ["a", "b", "c"]);
    let problem = &tree.stack_called("a").problems[0];
    assert!(problem.starts_with("stacks/a/gone.tf: link to `../nowhere.tf` leads nowhere"), "{problem}");
    assert!(tree.stack_called("b").problems[0].starts_with("stacks/b/ring.tf: "));
    assert_eq!(tree.stack_called("c").problems, [""; 0]);
}

#[test]
fn a_pipe_is_named_and_not_waited_for() {
    let tree = Tree::new().stack("stacks/a");
    nix::unistd::mkfifo(&tree.path("stacks/a/pipe.tf"), nix::sys::stat::Mode::S_IRWXU).unwrap();

    assert_eq!(tree.stack_called("a").problems, ["stacks/a/pipe.tf: not a regular file"]);
}

#[test]
fn a_file_that_does_not_parse_hides_neither_its_stack_nor_others() {
    let tree = Tree::new()
        .stack("stacks/broken")
        .file("stacks/broken/bad.tf", "variable \"a\" {}\nthis is ] not hcl\n")
        .file("stacks/sealed/main.tf", "$ANSIBLE_VAULT;1.1;AES256\n61\n")
        .stack("stacks/user")
        .using("stacks/user", &["../modules/bad"])
        .file("stacks/modules/bad/main.tf", "}\n");

    assert_eq!(tree.ids(), ["broken", "sealed", "user"]);
    let broken = tree.stack_called("broken");
    assert!(broken.unread[0].starts_with("stacks/broken/bad.tf:2:"), "{:?}", broken.unread);
    assert_eq!((broken.backend.clone(), broken.is_known()), (Backend::Embedded, false));
    assert!(tree.stack_called("sealed").problems[0].contains("Ansible Vault"));
    assert!(tree.stack_called("user").unread[0].starts_with("stacks/modules/bad/main.tf:1:"));
}

#[test]
fn names_with_spaces_dashes_and_unicode_are_ids_as_they_are() {
    let tree = Tree::new().stack("stacks/büro küche/-x").stack("stacks/日本/[a]{b}").stack("stacks/o'neil");

    assert_eq!(tree.ids(), ["büro küche/-x", "o'neil", "日本/[a]{b}"]);
}

#[test]
fn templates_are_not_stacks_before_they_are_rendered() {
    let tree = Tree::new().file("templates/config/infrastructure/a/main.tf", "").file("cluster.yaml", "");

    assert_eq!(tree.ids(), [""; 0]);
    assert!(tree.found().notes[0].contains("infra configure"), "{:?}", tree.found().notes);
}

#[test]
fn a_stack_that_nobody_seems_to_run_is_listed_with_a_warning() {
    let tree = Tree::new()
        .file("stacks/helper/main.tf", "variable \"x\" {}\n")
        .file("stacks/locked/main.tf", "")
        .file("stacks/locked/.terraform.lock.hcl", "")
        .file("stacks/provider/main.tf", "provider \"aws\" {}\n");

    let warned = |id: &str| !tree.stack_called(id).warnings.is_empty();

    assert_eq!(tree.ids(), ["helper", "locked", "provider"]);
    assert_eq!((warned("helper"), warned("locked"), warned("provider")), (true, false, false));
}

#[test]
fn backends_are_told_apart() {
    let tree = Tree::new()
        .file(
            "stacks/cloud/main.tf",
            "terraform {\n cloud {\n  organization = \"o\"\n  workspaces { name = \"w\" }\n }\n}",
        )
        .file("stacks/none/main.tf", "")
        .file("stacks/remote/main.tf", "terraform {\n backend \"http\" { address = \"https://x\" }\n}");

    let cloud = tree.stack_called("cloud").backend;
    assert_eq!((cloud.kind(), cloud.attribute("workspaces.name")), ("cloud", Some("w")));
    assert_eq!(tree.stack_called("none").backend, Backend::None);
    assert_eq!(tree.stack_called("remote").backend.attribute("address"), Some("https://x"));
}

#[test]
fn settings_give_tags_and_dependencies() {
    let yaml = r#"
stacks:
  "01-*/*": { tags: [metal] }
  "02-b/*": { depends_on: [base], inputs: { token: "pve.api_token" } }
  "02-b/app": { depends_on: ["01-*/*"], tags: [prod] }
"#;
    let tree = Tree::new()
        .file("infra.yaml", yaml)
        .stack("stacks/01-a/pve")
        .stack("stacks/02-b/app")
        .stack("stacks/02-b/base");

    assert_eq!(tree.stack_called("01-a/pve").tags, ["metal"]);
    assert_eq!(tree.stack_called("02-b/app").tags, ["prod"]);
    assert_eq!(names(tree.stack_called("02-b/app").depends_on), ["01-a/pve", "02-b/base"]);
    assert_eq!(names(tree.stack_called("02-b/base").depends_on), ["01-a/pve"]);
}

#[test]
fn inputs_are_resolved_to_the_stacks_that_feed_them() {
    let tree = Tree::new()
        .file("infra.yaml", "stacks:\n  app: { inputs: { token: pve.api_token } }\n")
        .stack("stacks/01-a/pve")
        .stack("stacks/app");
    let project = load(tree.temp.path()).unwrap();

    let inputs = stacks::resolve_inputs(&project, &tree.found().stacks, &StackId::new("app")).unwrap();

    assert_eq!(inputs["token"].stack.as_str(), "01-a/pve");
    assert_eq!(inputs["token"].output, "api_token");
}

#[test]
fn a_dependency_that_does_not_exist_is_an_error_with_the_nearest_name() {
    let depends = Tree::new()
        .file("infra.yaml", "stacks:\n  app: { depends_on: [pev1] }\n")
        .stack("stacks/app")
        .stack("stacks/pve1");
    let input = Tree::new()
        .file("infra.yaml", "stacks:\n  app: { inputs: { t: pev1.out } }\n")
        .stack("stacks/app")
        .stack("stacks/pve1");

    for error in [depends.refused(), input.refused()] {
        assert_eq!(error.kind(), Kind::Invalid);
        assert_eq!(error.message(), "no stack is called `pev1`");
        assert_eq!(error.hints(), ["did you mean `pve1`?"]);
        assert!(error.to_string().contains("at infra.yaml"), "{error}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_a_remark() {
    let tree = Tree::new().file("infra.yaml", "stacks:\n  ap: {}\n  \"x/*\": {}\n").stack("stacks/app");

    assert_eq!(
        tree.found().notes,
        [
            "infra.yaml: no stack matches the pattern `ap`; did you mean `app`?",
            "infra.yaml: no stack matches the pattern `x/*`"
        ]
    );
}

fn s3(key: &str) -> String {
    format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n    key = \"{key}\"\n  }}\n}}\n")
}

fn reading_s3(key: &str) -> String {
    format!(
        "data \"terraform_remote_state\" \"r\" {{\n  backend = \"s3\"\n  config = {{\n    bucket = \"b\"\n    key = \"{key}\"\n  }}\n}}\n"
    )
}

#[test]
fn reading_anothers_state_is_a_dependency_and_reading_ones_own_is_none() {
    let tree = Tree::new()
        .file("stacks/net/main.tf", &s3("net"))
        .file("stacks/app/main.tf", &s3("app"))
        .file("stacks/app/net.tf", &reading_s3("net"))
        .file("stacks/app/own.tf", &reading_s3("app"))
        .file("stacks/app/unknown.tf", &reading_s3("${var.key}"));

    assert_eq!(names(tree.stack_called("app").depends_on), ["net"]);
    assert_eq!(names(tree.stack_called("net").depends_on), [""; 0]);
}

#[test]
fn a_module_that_reads_a_state_makes_its_stack_depend_on_it() {
    let tree = Tree::new()
        .file("stacks/net/main.tf", &s3("net"))
        .using("stacks/app", &["../modules/reader"])
        .file("stacks/modules/reader/main.tf", &reading_s3("net"));

    assert_eq!(names(tree.stack_called("app").depends_on), ["net"]);
}

#[test]
fn a_local_state_is_found_by_its_path() {
    let reads = "data \"terraform_remote_state\" \"r\" {\n  backend = \"local\"\n  config = { path = \"../net/terraform.tfstate\" }\n}\n";
    let tree = Tree::new().file("stacks/net/main.tf", "").file("stacks/app/main.tf", reads);

    assert_eq!(names(tree.stack_called("app").depends_on), ["net"]);
}

#[test]
fn an_http_state_without_an_address_would_read_its_own_stack() {
    let reads = "data \"terraform_remote_state\" \"net\" {\n  backend = \"http\"\n}\n";
    let tree = Tree::new().stack("stacks/app").file("stacks/app/net.tf", reads);

    let problems = tree.stack_called("app").problems;

    assert!(
        problems[0].starts_with("stacks/app/net.tf:1: `terraform_remote_state.net` has no address"),
        "{problems:?}"
    );
}

#[test]
fn two_stacks_on_one_state_are_refused_before_runs_and_listed_all_the_same() {
    let tree = Tree::new().file("stacks/a/main.tf", &s3("same")).file("stacks/b/main.tf", &s3("same"));

    let shared = shared_states(&tree.found().stacks);
    let error = &shared[0].error;

    assert_eq!(tree.ids(), ["a", "b"]);
    assert_eq!((shared.len(), shared[0].stacks.len()), (1, 2));
    assert_eq!(error.kind(), Kind::Invalid);
    assert_eq!(error.message(), "stacks `a` and `b` write the same state");
    assert!(error.to_string().contains("stacks/a") && error.to_string().contains("stacks/b"), "{error}");
}

#[test]
fn partial_backends_are_never_duplicates_but_the_same_key_is_a_warning() {
    let partial = "terraform {\n  backend \"s3\" { key = \"k\" }\n}\n";
    let empty = "terraform {\n  backend \"s3\" {}\n}\n";
    let tree = Tree::new()
        .file("stacks/a/main.tf", partial)
        .file("stacks/b/main.tf", partial)
        .file("stacks/c/main.tf", empty)
        .file("stacks/d/main.tf", empty);

    assert!(shared_states(&tree.found().stacks).is_empty());
    assert_eq!(
        tree.stack_called("a").warnings,
        ["`b` has the same s3 key `k`, and neither gives the bucket"]
    );
    assert_eq!(
        tree.stack_called("b").warnings,
        ["`a` has the same s3 key `k`, and neither gives the bucket"]
    );
    assert_eq!(tree.stack_called("c").warnings, [""; 0]);
}

#[test]
fn what_init_depends_on_includes_local_modules() {
    let tree = Tree::new()
        .stack("stacks/app")
        .using("stacks/app", &["../modules/vm"])
        .file("stacks/modules/vm/main.tf", "resource \"proxmox_vm\" \"a\" {}\n");

    let facts = names(tree.stack_called("app").init_facts);

    assert_eq!(
        facts,
        [
            "stacks/app: backend http ",
            "stacks/app: module m0 source=\"../modules/vm\" version=",
            "stacks/modules/vm: provider proxmox"
        ]
    );
}

#[test]
fn a_tofu_file_hides_its_tf_sibling_and_an_override_wins() {
    let tree = Tree::new()
        .file("stacks/a/main.tf", "variable \"old\" {}\n")
        .file("stacks/a/main.tofu", "variable \"new\" {}\nterraform {\n  backend \"http\" {}\n}\n")
        .file("stacks/a/override.tf", "terraform {\n  backend \"local\" {}\n}\n")
        .file("stacks/a/.hidden.tf", "variable \"hidden\" {}\n")
        .file("stacks/a/copy.tf~", "variable \"copy\" {}\n");

    let stack = tree.stack_called("a");

    assert_eq!(names(stack.variables), ["new"]);
    assert_eq!(stack.backend.kind(), "local");
}

#[test]
fn any_number_of_stacks_is_found_with_what_each_says() {
    for count in [13, 50, 145, 187, 511, 1500] {
        let tree = (0..count).fold(Tree::new(), |tree, number| {
            tree.file(
                &format!("stacks/{:02}-layer/s{number:04}/main.tf", number % 3),
                &format!("variable \"v{number}\" {{}}\n"),
            )
        });

        let found = tree.found();

        assert_eq!(found.stacks.len(), count);
        let stack = found.stacks.iter().find(|stack| stack.id.as_str() == "02-layer/s0011").unwrap();
        assert_eq!(names(&stack.variables), ["v11"]);
        assert!(found.stacks.is_sorted_by_key(|stack| stack.id.clone()));
    }
}

fn reading_local(path: &str) -> String {
    format!(
        "\ndata \"terraform_remote_state\" \"r\" {{\n  backend = \"local\"\n  config = {{ path = \"{path}\" }}\n}}\n"
    )
}

#[test]
fn a_state_is_found_by_a_path_from_the_module_from_the_root_and_from_where_tofu_runs() {
    for path in ["path.module", "path.root", "path.cwd"] {
        let reads = reading_local(&format!("${{{path}}}/../net/terraform.tfstate"));
        let tree = Tree::new().file("stacks/net/main.tf", "").file("stacks/app/main.tf", &reads);

        assert_eq!(names(tree.stack_called("app").depends_on), ["net"], "{path}");
    }
    let json = r#"{"data": {"terraform_remote_state": {"r": {"backend": "local",
        "config": {"path": "${path.module}/../net/terraform.tfstate"}}}}}"#;
    let tree = Tree::new().file("stacks/net/main.tf", "").file("stacks/app/main.tf.json", json);
    assert_eq!(names(tree.stack_called("app").depends_on), ["net"]);
}

#[test]
fn a_module_reads_from_its_own_folder_or_from_that_of_the_stack_that_uses_it() {
    let tree = |path: &str| {
        Tree::new()
            .file("stacks/deep/net/main.tf", "")
            .using("stacks/app", &["../modules/reader"])
            .file("stacks/modules/reader/main.tf", &reading_local(path))
    };
    let edges = |path: &str| names(tree(path).stack_called("app").depends_on);

    assert_eq!(edges("${path.module}/../../deep/net/terraform.tfstate"), ["deep/net"]);
    assert_eq!(edges("${path.root}/../deep/net/terraform.tfstate"), ["deep/net"]);
    assert_eq!(edges("${path.root}/../../deep/net/terraform.tfstate"), [""; 0]);
    assert_eq!(edges("${abspath(path.module)}/../../deep/net/terraform.tfstate"), [""; 0]);
}

#[test]
fn a_backend_whose_path_begins_at_the_module_has_a_known_state() {
    let kept = "terraform {\n  backend \"local\" {\n    path = \"${path.module}/kept.tfstate\"\n  }\n}\n";
    let tree = Tree::new()
        .file("stacks/net/main.tf", kept)
        .file("stacks/app/main.tf", &reading_local("${path.module}/../net/kept.tfstate"));

    assert_eq!(names(tree.stack_called("app").depends_on), ["net"]);
}

#[test]
fn the_readers_of_a_state_are_named_with_file_and_line() {
    let tree = Tree::new()
        .file("stacks/net/main.tf", &s3("net"))
        .file("stacks/app/main.tf", &format!("# first\n{}", reading_s3("net")))
        .using("stacks/web", &["../modules/reader"])
        .file("stacks/modules/reader/main.tf", &reading_s3("net"))
        .file("stacks/other/main.tf", &reading_s3("other"));
    let stacks = tree.found().stacks;

    let readers = stacks::readers_of(&stacks, &StackId::new("net"));

    let shown = |reader: &stacks::Reader| format!("{} {}", reader.stack, reader.place);
    assert_eq!(
        readers.iter().map(shown).collect::<Vec<_>>(),
        ["app stacks/app/main.tf:2", "web stacks/modules/reader/main.tf:1"]
    );
    assert_eq!(stacks::readers_of(&stacks, &StackId::new("app")), []);
}

/// Returns what a stack is warned of as a module that nothing uses.
fn suspicion(tree: &Tree, id: &str) -> Option<String> {
    let found = tree.stack_called(id).warnings.into_iter().find(|text| text.contains("module that nothing"));
    Some(found?.split_once(": ").unwrap().1.to_owned())
}

#[test]
fn a_simple_stack_with_local_state_is_no_forgotten_module() {
    let resource = "resource \"terraform_data\" \"a\" {}\n";
    let needy = "variable \"name\" {}\n";
    let tree = Tree::new()
        .file("infra.yaml", "stacks:\n  told: {tags: [x]}\n  'fed*': {env: {TF_VAR_name: x}}\n")
        .file("stacks/plain/main.tf", resource)
        .file("stacks/hello/main.tf", "output \"x\" {\n  value = 1\n}\n")
        .file("stacks/defaults/main.tf", "variable \"name\" {\n  default = 1\n}\n")
        .file("stacks/overridden/main.tf", needy)
        .file("stacks/overridden/a_override.tf", "variable \"name\" {\n  default = 1\n}\n")
        .file("stacks/json/main.tf.json", "{\"variable\": {\"name\": {\"default\": null}}}")
        .file("stacks/told/main.tf", needy)
        .file("stacks/fed1/main.tf", needy)
        .file("stacks/locked/main.tf", needy)
        .file("stacks/locked/.terraform.lock.hcl", "")
        .file("stacks/applied/main.tf", needy)
        .file("stacks/applied/terraform.tfstate", "{}")
        .file("stacks/secret/main.tf", needy)
        .file("stacks/secret/secrets.sops.yaml", "a: 1\n")
        .file("stacks/provider/main.tf", &format!("{needy}provider \"aws\" {{}}\n"));

    for id in tree.ids() {
        assert_eq!(suspicion(&tree, &id), None, "{id}");
    }
}

#[test]
fn a_folder_that_waits_for_a_caller_is_told_as_a_forgotten_module() {
    let needy = "variable \"name\" {}\nvariable \"size\" {}\n";
    let aliases = "terraform {\n  required_providers {\n    aws = {\n      source = \"a/b\"\n      configuration_aliases = [aws.west]\n    }\n  }\n}\n";
    let tree = Tree::new()
        .file("stacks/needy/main.tf", needy)
        .file("stacks/aliased/main.tf", aliases)
        .file("stacks/net/main.tf", "resource \"terraform_data\" \"a\" {}\n")
        .using("stacks/user", &["git::https://git.example.org/infra.git//stacks/net?ref=v1", "../parts/one"])
        .file("stacks/parts/one/main.tf", "")
        .file("stacks/parts/two/main.tf", "output \"x\" {\n  value = 1\n}\n");

    assert_eq!(tree.ids(), ["aliased", "needy", "net", "parts/two", "user"]);
    let told = ["aliased", "needy", "net", "parts/two", "user"].map(|id| suspicion(&tree, id));
    assert_eq!(
        told.map(Option::unwrap_or_default),
        [
            "its `configuration_aliases` are for a caller",
            "its variables `name`, `size` have neither a default nor a value",
            "stacks/user/modules.tf:2 has a module of this path from a repository",
            "the folders beside it are modules",
            ""
        ]
    );
}

#[test]
fn a_control_character_in_a_folders_name_is_a_number_in_the_id_and_itself_in_the_path() {
    let tree = Tree::new().stack("infrastructure/new\nline").stack("infrastructure/\u{1b}[31mred");

    let stacks = tree.found().stacks;

    assert_eq!(tree.ids(), ["\\u001b[31mred", "new\\u000aline"]);
    assert_eq!(stacks[1].path, Path::new("infrastructure/new\nline"));
}

#[test]
fn a_module_in_a_submodule_that_is_not_checked_out_says_how_to_get_it() {
    let tree = Tree::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".gitmodules", "[submodule \"v\"]\n\tpath = vendor/sub\n\turl = https://example.com/v.git\n")
        .using("infrastructure/a", &["../../vendor/sub/vm", "../../vendor/sub", "../../gone"]);
    fs::create_dir_all(tree.path("vendor/sub")).unwrap();

    let warnings = tree.stack_called("a").warnings;

    let told = "; the submodule `vendor/sub` is not checked out: `git submodule update --init`";
    let nowhere: Vec<&String> = warnings.iter().filter(|text| text.contains("leads nowhere")).collect();
    assert_eq!(nowhere.len(), 3, "{warnings:?}");
    assert_eq!(nowhere.iter().filter(|text| text.ends_with(told)).count(), 2, "{warnings:?}");
}
