//! The workspace that somebody selected in the folder of a stack without `workspaces`.

use crate::support::Project;
use crate::{bucket, ids, output_of, web, with_keys};

const SELECTION: &str = "infrastructure/net/.terraform/environment";

#[test]
fn a_selected_workspace_that_is_gone_is_told_and_nothing_is_made() {
    let project = Project::new().stack("net", &web(""));
    project.write(SELECTION, "gone");

    for command in [
        "plan net",
        "apply net --yes",
        "init net",
        "output net",
        "state list net",
        "tofu --stack net -- plan",
    ] {
        let refused = project.run(command).exits(65).stderr_has("error[workspace-unknown]");
        refused.stderr_has("`net` has no workspace `gone`").stderr_has("workspaces  default");
    }
    assert!(!project.has("infrastructure/net/terraform.tfstate.d"));
    assert_eq!(project.read(SELECTION), "gone");

    let refused = project.run("plan net").exits(65);
    project.run(&refused.advice("workspace select")).succeeds();
    project.run("plan net").succeeds().stderr_has("lab · net ·");
    project.write(SELECTION, "gone");
    project.run(&refused.advice("--create")).succeeds().stderr_has("net@gone");
    project.run("apply net --yes").succeeds();
    assert_eq!(output_of(&project, "net"), "none 0 gone");
}

#[test]
fn a_selection_that_a_bucket_no_longer_has_is_neither_made_nor_exchanged() {
    let project = with_keys(Project::new().stack("net", &web(&bucket())));
    project.run("tofu --stack net -- init").succeeds();
    project.write(SELECTION, "gone");

    // With one workspace left `tofu init` would select it, with several it would fail.
    for others in ["workspaces  default", "workspaces  default, one"] {
        let refused = project.run("plan net --init").exits(65).stderr_has("error[workspace-unknown]");
        refused.stderr_has(others);
        project.run("plan net --workspace default --init").succeeds().stderr_has("lab · net ·");
        assert_eq!(project.read(SELECTION), "gone");
        project.run("plan net --workspace one --create --init").succeeds();
        assert_eq!(project.read(SELECTION), "gone");
    }
    let refused = project.run("apply net --yes").exits(65);
    project.run(&refused.advice("--create")).succeeds().stderr_has("net@gone");
    project.run("apply net --yes").succeeds();
    assert_eq!(output_of(&project, "net"), "none 0 gone");
    assert_eq!(project.read(SELECTION), "gone");
}

#[test]
fn a_selection_where_the_backend_has_no_workspaces_is_told_before_tofu_fails_by_it() {
    let project = Project::new().stack("net", &web(r#"backend "http" {}"#));
    project.write(SELECTION, "staging");

    let refused = project.run("plan net").exits(65).stderr_has("error[workspace-unknown]");
    refused
        .stderr_has("the backend `http` has no workspaces")
        .stderr_has("hint: take the selection away: `rm ");
    assert_eq!(ids(&project)[0].0, "net");

    std::fs::remove_file(project.path(SELECTION)).unwrap();
    project.run("plan net").succeeds();
}

#[test]
fn a_name_that_is_none_makes_nothing() {
    let project = Project::new().stack("net", &web(""));
    let selected = |text: &str| project.write("infrastructure/net/.terraform/environment", text);

    for wrong in ["../../../x", "a b", "a\nb", "\u{1b}[31m", "a/b", &"a".repeat(300)] {
        selected(wrong);
        let refused = project.run("plan net").exits(65).stderr_has("error[workspace-unknown]");
        refused.stderr_has("which is no name of a workspace");
        project.run("tofu --stack net -- plan").exits(65);
        assert_eq!(ids(&project)[0].0, "net");
    }
    project.run("plan net --workspace default").succeeds();
    let refused = project.run("plan net").exits(65);
    project.run(&refused.advice("workspace select")).succeeds();
    project.run("plan net").succeeds();
    selected("");
    for wrong in ["../x", "ü", ""] {
        let asked = project.run(&format!("plan net --create --workspace={wrong}"));
        asked.exits(64).stderr_has("is no name of a workspace");
    }
    project.run("plan net@../x").exits(64);
    assert!(!project.has("infrastructure/net/terraform.tfstate.d"));
}
