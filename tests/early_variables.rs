//! Variables that tofu evaluates before anything else: how states are encrypted, where modules and
//! states lie. They reach every command that asks for them, and nothing is asked of a person.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

mod support;
#[path = "support/tools.rs"]
mod tools;

use support::Project;
use tools::AgeKey;

/// Text that must be found nowhere but where it belongs.
const PASSPHRASE: &str = "c4n4ry correct horse battery staple";

const ENCRYPTED: &str = r#"
variable "encryption_passphrase" {
  type      = string
  sensitive = true
}

locals {
  passphrase = var.encryption_passphrase
}

terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = local.passphrase
      iterations = 200000
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method   = method.aes_gcm.m
      enforced = true
    }
    plan {
      method   = method.aes_gcm.m
      enforced = true
    }
  }
}

resource "terraform_data" "thing" {
  input = "one"
}

resource "terraform_data" "other" {}

output "thing" {
  value = terraform_data.thing.output
}
"#;

const MODULE: &str = r#"
variable "cloud" {
  type    = string
  default = "aws"
}

module "server" {
  source = "./servers/${var.cloud}"
}

output "made" {
  value = module.server.made
}
"#;

fn made(cloud: &str) -> String {
    format!("output \"made\" {{\n  value = \"{cloud}\"\n}}\n")
}

/// Writes a file of the project, encrypted by the real sops.
fn encrypt(project: &Project, key: &AgeKey, path: &str, text: &str) {
    project.write(path, text);
    let done = key.run_sops(project.root(), &["-e", "-i", "--age", &key.recipient, path]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn encrypted(configuration: &str) -> (Project, AgeKey) {
    let key = AgeKey::new();
    let project = Project::new().stack("x", configuration).env("SOPS_AGE_KEY", &key.secret);
    let secret = format!("encryption_passphrase: {PASSPHRASE}\n");
    encrypt(&project, &key, "infrastructure/x/secrets.sops.yaml", &secret);
    (project, key)
}

#[test]
fn a_state_encrypted_by_a_variable_opens_for_every_command_and_can_be_edited_and_pushed() {
    let (project, _key) = encrypted(&format!("{ENCRYPTED}terraform {{\n  backend \"http\" {{}}\n}}\n"));

    project.run("validate").succeeds();
    project.run("plan").succeeds();
    project.run("show x --plan").succeeds().stdout_has("terraform_data.thing");
    project.run("apply --saved").succeeds();
    assert_eq!(project.run("output x thing --raw").succeeds().stdout, "one");
    project.run("show").succeeds().stdout_has("terraform_data.thing");
    project.run("state show x terraform_data.thing").succeeds().stdout_has("\"one\"");
    project.run("state mv x terraform_data.other terraform_data.moved").succeeds();
    project.run("state rm x terraform_data.moved").succeeds();
    for passed_through in ["state list", "graph", "providers"] {
        project.run(&format!("tofu --stack x -- {passed_through}")).succeeds();
    }
    let pulled = project.run("state pull x").succeeds();
    assert_eq!(pulled.json()["outputs"]["thing"]["value"], "one");
    project.write("pulled.json", &pulled.stdout);
    project.run("state push x pulled.json --force").succeeds();
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
    project.run("drift").succeeds();
    project.run("destroy --yes").succeeds();
    assert!(!project.files_containing("encrypted_data").is_empty());
    assert!(project.files_containing(PASSPHRASE).is_empty(), "{:?}", project.files_containing(PASSPHRASE));
}

#[test]
fn a_module_whose_source_is_a_variable_is_installed_anew_when_that_changes() {
    let project = Project::new().stack("x", MODULE);
    for cloud in ["aws", "gcp"] {
        project.write(&format!("infrastructure/x/servers/{cloud}/main.tf"), &made(cloud));
    }
    let made = || project.run("output x made --raw").succeeds().stdout;

    project.run("apply --yes").succeeds();
    assert_eq!(made(), "aws");
    project.write("infrastructure/x/prod.tfvars", "cloud = \"gcp\"\n");
    project.run("apply --yes").succeeds();
    assert_eq!(made(), "gcp");
    project.run("apply --yes").succeeds().stderr_lacks("initialising");
    project.write("infrastructure/x/main.tf", &MODULE.replace("aws", "gcp"));
    project.write("infrastructure/x/prod.tfvars", "");
    project.run("validate").succeeds();
    project.run("plan").succeeds();
}

const GIVEN: &str = r#"
variable "region" {
  type = string
}

variable "sizes" {
  type    = list(number)
  default = []
}

variable "token" {
  type      = string
  sensitive = true
  default   = ""
}

output "all" {
  value = "${var.region} ${join(",", var.sizes)}"
}

output "token" {
  value = sha256(var.token)
  sensitive = true
}
"#;

fn all(project: &Project) -> String {
    project.run("output x all --raw").succeeds().stdout
}

#[test]
fn several_variable_files_of_one_stack_keep_no_other_from_running() {
    let project = Project::new().stack("x", GIVEN).stack("y", "output \"o\" {\n  value = 1\n}\n");
    project.write("infrastructure/x/dev.tfvars", "region = \"dev\"\n");
    project.write("infrastructure/x/prod.tfvars", "region = \"prod\"\n");

    let run = project.run("plan --all --json").exits(1);

    let report = run.json();
    let results: Vec<&str> =
        report["stacks"].as_array().unwrap().iter().filter_map(|row| row["result"].as_str()).collect();
    assert_eq!(results, ["failed", "succeeded"], "{run}");
    run.stderr_has("several variable files").stderr_has("var_files: [dev.tfvars]");
}

#[test]
fn the_command_line_gives_variables_in_its_order_and_before_any_guess() {
    let project = Project::new().stack("x", GIVEN);
    project.write("infrastructure/x/dev.tfvars", "region = \"dev\"\nsizes = [1]\n");
    project.write("infrastructure/x/prod.tfvars", "region = \"prod\"\n");

    project.run("plan").exits(65).stderr_has("several variable files").stderr_has("--var-file");
    project.run("apply --yes --var-file infrastructure/x/dev.tfvars --var sizes=[2,3]").succeeds();
    assert_eq!(all(&project), "dev 2,3");
    project.run("apply --yes --var sizes=[4] --var-file infrastructure/x/dev.tfvars").succeeds();
    assert_eq!(all(&project), "dev 1");
    project.run("apply --yes --var region=here -- -var-file=prod.tfvars").succeeds();
    assert_eq!(all(&project), "prod ");
    project
        .run("plan --var regoin=x --var-file infrastructure/x/dev.tfvars")
        .exits(64)
        .stderr_has("did you mean `region`");
    project.run("plan --var-file dev.tfvars").exits(64).stderr_has("is not there");
    project.run("plan --var region").exits(64).stderr_has("NAME=VALUE");
}

#[test]
fn a_saved_plan_remembers_what_the_command_line_gave_and_tells_it_to_nobody() {
    let project = Project::new().stack("x", GIVEN);
    project.write("infrastructure/x/dev.tfvars", "region = \"dev\"\n");
    project.write("infrastructure/x/prod.tfvars", "region = \"prod\"\n");
    let secret = "c4n4ry-t0k3n-0815";
    let flags = "--var-file infrastructure/x/dev.tfvars";

    let plan = project.run(&format!("plan {flags} --var token={secret}")).succeeds();
    plan.stderr_lacks(secret);
    assert!(project.files_containing(secret).is_empty(), "{:?}", project.files_containing(secret));
    project.run("apply --saved --var token=other").exits(1).stderr_has("made with other `--var`");
    project.run("apply --saved").succeeds();
    assert_eq!(all(&project), "dev ");

    project.run(&format!("plan {flags} --var sizes=[7]")).succeeds();
    project.write("infrastructure/x/dev.tfvars", "region = \"other\"\n");
    project.run("apply --saved").exits(1).stderr_has("changed since");
}

#[test]
fn an_encrypted_file_among_variable_files_is_opened_like_a_secret() {
    let key = AgeKey::new();
    let project = Project::new().stack("x", GIVEN).env("SOPS_AGE_KEY", &key.secret);
    let project = project.config("name: lab\nstacks:\n  x:\n    var_files: [base.tfvars, prod.tfvars]\n");
    project.write("infrastructure/x/base.tfvars", "region = \"base\"\n");
    encrypt(&project, &key, "infrastructure/x/prod.tfvars", "region = \"c4n4ry-region\"\n");
    encrypt(&project, &key, "more.tfvars", "sizes = [5]\n");

    project.run("apply --yes").succeeds().stderr_lacks("c4n4ry-region");
    assert_eq!(all(&project), "c4n4ry-region ");
    project.run("apply --yes --var-file more.tfvars").succeeds();
    assert_eq!(all(&project), "c4n4ry-region 5");

    // On the command line the later one counts, encrypted or not.
    project.write("plain.tfvars", "sizes = [6]\n");
    for (flags, sizes) in [
        ("--var-file plain.tfvars --var-file more.tfvars", "5"),
        ("--var-file more.tfvars --var-file plain.tfvars", "6"),
        ("--var-file more.tfvars --var sizes=[7]", "7"),
        ("--var sizes=[7] --var-file more.tfvars", "5"),
    ] {
        project.run(&format!("apply --yes {flags}")).succeeds();
        assert_eq!(all(&project), format!("c4n4ry-region {sizes}"), "{flags}");
    }
    project.run("plan --var-file plain.tfvars --var-file more.tfvars").succeeds();
    project.run("apply --saved --var-file plain.tfvars --var-file more.tfvars").succeeds();
    assert_eq!(all(&project), "c4n4ry-region 5");
}

#[test]
fn a_mistake_in_a_file_is_told_once_with_its_line_before_anything_is_prepared() {
    let project = Project::new().stack("x", "resource \"terraform_data\" \"a\" {\n  input = \n}\n");

    for args in ["init x", "plan x", "validate x"] {
        let run = project.run(args).exits(1);
        let run = run
            .stderr_has("error: x: Invalid expression\n    at main.tf:2:11\n")
            .stderr_has("2:   input =\n");
        assert_eq!(run.stderr.matches("Expected the start of an expression").count(), 1, "{run}");
    }
    project.write("infrastructure/x/main.tf", "output \"o\" {\n  value = terraform_data.no.id\n}\n");
    project.run("plan x").exits(1).stderr_has("2:   value = terraform_data.no.id\n");
}

#[test]
fn a_variable_that_is_missing_early_is_told_once() {
    let project = Project::new().stack("x", ENCRYPTED);

    let run = project.run("plan").exits(1);

    let told = run.stderr.matches("Failed to request input from user").count();
    assert!(told <= 2, "summary and detail: {}", run.stderr);
    project.run("apply --yes --var encryption_passphrase=0123456789abcdef0123").succeeds();
    project.run("output x thing --raw").exits(1).stderr_has("encryption_passphrase");
    project.run("output x thing --raw --var encryption_passphrase=0123456789abcdef0123").succeeds();
}

/// A local state whose file only the backend's settings name.
const OPEN_BACKEND: &str = r#"
terraform {
  backend "local" {}
}

resource "terraform_data" "thing" {}
"#;

#[test]
fn the_only_backend_file_of_a_folder_is_given_to_init_and_several_are_a_question() {
    let project = Project::new().stack("x", OPEN_BACKEND);
    project.write("infrastructure/x/prod.tfbackend", "path = \"prod.tfstate\"\n");

    project.run("apply --yes").succeeds();
    assert!(
        project.has("infrastructure/x/prod.tfstate") && !project.has("infrastructure/x/terraform.tfstate")
    );
    let listed = project.run("stacks --json").succeeds().json();
    assert_eq!(listed[0]["backend"]["identity"], "local:infrastructure/x/prod.tfstate");

    project.write("infrastructure/x/dev.backend", "path = \"dev.tfstate\"\n");
    let run = project.run("plan").exits(65);
    run.stderr_has("several backend files: `dev.backend`, `prod.tfbackend`")
        .stderr_has("backend_config: [dev.backend]");
    project.run("validate").succeeds();
    project.run("stacks").succeeds();
}

#[test]
fn files_and_settings_of_infra_yaml_are_given_to_the_backend_in_their_order() {
    let project = Project::new().stack("x", OPEN_BACKEND).stack("y", OPEN_BACKEND);
    let config = |x: &str, y: &str| {
        format!("name: lab\nstacks:\n  x:\n    backend_config: {x}\n  y:\n    backend_config: {y}\n")
    };
    project.write("infrastructure/x/any.conf", "path = \"first.tfstate\"\n");
    project
        .write("infra.yaml", &config("[any.conf, { path: last.tfstate }]", "[{ path: ../x/last.tfstate }]"));

    project.run("plan x").exits(65).stderr_has("state-shared");
    project.write("infra.yaml", &config("[any.conf, { path: last.tfstate }]", "[{ path: own.tfstate }]"));
    project.run("apply --all --yes").succeeds();
    assert!(project.has("infrastructure/x/last.tfstate") && project.has("infrastructure/y/own.tfstate"));
    project.run("plan --all").succeeds();
    project.run("state migrate x --to embedded --yes").exits(64).stderr_has("more than its block");

    project.write("infra.yaml", &config("[gone.conf]", "[7]"));
    project.run("stacks").exits(65).stderr_has("the name of a file");
    project.write("infra.yaml", &config("[gone.conf]", "[]"));
    project.run("plan x").exits(65).stderr_has("names a backend file that is not there: `gone.conf`");
}

#[test]
fn a_backend_whose_path_is_a_variable_is_initialised_with_it() {
    let backend = "variable \"place\" {}\nterraform {\n  backend \"local\" {\n    path = \"${var.place}.tfstate\"\n  }\n}\n";
    let project = Project::new().stack("x", &format!("{backend}resource \"terraform_data\" \"a\" {{}}\n"));
    project.write("infrastructure/x/prod.tfvars", "place = \"prod\"\n");

    project.run("apply --yes").succeeds();

    assert!(project.has("infrastructure/x/prod.tfstate"));
    assert_eq!(project.resources("x"), ["terraform_data.a"]);
    project.run("plan").succeeds();
}

#[test]
fn the_tofu_before_takes_early_variables_too() {
    let (project, _key) = encrypted(ENCRYPTED);
    let older = support::older_tofu().display().to_string();
    let project = project.config(&format!("name: lab\ntofu:\n  binary: {older}\n"));

    project.run("validate").succeeds();
    project.run("apply --yes").succeeds();
    assert_eq!(project.run("output x thing --raw").succeeds().stdout, "one");
    project.run("state rm x terraform_data.other").succeeds();
    for passed_through in ["graph", "workspace list", "providers", "state list"] {
        project.run(&format!("tofu --stack x -- {passed_through}")).succeeds();
    }
    project.run("show").succeeds();
    project.run("destroy --yes").succeeds();
}

#[test]
fn what_cannot_be_opened_is_left_out_where_only_early_values_are_needed() {
    let key = AgeKey::new();
    let plain = "variable \"token\" {\n  default = \"\"\n}\nresource \"terraform_data\" \"a\" {}\n\
                 output \"o\" {\n  value = \"here\"\n}\n";
    let served = format!("{plain}terraform {{\n  backend \"http\" {{}}\n}}\n");
    let fed = "variable \"o\" {}\noutput \"got\" {\n  value = var.o\n}\n";
    let project = Project::new().stack("open", &served).stack("shut", ENCRYPTED).stack("fed", fed);
    let project = project.config("name: lab\nstacks:\n  fed:\n    inputs: { o: open.o }\n");
    encrypt(&project, &key, "infrastructure/open/secrets.sops.yaml", "token: c4n4ry-token\n");
    let secret = format!("encryption_passphrase: {PASSPHRASE}\n");
    encrypt(&project, &key, "infrastructure/shut/secrets.sops.yaml", &secret);
    let with_key = |args: &str| {
        let mut command = project.command(args);
        command.env("SOPS_AGE_KEY", &key.secret);
        support::Running::start(command, args).wait()
    };
    with_key("apply open shut --yes").succeeds();

    // Whoever has no key reads what needs none, is told what was left out, and tofu judges the rest.
    for args in ["init open", "output open o --raw", "show open", "state list open", "state pull open"] {
        project.run(args).succeeds().stderr_has("stays shut and is left out").stderr_has("SOPS_AGE_KEY");
    }
    project.run("tofu --stack open -- state list").succeeds();
    project.run("state rm open terraform_data.a").succeeds();
    project.run("apply fed --yes").succeeds();
    for args in ["output shut", "show shut", "state list shut"] {
        project.run(args).exits(1).stderr_has("left out").stderr_has("encryption_passphrase");
    }
    project.run("validate --all").succeeds();
    for args in ["plan open", "drift shut", "tofu --stack open -- plan"] {
        project.run(args).exits(77).stderr_has("cannot decrypt");
    }
    with_key("tofu --stack shut -- workspace list").succeeds();
    assert_eq!(with_key("output shut thing --raw").succeeds().stdout, "one");
}

#[test]
fn a_state_is_never_written_in_the_clear_because_its_passphrase_stayed_shut() {
    let key = AgeKey::new();
    let served = "terraform {\n  backend \"http\" {}\n}\nresource \"terraform_data\" \"a\" {}\n";
    let project = Project::new().stack("x", served);
    let secret = format!("state_encryption_passphrase: {PASSPHRASE}\n");
    encrypt(&project, &key, "infrastructure/x/secrets.sops.yaml", &secret);
    let state =
        r#"{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l","outputs":{},"resources":[]}"#;
    project.write("s.json", state);

    project.run("state push x s.json").exits(77).stderr_has("cannot decrypt");
    project.run("tofu --stack x -- workspace new w").exits(77);
    project.run("init x").succeeds().stderr_has("left out");
}

#[test]
fn what_follows_the_dashes_reaches_what_is_evaluated_early_too() {
    let project = Project::new().stack("x", &MODULE.replace("default = \"aws\"", ""));
    for cloud in ["aws", "gcp"] {
        project.write(&format!("infrastructure/x/servers/{cloud}/main.tf"), &made(cloud));
    }
    project.write("infrastructure/x/terraform.tfvars.json", r#"{"cloud": "aws"}"#);
    project.write("infrastructure/x/gcp.conf", "cloud = \"gcp\"\n");

    project.run("plan -- -var cloud=gcp").succeeds();
    project.run("plan -- -var-file=gcp.conf").succeeds().stderr_lacks("initialising");
    // An `init` that fails has changed what lies there, so the next one is not skipped.
    project.run("plan -- -var cloud=nowhere").exits(1);
    project.run("plan").succeeds();
    project.run("apply --yes").succeeds();
    assert_eq!(project.run("output x made --raw").succeeds().stdout, "aws");
    project.run("init -- -var cloud=gcp").succeeds();
    project.run("plan").succeeds();
}

#[test]
fn doctor_tells_a_file_that_stays_shut_once() {
    let key = AgeKey::new();
    let remote = "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n";
    let project = Project::new().stack("remote", remote).env("AWS_EC2_METADATA_DISABLED", "true");
    encrypt(&project, &key, "infrastructure/remote/secrets.sops.yaml", "aws_region: nowhere\n");

    let doctor = project.run("doctor --no-input").exits(1);

    project.run("locks").stderr_has("stays shut");
    doctor.stdout_has("FAIL  secrets").stdout_has("secrets.sops.yaml").stderr_lacks("stays shut");
}
