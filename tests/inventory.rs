//! `infra inventory`: the machines in states, read by the real Ansible and the real ssh.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[expect(dead_code, reason = "another test uses the rest")]
#[path = "support/ansible.rs"]
mod ansible;
#[path = "support/minio.rs"]
mod minio;
#[path = "inventory/providers.rs"]
mod providers;
#[path = "inventory/states.rs"]
mod states;
mod support;
#[expect(dead_code, reason = "shared with other tests")]
#[path = "support/tools.rs"]
mod tools;
#[path = "inventory/with_ansible.rs"]
mod with_ansible;

use std::process::Command;

use minio::minio;
use serde_json::{Value, json};
use states::{NO_PROVIDER, add, aws, project_of, resource, state};
use support::{Finished, Project};

/// Returns the names of the hosts that a command lists.
fn names(told: &Finished) -> Vec<String> {
    let mut names: Vec<String> =
        told.json()["_meta"]["hostvars"].as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

/// A stack of machines that only rules find, applied by the real tofu.
const MAPPED: &str = r#"
terraform {
  backend "http" {}
}

variable "pin" {
  type      = string
  default   = "canary-pin-4711"
  sensitive = true
}

resource "terraform_data" "node" {
  for_each = { cp1 = "10.0.0.1/24", "w 1" = "dhcp" }
  input = {
    name    = "node-${each.key}"
    address = each.value
    labels  = { role = each.key, pin = var.pin }
  }
}
"#;

const RULE: &str = "inventory:\n  resources:\n    terraform_data: { name: input.name, address: input.address, tags: input.labels }\n";

#[test]
fn machines_that_the_real_tofu_made_are_found_by_rules() {
    let project = Project::new().config(&format!("name: lab\n{RULE}")).stack("01-a/x", MAPPED);
    project.run("apply x --yes").succeeds();

    let told = project.run("inventory --list").succeeds();

    let list = told.json();
    assert_eq!(names(&told), ["node-cp1", "node-w 1"]);
    let hosts = &list["_meta"]["hostvars"];
    assert_eq!(hosts["node-cp1"]["ansible_host"], "10.0.0.1");
    assert_eq!(hosts["node-cp1"]["infra_resource"], "terraform_data.node[\"cp1\"]");
    assert_eq!(hosts["node-w 1"].get("ansible_host"), None);
    assert_eq!(list["tag_role_w_1"]["hosts"], json!(["node-w 1"]));
    assert!(!told.stdout.contains("canary-pin"), "{told}");
}

#[test]
fn an_encrypted_state_is_opened_and_what_encrypted_files_hold_is_not_told() {
    let key = tools::AgeKey::new();
    let rule = RULE.replace("tags: input.labels", "tags: input");
    let project = Project::new().config(&format!("name: lab\n{rule}")).env("SOPS_AGE_KEY", &key.secret);
    let secrets = "state_encryption_passphrase: a-long-enough-passphrase\nowner: canary-owner-0815\n";
    project.write("infrastructure/secrets.sops.yaml", secrets);
    key.run_sops(
        &project.path("infrastructure"),
        &["encrypt", "--age", &key.recipient, "-i", "secrets.sops.yaml"],
    );
    let stack = MAPPED.replace("labels  =", "owner   = var.owner\n    labels  =");
    let project = project.stack("01-a/x", &format!("{stack}\nvariable \"owner\" {{\n  type = string\n}}\n"));
    project.run("apply x --yes").succeeds();

    let told = project.run("inventory --list").succeeds();

    assert_eq!(names(&told), ["node-cp1", "node-w 1"]);
    assert!(project.files_containing("node-cp1").iter().all(|file| !file.contains("state")));
    assert!(told.json().get("tag_address_dhcp").is_some() && !told.stdout.contains("canary"), "{told}");
    project.run("inventory --list").succeeds();
    let without_key =
        Project::command(&project, "inventory --list").env("SOPS_AGE_KEY", "").output().unwrap();
    assert_eq!((without_key.status.code(), without_key.stdout.as_slice()), (Some(77), b"".as_slice()));
}

#[test]
fn states_in_a_bucket_are_read_without_any_provider() {
    let (bucket, address) = (minio().bucket(), minio().address);
    let project =
        Project::new().env("AWS_ACCESS_KEY_ID", minio::USER).env("AWS_SECRET_ACCESS_KEY", minio::PASSWORD);
    let block = |key: &str| {
        format!(
            "terraform {{\n  backend \"s3\" {{\n    bucket = \"{bucket}\"\n    key = {key}\n    region = \"us-east-1\"\n    \
             endpoints = {{ s3 = \"http://{address}\" }}\n    use_path_style = true\n    skip_credentials_validation = true\n    \
             skip_region_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n    \
             skip_s3_checksum = true\n  }}\n}}\n"
        )
    };
    let made =
        "resource \"terraform_data\" \"n\" {\n  input = { name = \"NAME\", address = \"10.0.0.1\" }\n}\n";
    let project = project.config(&format!("name: lab\n{}", RULE.replace(", tags: input.labels", "")));
    for (id, key) in [("a/plain", "\"a/plain\""), ("a/open", "var.key")] {
        let variable = "variable \"key\" {\n  type = string\n  default = \"a/open\"\n}\n";
        let all = format!("{}{variable}{}", block(key), made.replace("NAME", id.trim_start_matches("a/")));
        project.write(&format!("infrastructure/{id}/main.tf"), &all);
    }
    project.run("apply --all --yes").succeeds();
    for id in ["a/plain", "a/open"] {
        // A fresh clone, in which nothing was initialised, and nobody can get the provider.
        std::fs::remove_dir_all(project.path(&format!("infrastructure/{id}/.terraform"))).unwrap();
        project.write(&format!("infrastructure/{id}/provider.tf"), NO_PROVIDER);
    }

    let told = project.run("inventory --list").succeeds();

    assert_eq!(names(&told), ["open", "plain"]);
    assert!(!project.has("infrastructure/a/open/.terraform"), "nothing is left in the folder");
    let init = project.run("init plain");
    assert_ne!(init.code, Some(0), "the provider can be had: {init}");
    let refused = project.command("inventory --list").env("AWS_SECRET_ACCESS_KEY", "wrong").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && refused.stdout.is_empty() && said.contains("`a/open`"), "{said}");
}

#[test]
fn nothing_chosen_is_every_stack_wherever_it_is_asked() {
    let project = project_of(&[
        ("01-a/x", &[resource("aws_instance", &[aws("one", 1)])]),
        ("02-b/y", &[resource("aws_instance", &[aws("two", 2)])]),
    ]);
    add(&project, "02-b/new", &[]);
    std::fs::remove_file(project.path("infrastructure/02-b/new/terraform.tfstate")).unwrap();

    assert_eq!(names(&project.run("inventory --list").succeeds()), ["one", "two"]);
    let below = project.run("-C infrastructure/01-a/x inventory --list").succeeds();
    assert_eq!(names(&below), ["one", "two"]);
    for (chosen, wanted) in [
        ("y", ["two"].as_slice()),
        ("--stack x", &["one"]),
        ("--layer 02-b", &["two"]),
        ("--exclude x", &["two"]),
        ("./infrastructure/01-a", &["one"]),
        ("new", &[]),
    ] {
        assert_eq!(names(&project.run(&format!("inventory {chosen} --list")).succeeds()), wanted, "{chosen}");
    }
    project.run("inventory --list nonsense").exits(64);
}

#[test]
fn groups_are_stack_layer_and_tags_and_a_second_machine_of_a_name_keeps_its_place() {
    let project = project_of(&[
        ("01-a/x", &[resource("aws_instance", &[aws("web", 1), aws("web", 2)])]),
        ("02-b/y", &[resource("aws_instance", &[aws("web", 3), aws("all", 4)])]),
    ])
    .config("name: lab\nstacks:\n  \"01-a/x\": { tags: [on-call, eu] }\n");

    let told = project.run("inventory --list").succeeds();

    assert_eq!(names(&told), ["all-host", "web", "web-2", "web-3"]);
    let list = told.json();
    assert_eq!(list["stack_01_a_x"]["hosts"], json!(["web", "web-2"]));
    assert_eq!(list["layer_02_b"]["hosts"], json!(["web-3", "all-host"]));
    assert_eq!(list["tag_on_call"], list["tag_eu"]);
    assert_eq!(list["tag_Name_web"]["hosts"], json!(["web", "web-2", "web-3"]));
    assert_eq!(list["_meta"]["hostvars"]["web-3"]["ansible_host"], "10.1.0.4");
}

#[test]
fn workspaces_are_stacks_of_their_own() {
    let project = project_of(&[("cloud/web", &[])])
        .config("name: lab\nstacks:\n  \"cloud/web\": { workspaces: { dev: {}, prod: { tags: [p] } } }\n");
    for (name, last) in [("dev", 1), ("prod", 2)] {
        let file = format!("infrastructure/cloud/web/terraform.tfstate.d/{name}/terraform.tfstate");
        project.write(&file, &state(&[resource("aws_instance", &[aws(name, last)])]).to_string());
    }

    let told = project.run("inventory --list").succeeds();

    let list = told.json();
    assert_eq!(names(&told), ["dev", "prod"]);
    assert_eq!(list["stack_cloud_web_dev"]["hosts"], json!(["dev"]));
    assert_eq!(list["tag_p"]["hosts"], json!(["prod"]));
    assert_eq!(names(&project.run("inventory --list --workspace prod").succeeds()), ["prod"]);
}

#[test]
fn one_host_is_asked_for_by_its_name() {
    let project = project_of(&[("cloud/x", &[resource("aws_instance", &[aws("web", 1), aws("-x", 2)])])]);

    let one = project.run("inventory --host web").succeeds().json();

    assert_eq!(one["ansible_host"], "10.1.0.2");
    assert_eq!(project.run("inventory --host -x").succeeds().json()["ansible_host"], "10.1.0.3");
    let unknown = project.run("inventory --host wbe").exits(1).stderr_has("did you mean `web`?");
    assert_eq!(unknown.stdout, "");
    project.run("inventory --list --host web").exits(64);
    project.run("inventory --format toml").exits(64);
    project.run("inventory").succeeds().stdout_has("10.1.0.2");
}

#[test]
fn what_is_no_state_is_told_and_nothing_is_half_written() {
    let project = project_of(&[("a/good", &[resource("aws_instance", &[aws("web", 1)])]), ("a/bad", &[])]);

    for text in ["[]", "{}", "{\"version\": 3, \"modules\": []}", "{\"version\": 4, \"resources\": {}}", "x"]
    {
        project.write("infrastructure/a/bad/terraform.tfstate", text);
        let told = project.run("inventory --json").exits(65).stderr_has("`a/bad`").stderr_has("hint:");
        assert!(told.json()["error"]["message"].as_str().unwrap().contains("a/bad"), "{told}");
    }
    project.run("inventory").exits(65).stderr_has("a/bad/terraform.tfstate.backup`");
    project.write("infrastructure/a/bad/terraform.tfstate", "");
    assert_eq!(names(&project.run("inventory --json").succeeds()), ["web"]);
    let odd = json!([null, 1, {"mode": "managed"}, {"mode": "managed", "type": "aws_instance", "instances": [7, {}]}]);
    let mut hostile = state(&[]);
    hostile["resources"] = odd;
    project.write("infrastructure/a/bad/terraform.tfstate", &hostile.to_string());
    assert!(names(&project.run("inventory --json").succeeds()).contains(&"web".to_owned()));
}

#[test]
fn ssh_reads_the_hosts_and_no_name_becomes_a_directive() {
    let evil = "x\n  ProxyCommand touch /tmp/never\nHost *";
    let machines = ["web", "Web Server 1", evil, "*", "!web", "-oProxyCommand=never"];
    let machines: Vec<Value> = machines.iter().enumerate().map(|(number, name)| aws(name, number)).collect();
    let vm = json!({"name": "vm", "ipv4_addresses": [["10.0.0.9"]],
        "initialization": [{"user_account": [{"username": "debian"}]}]});
    let odd_user = json!({"name": "odd", "ipv4_addresses": [["10.0.0.8"]],
        "initialization": [{"user_account": [{"username": "a\n  ProxyCommand never"}]}]});
    let vms = resource("proxmox_virtual_environment_vm", &[vm, odd_user, json!({"name": "off"})]);
    let project = project_of(&[("cloud/x", &[resource("aws_instance", &machines), vms])]);

    let told = project.run("inventory --format ssh").succeeds();
    project.write("ssh.config", &told.stdout);

    let asked = |host: &str| {
        let done = Command::new("ssh")
            .args(["-G", "-F"])
            .arg(project.path("ssh.config"))
            .arg(host)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(!text.contains("proxycommand"), "{text}");
        let line =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().to_owned();
        (line("hostname "), line("user "))
    };
    assert_eq!(asked("web").0, "10.1.0.1");
    assert_eq!(asked("Web_Server_1").0, "10.1.0.2");
    assert_eq!(asked("vm"), ("10.0.0.9".to_owned(), "debian".to_owned()));
    assert_eq!(asked("odd").0, "10.0.0.8");
    assert_eq!(asked("somewhere-else").0, "somewhere-else");
    assert!(!told.stdout.contains("ProxyCommand t") && !told.stdout.contains("Host *"), "{told}");
    told.stderr_has("left out: the machine's own name has the end of a line in it")
        .stderr_has("`off` is left out");
}

#[test]
fn rules_are_checked_where_they_stand() {
    let with =
        |rules: &str| Project::new().stack("a", "").config(&format!("name: lab\ninventory: {rules}\n"));

    with("{ resource: {} }").run("inventory").exits(65).stderr_has("infra.yaml:2").stderr_has("`resources`?");
    let typo = with("{ resources: { a_b: { adress: ip } } }").run("inventory").exits(65);
    typo.stderr_has("`adress`").stderr_has("did you mean `address`?");
    with("{ resources: { a_b: { name: 'a..b' } } }").run("stacks").exits(65).stderr_has("found `a..b`");
    with("{ resources: { a_b: { name: 'a[0].b' } } }")
        .run("stacks")
        .exits(65)
        .stderr_has("network_interface.0.ip");
    with("{ resources: { 'a.b': {} } }").run("stacks").exits(65).stderr_has("no type of a resource");
    with("{ resources: { a_b: } }").run("stacks").succeeds();
    let schema = with("{}").run("schema infra").succeeds().json();
    assert!(schema["properties"]["inventory"].is_object());
    assert_eq!(schema["$defs"]["RuleConfig"]["additionalProperties"], false);
}
