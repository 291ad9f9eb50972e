//! Stacks whose own files say how their state is encrypted, with a passphrase that the real sops hid.

use std::process::{Command, Stdio};

use super::CANARY;
use super::support::{Project, Running};
use super::tools::AgeKey;

const FIRST: &str = "c4n4ry-the-first-own-passphrase";
const SECOND: &str = "c4n4ry-the-second-own-passphrase";

const FILE: &str = "infrastructure/x/secrets.sops.yaml";

/// A stack in this backend, with these blocks in its `encryption`.
fn stack(backend: &str, encryption: &str) -> String {
    format!(
        r#"
terraform {{
  {backend}
}}

variable "passphrase" {{
  type      = string
  sensitive = true
}}

variable "before" {{
  type      = string
  default   = "nothing that opens anything"
  sensitive = true
}}

variable "content" {{
  type = string
}}

terraform {{
  encryption {{
    {encryption}
  }}
}}

resource "terraform_data" "thing" {{
  input = var.content
}}

resource "terraform_data" "open" {{
  input = length(var.content)
}}

output "thing" {{
  value     = terraform_data.thing.output
  sensitive = true
}}
"#
    )
}

/// A key by the name of its variable.
fn key(name: &str, variable: &str) -> String {
    format!(
        "key_provider \"pbkdf2\" \"{name}\" {{\n      passphrase = var.{variable}\n      iterations = 200000\n    }}\n    \
         method \"aes_gcm\" \"{name}\" {{\n      keys = key_provider.pbkdf2.{name}\n    }}\n    "
    )
}

fn states(more: &str) -> String {
    format!("{}state {{\n      method = method.aes_gcm.k\n{more}    }}", key("k", "passphrase"))
}

const EMBEDDED: &str = "backend \"http\" {}";

/// A project whose stack has an encrypted state.
struct Own {
    project: Project,
    key: AgeKey,
}

impl Own {
    fn with(configuration: &str, content: &str) -> Self {
        let key = AgeKey::new();
        let project = Project::new().stack("x", configuration).env("SOPS_AGE_KEY", &key.secret);
        let own = Self { project, key };
        own.secrets(FIRST, content, "");
        own.project.run("apply x --yes").succeeds();
        own
    }

    fn secrets(&self, passphrase: &str, content: &str, more: &str) {
        self.project.write(FILE, &format!("passphrase: {passphrase}\ncontent: {content}\n{more}"));
        let args = ["-e", "-i", "--age", &self.key.recipient, FILE];
        let done = self.key.run_sops(self.project.root(), &args);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Asserts that neither what is in the state nor a passphrase can be read in any file.
    fn is_nowhere_in_the_clear(&self) {
        for text in [CANARY, FIRST, SECOND] {
            let found = self.project.files_containing(text);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }

    fn versions(&self) -> Vec<u64> {
        let listed = self.project.run("state history x --json").succeeds().json();
        listed.as_array().unwrap().iter().map(|version| version["version"].as_u64().unwrap()).collect()
    }

    fn state(&self) -> serde_json::Value {
        self.project.run("state pull x").succeeds().json()
    }
}

/// Runs infra under strace and returns what it, and all it started, wrote to files or had as arguments.
fn traced(project: &Project, args: &str) -> String {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let command = project.command(args);
    let mut traced = Command::new("strace");
    traced
        .args(["-f", "-y", "-e", "trace=write,pwrite64,writev,execve", "-s", "65536", "-o"])
        .arg(trace.path());
    traced.arg(command.get_program()).args(command.get_args()).stdin(Stdio::null());
    traced.current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => traced.env(name, value),
            None => traced.env_remove(name),
        };
    }
    Running::start(traced, args).wait().succeeds();
    let told = String::from_utf8_lossy(&std::fs::read(trace.path()).unwrap()).into_owned();
    // A file has a path that is no device; a pipe and a socket have none.
    let is_told = |line: &&str| line.contains("execve(") || (line.contains("</") && !line.contains("</dev/"));
    told.lines().filter(is_told).map(|line| format!("{line}\n")).collect()
}

fn has_strace() -> bool {
    Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .output()
        .is_ok_and(|done| done.status.success())
}

#[test]
fn a_state_moves_from_place_to_place_as_it_lies_and_is_never_in_the_clear() {
    let own = Own::with(&stack(EMBEDDED, &states("      enforced = true\n")), CANARY);
    let before = own.state();

    for to in ["local:own.tfstate", "embedded"] {
        let moving = format!("state migrate x --to {to} --yes");
        let told = if has_strace() { traced(&own.project, &moving) } else { own.project.run(&moving).stderr };
        assert!(![CANARY, FIRST].iter().any(|text| told.contains(text)), "{moving}");
        assert!(!has_strace() || told.contains("encrypted_data"), "strace saw no write of the state");
    }
    own.project.write("infra.yaml", "name: lab\nstate:\n  store: states\n");
    own.project.run("state migrate --all --yes").succeeds();

    assert_eq!(own.state(), before);
    assert!(own.project.read("infrastructure/x/own.tfstate").contains("encrypted_data"));
    own.is_nowhere_in_the_clear();
    own.project.run("plan x --detailed-exitcode").succeeds();
}

#[test]
fn versions_are_compared_and_brought_back_although_only_tofu_opens_them() {
    let own = Own::with(&stack(EMBEDDED, &states("")), &format!("{CANARY}-1"));
    own.secrets(FIRST, &format!("{CANARY}-longer"), "");
    own.project.run("apply x --yes").succeeds();
    let oldest = *own.versions().last().unwrap();

    let diff = own.project.run("state diff x").succeeds();
    let old = own.project.run(&format!("state pull x --version {oldest}")).succeeds().json();
    own.project.run(&format!("state rollback x {oldest} --yes")).succeeds();

    diff.stdout_has("~ terraform_data.thing").stdout_has("input: 21 -> 26").stdout_lacks(CANARY);
    let now = own.state();
    assert_eq!(old["resources"], now["resources"]);
    assert_eq!(old["lineage"], now["lineage"]);
    assert!(now["serial"].as_u64() > old["serial"].as_u64(), "{now}");
    own.is_nowhere_in_the_clear();
}

#[test]
fn what_a_broken_run_left_behind_encrypted_is_stored_again() {
    let own = Own::with(&stack("backend \"local\" {}", &states("")), CANARY);
    let (file, left) = ("infrastructure/x/terraform.tfstate", "infrastructure/x/errored.tfstate");
    let before = own.state();
    std::fs::rename(own.project.path(file), own.project.path(left)).unwrap();

    own.project.run("state push x --errored --yes").succeeds().stderr_has("stored the state");

    assert_eq!(own.state()["resources"], before["resources"]);
    assert_eq!(own.state()["lineage"], before["lineage"]);
    assert!(own.project.read(file).contains("encrypted_data") && !own.project.has(left));
    own.is_nowhere_in_the_clear();
}

#[test]
fn a_state_that_an_edited_block_left_behind_encrypted_is_brought_along() {
    let own = Own::with(&stack("backend \"local\" {}", &states("")), CANARY);
    let before = own.state();
    own.project.write("infrastructure/x/main.tf", &stack(EMBEDDED, &states("")));

    own.project.run("state migrate x --to embedded --yes").succeeds().stderr_has("encrypted as it is");

    assert_eq!(own.state(), before);
    own.is_nowhere_in_the_clear();
}

#[test]
fn a_block_about_plans_alone_leaves_the_state_as_it_was() {
    let plans = format!("{}plan {{\n      method = method.aes_gcm.k\n    }}", key("k", "passphrase"));
    let own = Own::with(&stack(EMBEDDED, &plans), CANARY);
    let before = own.state();

    own.project.run("state migrate x --to local --yes").succeeds().stderr_has("every byte is the same");

    assert_eq!(own.state(), before);
    assert!(own.project.read("infrastructure/x/terraform.tfstate").contains(CANARY));
    assert!(own.project.files_containing(FIRST).is_empty());
}

#[test]
fn a_new_passphrase_takes_over_from_a_fallback() {
    let own = Own::with(&stack(EMBEDDED, &states("")), CANARY);
    let oldest = *own.versions().last().unwrap();
    let rotating = format!(
        "{}{}state {{\n      method = method.aes_gcm.n\n      fallback {{\n        method = method.aes_gcm.k\n      }}\n    }}",
        key("n", "passphrase"),
        key("k", "before")
    );
    let rotated = format!("{}state {{\n      method = method.aes_gcm.n\n    }}", key("n", "passphrase"));

    own.secrets(SECOND, &format!("{CANARY}-new"), &format!("before: {FIRST}\n"));
    own.project.write("infrastructure/x/main.tf", &stack(EMBEDDED, &rotating));
    own.project.run("apply x --yes").succeeds();
    own.project.run("state diff x").succeeds().stdout_has("~ terraform_data.thing").stdout_lacks(CANARY);
    own.project.run("state migrate x --to local:moved.tfstate --yes").succeeds();
    own.project.run("state migrate x --to embedded --yes").succeeds();
    own.secrets(SECOND, &format!("{CANARY}-new"), "");
    own.project.write("infrastructure/x/main.tf", &stack(EMBEDDED, &rotated));

    own.project.run("plan x --detailed-exitcode").succeeds();
    // A version of before needs the key of before, and nothing is lost by asking for it.
    let state = own.state();
    let run = own.project.run(&format!("state rollback x {oldest} --yes")).exits(1);
    run.stderr_has("`passphrase` from `infrastructure/x/secrets.sops.yaml`").stderr_has("fallback");
    assert_eq!(own.state(), state);
    own.is_nowhere_in_the_clear();
}

#[test]
fn a_wrong_passphrase_is_told_with_where_it_came_from_and_nothing_is_lost() {
    let own = Own::with(&stack("backend \"local\" {}", &states("      enforced = true\n")), CANARY);
    let file = "infrastructure/x/terraform.tfstate";
    let before = own.project.read(file);
    own.secrets(SECOND, CANARY, "");

    for args in ["plan x", "apply x --yes", "output x", "state list x", "state migrate x --to embedded --yes"]
    {
        let run = own.project.run(args).exits(1);
        run.stderr_has("another value than `passphrase` from `infrastructure/x/secrets.sops.yaml`")
            .stderr_has("infra secrets view infrastructure/x/secrets.sops.yaml")
            .stderr_lacks(SECOND)
            .stderr_lacks("state_encryption_passphrase");
        assert_eq!(own.project.read(file), before, "{args}");
    }
    own.project.run(&format!("output x thing --raw --var passphrase={FIRST}")).succeeds().stdout_has(CANARY);
    let given = own.project.run("state list x --var passphrase=something-else-that-is-long").exits(1);
    given.stderr_has("`passphrase` from `--var passphrase=…`");
    own.secrets("short", CANARY, "");
    own.project.run("plan x").exits(1).stderr_has("at least 16 characters: `passphrase` from");
    assert_eq!(own.project.read(file), before);
}

#[test]
fn a_plain_state_under_a_block_of_the_stack_names_the_way_that_works() {
    let open = stack("backend \"local\" {}", &states(""))
        .replace("method = method.aes_gcm.k", "method = method.unencrypted.u");
    let open = open.replace("state {", "method \"unencrypted\" \"u\" {}\n    state {");
    let own = Own::with(&open, CANARY);
    own.project.write("infrastructure/x/main.tf", &stack("backend \"local\" {}", &states("")));

    own.project.run("plan x").exits(1).stderr_has("fallback { method = method.unencrypted.before }");

    let way = "      fallback {\n        method = method.unencrypted.before\n      }\n";
    let way = states(way).replace("state {", "method \"unencrypted\" \"before\" {}\n    state {");
    own.project.write("infrastructure/x/main.tf", &stack("backend \"local\" {}", &way));
    own.secrets(FIRST, &format!("{CANARY}-new"), "");
    own.project.run("apply x --yes").succeeds();
    own.project.write("infrastructure/x/main.tf", &stack("backend \"local\" {}", &states("")));
    own.project.run("plan x --detailed-exitcode").succeeds();
    assert!(!own.project.read("infrastructure/x/terraform.tfstate").contains(CANARY));
}

#[test]
fn the_layout_of_a_cluster_with_an_encrypted_state_works_with_every_command() {
    let key_of = AgeKey::new();
    let project = Project::new().env("SOPS_AGE_KEY", &key_of.secret);
    let dir = "tofu/stacks/management";
    let main = "variable \"cloud\" {\n  type = string\n}\n\nmodule \"server\" {\n  source = \"./modules/server/${var.cloud}\"\n  \
                name   = \"cp\"\n}\n\noutput \"server\" {\n  value = module.server.made\n}\n";
    project.write(&format!("{dir}/main.tf"), main);
    let variables = "variable \"encryption_passphrase\" {\n  type      = string\n  sensitive = true\n}\n";
    project.write(&format!("{dir}/variables.tf"), variables);
    let encryption = format!(
        "terraform {{\n  backend \"http\" {{}}\n  encryption {{\n    {}state {{\n      method   = method.aes_gcm.k\n      enforced = true\n    }}\n    \
         plan {{\n      method   = method.aes_gcm.k\n      enforced = true\n    }}\n  }}\n}}\n",
        key("k", "encryption_passphrase")
    );
    project.write(&format!("{dir}/encryption.tf"), &encryption);
    for cloud in ["hetzner", "scw"] {
        let module = format!(
            "variable \"name\" {{}}\nresource \"terraform_data\" \"server\" {{\n  input = \"{cloud}-${{var.name}}\"\n}}\n\
             output \"made\" {{\n  value = terraform_data.server.output\n}}\n"
        );
        project.write(&format!("{dir}/modules/server/{cloud}/main.tf"), &module);
    }
    project.write(&format!("{dir}/prod.tfvars"), "cloud = \"hetzner\"\n");
    let test = "run \"made\" {\n  command = apply\n  assert {\n    condition     = output.server == \"hetzner-cp\"\n    error_message = \"no\"\n  }\n}\n";
    project.write(&format!("{dir}/tests/made.tftest.hcl"), test);
    let secrets = format!("{dir}/secrets.sops.yaml");
    project.write(&secrets, &format!("encryption_passphrase: {FIRST}\n"));
    let done = key_of.run_sops(project.root(), &["-e", "-i", "--age", &key_of.recipient, &secrets]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    for args in ["init", "validate", "test", "plan", "apply --yes", "show", "state list", "drift"] {
        project.run(args).succeeds().stderr_lacks(FIRST);
    }
    assert_eq!(project.run("output management server --raw").succeeds().stdout, "hetzner-cp");
    project
        .run("force-unlock management 00000000-0000-0000-0000-000000000000 --yes")
        .stderr_lacks("passphrase");
    // Another cloud is another module, and the secrets come before what the caller exports.
    project.write(&format!("{dir}/prod.tfvars"), "cloud = \"scw\"\n");
    let project = project.env("TF_VAR_encryption_passphrase", SECOND);
    project.run("apply --yes").succeeds();
    assert_eq!(project.run("output management server --raw").succeeds().stdout, "scw-cp");
    if has_strace() {
        let told = traced(&project, "plan");
        assert!(!told.contains(FIRST) && told.contains("execve("), "a passphrase in a file or an argument");
    }
    project.run("destroy --yes").succeeds();
    assert!(project.files_containing(FIRST).is_empty(), "{:?}", project.files_containing(FIRST));
}

#[test]
fn odd_values_reach_what_is_evaluated_early_as_they_are() {
    let odd = serde_json::json!({
        "quotes": "a \"quoted\" \\ back\\slash 'value' of it",
        "lines": "one\ntwo\r\nthree\n",
        "templates": "${var.x} %{ if true } $${y} %%{z} $ %",
        "unicode": "äöü 漢字 🔐 \u{202e}",
        "object": {"deep": {"inside": "text"}, "none": null, "list": [1, true, 1.5]},
        "long": "x".repeat(200_000),
        "number": 12.5,
        "truth": false,
        "nothing": null,
    });
    let names: Vec<&String> = odd.as_object().unwrap().keys().collect();
    let all = names.iter().map(|name| format!("{name} = var.{name}")).collect::<Vec<_>>().join(", ");
    let declared: String = names.iter().map(|name| format!("variable \"{name}\" {{}}\n")).collect();
    let keys = states("").replace("var.passphrase", &format!("sha256(jsonencode({{ {all} }}))"));
    let main = format!(
        "{declared}terraform {{\n  encryption {{\n    {keys}\n  }}\n}}\noutput \"odd\" {{\n  value = {{ {all} }}\n}}\n"
    );
    let key = AgeKey::new();
    let project = Project::new().stack("x", &main).env("SOPS_AGE_KEY", &key.secret);
    project.write("infra.yaml", "name: lab\nstacks:\n  x:\n    secrets: [secrets.sops.json]\n");
    let file = "infrastructure/x/secrets.sops.json";
    project.write(file, &odd.to_string());
    let done = key.run_sops(project.root(), &["-e", "-i", "--age", &key.recipient, file]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    project.run("apply x --yes").succeeds();
    let read = project.run("output x odd --json").succeeds().json();

    assert_eq!(read["x"]["odd"]["value"], odd);
    assert!(project.read("infrastructure/x/terraform.tfstate").contains("encrypted_data"));
}
