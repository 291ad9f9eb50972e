//! `infra stacks` and `infra doctor` as a person reads them.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::PermissionsExt as _;

use support::{Project, SIMPLE};

fn s3(rest: &str) -> String {
    format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n{rest}\n  }}\n}}\n")
}

/// A stack of each kind whose state is at risk, and one whose state is not.
fn risky() -> Project {
    Project::new()
        .stack("fine", SIMPLE)
        .stack("unlocked", &s3("    key = \"u\""))
        .stack("old", &s3("    key = \"o\"\n    use_lockfile = true\n    endpoint = \"http://127.0.0.1:1\""))
        .stack("local", "terraform {\n  backend \"local\" {}\n}\n")
        .stack("bare", "resource \"terraform_data\" \"a\" {}\nprovider \"x\" {}\n")
}

#[test]
fn doctor_warns_of_states_at_risk_with_a_fix_for_each() {
    let findings = risky().run("doctor --json").json();

    let state: Vec<String> = findings
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["check"] == "state" && finding["status"] == "warn")
        .map(|finding| format!("{} | {}", finding["message"], finding["fix"]))
        .collect();
    let has = |stack: &str, risk: &str, fix: &str| {
        state.iter().any(|row| row.contains(&format!("{stack}: ")) && row.contains(risk) && row.contains(fix))
    };
    assert_eq!(state.len(), 4, "{state:#?}");
    assert!(has("unlocked", "without a lock", "use_lockfile"), "{state:#?}");
    assert!(has("old", "deprecated `endpoint`", "endpoints = "), "{state:#?}");
    assert!(
        has("local", "local file", "migrate local") && has("bare", "local file", "migrate bare"),
        "{state:#?}"
    );
}

/// A stack with a resource, in this backend.
fn keeping(backend: &str) -> String {
    SIMPLE.replace("backend \"http\" {}", backend)
}

#[test]
fn the_advice_for_local_states_moves_them_one_after_the_other() {
    let project = Project::new().stack("a", &keeping("backend \"local\" {}")).stack("b c", &keeping(""));
    project.run("apply --all --yes").succeeds();

    let first = project.run("stacks").succeeds().stderr_has("`a`, `b c`: state in a local file");
    project.run(&format!("{} --yes", first.advice("migrate"))).succeeds();
    let second = project.run("doctor").stdout_has("b c: state in a local file").stdout_lacks("a: state in a");
    let advice = second.advice("migrate");
    assert_eq!(advice, "state migrate 'b c' --to embedded");
    let mut moved = project.command("state migrate --to embedded --yes");
    moved.arg("b c");
    support::Running::start(moved, &advice).wait().succeeds();

    project.run("stacks").succeeds().stderr_lacks("state in a local file");
    project.run("plan --all --detailed-exitcode").exits(0);
}

#[test]
fn the_listing_names_states_at_risk_once_for_each_risk() {
    let run = risky().run("stacks").succeeds();

    run.stderr_has("note: `unlocked`: s3 state without a lock")
        .stderr_has("note: `old`: s3 state with the deprecated `endpoint`")
        .stderr_has("note: `bare`, `local`: state in a local file");
}

#[test]
fn a_run_warns_once_of_states_that_nothing_locks() {
    let project = Project::new().stack("a", &s3("    key = \"a\"")).stack("b", &s3("    key = \"b\""));
    let project =
        project.env("AWS_EC2_METADATA_DISABLED", "true").env("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1");

    let run = project.run("plan --all").exits(1);

    assert_eq!(run.stderr.matches("without a lock").count(), 1, "{run}");
    run.stderr_has("warning: `a`, `b`: s3 state without a lock")
        .stderr_has("hint: set `use_lockfile = true`");
}

#[test]
fn stacks_stand_below_their_own_folder_and_numbers_are_counted() {
    let mut project = Project::new();
    for id in
        ["01-h", "01-h/02-b", "01-h/03-n/01-x", "01-h/10-c", "01-h/plain", "2-y", "10-z", "語/a", "c/d/e"]
    {
        project = project.stack(id, SIMPLE);
    }

    let run = project.run("stacks").succeeds();

    let expected = "lab
  01-h      embedded state
    02-b    embedded state
    03-n
      01-x  embedded state
    10-c    embedded state
    plain   embedded state
  2-y       embedded state
  10-z      embedded state
  c/d
    e       embedded state
  語
    a       embedded state
";
    assert_eq!(run.stdout, expected);
}

#[test]
fn names_in_wide_letters_keep_the_columns() {
    let project = Project::new().stack("語", SIMPLE).stack("abc", SIMPLE);

    let run = project.run("stacks").succeeds();

    run.stdout_has("  abc  embedded state\n  語   embedded state\n");
}

#[test]
fn what_is_excluded_is_not_listed_and_a_graph_shows_what_is_chosen() {
    let project = Project::new().stack("01-h/a", SIMPLE).stack("02-p/b", SIMPLE).stack("02-p/c", SIMPLE);

    project.run("stacks --exclude a").succeeds().stdout_lacks("01-h").stdout_has("    b  embedded");
    let graph = project.run("stacks --graph mermaid b a").succeeds();

    graph.stdout_has("02-p/b").stdout_lacks("02-p/c").stdout_has("layer1 -.-> layer2");
}

#[test]
fn a_stack_that_cannot_be_read_has_an_unknown_state() {
    let vault = "$ANSIBLE_VAULT;1.1;AES256\n6162\n";
    let project = Project::new().stack("broken", "terraform {").stack("sealed", vault);

    let listed = project.run("stacks --json").succeeds().json();
    let doctor = project.run("doctor").exits(1);

    for stack in listed.as_array().unwrap() {
        assert_eq!(stack["backend"], serde_json::json!({ "type": "unknown", "identity": null }));
    }
    project.run("stacks").succeeds().stdout_has("broken  unknown state").stderr_lacks("local file");
    doctor.stdout_lacks("local file").stdout_lacks("backend");
}

#[test]
fn a_ring_of_modules_is_the_error_of_its_stack_before_tofu_runs() {
    let project = Project::new()
        .stack("a", "terraform {\n  backend \"http\" {}\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n")
        .file("infrastructure/a/m/main.tf", "\nmodule \"x\" {\n  source = \"../m\"\n}\n");
    let ring = "infrastructure/a/m/main.tf:3: module `x` leads back to `infrastructure/a/m`";

    project.run("stacks").succeeds().stdout_has(ring);
    project.run("doctor").exits(1).stdout_has(ring);
    project.run("plan").exits(1).stderr_has(ring).stderr_lacks("x.x.x");
}

#[test]
fn folders_that_are_modules_of_each_other_are_named() {
    let project = Project::new()
        .stack("a", "module \"b\" {\n  source = \"../b\"\n}\n")
        .stack("b", "module \"a\" {\n  source = \"../a\"\n}\n");
    let ring = "module `a` leads back to `infrastructure/a`";

    project.run("stacks").succeeds().stderr_has(ring);
    project.run("plan --all").exits(65).stderr_has("has no stacks").stderr_has(ring);
}

#[test]
fn a_misspelt_root_is_told_in_the_error_that_there_are_no_stacks() {
    let project =
        Project::new().config("name: lab\nstacks: { roots: [stcks] }\n").file("stacks/a/main.tf", SIMPLE);

    let run = project.run("plan --all").exits(65);

    run.stderr_has("has no stacks").stderr_has("did you mean `stacks`?");
}

#[test]
fn two_stacks_on_one_state_are_told_by_the_places_of_their_blocks() {
    let block = "\nterraform {\n  backend \"local\" {\n    path = \"../x.tfstate\"\n  }\n}\n";
    let json = r#"{"terraform": {
  "backend": {"local": {"path": "../x.tfstate"}}}}"#;
    let project = Project::new().stack("a", block).file("infrastructure/b/main.tf.json", json);

    let run = project.run("plan --all").exits(65);

    run.stderr_has("infrastructure/a/main.tf:3").stderr_has("infrastructure/b/main.tf.json:2");
}

#[test]
fn one_stack_is_counted_as_one() {
    let project = Project::new().stack("a", SIMPLE);

    project.run("plan --dry-run").succeeds().stdout_has("lab · plan · 1 stack\n");
    project.run("doctor").succeeds().stdout_has("1 stack, all readable");
}

#[test]
fn who_reads_the_state_of_a_local_block_without_a_path_comes_after_it() {
    let local = SIMPLE.replace("backend \"http\" {}", "backend \"local\" {}");
    let reads = "data \"terraform_remote_state\" \"net\" {\n  backend = \"local\"\n  config  = { path = \"../net/terraform.tfstate\" }\n}\n";
    let project = Project::new().stack("01-a/net", &local).stack("01-a/web", reads);

    let listed = project.run("stacks --json").succeeds().json();

    let web = listed.as_array().unwrap().iter().find(|stack| stack["id"] == "01-a/web").unwrap();
    assert_eq!(web["depends_on"], serde_json::json!(["01-a/net"]));
}

#[test]
fn a_cycle_among_stacks_is_told_by_a_listing_and_fails_the_doctor() {
    let project = Project::new()
        .file(
            "infra.yaml",
            "name: lab\nstacks:\n  a: {depends_on: [b]}\n  b: {depends_on: [c]}\n  c: {depends_on: [a]}\n",
        )
        .stack("a", SIMPLE)
        .stack("b", SIMPLE)
        .stack("c", SIMPLE)
        .stack("d", SIMPLE);

    let listed = project.run("stacks").succeeds();
    let cycle = "stacks depend on each other in a cycle: a → b → c → a";

    listed
        .stdout_has("d  embedded state")
        .stderr_has(&format!("warning: {cycle}"))
        .stderr_has("hint: remove one");
    assert_eq!(project.run("stacks --json").succeeds().stderr_has(cycle).json().as_array().unwrap().len(), 4);
    project.run("stacks --graph dot -q").succeeds().stdout_has("digraph").stderr_has(cycle);
    project.run("doctor").exits(1).stdout_has("FAIL  order").stdout_has(cycle);
    project.run("plan d").exits(65).stderr_has(cycle);
}

#[test]
fn stacks_in_an_order_are_no_cycle() {
    let project = Project::new().stack("01-a/x", SIMPLE).stack("02-b/y", SIMPLE);

    project.run("stacks").succeeds().stderr_lacks("cycle");
    project.run("doctor").stdout_has("PASS  order");
}

#[test]
fn a_folder_named_like_a_project_file_is_none() {
    let project = Project::new().stack("a", SIMPLE);
    for name in ["cluster.yaml", "nodes.yaml", "makejinja.toml", "infrastructure/infra.yaml"] {
        std::fs::create_dir(project.path(name)).unwrap();
    }
    std::fs::remove_file(project.path("infra.yaml")).unwrap();
    std::fs::create_dir(project.path("infra.yaml")).unwrap();

    project.run("stacks").succeeds().stdout_has("a  embedded state").stderr_lacks("error");
    project.run("-C infrastructure/a stacks").succeeds().stdout_has("a  embedded state");
    project.run("validate a").succeeds();
}

#[test]
fn what_tofu_accepts_is_planned_with_its_backend_and_its_variables() {
    let odd = "terraform {\n  backend \"http\" {}\n}\nlocals {\n  sizes = { a = 1, a = 2 }\n}\n\
               variable \"name\" { default = { b = 1, \"b\" = var_free } }\noutput \"size\" {\n  value = local.sizes.a\n}\n"
        .replace("var_free", "3");
    let project = Project::new().stack("a", &odd);

    project.run("stacks --json").succeeds().stdout_has("\"problems\": []").stdout_has("\"http\"");
    project.run("apply a --yes").succeeds();
    project.run("output a size").succeeds().stdout_has("2");
    assert!(!project.has("infrastructure/a/terraform.tfstate"), "the state is served");
}

#[test]
fn what_makes_no_sense_is_a_note_and_tofu_judges() {
    let broken =
        "resource \"terraform_data\" \"x\" {\n  input = [1,\n}\nterraform {\n  backend \"http\" {}\n}\n";
    let project = Project::new().stack("a", broken).stack("b", SIMPLE);
    let note = "infrastructure/a/main.tf:3:1: infra cannot read this: brackets do not match";

    project.run("stacks").succeeds().stdout_has("a  embedded state").stdout_has(note);
    let planned = project.run("plan a").exits(1);

    // The cause is told once, by tofu.
    planned.stderr_lacks(note).stderr_lacks("tofu judges").stderr_has("Invalid expression");
    project.run("plan b").succeeds().stderr_lacks(note);
}

/// Runs infra as somebody whom the modes of files hold back, which root is not.
fn held_back(project: &Project, args: &str) -> support::run::Finished {
    let command = project.command(args);
    if !nix::unistd::geteuid().is_root() {
        return support::run::Running::start(command, args).wait();
    }
    let mut held = std::process::Command::new("setpriv");
    held.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]);
    held.arg(command.get_program()).args(command.get_args()).current_dir(project.root());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => held.env(name, value),
            None => held.env_remove(name),
        };
    }
    support::run::Running::start(held, args).wait()
}

#[test]
fn a_checkout_that_cannot_be_written_is_listed_and_validated_and_a_plan_says_what_it_needs() {
    let project = Project::new().stack("a", SIMPLE);
    let set = |path: &str, mode| {
        std::fs::set_permissions(project.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let all = |mode| ["infrastructure/a", "infrastructure", ""].map(|path| set(path, mode));
    all(0o555);

    let listed = held_back(&project, "stacks");
    let valid = held_back(&project, "validate --all");
    let planned = held_back(&project, "plan --all");
    all(0o755);

    listed.succeeds();
    valid.succeeds().stderr_has("valid");
    planned.exits(69).stderr_has("cannot create").stderr_has("make the folder writable for you");
    assert!(!project.has(".infra"));
}

#[test]
fn a_project_whose_stacks_another_tool_writes_says_which_command_that_is() {
    let cdktf = Project::new().file("cdktf.json", "{}\n");
    let submodule = Project::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".gitmodules", "[submodule \"v\"]\n\tpath = live\n\turl = https://example.com/v.git\n");

    cdktf.run("plan").exits(65).stderr_has("`cdktf synth`");
    submodule.run("stacks").succeeds().stderr_has("`live`; `git submodule update --init`");

    cdktf.write(
        "cdktf.out/stacks/net/cdk.tf.json",
        r#"{"terraform":{"backend":{"local":{"path":"n.tfstate"}}}}"#,
    );
    let stacks = cdktf.run("stacks --json").succeeds().json();
    assert_eq!(stacks[0]["id"], "cdktf.out/stacks/net");
    assert_eq!(stacks[0]["backend"]["identity"], "local:cdktf.out/stacks/net/n.tfstate");
}
