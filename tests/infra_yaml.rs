//! What `infra.yaml` may say, and how each mistake in it is told.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use std::fs;
use std::path::Path;

use infra::error::Result;
use infra::model::Copies;
use infra::model::Delimiters;
use infra::model::Encryption;
use infra::model::Layers;
use infra::model::LockFile;
use infra::model::OutputRef;
use infra::model::PythonPlugins;
use infra::model::Undefined;
use infra::model::{Project, StackId};
use infra::project::load;

fn load_bytes(bytes: &[u8]) -> Result<Project> {
    let temp = tempfile::tempdir().expect("a temp folder");
    let root = temp.path().join("homelab");
    fs::create_dir(&root).expect("a folder");
    fs::write(root.join("infra.yaml"), bytes).expect("a file");
    load(&root)
}

fn loaded(text: &str) -> Project {
    load_bytes(text.as_bytes()).expect("a valid file")
}

fn refused(text: &str) -> String {
    load_bytes(text.as_bytes()).expect_err("an invalid file").to_string()
}

const EVERYTHING: &str = r##"
name: lab
tofu: { version: "~> 1.12.0", binary: /opt/tofu }
configure:
  inputs: [templates/config]
  output: out
  data: [cluster.yaml]
  derive: derive.yaml
  python_plugins: allow
  delimiters: { block: ["<%", "%>"], variable: ["<<", ">>"], comment: ["<#", "#>"] }
  undefined: chainable
  exclude: ["*.partial.*"]
secrets: { files: [s.sops.yaml], age_key: age.key, ansible_vault_password_file: ~/.vault-pass }
state: { store: .infra/state, url: "https://tfstate.example.com", encryption: off }
stacks:
  roots: [./infrastructure/]
  layers: loose
  "01-hypervisors/*": { pool: pve1, tags: [metal] }
  "02-platforms/k8s-prod":
    depends_on: ["03-legacy/dns"]
    var_files: [prod.tfvars]
    secrets: [secrets.tfvars]
    inputs: { api_token: "01-hypervisors/bootstrap.api_token" }
    env: { HTTPS_PROXY: "http://proxy:3128" }
    protect: true
pools: { pve1: 2 }
run: { parallelism: 4, retries: 1, transient_errors: ["TLS handshake timeout"] }
"##;

#[test]
fn every_documented_key_reaches_the_project() {
    let project = loaded(EVERYTHING);

    assert_eq!(project.name, "lab");
    assert_eq!(project.tofu.binary.as_deref(), Some("/opt/tofu"));
    assert_eq!(project.configure.python_plugins, Some(PythonPlugins::Allow));
    assert_eq!(project.configure.undefined, Some(Undefined::Chainable));
    assert!(
        matches!(&project.configure.delimiters, Some(Delimiters::Custom { block, .. }) if block.0 == "<%")
    );
    assert_eq!(project.secrets.files, ["s.sops.yaml"]);
    assert_eq!(project.state.encryption, Encryption::Off);
    assert_eq!(project.stack_roots, [Path::new("infrastructure")]);
    assert_eq!(project.layers, Layers::Loose);
    assert_eq!(project.pools["pve1"], 2);
    assert_eq!(project.run.parallelism, Some(4));
}

#[test]
fn patterns_keep_their_order_and_settings() {
    let project = loaded(EVERYTHING);

    let names = project.stack_settings.iter().map(|(pattern, _)| pattern.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["01-hypervisors/*", "02-platforms/k8s-prod"]);
    let settings = &project.stack_settings[1].1;
    let token = OutputRef { stack: StackId::new("01-hypervisors/bootstrap"), output: "api_token".into() };
    assert_eq!(settings.inputs["api_token"], token);
    assert!(settings.is_protected());
    assert_eq!(settings.env["HTTPS_PROXY"], "http://proxy:3128");
}

#[test]
fn an_empty_file_and_empty_sections_are_conventional_settings() {
    for text in ["", "# nothing yet\n", "---\n", "tofu:\nstacks:\nrun:\nconfigure:\n  delimiters:\n"] {
        let project = loaded(text);

        assert_eq!(project.name, "homelab");
        assert_eq!(project.layers, Layers::Strict);
        assert_eq!(project.configure.delimiters, None);
    }
}

#[test]
fn a_byte_order_mark_and_dos_line_ends_are_fine() {
    let project = loaded("\u{feff}name: lab\r\nrun:\r\n  retries: 3\r\n");

    assert_eq!(project.name, "lab");
    assert_eq!(project.run.retries, 3);
}

#[test]
fn an_unknown_key_names_its_place_and_the_nearest_key() {
    let error = refused("name: lab\nrun:\n  paralelism: 4\n");

    assert!(error.starts_with("unknown key `paralelism` in `infra.yaml`\n  at infra.yaml:3:3\n"), "{error}");
    assert!(error.contains("expected one of `parallelism`, `retries`, `transient_errors`"), "{error}");
    assert!(error.ends_with("hint: did you mean `parallelism`?"), "{error}");
}

#[test]
fn an_unknown_key_of_a_pattern_names_its_place() {
    let error = refused("stacks:\n  \"02-*\":\n    tags: [a]\n    depend_on: [b]\n");

    assert!(error.contains("at infra.yaml:4:5"), "{error}");
    assert!(error.ends_with("did you mean `depends_on`?"), "{error}");
}

#[test]
fn a_value_of_the_wrong_kind_names_key_expected_and_found() {
    let number = refused("run:\n  parallelism: four\n");
    let list = refused("run: { retries: 1, transient_errors: timeout }\n");
    let item = refused("stacks:\n  roots:\n    - [a]\n");
    let section = refused("run: 3\n");

    assert!(number.starts_with("`parallelism` must be a whole number\n  at infra.yaml:2:16\n"), "{number}");
    assert!(number.contains("found  parallelism: four"), "{number}");
    assert!(list.starts_with("`transient_errors` must be a list"), "{list}");
    assert!(item.starts_with("`roots` must be a text\n  at infra.yaml:3:7"), "{item}");
    assert!(section.starts_with("`run` must be a map"), "{section}");
}

#[test]
fn counts_are_at_least_one() {
    let pool = refused("pools: { pve1: 0 }\n");
    let parallelism = refused("run: { parallelism: 0 }\n");

    assert!(pool.starts_with("`pve1` must be a whole number of at least 1"), "{pool}");
    assert!(parallelism.starts_with("`parallelism` must be a whole number of at least 1"), "{parallelism}");
}

#[test]
fn a_word_that_is_no_choice_names_the_choices() {
    let encryption = refused("state: { encryption: requird }\n");
    let layers = refused("stacks:\n  layers: lose\n");
    let delimiters = refused("configure:\n  delimiters: hsh\n");

    assert!(encryption.starts_with("`encryption` cannot be `requird`"), "{encryption}");
    assert!(encryption.contains("expected one of `auto`, `required`, `off`"), "{encryption}");
    assert!(layers.ends_with("did you mean `loose`?"), "{layers}");
    assert!(delimiters.ends_with("did you mean `hash`?"), "{delimiters}");
}

#[test]
fn the_delimiters_with_a_hash_keep_their_old_name_beside_the_new_one() {
    let of = |name: &str| loaded(&format!("configure:\n  delimiters: {name}\n")).configure.delimiters;

    assert_eq!([of("hash"), of("seed")], [Some(Delimiters::Hash), Some(Delimiters::Hash)]);
    assert_eq!(of("jinja"), Some(Delimiters::Jinja));
}

#[test]
fn a_key_that_is_given_twice_is_an_error() {
    let top = refused("name: a\nname: b\n");
    let pattern = refused("stacks:\n  a: {}\n  a: {}\n");

    assert!(top.starts_with("key `name` is given twice in `infra.yaml`\n  at infra.yaml:2:1"), "{top}");
    assert!(pattern.contains("at infra.yaml:3:3"), "{pattern}");
}

#[test]
fn an_input_without_an_output_is_an_error() {
    let error = refused("stacks:\n  k8s:\n    inputs:\n      token: bootstrap\n");

    assert!(error.starts_with("`token` must be `STACK.output`\n  at infra.yaml:4:7"), "{error}");
    assert!(error.contains("found  token: bootstrap"), "{error}");
}

#[test]
fn a_pool_that_is_not_declared_names_the_nearest() {
    let near = refused("stacks:\n  a: { pool: pve2 }\npools: { pve1: 2 }\n");
    let none = refused("stacks:\n  a: { pool: metal }\n");

    assert!(near.contains("pool `pve2` is not among `pools`\n  at infra.yaml:2:14"), "{near}");
    assert!(near.ends_with("did you mean `pve1`?"), "{near}");
    assert!(none.ends_with("add it: `pools: { metal: 2 }`"), "{none}");
}

#[test]
fn a_broken_glob_and_a_root_outside_the_project_are_errors() {
    let glob = refused("stacks:\n  \"01-[a\": {}\n");
    let root = refused("stacks:\n  roots: [ok, ../other]\n");

    assert!(glob.contains("at infra.yaml:2:3"), "{glob}");
    assert!(root.starts_with("`roots` must name folders below the project, found `../other`"), "{root}");
    assert!(root.contains("at infra.yaml:2:15"), "{root}");
}

#[test]
fn broken_yaml_and_a_second_document_are_told_with_their_place() {
    let broken = refused("name: lab\n bad: indent: x\n");
    let second = refused("name: a\n---\nname: b\n");
    let text = refused("just text");

    assert!(broken.starts_with("`infra.yaml` is not valid YAML\n  at infra.yaml:2:"), "{broken}");
    assert!(second.contains("expected one document"), "{second}");
    assert!(text.contains("must be a map"), "{text}");
}

#[test]
fn bytes_that_are_no_text_are_told_with_their_line() {
    let error = load_bytes(b"name: lab\nenv: \xff\n").expect_err("not text").to_string();

    assert!(error.starts_with("`infra.yaml` is not text"), "{error}");
    assert!(error.contains("at infra.yaml:2"), "{error}");
}

#[test]
fn a_root_without_infra_yaml_is_named_after_its_folder() {
    let root = tempfile::tempdir().expect("a temp folder");

    let project = load(root.path()).expect("a project");

    assert_eq!(Some(project.name.as_str()), root.path().file_name().and_then(|name| name.to_str()));
    assert!(project.stack_settings.is_empty());
}

#[test]
fn the_lock_file_and_the_copies_are_on_unless_something_else_is_said() {
    let state = |text: &str| {
        let state = loaded(text).state;
        (state.lock_file, state.copies)
    };
    let usual = (LockFile::On, Copies::UpTo(10 << 20));

    assert_eq!(state(""), usual);
    for on in ["on", "true", "'on'", "", "yes"] {
        assert_eq!(state(&format!("state: {{ lock_file: {on}, copies: {on} }}")), usual, "{on}");
    }
    for off in ["off", "false", "\"off\"", "no"] {
        let found = state(&format!("state: {{ lock_file: {off}, copies: {off} }}"));
        assert_eq!(found, (LockFile::Off, Copies::Off), "{off}");
    }
    assert_eq!(state("state: { copies: 50MiB }").1, Copies::UpTo(50 << 20));

    let error = refused("state:\n  lock_file: 10MiB\n");
    assert!(error.contains("infra.yaml:2:3") && error.contains("`on` or `off`"), "{error}");
    for broken in ["50", "10MB", "[]", "0MiB", "much"] {
        let error = refused(&format!("state:\n  copies: {broken}\n"));
        assert!(error.contains("infra.yaml:2:3") && error.contains("a size such as"), "{error}");
    }
}
