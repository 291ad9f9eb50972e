//! Changes one can read: what a plan over several stacks shows of each resource, and what machines get.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::screen::Screen;
use support::terminal::AtTerminal;
use support::{Finished, Project, older_tofu, tofu};

const BACKEND: &str = "terraform {\n  backend \"http\" {}\n}\n\nvariable \"v\" {\n  default = \"1\"\n}\n\n";

const APP: &str = r#"
variable "password" {
  default   = "hunter2-hunter2"
  sensitive = true
}

resource "terraform_data" "machine" {
  count            = var.v == "1" ? 2 : 1
  triggers_replace = { image = "v${var.v}", size = 4 }
}

resource "terraform_data" "settings" {
  input = { text = "one\ntwo ${var.v}\nthree", policy = jsonencode({ Allow = [{ Action = var.v, On = "x" }] }) }
}

resource "terraform_data" "secret" {
  input = "${var.password}-${var.v}"
}

output "endpoint" {
  value = "https://${var.v}.example.com"
}
"#;

const NET: &str = r#"
resource "terraform_data" "evil" {
  input = "a\u001b[2J\u202e${var.v}"
}

resource "terraform_data" "first" {
  triggers_replace = [var.v]

  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "new" {
  for_each = var.v == "1" ? toset([]) : toset(["a b"])
  input    = terraform_data.first.id
}
"#;

/// Two stacks that were applied and then changed, and one that stays as it is.
fn changed() -> Project {
    let (app, net) = (format!("{BACKEND}{APP}"), format!("{BACKEND}{NET}"));
    let same = format!("{BACKEND}resource \"terraform_data\" \"a\" {{\n  input = var.v\n}}\n");
    let project = Project::new().stack("a/app", &app).stack("a/net", &net).stack("b/same", &same);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/a/app/main.tf", &app.replacen("\"1\"", "\"2\"", 1));
    project.write("infrastructure/a/net/main.tf", &net.replacen("\"1\"", "\"2\"", 1));
    project
}

/// Replaces the ids that tofu makes up.
fn without_ids(text: &str) -> String {
    let is_id = |word: &str| word.len() == 38 && word.matches('-').count() == 4;
    let word = |word: &str| if is_id(word) { "\"ID\"".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_over_several_stacks_shows_what_changes_in_each_resource() {
    let run = changed().run("plan --all").succeeds();

    insta::assert_snapshot!(without_ids(&run.stdout), @r#"
    a/app  +0 ~2 -1 -/+1
      - terraform_data.machine[1]  (beyond `count`)
          id: "ID"
          triggers_replace: {"image":"v1","size":4}
    -/+ terraform_data.machine[0]
          triggers_replace.image: "v1" → "v2"  forces replacement
          id: "ID" → (known after apply)
      ~ terraform_data.secret
          input: (sensitive)
          output: (sensitive) → (known after apply)
          1 unchanged
      ~ terraform_data.settings
          input.policy.Allow[0].Action: "1" → "2"
          input.text:
            - two 1
            + two 2
          output: {"policy":"{\"Allow\":[{\"Action\":\"1\",\"On\":\"x\"}]}","text":"one\ntwo 1\nthree"} → (known after apply)
          1 unchanged
      ~ output.endpoint: "https://1.example.com" → "https://2.example.com"
    a/net  +1 ~1 -0 -/+1
    -/+ terraform_data.first  (the new one is created first)
          triggers_replace[0]: "1" → "2"  forces replacement
          id: "ID" → (known after apply)
      ~ terraform_data.evil
          input: "a\u001b[2J\u202e1" → "a\u001b[2J\u202e2"
          output: "a\u001b[2J\u202e1" → (known after apply)
          1 unchanged
      + terraform_data.new["a b"]
          id: (known after apply)
          input: (known after apply)
          output: (known after apply)
    "#);
    let table = run.stderr.find("  stack ").expect("a table");
    assert!(table < run.stderr.find("next:").expect("a next step"), "{run}");
}

#[test]
fn no_line_is_wider_than_a_narrow_screen() {
    let (code, written) = AtTerminal::sized(changed().command("plan --all"), 60, 80).wait();

    let rows = Screen::replay(&written, 80).lines();
    let rows: Vec<&str> =
        rows.iter().map(String::as_str).skip_while(|row| *row != "a/app  +0 ~2 -1 -/+1").collect();
    assert_eq!(code, Some(0), "{rows:#?}");
    assert!(rows.iter().all(|row| row.chars().count() < 80), "{rows:#?}");
    let rows: Vec<&str> = rows.into_iter().filter(|row| !row.contains("id: ")).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    a/app  +0 ~2 -1 -/+1
      - terraform_data.machine[1]  (beyond `count`)
          triggers_replace: {"image":"v1","size":4}
    -/+ terraform_data.machine[0]
          triggers_replace.image: "v1" → "v2"  forces replacement
      ~ terraform_data.secret
          input: (sensitive)
          output: (sensitive) → (known after apply)
          1 unchanged
      ~ terraform_data.settings
          input.policy.Allow[0].Action: "1" → "2"
          input.text:
            - two 1
            + two 2
          output: {"policy":"{\"Allow\":[{\"Acti… → (known after apply)
          1 unchanged
      ~ output.endpoint: "https://1.example.com" → "https://2.example.com"
    a/net  +1 ~1 -0 -/+1
    -/+ terraform_data.first  (the new one is created first)
          triggers_replace[0]: "1" → "2"  forces replacement
      ~ terraform_data.evil
          input: "a\u001b[2J\u202e1" → "a\u001b[2J\u202e2"
          output: "a\u001b[2J\u202e1" → (known after apply)
          1 unchanged
      + terraform_data.new["a b"]
          input: (known after apply)
          output: (known after apply)

      next: apply exactly this: `infra apply a/app a/net`
    "#);
}

#[test]
fn the_report_names_the_resources_and_what_forces_them_to_be_replaced() {
    let project = changed();

    let run = project.run("plan --all --json").succeeds();

    let report = run.json();
    insta::assert_snapshot!(changes_of(&report), @r#"
    a/app terraform_data.machine[0] ["delete","create"] ["triggers_replace"]
    a/app terraform_data.machine[1] ["delete"] []
    a/app terraform_data.secret ["update"] []
    a/app terraform_data.settings ["update"] []
    a/net terraform_data.evil ["update"] []
    a/net terraform_data.first ["create","delete"] ["triggers_replace"]
    a/net terraform_data.new["a b"] ["create"] []
    "#);
    let path = format!(".infra/runs/{}/report.json", report["run_id"].as_str().unwrap());
    assert_eq!(serde_json::from_str::<serde_json::Value>(&project.read(&path)).unwrap(), report);
    // What was recorded with the plans is told of them.
    let applied = project.run("apply --all --saved --json").succeeds().json();
    assert_eq!(changes_of(&applied), changes_of(&report));
    let gone = project.run("destroy --all --yes --json").succeeds().json();
    assert!(changes_of(&gone).contains("b/same terraform_data.a [\"delete\"] []"), "{gone}");
}

fn changes_of(report: &serde_json::Value) -> String {
    let stacks = report["stacks"].as_array().expect("stacks").iter();
    let lines = stacks.flat_map(|stack| {
        let changes = stack["changes"].as_array().expect("changes").iter();
        changes.map(|one| {
            let (id, address) = (stack["id"].as_str().unwrap(), one["address"].as_str().unwrap());
            format!("{id} {address} {} {}", one["actions"], one["replace_because"])
        })
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines.join("\n")
}

#[test]
fn an_older_tofu_shows_the_same() {
    let project = Project::new().stack("a/app", &format!("{BACKEND}{APP}")).stack("a/net", BACKEND);
    let project = project.config(&format!("name: lab\ntofu: {{ binary: {} }}\n", older_tofu().display()));
    let project = project.env("INFRA_TRUST", ".");
    project.run("apply --all --yes").succeeds();
    let changed = format!("{BACKEND}{APP}").replacen("\"1\"", "\"2\"", 1);
    project.write("infrastructure/a/app/main.tf", &changed);

    project
        .run("plan --all")
        .succeeds()
        .stdout_has("triggers_replace.image: \"v1\" → \"v2\"  forces replacement")
        .stdout_has("input: (sensitive)")
        .stdout_lacks("hunter2");
    let report = project.run("plan --all --json").succeeds().json();
    let replaced = "a/app terraform_data.machine[0] [\"delete\",\"create\"] [\"triggers_replace\"]";
    assert!(changes_of(&report).contains(replaced), "{report}");
}

#[test]
fn how_much_is_shown_can_be_chosen() {
    let project = changed();

    let addresses = project.run("plan --all --details addresses").succeeds();
    let none = project.run("plan --all --details none").succeeds();
    let all = project.run("plan --all --details all").succeeds();
    let one = project.run("plan app --details addresses").succeeds();

    addresses.stdout_has("-/+ terraform_data.machine[0]\n").stdout_lacks("→");
    assert_eq!(none.stdout, "", "{none}");
    all.stdout_has("input.policy.Allow[0].Action: \"1\" → \"2\"").stdout_lacks("hunter2");
    one.stdout_has("a/app  +0 ~2 -1 -/+1\n").stdout_lacks("→");
    project.run("plan --all --details some").exits(64).stderr_has("addresses");
    project.run("drift --all --details none").succeeds();
}

#[test]
fn at_a_terminal_it_is_folded_and_what_is_lost_never_is() {
    let many: String = (0..40)
        .map(|number| format!("resource \"terraform_data\" \"r{number}\" {{\n  input = var.v\n}}\n"))
        .collect();
    let lost = "resource \"terraform_data\" \"lost\" {\n  triggers_replace = var.v\n}\n";
    let long = "module \"a_rather_long_name_of_a_module\" {\n  source = \"./m\"\n}\n";
    let stack = format!("{BACKEND}{many}{lost}");
    let project = Project::new().stack("a/x", &stack).stack("a/y", &format!("{stack}{long}"));
    let inner = "resource \"terraform_data\" \"also_with_a_long_name\" {\n  for_each = toset([\"one.of several\"])\n  input = \"v\"\n}\n";
    project.write("infrastructure/a/y/m/main.tf", inner);
    project.run("apply --all --yes").succeeds();
    for id in ["a/x", "a/y"] {
        let path = format!("infrastructure/{id}/main.tf");
        let text = project.read(&path).replacen("\"1\"", "\"2\"", 1).replace(long, "");
        project.write(&path, &text);
    }

    let (code, written) = AtTerminal::sized(project.command("plan --all"), 24, 80).wait();

    let screen = Screen::replay(&written, 80).lines().join("\n");
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(screen.matches("-/+ terraform_data.lost").count(), 2, "{screen}");
    assert_eq!(screen.matches("triggers_replace: \"1\" → \"2\"  forces replacement").count(), 2, "{screen}");
    assert!(screen.contains("also_with_a_long_name[\"one.of several\"]"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() < 80), "{screen}");
    let after = &screen[screen.find("  stack ").expect("a table")..];
    assert!(after.lines().count() <= 26, "{screen}");
    let unfolded: String = after.lines().map(str::trim_start).collect::<Vec<_>>().join(" ");
    let (_, way) = unfolded.split_once("folded to fit: ").expect("the way to all");
    let ways: Vec<&str> = way.split('`').skip(1).step_by(2).take(2).collect();
    assert_eq!(ways, ["infra show a/x --plan", "infra plan --all --details all"], "{screen}");
    let all = project.run(ways[1].trim_start_matches("infra ")).succeeds();
    assert_eq!(all.stdout.matches("input: \"1\" → \"2\"").count(), 80, "{all}");
    assert!(all.stdout.find("data.r2\n") < all.stdout.find("data.r10\n"), "{all}");
    project.run("show a/x --plan").succeeds().stdout_has("terraform_data.r39 will be updated in-place");
    let (_, wide) = AtTerminal::sized(project.command("plan --all"), 400, 200).wait();
    assert!(wide.contains("input: \"1\" → \"2\"") && !wide.contains("folded to fit"), "{wide}");
}

#[test]
fn a_question_shows_the_attributes_and_a_d_all_of_them() {
    let project = changed();
    let mut person = AtTerminal::sized(project.command("apply --all"), 200, 100);

    person.sees("triggers_replace.image: \"v1\" → \"v2\"  forces replacement").sees("Apply these changes");
    person.types("d");
    person.sees("~ image = \"v1\" -> \"v2\"");
    person.types("n");

    let (code, screen) = person.wait();
    assert_eq!((code, screen.contains("input: (sensitive)")), (Some(1), true), "{screen}");
    let mut person = AtTerminal::sized(project.command("destroy --all"), 200, 100);
    person.sees("  - terraform_data.a").sees("Type the project's name");
    person.types("d");
    person.sees("terraform_data.a will be destroyed").sees("Type the project's name");
    person.types("no");
    assert_eq!(person.wait().0, Some(1));
}

const SENSITIVE: &str = r#"
variable "pw" {
  default   = "hunter2-hunter2"
  sensitive = true
}

variable "creds" {
  default   = "{\"user\":\"canary-user\",\"pass\":\"canary-pass\"}"
  sensitive = true
}

locals {
  open_pw = nonsensitive(var.pw)
}

resource "terraform_data" "base64" {
  input = base64encode("user:${local.open_pw}:${var.v}")
}

resource "terraform_data" "document" {
  input = jsonencode({ v = var.v, auth = { token = local.open_pw } })
}

resource "terraform_data" "key" {
  input = { (local.open_pw) = var.v, "1" = var.v }
}

resource "terraform_data" "lines" {
  input = "A=${var.v}\nPW=${local.open_pw}\nPW2=${local.open_pw}-${var.v}"
}

resource "terraform_data" "list" {
  input = ["open-${var.v}", var.pw]
}

resource "terraform_data" "nested" {
  input = { open = var.v, deep = [{ pw = "${var.pw}${var.v}", v = var.v }] }
}

resource "terraform_data" "rotated" {
  input = var.v == "1" ? nonsensitive(var.creds) : replace(nonsensitive(var.creds), "canary-u", "fresh-u")
}
"#;

#[test]
fn what_is_sensitive_is_hidden_in_any_form_and_the_rest_is_told() {
    let stack = format!("{BACKEND}{SENSITIVE}");
    let project = Project::new().stack("a/x", &stack).stack("a/y", BACKEND);
    project.run("apply --all --yes").succeeds();
    project.write("infrastructure/a/x/main.tf", &stack.replacen("\"1\"", "\"2\"", 1));

    let run = project.run("plan --all").succeeds();

    let lines = run.stdout.lines().filter(|line| !line.contains("output: ") && !line.contains("unchanged"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    a/x  +0 ~7 -0
      ~ terraform_data.base64
          input: (sensitive)
      ~ terraform_data.document
          input.v: "1" → "2"
      ~ terraform_data.key
          input["1"]: "1" → "2"
          input["(redacted)"]: "1" → "2"
      ~ terraform_data.lines
          input:
            - A=1
            + A=2
            - PW2=(redacted)-1
            + PW2=(redacted)-2
      ~ terraform_data.list
          input: (sensitive)
      ~ terraform_data.nested
          input.deep[0].pw: (sensitive)
          input.deep[0].v: "1" → "2"
          input.open: "1" → "2"
      ~ terraform_data.rotated
          input: (sensitive)
    "#);
    let document = project.run("show x --plan --json").succeeds();
    assert!(!run.stdout.contains("canary-"), "{run}");
    for secret in ["hunter2", "dXNlcjpodW50ZXIy"] {
        assert!(
            !document.stdout.contains(secret) && !run.stdout.contains(secret),
            "{secret}: {run}{document}"
        );
    }
}

const LEFT: &str = r#"
resource "terraform_data" "kept" {
  input = "v"
}

resource "terraform_data" "wide" {
  input = "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 ${var.v}"
}

resource "terraform_data" "long" {
  input = join("", [for i in range(1000) : "${i}-${var.v}-"])
}
"#;

#[test]
fn what_is_left_alive_wide_or_long_is_shown_as_it_is() {
    let stack = format!("{BACKEND}{LEFT}");
    let project = Project::new().stack("a/x", &stack).stack("a/y", BACKEND);
    project.run("apply --all --yes").succeeds();
    let removed = "removed {\n  from = terraform_data.kept\n\n  lifecycle {\n    destroy = false\n  }\n}\n";
    let kept = "resource \"terraform_data\" \"kept\" {\n  input = \"v\"\n}\n";
    let changed = stack.replacen("\"1\"", "\"2\"", 1).replace(kept, removed);
    project.write("infrastructure/a/x/main.tf", &changed);

    let (_, written) = AtTerminal::sized(project.command("plan --all"), 60, 60).wait();
    let all = project.run("plan --all --details all").succeeds();

    let rows = Screen::replay(&written, 60).lines();
    let rows =
        rows.iter().skip_while(|row| !row.starts_with("a/x  ")).filter(|row| !row.contains("output: "));
    let rows: Vec<&str> = rows.map(String::as_str).collect();
    insta::assert_snapshot!(rows.join("\n"), @r#"
    a/x  +0 ~2 -0
      ~ terraform_data.long
          input: "0-1-1-1-2-1-3-1-4-1… → "0-2-1-2-2-2-3-2-4-2…
          1 unchanged
      ~ terraform_data.wide
          input: …漢字漢字 1" → …漢字漢字 2"
          1 unchanged
      . terraform_data.kept  (no longer managed, left alive)

      next: apply exactly this: `infra apply a/x`
    "#);
    all.stdout_has("998-1-999-1-\" → \"0-2-1-2-").stdout_has("998-2-999-2-\"\n");
}

#[test]
fn a_plan_for_machines_is_tofus_whole_document_without_what_is_sensitive() {
    let project = changed();
    project.run("show same --plan --json").exits(1).stdout_has("\"error\"").stderr_has("infra plan b/same");
    project.run("plan --all").succeeds();

    let shown = project.run("show app --plan --json").succeeds().stdout_lacks("hunter2");

    let document = shown.json();
    for part in ["format_version", "planned_values", "resource_changes", "prior_state", "configuration"] {
        assert!(!document[part].is_null(), "{part}");
    }
    assert_eq!(document["variables"]["password"]["value"], "(sensitive)");
    assert_eq!(document["variables"]["v"]["value"], "2");
    let open = project.run("show app --plan --json --show-sensitive").succeeds().json();
    assert_eq!(open["variables"]["password"]["value"], "hunter2-hunter2");
    assert_eq!(parts_of(&open), parts_of(&document));
    project.run("show app --plan --show-sensitive").succeeds().stdout_has("hunter2-hunter2-2");
    project.run("show app --json").succeeds().stdout_lacks("hunter2").stdout_has("\"values\"");
    let both = project.run("show app net --plan --json").succeeds().json();
    assert_eq!(both["a/app"], document);
}

fn parts_of(document: &serde_json::Value) -> Vec<String> {
    document.as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn what_several_tofus_write_is_never_mixed() {
    let run = changed().run("plan --all -v --parallelism 3").succeeds();

    let speaker = |line: &str| line.trim_start().split_once(" | ").map(|(id, _)| id.to_owned());
    let mut speakers: Vec<String> = run.stderr.lines().filter_map(speaker).collect();
    speakers.dedup();
    assert_eq!(speakers.len(), 3, "{run}");
}

#[test]
fn a_plan_is_read_again_only_where_somebody_sees_what_is_in_it() {
    let project = changed();
    let script = format!("#!/bin/sh\necho \"$PWD $*\" >> \"$CALLS\"\nexec \"{}\" \"$@\"\n", tofu().display());
    project.write("bin/tofu", &script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/tofu"), mode).expect("a mode");
    let calls = project.path("calls");
    let project = project.config("name: lab\ntofu: { binary: bin/tofu }\n").env("INFRA_TRUST", ".");
    let project = project.env("CALLS", calls.to_str().unwrap());
    let shows = |args: &str| {
        project.write("calls", "");
        let run: Finished = project.run(args);
        run.succeeds();
        project.read("calls").lines().filter(|line| line.contains(" show ")).count()
    };

    assert_eq!(shows("plan --all"), 2);
    assert_eq!(shows("plan same"), 0);
    assert_eq!(shows("plan app --details addresses"), 1, "for the causes of the replacement");
    assert_eq!(shows("apply --all --yes"), 0, "both saved plans are known");
    assert_eq!(shows("plan --all"), 0);
}
