//! The situations that the documents describe: each makes a project, types what the block says,
//! and keeps what the program told. One situation serves its snapshot and its document.

use std::path::Path;
use std::sync::LazyLock;

use super::session::Session;
use super::support::run::wait_until;
use super::support::{Project, SIMPLE};
use super::transcript::Transcript;

/// What a situation told; made on first use.
pub type Told = LazyLock<Transcript>;

const ASKED: &str = "[y/N] (d shows every attribute)";

pub static HOMELAB: LazyLock<Homelab> = LazyLock::new(Homelab::visit);

/// What one example project tells on three occasions.
pub struct Homelab {
    pub up: Transcript,
    pub question: Transcript,
    pub copied_stack: Transcript,
}

impl Homelab {
    fn visit() -> Self {
        let project = Project::named("homelab");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/homelab"), project.root());
        let up = Session::begin(&project).types("infra up --yes").types("infra output k8s-prod").end();
        change(&project, "cluster.yaml", &[("memory: 16384", "memory: 8192"), ("[k8s]", "[k8s, nas]")]);
        change(&project, "nodes.yaml", &[("vm_memory: 8192", "vm_memory: 4096")]);
        project.run("configure").succeeds();
        let question = format!("Apply these changes to 3 stacks? {ASKED}");
        let question = Session::begin(&project).types_until("infra apply --all", &[&question]).end();
        let copied_stack =
            Session::begin(&project).types("infra new-stack 01-hypervisors/pve3 --from pve1").end();
        Self { up, question, copied_stack }
    }
}

const APP: &str = r#"
terraform {
  backend "http" {}
}
variable "password" {
  default   = "hunter2-hunter2"
  sensitive = true
}
resource "terraform_data" "machine" {
  count            = 2
  triggers_replace = { image = "v1" }
}
resource "terraform_data" "settings" {
  input = { size = 4, password = var.password }
}
"#;

pub static CHANGES: Told = LazyLock::new(|| {
    let project = Project::named("lab").stack("a/app", APP).stack("a/net", SIMPLE);
    project.run("apply --all --yes").succeeds();
    let app = [("= 2", "= 1"), ("\"v1\"", "\"v2\""), ("size = 4", "size = 8"), ("hunter2-", "hunter3-")];
    change(&project, "infrastructure/a/app/main.tf", &app);
    Session::begin(&project).types("infra plan --all").end()
});

const MEMORY: &str = r#"
terraform {
  backend "http" {}
}
output "memory" { value = 16384 }
"#;

const NODE: &str = r#"
terraform {
  backend "http" {}
}
variable "memory" { type = number }
resource "terraform_data" "node" {
  input = { memory = var.memory, cores = 2 }
}
"#;

pub static DIFFERENCE: Told = LazyLock::new(|| {
    let inputs =
        "stacks:\n  \"02-platforms/k8s-prod\":\n    inputs: { memory: \"01-hypervisors/pve1.memory\" }\n";
    let project = Project::named("homelab").config(inputs);
    let project = project.stack("01-hypervisors/pve1", MEMORY).stack("02-platforms/k8s-prod", NODE);
    project.run("apply --all --yes").succeeds();
    change(&project, "infrastructure/01-hypervisors/pve1/main.tf", &[("16384", "4096")]);
    change(&project, "infrastructure/02-platforms/k8s-prod/main.tf", &[("cores = 2", "cores = 4")]);
    let questions = [ASKED, "Apply it with these differences? [y/N]"];
    Session::begin(&project).types_until("infra apply --all", &questions).end()
});

const WEB: &str = r#"
terraform {
  backend "http" {}
}
variable "subnet" {}
resource "terraform_data" "machine" {
  count = 3
  input = var.subnet
}
"#;

pub static DEPENDENTS: Told = LazyLock::new(|| {
    let inputs = "name: lab\nstacks:\n  \"02-apps/web\":\n    inputs: { subnet: \"01-base/net.subnet\" }\n";
    let net = SIMPLE.replace("output \"thing\"", "output \"subnet\"");
    let project = Project::named("lab").config(inputs).stack("01-base/net", &net).stack("02-apps/web", WEB);
    project.run("apply --all --yes").succeeds();
    Session::begin(&project).types("infra destroy 01-base/net").end()
});

const WORKSPACES: &str = r#"name: lab
stacks:
  "cloud/web":
    workspaces:
      dev:  { var_files: [dev.tfvars] }
      prod: { var_files: [prod.tfvars], protect: true, tags: [live] }
    workspace_variable: environment
"#;

pub static WORKSPACE: Told = LazyLock::new(|| {
    let web = format!("{SIMPLE}variable \"environment\" {{}}\n");
    let project = Project::named("lab").config(WORKSPACES).stack("cloud/web", &web);
    let project = project.file("infrastructure/cloud/web/dev.tfvars", "");
    let project = project.file("infrastructure/cloud/web/prod.tfvars", "");
    Session::begin(&project).types("infra stacks").end()
});

pub static CONFIGURE: Told = LazyLock::new(|| {
    let project = Project::named("lab");
    std::fs::remove_file(project.path("infra.yaml")).expect("a file");
    project.run("new . --example proxmox-talos").succeeds();
    Session::begin(&project).types("infra configure").types("infra configure").end()
});

pub static KEYS: Told = LazyLock::new(|| {
    let project = Project::named("lab");
    let home = project.user_state().with_file_name("home");
    let project = project.env("HOME", home.to_str().expect("a path"));
    let rule = |project: &Project| {
        let key = std::fs::read_to_string(home.join(".config/sops/age/keys.txt")).expect("a key");
        let recipient =
            key.lines().find_map(|line| line.strip_prefix("# public key: ")).expect("its public part");
        project.write(
            ".sops.yaml",
            &format!("creation_rules:\n  - path_regex: \\.sops\\.yaml$\n    age: {recipient}\n"),
        );
    };
    Session::begin(&project)
        .types("infra secrets keygen --output ~/.config/sops/age/keys.txt")
        .then(rule)
        .types("cat .sops.yaml")
        .end()
});

pub static STATES: LazyLock<States> = LazyLock::new(States::visit);

/// What is told of a state that is gone, and of one that is not where `infra.yaml` says.
pub struct States {
    pub gone: Transcript,
    pub not_moved: Transcript,
}

impl States {
    fn visit() -> Self {
        let project = Project::named("home/me/lab").stack("01-hypervisors/pve1", SIMPLE);
        let project = project.file(".gitignore", ".infra/\n.terraform/\n");
        project.run("apply --all --yes").succeeds();
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "all"]] {
            project.git(args);
        }
        let gone = Session::begin(&project).types("git clean -fdx && infra plan --all").end();
        project.run("state recover --all --yes").succeeds();
        let store = project.user_state().with_file_name("srv/states/lab");
        project.write("infra.yaml", &format!("name: lab\nstate: {{ store: {} }}\n", store.display()));
        let not_moved = Session::begin(&project).types("infra plan --all").end();
        Self { gone, not_moved }
    }
}

const SLOW: &str = r#"
terraform {
  backend "http" {}
}
resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "echo $$ > started; exec sleep 300"
  }
}
"#;

pub static KILLED: Told = LazyLock::new(|| {
    let project = Project::named("lab").stack("02-platforms/k8s-prod", SLOW);
    let run = project.start("apply --yes");
    run.until_exists(&project.path("infrastructure/02-platforms/k8s-prod/started"));
    let tofu = project.tofu_at_work("02-platforms/k8s-prod");
    run.signal(nix::sys::signal::Signal::SIGKILL);
    run.wait();
    wait_until("tofu has given up", || !tofu.lives());
    Session::begin(&project).types("infra plan k8s-prod").end()
});

pub static HABIT: Told = LazyLock::new(|| {
    let project = two_layers("lab");
    Session::begin(&project).types("infra plan k8s-prod -target=module.cp -lock-timeout=5m").end()
});

fn two_layers(name: &str) -> Project {
    Project::named(name).stack("01-hypervisors/pve1", SIMPLE).stack("02-platforms/k8s-prod", SIMPLE)
}

/// Replaces texts in a file, each of which must be there.
fn change(project: &Project, path: &str, texts: &[(&str, &str)]) {
    let text = texts.iter().fold(project.read(path), |text, (old, new)| {
        assert!(text.contains(old), "{path} lacks `{old}`");
        text.replacen(old, new, 1)
    });
    project.write(path, &text);
}

/// Copies what is tracked: no state, no working folders.
fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("an example").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            std::fs::create_dir_all(&target).expect("a writable folder");
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a writable folder");
        }
    }
}
