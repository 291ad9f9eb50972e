//! What `infra.yaml` has to do with it: files that it names, and what it says itself.

use crate::repository::{Repository, reasons};

fn lab(yaml: &str) -> Repository {
    let lab = Repository::new()
        .file("infra.yaml", yaml)
        .stack("01-a/x", &[])
        .stack("01-a/y", &[])
        .stack("02-b/z", &[])
        .file("shared/common.tfvars", "a = 1\n")
        .file("infrastructure/secrets.sops.yaml", "a: 1\n")
        .file("infrastructure/02-b/secrets.sops.yaml", "a: 1\n");
    lab.publish();
    lab
}

#[test]
fn a_named_file_of_variables_and_the_nearest_file_of_secrets_count() {
    let lab = lab("stacks: { '01-a/x': { var_files: [../../../shared/common.tfvars] } }\n");

    lab.append("shared/common.tfvars", "b = 2\n");
    assert_eq!(lab.affected(), ["01-a/x"]);
    lab.commit();
    lab.append("infrastructure/secrets.sops.yaml", "b: 2\n");
    assert_eq!(lab.affected(), ["01-a/x", "01-a/y"], "02-b has one of its own");
    lab.commit();
    lab.remove("infrastructure/02-b/secrets.sops.yaml");
    assert_eq!(lab.affected(), ["02-b/z"], "another file is the nearest now");
    lab.commit();
    lab.write("infrastructure/01-a/secrets.sops.yaml", "c: 3\n");
    assert_eq!(lab.affected(), ["01-a/x", "01-a/y"]);
}

#[test]
fn a_file_of_one_workspace_affects_that_workspace_only() {
    let lab = lab("stacks:\n  '01-a/x':\n    workspaces:\n      dev: { var_files: [dev.tfvars] }\n      prod: { var_files: [prod.tfvars] }\n")
        .file("infrastructure/01-a/x/dev.tfvars", "a = 1\n")
        .file("infrastructure/01-a/x/prod.tfvars", "a = 1\n");
    lab.commit();

    lab.append("infrastructure/01-a/x/dev.tfvars", "b = 2\n");
    assert_eq!(lab.affected(), ["01-a/x@dev"]);
    lab.run(&["stacks", "--changed=HEAD", "--json"])
        .succeeds()
        .stdout_has("01-a/x@dev")
        .stdout_lacks("@prod");
    lab.append("infrastructure/01-a/x/main.tf", "# edited\n");
    assert_eq!(lab.affected(), ["01-a/x@dev", "01-a/x@prod"]);
    lab.run(&["stacks", "--changed=HEAD", "--workspace", "prod", "--json"]).succeeds().stdout_lacks("@dev");
}

#[test]
fn what_infra_yaml_says_of_a_stack_affects_that_stack() {
    let lab = lab("stacks:\n  '01-a/*': { env: { A: '1' } }\n");

    lab.write("infra.yaml", "# a comment\nstacks: { '01-a/*': { env: { A: '1' } } }\n");
    assert!(lab.affected().is_empty(), "it says the same");
    lab.write("infra.yaml", "stacks:\n  '01-a/*': { env: { A: '1' } }\n  '01-a/y': { env: { B: '2' } }\n");
    let told = lab.changed("HEAD");
    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-a/y"]);
    assert_eq!(reasons(&told, "01-a/y"), ["infra.yaml"]);
    lab.write(
        "infra.yaml",
        "pools: { pve1: 2 }\nrun: { parallelism: 2 }\nstacks:\n  '01-a/*': { env: { A: '1' } }\n",
    );
    assert!(lab.affected().is_empty(), "that changes no stack");
    lab.write("infra.yaml", "tofu: { version: '1.12.6' }\nstacks:\n  '01-a/*': { env: { A: '1' } }\n");
    assert_eq!(lab.affected().len(), 3, "another tofu is another for all");
}

#[test]
fn dependents_are_not_affected_by_themselves() {
    let lab = lab("stacks: { layers: loose, '02-b/z': { depends_on: ['01-a/x'] } }\n");
    lab.append("infrastructure/01-a/x/main.tf", "# edited\n");

    assert_eq!(lab.affected(), ["01-a/x"]);
    let wide = lab.run(&["stacks", "--changed", "--with-dependents", "--json"]).succeeds();
    assert_eq!(wide.json().as_array().unwrap().len(), 2);
}

#[test]
fn changed_goes_with_every_other_choice() {
    let lab = lab("name: lab\n");
    lab.append("infrastructure/01-a/x/main.tf", "# edited\n");
    lab.append("infrastructure/02-b/z/main.tf", "# edited\n");
    let chosen = |args: &[&str]| {
        let all = [&["stacks", "--json"], args].concat();
        let rows = lab.run(&all).succeeds().json();
        let ids = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };

    assert_eq!(chosen(&["--changed"]), ["01-a/x", "02-b/z"]);
    assert_eq!(chosen(&["--changed", "--layer", "1"]), ["01-a/x"]);
    assert_eq!(chosen(&["--changed", "--exclude", "x"]), ["02-b/z"]);
    assert_eq!(chosen(&["y", "z", "--changed=origin/main"]), ["02-b/z"]);
    assert!(chosen(&["y", "--changed"]).is_empty());
    assert!(chosen(&["--changed", "--exclude", "x", "--exclude", "z"]).is_empty());
    lab.run(&["stacks", "--changed", "nobody"]).exits(64);
}

#[test]
fn a_run_over_no_affected_stack_ends_well_with_an_empty_report() {
    let lab = lab("name: lab\n");

    for command in ["plan", "validate", "drift", "init"] {
        let report = lab.run(&[command, "--changed", "--json"]).succeeds().json();
        assert_eq!((report["command"].as_str(), report["exit_code"].as_i64()), (Some(command), Some(0)));
        assert_eq!(report["stacks"], serde_json::json!([]));
    }
    let apply = lab.run(&["apply", "--changed", "--yes", "--json"]).succeeds().json();
    assert_eq!(apply["stacks"], serde_json::json!([]));
}
