//! Secrets in the clear, and what only looks like one. No value is ever told.

use crate::support::Project;
use crate::{CLEAN, found};

const SECRET: &str = "hunter2-hunter2";

/// The lines of a stack's file in which a secret is found.
fn lines_of(name: &str, text: &str) -> Vec<usize> {
    let project = Project::new().stack("a", CLEAN).file(&format!("infrastructure/a/{name}"), text);
    let run = project.run("lint --json").stdout_lacks(SECRET).stderr_lacks(SECRET);
    let findings = run.json();
    let rows = findings.as_array().unwrap().iter();
    rows.map(|finding| {
        assert_eq!(finding["rule"], "plaintext-secret", "{finding:#}");
        assert_eq!(finding["file"], format!("infrastructure/a/{name}"), "{finding:#}");
        usize::try_from(finding["line"].as_u64().unwrap()).unwrap()
    })
    .collect()
}

#[test]
fn the_name_of_an_argument_tells_a_secret() {
    let text = format!(
        "resource \"terraform_data\" \"x\" {{\n  input = {{\n    DB_PASSWORD = \"{SECRET}\"\n    user = \"{SECRET}\"\n  }}\n  \
         nested {{\n    api_key = \"{SECRET}\"\n  }}\n}}\nlocals {{\n  list = [{{ \"auth-token\" : \"{SECRET}\" }}]\n}}\n"
    );

    assert_eq!(lines_of("x.tf", &text), [3, 7, 11]);
}

#[test]
fn the_default_of_a_variable_is_told_at_the_variable() {
    let text = format!(
        "variable \"root_password\" {{\n  type    = string\n  default = \"{SECRET}\"\n}}\n\n\
         variable \"db\" {{\n  default = {{\n    name   = \"app-database\"\n    secret = \"{SECRET}\"\n  }}\n}}\n"
    );

    assert_eq!(lines_of("x.tf", &text), [1, 9]);
}

#[test]
fn values_of_variables_are_judged_in_both_forms() {
    let native = format!(
        "db_password = \"{SECRET}\"\nusers = {{\n  a = {{ token = \"{SECRET}\" }}\n}}\nsize = \"large-and-long\"\n"
    );
    let json = format!(
        "{{\n  \"db_password\": \"{SECRET}\",\n  \"users\": [{{\n    \"Token\": \"{SECRET}\"\n  }}]\n}}\n"
    );

    assert_eq!(lines_of("a.auto.tfvars", &native), [1, 3]);
    assert_eq!(lines_of("a.auto.tfvars.json", &json), [2, 4]);
}

#[test]
fn the_json_form_of_stacks_is_judged() {
    let text = format!(
        "{{\n  \"variable\": {{\n    \"x_token\": {{\n      \"default\": \"{SECRET}\"\n    }}\n  }},\n  \
         \"resource\": {{\"terraform_data\": {{\"b\": {{\n    \"password\": \"{SECRET}\",\n    \"secret\": \"${{var.s}}-and-more\"\n  }}}}}}\n}}\n"
    );

    assert_eq!(lines_of("x.tf.json", &text), [3, 8]);
}

#[test]
fn what_is_no_literal_or_no_secret_passes() {
    let text = format!(
        "variable \"password\" {{\n  description = \"{SECRET}\"\n}}\nlocals {{\n  password        = var.password\n  \
         token           = \"${{var.a}}-{SECRET}\"\n  password_file   = \"{SECRET}\"\n  token_path      = \"{SECRET}\"\n  \
         secret_name     = \"{SECRET}\"\n  token_ttl       = \"{SECRET}\"\n  password_length = \"{SECRET}\"\n  \
         secret          = \"short\"\n  api_key         = file(\"{SECRET}\")\n  passwd          = local.all[\"{SECRET}\"]\n  \
         private_key     = \"%{{ if true }}{SECRET}%{{ endif }}\"\n  # password = \"{SECRET}\"\n  text = \"password = {SECRET}\"\n}}\n"
    );

    assert_eq!(lines_of("x.tf", &text), [0_usize; 0]);
}

#[test]
fn a_doubled_sign_and_a_heredoc_are_literals() {
    let text = format!(
        "locals {{\n  password = \"$${{x}}{SECRET}\"\n  token = <<-EOT\n    {SECRET}\n  EOT\n  secret = sensitive(\"{SECRET}\")\n}}\n"
    );

    assert_eq!(lines_of("x.tf", &text), [2, 3, 6]);
}

#[test]
fn keys_are_known_by_their_shape_under_any_name() {
    let aws = ["AKIA", "IOSFODNN7EXAMPLE"].concat();
    let github = ["ghp_", &"a1B2".repeat(9)].concat();
    let age = ["AGE-SECRET-KEY-1", &"Q".repeat(58)].concat();
    let pem = "-----BEGIN RSA PRIVATE KEY-----\n    MIIEpAIBAAKCAQEA\n    -----END RSA PRIVATE KEY-----";
    let text = format!(
        "locals {{\n  a = \"{aws}\"\n  b = [\"x\", \"{github}\"]\n  c = f(\"{age}\")\n  d = <<-EOT\n    {pem}\n  EOT\n}}\n"
    );

    assert_eq!(lines_of("x.tf", &text), [2, 3, 4, 5]);
    let project = Project::new().stack("a", CLEAN).file("infrastructure/a/x.tf", &text);
    project
        .run("lint -v")
        .exits(1)
        .stdout_lacks(&aws)
        .stdout_lacks(&github)
        .stdout_lacks(&age)
        .stdout_lacks("MIIEp");
    project
        .run("lint --format sarif")
        .exits(1)
        .stdout_lacks(&aws)
        .stdout_lacks(&github)
        .stdout_lacks("MIIEp");
}

#[test]
fn encrypted_files_are_left_alone() {
    let sops = format!(
        "{{\"data\": \"ENC[AES256_GCM,data:x,type:str]\", \"password\": \"{SECRET}\", \"sops\": {{\"mac\": \"ENC[AES256_GCM,data:y]\", \"version\": \"3.9.0\", \"lastmodified\": \"2026-01-01T00:00:00Z\", \"age\": []}}}}"
    );
    let dotenv = format!(
        "password=ENC[AES256_GCM,data:x,type:str]\nother_password={SECRET}\nsops_mac=ENC[AES256_GCM,data:y]\n"
    );
    let vault = format!("$ANSIBLE_VAULT;1.1;AES256\npassword = \"{SECRET}\"\n");

    for (name, text) in [
        ("s.tfvars.json", &sops),
        ("s.sops.tfvars", &sops),
        ("e.tfvars", &dotenv),
        ("secrets.tfvars", &vault),
    ] {
        assert_eq!(lines_of(name, text), [0_usize; 0], "{name}");
    }
}

#[test]
fn a_file_that_git_leaves_out_is_not_published() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file("infrastructure/a/local.auto.tfvars", &format!("password = \"{SECRET}\"\n"))
        .file(".gitignore", "local.auto.tfvars\n");
    assert_eq!(found(&project), ["plaintext-secret infrastructure/a/local.auto.tfvars:1"]);

    project.git(&["init", "-q"]);
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn files_outside_of_stacks_are_looked_into_and_links_only_once() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file("environments/prod.tfvars", &format!("password = \"{SECRET}\"\n"))
        .file("old/main.tf", &format!("locals {{\n  token = \"{SECRET}\"\n}}\n"));
    std::os::unix::fs::symlink("../../environments/prod.tfvars", project.path("infrastructure/a/x.tfvars"))
        .unwrap();

    assert_eq!(
        found(&project),
        ["plaintext-secret environments/prod.tfvars:1", "plaintext-secret old/main.tf:2"]
    );
}
