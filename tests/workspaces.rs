//! One folder in several workspaces, with the real tofu: those that `infra.yaml` declares, each a stack of
//! its own, and those that somebody only asks for.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/minio.rs"]
mod minio;
#[path = "workspaces/other_checkout.rs"]
mod other_checkout;
#[path = "workspaces/selected.rs"]
mod selected;
#[path = "support/served.rs"]
mod served;
mod support;
#[path = "support/tools.rs"]
mod tools;

use minio::minio;
use served::Served;
use support::Project;

/// A stack that tells where it runs.
fn web(backend: &str) -> String {
    format!(
        r#"
terraform {{
  {backend}
}}
variable "environment" {{ default = "none" }}
variable "size" {{ default = 0 }}
resource "terraform_data" "web" {{
  input = "${{var.environment}} ${{var.size}} ${{terraform.workspace}}"
}}
output "place" {{ value = terraform_data.web.output }}
"#
    )
}

const DECLARED: &str = r#"name: lab
stacks:
  "cloud/web":
    workspaces:
      dev:  { var_files: [dev.tfvars] }
      prod: { var_files: [prod.tfvars], tags: [live] }
    workspace_variable: environment
"#;

fn declared(backend: &str) -> Project {
    Project::new()
        .config(DECLARED)
        .stack("cloud/web", &web(backend))
        .file("infrastructure/cloud/web/dev.tfvars", "size = 1\n")
        .file("infrastructure/cloud/web/prod.tfvars", "size = 2\n")
}

/// Returns a block for a new bucket.
fn bucket() -> String {
    let (bucket, address) = (minio().bucket(), minio().address);
    format!(
        r#"backend "s3" {{
    bucket                      = "{bucket}"
    key                         = "web.tfstate"
    region                      = "us-east-1"
    endpoints                   = {{ s3 = "http://{address}" }}
    use_path_style              = true
    use_lockfile                = true
    skip_credentials_validation = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_s3_checksum            = true
  }}"#
    )
}

fn with_keys(project: Project) -> Project {
    project.env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD)
}

fn output_of(project: &Project, stack: &str) -> String {
    project.run(&format!("output {stack} place --raw -q")).succeeds().stdout
}

fn ids(project: &Project) -> Vec<(String, serde_json::Value)> {
    let listed = project.run("stacks --json").succeeds().json();
    let rows = listed.as_array().unwrap().iter();
    rows.map(|row| (row["id"].as_str().unwrap().to_owned(), row["workspace"].clone())).collect()
}

/// Applies both workspaces, and looks at everything that speaks of them.
fn lives_in_both(project: &Project, workspace: impl Fn(&'static str) -> &'static str) {
    let report = project.run("apply cloud/web --yes --json").succeeds().json();
    let told: Vec<&str> =
        report["stacks"].as_array().unwrap().iter().map(|stack| stack["id"].as_str().unwrap()).collect();
    assert_eq!(told, ["cloud/web@dev", "cloud/web@prod"]);
    assert_eq!(output_of(project, "cloud/web@dev"), format!("dev 1 {}", workspace("dev")));
    assert_eq!(output_of(project, "web@prod"), format!("prod 2 {}", workspace("prod")));

    project.run("plan --all --detailed-exitcode").succeeds();
    let outputs = project.run("output cloud/web --json").succeeds().json();
    assert_eq!(outputs["cloud/web@prod"]["place"]["value"], format!("prod 2 {}", workspace("prod")));
    assert_eq!(project.resources("cloud/web@dev"), ["terraform_data.web"]);
    project.run("drift @prod").succeeds();
    project.run("tofu --stack cloud/web@dev -- state list").succeeds().stdout_has("terraform_data.web");

    let dev = project.run("destroy cloud/web@dev --yes").succeeds();
    dev.stderr_lacks("cloud/web@prod");
    assert_eq!(project.resources("cloud/web@dev"), [""; 0]);
    assert_eq!(project.resources("cloud/web@prod"), ["terraform_data.web"]);
    assert!(!project.has("infrastructure/cloud/web/.terraform"));
    project.run("doctor").succeeds().stdout_lacks("cloud/web@prod: state in a local file, which is not here");
}

#[test]
fn each_workspace_has_a_state_of_its_own_where_infra_keeps_it() {
    let project = declared(r#"backend "http" {}"#);

    assert_eq!(
        ids(&project),
        [("cloud/web@dev".into(), "dev".into()), ("cloud/web@prod".into(), "prod".into())]
    );
    // http has no workspaces, so that tofu knows only the one.
    lives_in_both(&project, |_| "default");
    assert!(project.read("infra.lock").contains("cloud/web@prod"));
}

#[test]
fn each_workspace_has_a_state_of_its_own_in_a_local_file() {
    let project = declared("");

    lives_in_both(&project, |name| name);

    assert!(project.has("infrastructure/cloud/web/terraform.tfstate.d/prod/terraform.tfstate"));
    assert!(!project.has("infrastructure/cloud/web/terraform.tfstate"));
    project.write("infrastructure/cloud/web/main.tf", &web(r#"backend "http" {}"#));
    let left = project.run("plan @prod").exits(65).stderr_has("error[state-not-moved]");
    project.run(&left.advice("state push")).succeeds();
    project.run("plan @prod --detailed-exitcode").exits(2).stderr_has("~1");
}

#[test]
fn each_workspace_has_a_state_of_its_own_in_a_bucket() {
    let project = with_keys(declared(&bucket()));

    lives_in_both(&project, |name| name);

    let identity = project.run("stacks @dev --json").succeeds().json()[0]["backend"]["identity"].clone();
    assert!(identity.as_str().unwrap().contains("env:/dev/web.tfstate"), "{identity}");
}

#[test]
fn each_workspace_has_an_address_of_its_own_on_a_foreign_server() {
    let served = Served::start();
    let address = format!("http://{}/states/web", served.address);
    let block = format!(
        r#"backend "http" {{
    address        = "{address}"
    lock_address   = "{address}/lock"
    unlock_address = "{address}/lock"
    username       = "{}"
    password       = "{}"
  }}"#,
        served::USER,
        served::PASSWORD
    );
    let project = declared(&block).env("TF_WORKSPACE", "prod");

    project.run("apply cloud/web --yes").succeeds().stderr_lacks("cloud/web@dev");

    assert_eq!(output_of(&project, "cloud/web"), "prod 2 default");
    assert_eq!(served.send("GET", "/states/web@prod", "").status, 200);
    assert_eq!(served.send("GET", "/states/web@dev", "").status, 404);
    assert_eq!(served.send("GET", "/states/web", "").status, 404);
}

#[test]
fn a_workspace_is_chosen_by_its_name_its_folder_or_a_flag() {
    let project = declared(r#"backend "http" {}"#).stack("net", &web(r#"backend "http" {}"#));
    let dry = |args: &str| {
        let run = project.run(&format!("plan --dry-run {args}")).succeeds();
        let ids = run.stdout.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
        ids.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };

    for both in ["cloud/web", "web", "infrastructure/cloud/web", "./infrastructure/cloud", "cloud/*"] {
        assert_eq!(dry(both), "cloud/web@dev cloud/web@prod", "{both}");
    }
    for one in
        ["@prod", "cloud/web@prod", "web@prod", "./infrastructure/cloud/web@prod", "cloud/*@prod", "live"]
    {
        assert_eq!(dry(one), "cloud/web@prod", "{one}");
    }
    assert_eq!(dry("--all --workspace dev"), "cloud/web@dev");
    assert_eq!(dry("--all --exclude @dev"), "cloud/web@prod net");
    project.run("plan web --workspace pord").exits(64).stderr_has("did you mean `prod`?");
    project.run("plan net --workspace dev").exits(64).stderr_has("has no workspaces");
    project.run("plan web@test").exits(64).stderr_has("no stack is called `web@test`");
}

#[test]
fn the_callers_workspace_narrows_and_concerns_no_stack_that_is_not_named() {
    let project = declared("").stack("net", &web("")).env("TF_WORKSPACE", "dev");

    project.run("plan --all --dry-run").succeeds().stdout_has("cloud/web@dev").stdout_lacks("net");
    project.run("stacks").succeeds().stdout_has("web@prod").stdout_has("net");
    let unknown = project.run("plan net").exits(65).stderr_has("`net` has no workspace `dev`");
    let unknown = unknown.stderr_has("workspaces  default");
    let make = unknown.advice("--create");

    project.run(&make).succeeds().stderr_has("net@dev");
    assert!(!project.has("infrastructure/net/.terraform/environment"));
    project.run("apply net --yes").succeeds();
    assert_eq!(output_of(&project, "net"), "none 0 dev");
    assert!(!project.has("infra.lock"));
}

#[test]
fn a_stack_without_workspaces_runs_where_it_was_selected_and_says_so() {
    let project = Project::new().stack("net", &web("")).stack("app", &web(""));
    project.run("tofu --stack net -- workspace new staging").succeeds();

    project.run("apply net --yes").succeeds().stderr_has("lab · net@staging");
    assert_eq!(output_of(&project, "net"), "none 0 staging");
    assert_eq!(output_of(&project, "net@staging"), "none 0 staging");
    project.run("apply net --workspace default --yes").succeeds().stderr_has("lab · net ·");
    assert_eq!(ids(&project)[1], ("net@staging".into(), "staging".into()));

    project.write("infra.yaml", "name: lab\nstacks:\n  net: { env: { TF_WORKSPACE: default } }\n");
    assert_eq!(output_of(&project, "net"), "none 0 default");
    project.write("infra.yaml", "name: lab\nstacks:\n  net: { workspaces: { staging: {}, default: {} } }\n");
    project.run("plan net").succeeds().stderr_has("selected in its `.terraform` is ignored");
    assert_eq!(output_of(&project, "net@default"), "none 0 default");
}

#[test]
fn no_state_of_before_is_left_behind_in_a_file_or_where_infra_keeps_it() {
    for backend in ["", r#"backend "http" {}"#] {
        let project = Project::new().stack("web", &web(backend));
        project.run("apply --yes").succeeds();

        project.write("infra.yaml", "name: lab\nstacks:\n  web: { workspaces: { dev: {}, prod: {} } }\n");
        project
            .run("plan --all")
            .exits(65)
            .stderr_has("error[stack-renamed]")
            .stderr_has("✗ web@prod  failed");

        let was = "name: lab\nstacks:\n  web: { workspaces: { dev: { was: web }, prod: {} } }\n";
        project.write("infra.yaml", was);
        let both = project.run("apply --all --yes").succeeds();
        both.stderr_has("`web@dev` has the state of `web` now").stderr_has("web@prod  applied +1");
        assert_eq!(project.resources("web@dev"), ["terraform_data.web"]);
        project.run("apply --all --yes").succeeds();
        project.write("infra.yaml", "name: lab\nstacks:\n  web: { workspaces: { dev: {}, prod: {} } }\n");
        project.run("plan --all --detailed-exitcode").succeeds().stderr_lacks("stack-renamed");
    }
}

#[test]
fn a_workspace_under_another_name_goes_on_with_its_state_in_a_backend_of_its_own() {
    let project = declared("");
    project.run("apply cloud/web --yes").succeeds();
    let live = DECLARED.replace("prod: {", "live: {");

    // Without a word it would be made a second time.
    project.write("infra.yaml", &live);
    project.run("plan @live").exits(65).stderr_has("error[stack-renamed]").stderr_has("`cloud/web@prod`");
    project.run("stacks --removed").succeeds().stdout_has("cloud/web@prod");
    project.write("infra.yaml", &live.replace("live: {", "live: { was: \"cloud/web@prod\","));
    project.run("plan @live").succeeds().stderr_has("+0 ~1 -0");
    project.run("apply @live --yes").succeeds().stderr_has("has the state of `cloud/web@prod` now");
    assert_eq!(output_of(&project, "web@live"), "live 2 live");
    // The word may go again.
    project.write("infra.yaml", &live);
    project.run("plan --all --detailed-exitcode").succeeds();
    project.run("stacks --removed").succeeds().stdout_lacks("cloud/web");

    project.write("infra.yaml", "name: lab\nstacks:\n  cloud/web: { var_files: [dev.tfvars] }\n");
    project.run("plan cloud/web").exits(65).stderr_has("error[stack-renamed]");
    let dev = "name: lab\nstacks:\n  cloud/web: { var_files: [dev.tfvars], was: cloud/web@dev }\n";
    project.write("infra.yaml", dev);
    project.run("apply cloud/web --yes").succeeds();
    assert_eq!(output_of(&project, "cloud/web"), "none 1 default");
    project.run("stacks --removed").succeeds().stdout_has("cloud/web@live").stdout_lacks("cloud/web@dev");
    project.run("state forget cloud/web@live --yes").succeeds();
    project.run("stacks --removed").succeeds().stdout_lacks("cloud/web@live");
    assert!(project.has("infrastructure/cloud/web/terraform.tfstate.d/live/terraform.tfstate"));
}

#[test]
fn what_could_not_be_saved_goes_back_to_the_workspace_that_it_is_from() {
    let project = declared("");
    project.run("apply cloud/web@dev --yes").succeeds();
    let state = project.run("state pull cloud/web@dev -q").succeeds().stdout;
    let mut later: serde_json::Value = serde_json::from_str(&state).unwrap();
    later["serial"] = (later["serial"].as_u64().unwrap() + 1).into();
    let folder = "infrastructure/cloud/web";

    project.write(&format!("{folder}/errored.tfstate"), &later.to_string());
    project.run("apply cloud/web@prod --yes").succeeds();
    assert!(project.has(&format!("{folder}/errored.dev.tfstate")));
    let refused = project.run("apply cloud/web@dev --yes").exits(1).stderr_has("error[unsaved-state]");
    project.run(&refused.advice("--errored")).succeeds();
    assert!(!project.has(&format!("{folder}/errored.dev.tfstate")));

    project.run("destroy cloud/web@prod --yes").succeeds();
    std::fs::remove_dir_all(project.path(&format!("{folder}/terraform.tfstate.d/prod"))).unwrap();
    later["lineage"] = "another".into();
    project.write(&format!("{folder}/errored.tfstate"), &later.to_string());
    project.run("apply cloud/web@prod --yes").exits(1).stderr_has("error[unsaved-state]");
    project.run("state push cloud/web@prod --errored").exits(64).stderr_has("does not say whose it is");
    project.run("state push cloud/web@prod --errored --yes").succeeds();
}

#[test]
fn stacks_depend_on_workspaces_and_take_values_from_one() {
    let app = r#"
terraform {
  backend "http" {}
}
variable "url" {}
output "place" { value = var.url }
"#;
    let config = format!(
        "{DECLARED}  app:\n    depends_on: [cloud/web]\n    inputs: {{ url: \"cloud/web@prod.place\" }}\n"
    );
    let project = declared(r#"backend "http" {}"#).config(&config).stack("app", app);

    let listed = project.run("stacks app --json").succeeds().json();
    assert_eq!(listed[0]["depends_on"], serde_json::json!(["cloud/web@dev", "cloud/web@prod"]));
    project.run("apply --all --yes").succeeds();
    assert_eq!(output_of(&project, "app"), "prod 2 default");

    project.write("infra.yaml", &config.replace("web@prod.place", "web.place"));
    project.run("stacks").exits(65).stderr_has("`cloud/web@dev`, `cloud/web@prod`");
}

#[test]
fn a_workspace_is_destroyed_with_the_name_that_its_variable_needs() {
    let needy =
        web("").replace(r#"variable "environment" { default = "none" }"#, "variable \"environment\" {}\n");
    let project = declared("").stack("cloud/web", &needy);
    project.run("apply cloud/web --yes").succeeds();

    project.run("destroy @dev --yes").succeeds();
    project.write("infra.yaml", &DECLARED.replace("prod: {", "live: {"));
    project.run("destroy --removed --yes").succeeds();

    assert_eq!(project.resources("web@dev"), [""; 0]);
    project.run("stacks --removed").succeeds().stdout_lacks("cloud/web@prod");
}

#[test]
fn what_makes_no_sense_is_an_error_that_says_where() {
    let project = declared("").stack("cloud/web@dev", &web(""));
    let refused = |config: &str, words: &str| {
        project.write("infra.yaml", config);
        project.run("stacks").exits(65).stderr_has(words).stderr_has("infra.yaml");
    };

    refused(DECLARED, "`cloud/web@dev` is a folder, and a workspace");
    let name = |name: &str| format!("stacks:\n  x: {{ workspaces: {{ \"{name}\": {{}} }} }}\n");
    for wrong in ["", "..", "a/b", "a b", "a@b"] {
        refused(&name(wrong), "is no name of a workspace");
    }
    refused("stacks:\n  x: { workspaces: { a: { workspaces: { b: {} } } } }\n", "cannot have workspaces");
    refused(
        "stacks:\n  x: { workspaces: { a: { env: { TF_WORKSPACE: b } } } }\n",
        "cannot set `TF_WORKSPACE`",
    );
    refused("stacks:\n  x: { workspaces: [dev] }\n", "infra.yaml:2");
    refused("stacks:\n  cloud/web: { workspaces: { a: }, workspace_variable: env }\n", "no variable `env`");
}

#[test]
fn a_copy_of_a_stack_keeps_its_workspaces() {
    let project = declared(r#"backend "http" {}"#);

    let made = project.run("new-stack cloud/shop --from cloud/web").succeeds();
    made.stderr_has("its `workspaces` too").stderr_lacks("say it about").stderr_has("is `cloud/shop@prod`");

    let all: Vec<String> = ids(&project).into_iter().map(|(id, _)| id).collect();
    assert_eq!(all, ["cloud/shop@dev", "cloud/shop@prod", "cloud/web@dev", "cloud/web@prod"]);
    project.run("apply cloud/shop --yes").succeeds();
    assert_eq!(output_of(&project, "shop@prod"), "prod 2 default");
}
