//! Which folders are modules, and what a module must have.

use crate::support::Project;
use crate::{CLEAN, found, with_module};

const M: &str = "infrastructure/modules/vm";

fn complete() -> Project {
    with_module(Project::new().stack("a", CLEAN), M)
}

#[test]
fn a_complete_module_is_fine() {
    assert_eq!(found(&complete()), [""; 0]);
    complete().run("lint").succeeds().stderr_has("nothing found in 1 stack and 1 module");
}

#[test]
fn each_missing_file_is_a_finding_at_the_place_where_it_would_be() {
    let project = Project::new().stack("a", CLEAN).file(&format!("{M}/vm.tf"), "locals {}\n");

    let expected: Vec<String> = ["README.md", "main.tf", "outputs.tf", "variables.tf"]
        .iter()
        .map(|name| format!("module-required-files {M}/{name}:1"))
        .collect();
    assert_eq!(found(&project), expected);
}

#[test]
fn other_forms_of_a_file_count_for_it() {
    let project = Project::new()
        .stack("a", CLEAN)
        .file(&format!("{M}/main.tofu"), "locals {}\n")
        .file(&format!("{M}/variables.tf.json"), "{}\n")
        .file(&format!("{M}/outputs.tofu.json"), "{}\n")
        .file(&format!("{M}/readme.md"), "# vm\n");

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn variables_and_outputs_say_what_they_are_in_both_forms() {
    let json = r#"{
  "variable": {
    "a": {},
    "b": {"type": "string", "description": " "},
    "c": {"type": "string", "description": "Fine."}
  },
  "output": {
    "o": [{"value": 1}]
  }
}
"#;
    let project = complete()
        .file(
            &format!("{M}/variables.tf"),
            "\nvariable \"size\" {\n  description = \"\"\n}\n\nvariable \"a\" {\n  type = any\n}\n",
        )
        .file(&format!("{M}/outputs.tf"), "output \"id\" {\n  value = 1\n}\n")
        .file(&format!("{M}/README.md"), "size a id b c o\n")
        .file(&format!("{M}/more.tf.json"), json);

    assert_eq!(
        found(&project),
        [
            format!("output-description {M}/more.tf.json:8"),
            format!("output-description {M}/outputs.tf:1"),
            format!("variable-description {M}/more.tf.json:3"),
            format!("variable-description {M}/more.tf.json:4"),
            format!("variable-description {M}/variables.tf:2"),
            format!("variable-description {M}/variables.tf:6"),
            format!("variable-type {M}/more.tf.json:3"),
            format!("variable-type {M}/variables.tf:2"),
        ]
    );
}

#[test]
fn an_override_completes_what_it_overrides() {
    let project = complete().file(&format!("{M}/variables.tf"), "variable \"size\" {}\n").file(
        &format!("{M}/override.tf"),
        "variable \"size\" {\n  type = number\n  description = \"How large.\"\n}\n",
    );

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_readme_names_every_variable_and_output_as_a_word() {
    let project = complete().file(&format!("{M}/README.md"), "# vm\n\nsizes, disk_size, identity and ids.\n");

    assert_eq!(
        found(&project),
        [format!("module-readme {M}/outputs.tf:1"), format!("module-readme {M}/variables.tf:1")]
    );
    project.write(&format!("{M}/README.md"), "| size | ... |\n\n**id**\n");
    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn variables_and_outputs_of_stacks_may_be_as_they_are() {
    let project =
        Project::new().stack("a", &format!("{CLEAN}variable \"x\" {{}}\noutput \"y\" {{ value = 1 }}\n"));

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_local_source_makes_a_module_wherever_it_lies() {
    let project = Project::new()
        .stack("a", &format!("{CLEAN}module \"x\" {{\n  source = \"./parts/net\"\n}}\n"))
        .file("infrastructure/a/parts/net/main.tf", "module \"y\" {\n  source = \"../../../shared\"\n}\n")
        .file("infrastructure/shared/main.tf", "locals {}\n");

    let files: Vec<String> = found(&project);
    assert_eq!(files.len(), 6, "{files:#?}");
    assert!(files.contains(&"module-required-files infrastructure/a/parts/net/README.md:1".to_owned()));
    assert!(files.contains(&"module-required-files infrastructure/shared/outputs.tf:1".to_owned()));
}

#[test]
fn a_module_outside_of_the_project_is_named_by_the_way_to_it() {
    let project =
        Project::new().stack("a", &format!("{CLEAN}module \"x\" {{\n  source = \"../../../common\"\n}}\n"));
    let common = project.root().parent().unwrap().join("common");
    std::fs::create_dir(&common).unwrap();
    std::fs::write(common.join("main.tf"), "variable \"v\" {\n  type = string\n}\n").unwrap();

    let files = found(&project);
    assert!(files.contains(&"variable-description ../common/main.tf:1".to_owned()), "{files:#?}");
    assert!(files.contains(&"module-required-files ../common/README.md:1".to_owned()), "{files:#?}");
}

#[test]
fn what_shows_or_tries_out_a_module_is_no_module() {
    let project = complete()
        .file(&format!("{M}/examples/basic/main.tf"), "module \"vm\" {\n  source = \"../..\"\n}\n")
        .file(&format!("{M}/tests/setup/main.tf"), "variable \"x\" {}\n")
        .file(&format!("{M}/test/fixture/main.tf"), "variable \"x\" {}\n")
        .file(&format!("{M}/.hidden/main.tf"), "variable \"x\" {}\n");

    assert_eq!(found(&project), [""; 0]);
}

#[test]
fn a_module_in_a_module_is_one_of_its_own() {
    let project = complete().file(&format!("{M}/modules/disk/main.tf"), "locals {}\n");

    assert_eq!(found(&project).len(), 3);
}

#[test]
fn modules_without_any_stack_are_judged() {
    let project = Project::new().file("modules/vm/main.tf", "variable \"x\" {\n  type = string\n}\n");

    assert_eq!(found(&project).len(), 4);
    project.run("lint").exits(1).stderr_has("0 stacks and 1 module");
}

#[test]
fn the_examples_of_this_house_are_clean_but_for_lock_files_that_only_init_writes() {
    for example in ["homelab", "proxmox-talos", "layered"] {
        let project = Project::new();
        let folder = format!("new --example {example} lab");
        project.run(&folder).succeeds();
        project.run("-C lab configure --no-init").succeeds();

        let findings = project.run("-C lab lint --json").json();
        let others: Vec<_> = findings
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["rule"] != "lock-file-committed")
            .collect();
        assert!(others.is_empty(), "{example}: {others:#?}");
    }
}
