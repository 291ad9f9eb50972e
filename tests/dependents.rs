//! Destroying what others stand on: dependents that still have resources are named and keep it,
//! they go first where that is asked for, and what loses its inputs can still be destroyed.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;
#[path = "support/tools.rs"]
mod tools;

use served::Served;
use support::terminal::AtTerminal;
use support::{Project, SIMPLE};
use tools::AgeKey;

/// A stack that leaves a trace when it is destroyed.
const TRACED: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "thing" {
  input = basename(path.cwd)
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.input} >> ../../../order"
  }
}
"#;

const NET: &str = r#"
terraform {
  backend "http" {}
}

resource "terraform_data" "host" {
  input = "pve1 $${x} \"q\" ü"
}

output "host" {
  value = terraform_data.host.output
}

output "token" {
  value     = "s3cr3t-${terraform_data.host.output}"
  sensitive = true
}
"#;

const APP: &str = r#"
terraform {
  backend "http" {}
}

variable "host" {
  type = string
}

resource "terraform_data" "vm" {
  count = 2
  input = var.host
}
"#;

const TOKEN: &str = "\nvariable \"token\" {\n  type      = string\n  sensitive = true\n}\n";

fn net_and_app(app: &str, inputs: &str) -> Project {
    let config = format!("name: lab\nstacks:\n  \"02-b/app\":\n    inputs: {{ {inputs} }}\n");
    let project = Project::new().stack("01-a/net", NET).stack("02-b/app", app).config(&config);
    project.run("apply --all --yes").succeeds();
    project
}

fn with_host() -> Project {
    net_and_app(APP, "host: \"01-a/net.host\"")
}

fn with_token() -> Project {
    net_and_app(&format!("{APP}{TOKEN}"), "host: \"01-a/net.host\", token: \"01-a/net.token\"")
}

/// Four stacks of which the last depends on both in the middle; they share no layer.
fn diamond() -> Project {
    let mut project = Project::new().config(
        "name: lab\nstacks:\n  roots: [infrastructure]\n  \"s/left\": { depends_on: [s/base] }\n  \"s/right\": { depends_on: [s/base] }\n  \"s/top\": { depends_on: [s/left, s/right] }\n",
    );
    for id in ["s/base", "s/left", "s/right", "s/top", "s/other"] {
        project = project.stack(id, TRACED);
    }
    project.run("apply --all --yes").succeeds();
    project
}

#[test]
fn what_others_stand_on_is_not_destroyed_below_them() {
    let project = with_host();

    for args in ["destroy net --yes", "destroy net --yes --json", "destroy --layer 1 --dry-run"] {
        project
            .run(args)
            .exits(65)
            .stderr_has("error[has-dependents]")
            .stderr_has("depends on `01-a/net`")
            .stderr_has("`02-b/app`  input `host` from `01-a/net.host`, 2 resources")
            .stderr_has("--with-dependents`")
            .stderr_has("`infra destroy 02-b/app`")
            .stderr_has("--force`");
    }

    let error = project.run("destroy net --yes --json").exits(65).json();
    assert_eq!(error["error"]["kind"], "has-dependents");
    assert_eq!(project.resources("net"), ["terraform_data.host"]);
    assert_eq!(project.run("runs --json").succeeds().json().as_array().map(Vec::len), Some(1), "no run");
    project.run("destroy net --force --with-dependents").exits(64);
}

#[test]
fn dependents_that_are_asked_for_or_chosen_too_are_destroyed_first() {
    let project = diamond();
    project
        .run("destroy base --yes")
        .exits(65)
        .stderr_has("`s/top`    `depends_on` `s/left`, `depends_on` `s/right`");
    let dry = project.run("destroy base --with-dependents --dry-run").succeeds();
    dry.stdout_has("4 stacks").stdout_has("1  s/top").stdout_has("3  s/base").stdout_lacks("s/other");

    project.run("destroy base --with-dependents --yes --parallelism 1").succeeds();

    let order = project.read("order");
    let order: Vec<&str> = order.lines().collect();
    assert_eq!((order.len(), order[0], order[3]), (4, "top", "base"), "{order:?}");
    assert_eq!(project.resources("other"), ["terraform_data.thing"]);
    project.run("apply --all --yes").succeeds();
    project.run("destroy --all --yes").succeeds();
}

#[test]
fn one_that_is_left_out_of_the_dependents_is_still_in_the_way() {
    let project = diamond();

    let run = project.run("destroy base --with-dependents --exclude top --yes").exits(65);

    run.stderr_has("`s/top`").stderr_lacks("`s/left`  ");
    project.run("destroy top --yes").succeeds();
    project.run("destroy base --with-dependents --exclude top --yes").succeeds();
}

#[test]
fn a_dependent_without_resources_is_not_in_the_way() {
    let data = "data \"terraform_remote_state\" \"own\" {\n  backend = \"local\"\n  config  = { path = \"other.tfstate\" }\n  defaults = {}\n}\n";
    let reading =
        format!("terraform {{\n  backend \"http\" {{}}\n}}\n{data}output \"x\" {{\n  value = 1\n}}\n");
    let config = "name: lab\nstacks:\n  \"{data,never,gone}\": { depends_on: [base] }\n";
    let project =
        Project::new().stack("base", SIMPLE).stack("gone", SIMPLE).stack("data", &reading).config(config);
    project.write(
        "infrastructure/data/other.tfstate",
        r#"{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[]}"#,
    );
    project.run("apply --all --yes").succeeds();
    project.run("destroy gone --yes").succeeds();
    let project = project.stack("never", SIMPLE);

    project.run("destroy base --yes").succeeds();

    assert!(project.resources("base").is_empty());
}

#[test]
fn a_state_that_is_read_is_an_edge_with_its_file_and_line() {
    let local = SIMPLE.replace("backend \"http\" {}", "");
    let reads = "data \"terraform_remote_state\" \"net\" {\n  backend = \"local\"\n  config  = { path = \"../net/terraform.tfstate\" }\n}\n";
    let project = Project::new().stack("net", &local).stack("app", &format!("{local}{reads}"));
    project.run("apply net --yes").succeeds();
    project.run("apply app --yes").succeeds();

    let run = project.run("destroy net --yes").exits(65);

    run.stderr_has("`app`  reads the state of `net` at infrastructure/app/main.tf:").stderr_has("1 resource");
}

#[test]
fn a_state_that_cannot_be_read_may_have_resources() {
    let local = SIMPLE.replace("backend \"http\" {}", "backend \"local\" {}");
    let config = "name: lab\nstacks:\n  app: { depends_on: [net] }\n";
    let project = Project::new().stack("net", SIMPLE).stack("app", &local).config(config);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/app/terraform.tfstate", "broken");

    let run = project.run("destroy net --yes").exits(65);

    run.stderr_has("`app`  `depends_on` `net`, its state cannot be read, so it may have resources");
    project.run("destroy net --yes --force").succeeds();
}

#[test]
fn higher_layers_without_an_edge_stay_and_are_named() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE).stack("03-c/never", SIMPLE);
    project.run("apply x y --yes").succeeds();

    let mut person = AtTerminal::start(project.command("destroy x --with-dependents"));
    person.sees("These stand on higher layers and stay: `02-b/y`.");
    person.sees("This destroys one stack of `lab`: `01-a/x`.");
    person.types("no");
    let (code, screen) = person.wait();
    assert!(code == Some(1) && !screen.contains("03-c/never"), "{screen}");

    let run = project.run("destroy x --with-dependents --yes").succeeds();
    run.stderr_has("these stand on higher layers and stay: `02-b/y`");
    assert_eq!(project.resources("y"), ["terraform_data.thing"]);
    project.run("destroy y --yes").succeeds().stderr_lacks("and stay");
}

#[test]
fn a_plan_of_a_destruction_is_warned_about_and_made() {
    let project = with_host();

    let run = project.run("plan net --destroy").succeeds();

    run.stderr_has("warning: another stack that still has resources depends on `01-a/net`");
    project.run("destroy net --yes").exits(65).stderr_has("error[has-dependents]");
    project.run("plan net --destroy --with-dependents").succeeds().stderr_lacks("depends on `01-a/net`");
}

#[test]
fn a_forced_destruction_leaves_dependents_that_go_by_what_was_last_applied() {
    let project = with_host();
    let run = project.run("destroy net --force --yes").succeeds();
    run.stderr_has("these depend on it and stay: `02-b/app`");

    let run = project.run("destroy app --yes").succeeds();

    run.stderr_has("`host` of `02-b/app` comes from the last apply: 01-a/net has no outputs any more");
    assert!(project.resources("app").is_empty());
}

#[test]
fn what_is_remembered_is_the_exact_value_and_follows_an_apply_without_changes() {
    let project = with_host();
    let record = || -> serde_json::Value {
        serde_json::from_str(&project.read(".infra/applied/02-b%2Fapp/applied.json")).unwrap()
    };
    assert_eq!(record()["values"]["host"], "pve1 ${x} \"q\" ü");
    let before = project.read(".infra/applied/02-b%2Fapp/applied.json");
    project.write(".infra/applied/02-b%2Fapp/applied.json", &before.replace("\"values\"", "\"older\""));

    project.run("apply app --yes").succeeds();

    assert_eq!(record()["values"]["host"], "pve1 ${x} \"q\" ü");
}

#[test]
fn a_sensitive_input_is_not_remembered_and_can_be_given_by_hand_in_every_way() {
    let project = with_token();
    let files = project.files_containing("s3cr3t-pve1");
    assert!(files.iter().all(|file| file.starts_with(".infra/state")), "{files:?}");
    let apply_app_alone = || {
        project.run("apply --all --yes").succeeds();
        project.run("destroy net --force --yes").succeeds();
    };
    project.run("destroy net --force --yes").succeeds();
    project
        .run("destroy app --yes")
        .exits(1)
        .stderr_has("`token`  01-a/net has no outputs any more")
        .stderr_has("infra destroy 02-b/app -- -var 'token=…'")
        .stderr_lacks("s3cr3t");

    project.run("destroy app --yes -- -var token=by-hand").succeeds();
    assert!(project.resources("app").is_empty());
    assert!(!project.has(".infra/applied/02-b%2Fapp"), "destroyed as a whole");

    apply_app_alone();
    project.write("infrastructure/02-b/app/hand.tfvars.txt", "token = \"by-hand\"\n");
    project.run("destroy app --yes -- -var-file=hand.tfvars.txt").succeeds();

    apply_app_alone();
    let mut command = project.command("destroy app --yes");
    assert!(command.env("TF_VAR_token", "by-hand").status().expect("it runs").success());

    apply_app_alone();
    project.write("infrastructure/02-b/app/lab.tfvars", "token = \"by-hand\"\n");
    project.run("destroy app --yes").succeeds();
}

#[test]
fn a_saved_plan_to_destroy_keeps_what_was_given_by_hand() {
    let project = with_token();
    project.run("destroy net --force --yes").succeeds();

    project.run("plan app --destroy -- -var token=by-hand").succeeds();
    project.run("destroy app --yes").succeeds().stderr_has("takes the plan that was saved");

    assert!(project.resources("app").is_empty());
}

#[test]
fn a_removed_dependent_is_in_the_way_and_goes_with_the_others() {
    let project = with_host();
    std::fs::remove_dir_all(project.path("infrastructure/02-b")).unwrap();
    project.write("infra.yaml", "name: lab\n");

    let run = project.run("destroy net --yes").exits(65);
    run.stderr_has("`02-b/app`").stderr_has("`infra destroy --removed 02-b/app`");

    project.run("destroy net --with-dependents --yes").succeeds();
    project.run("stacks --removed").succeeds().stdout_lacks("02-b/app");
}

#[test]
fn a_removed_stack_that_others_stand_on_stays_until_they_go() {
    let project = with_host();
    std::fs::remove_dir_all(project.path("infrastructure/01-a")).unwrap();
    project.write("infra.yaml", "name: lab\n");
    project.write("infrastructure/02-b/app/lab.tfvars", "host = \"pve1 ${\"$\"}{x} \\\"q\\\" ü\"\n");

    let run = project.run("destroy --removed --yes").exits(65);
    run.stderr_has("depends on `01-a/net`").stderr_has("infra destroy --removed --with-dependents");

    project.run("destroy --removed --with-dependents --yes").succeeds();
    assert!(project.resources("app").is_empty());
}

#[test]
fn a_removed_stack_is_destroyed_although_what_fed_it_is_gone_for_good() {
    let project = with_host().stack("01-a/other", SIMPLE);
    project.run("destroy net --force --yes").succeeds();
    for gone in ["01-a/net", "02-b/app"] {
        std::fs::remove_dir_all(project.path(&format!("infrastructure/{gone}"))).unwrap();
    }
    project.write("infra.yaml", "name: lab\n");

    let run = project.run("destroy --removed --yes").succeeds();

    run.stderr_has("`host` of `02-b/app` comes from the last apply: 01-a/net is gone");
    project.run("stacks --removed").succeeds().stdout_lacks("02-b/app");
}

#[test]
fn whoever_shares_the_state_has_what_was_last_applied_too() {
    let shared = tempfile::tempdir().unwrap();
    let config = format!(
        "name: lab\nstate: {{ store: \"{}\" }}\nstacks:\n  \"02-b/app\": {{ inputs: {{ host: \"01-a/net.host\" }} }}\n",
        shared.path().display()
    );
    let person = || Project::new().stack("01-a/net", NET).stack("02-b/app", APP).config(&config);
    let (first, second) = (person(), person());
    first.run("apply --all --yes").succeeds();
    second.run("destroy net --yes").exits(65).stderr_has("`02-b/app`");
    first.run("destroy net --force --yes").succeeds();

    let run = second.run("destroy app --yes").succeeds();

    run.stderr_has("comes from the last apply");
    assert!(first.resources("app").is_empty());
}

#[test]
fn a_destruction_that_failed_half_way_is_resumed_under_the_same_rule() {
    let project = diamond();
    let mended = project.path("mended");
    let broken = TRACED.replace("echo", &format!("test -e {} && echo", mended.display()));
    project.write("infrastructure/s/left/main.tf", &broken);
    project.run("destroy base --with-dependents --yes").exits(1);
    project
        .run("destroy --resume base --yes")
        .exits(65)
        .stderr_has("infra destroy --resume base --with-dependents");
    project.write("mended", "");

    project.run("destroy --resume --yes").succeeds();

    assert!(project.resources("base").is_empty() && project.resources("left").is_empty());
}

/// Encrypts the secrets of the stacks in a folder.
fn encrypt(project: &Project, folder: &str, key: &AgeKey, yaml: &str) {
    project.write(&format!("{folder}/secrets.sops.yaml"), yaml);
    let args = ["-e", "-i", "--age", &key.recipient, "secrets.sops.yaml"];
    let done = key.run_sops(&project.path(folder), &args);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_secret_is_not_remembered_even_if_no_output_calls_it_sensitive() {
    let passing = |name: &str| {
        format!(
            "terraform {{\n  backend \"http\" {{}}\n}}\nvariable \"{name}\" {{\n  type = string\n}}\nresource \"terraform_data\" \"x\" {{}}\noutput \"passed\" {{\n  value = \"<${{var.{name}}}>\"\n}}\n"
        )
    };
    let key = AgeKey::new();
    let config = "name: lab\nstacks:\n  \"2\": { inputs: { two: \"1.passed\" } }\n  \"3\": { inputs: { three: \"2.passed\" } }\n";
    let project = Project::new().env("SOPS_AGE_KEY", &key.secret).config(config);
    let project =
        project.stack("1", &passing("api_key")).stack("2", &passing("two")).stack("3", &passing("three"));
    encrypt(&project, "infrastructure/1", &key, "api_key: c4n4ry-api-key\n");

    for stack in ["1", "2", "3"] {
        project.run(&format!("apply {stack} --yes")).succeeds();
    }

    let files = project.files_containing("c4n4ry-api-key");
    assert!(!files.iter().any(|file| file.starts_with(".infra/applied")), "{files:?}");
}

#[test]
fn the_resources_of_an_encrypted_state_are_counted() {
    let key = AgeKey::new();
    let config = "name: lab\nstacks:\n  b: { depends_on: [a] }\n";
    let project = Project::new().env("SOPS_AGE_KEY", &key.secret).config(config);
    let project = project.stack("a", SIMPLE).stack("b", SIMPLE);
    encrypt(&project, "infrastructure", &key, "state_encryption_passphrase: correct-horse-battery\n");
    project.run("apply --all --yes").succeeds();

    project.run("destroy a --yes").exits(65).stderr_has("`b`  `depends_on` `a`, 1 resource");
}

#[test]
fn a_dependent_whose_secrets_nobody_here_can_open_may_have_resources() {
    let (own, others) = (AgeKey::new(), AgeKey::new());
    let config = "name: lab\nstacks:\n  b: { depends_on: [a] }\n";
    let project = Project::new().env("SOPS_AGE_KEY", &own.secret).config(config);
    let project = project.stack("a", SIMPLE).stack("b", SIMPLE);
    project.run("apply --all --yes").succeeds();
    encrypt(&project, "infrastructure/b", &others, "token: c4n4ry-token\n");

    project.run("destroy a --yes").exits(65).stderr_has("its state cannot be read, so it may have resources");

    project.run("destroy a --yes --force").succeeds();
}

#[test]
fn the_states_of_a_server_are_asked_with_the_credentials_of_the_chosen_stacks() {
    let server = Served::start();
    let key = AgeKey::new();
    let config = format!(
        "name: lab\nstate: {{ url: \"http://{}/states/lab\" }}\nstacks:\n  \"02-b/app\": {{ depends_on: [\"01-a/net\"] }}\n",
        server.address
    );
    let mut project = Project::new().env("SOPS_AGE_KEY", &key.secret).config(&config);
    for id in ["01-a/net", "02-b/app", "03-c/x", "03-c/y"] {
        project = project.stack(id, SIMPLE);
        let yaml = format!("tfstate_username: {}\ntfstate_password: {}\n", served::USER, served::PASSWORD);
        encrypt(&project, &format!("infrastructure/{id}"), &key, &yaml);
    }
    project.run("apply --all --yes").succeeds();

    project.run("destroy net --yes").exits(65).stderr_has("`02-b/app`  `depends_on` `01-a/net`, 1 resource");
    let run = project.run("destroy net --yes --force").succeeds();

    run.stderr_has("these depend on it and stay: `02-b/app`")
        .stderr_has("these stand on higher layers and stay: `03-c/x`, `03-c/y`");
}

#[test]
fn what_stands_on_a_protected_stack_does_not_go_in_vain() {
    let project = with_host();
    let config = project.read("infra.yaml") + "  \"01-a/net\":\n    protect: true\n";
    project.write("infra.yaml", &config);
    project.run("apply --all --yes").succeeds();

    let run = project.run("destroy net --with-dependents --yes").exits(1);

    run.stderr_has("`01-a/net` is protected").stderr_has("02-b/app").stderr_has("--allow-destroy");
    assert!(!project.resources("app").is_empty());
    project.run("destroy net --with-dependents --yes --allow-destroy").succeeds();
    assert!(project.resources("app").is_empty() && project.resources("net").is_empty());
}
