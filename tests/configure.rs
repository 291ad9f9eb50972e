//! `infra configure`: rendered, encrypted and written, all or nothing.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "configure/fresh_clone.rs"]
mod fresh_clone;
#[path = "configure/odd_data.rs"]
mod odd_data;
#[path = "configure/removals.rs"]
mod removals;
mod support;
#[path = "support/tools.rs"]
mod tools;

use std::path::Path;
use std::time::SystemTime;

use nix::sys::signal::Signal;
use support::terminal::AtTerminal;
use support::{Project, SIMPLE};
use tools::AgeKey;

/// A project with one template below `templates/config` and the data for it.
fn project() -> Project {
    Project::new()
        .file("cluster.yaml", "cluster_name: lab\ngreeting: hello\n")
        .file("templates/config/infrastructure/a/main.tf.j2", "# #{ greeting }# from #{ cluster_name }#\n")
}

fn modified(project: &Project, path: &str) -> SystemTime {
    std::fs::metadata(project.path(path)).unwrap().modified().unwrap()
}

#[test]
fn templates_and_data_become_files_and_a_second_run_touches_none() {
    let project = project();

    project.run("configure").succeeds().stderr_has("1 new");
    let (before, text) =
        (modified(&project, "infrastructure/a/main.tf"), project.read("infrastructure/a/main.tf"));
    project.run("configure").succeeds().stderr_has("1 unchanged");

    assert_eq!(text, "# hello from lab\n");
    assert_eq!(modified(&project, "infrastructure/a/main.tf"), before);
    project.run("configure --check").succeeds();
}

#[test]
fn check_exits_1_with_a_diff_and_writes_nothing() {
    let project = project();
    project.run("configure").succeeds();
    project.write("cluster.yaml", "cluster_name: lab\ngreeting: goodbye\n");

    let run = project.run("configure --check").exits(1);

    run.stdout_has("-# hello from lab\n+# goodbye from lab").stderr_has("1 file stale, 0 up to date");
    assert_eq!(project.read("infrastructure/a/main.tf"), "# hello from lab\n");
}

#[test]
fn diff_shows_what_would_change_and_leaves_a_new_project_untouched() {
    let project = project();

    let run = project.run("configure --diff").succeeds();

    run.stdout_has("+++ b/infrastructure/a/main.tf").stdout_has("+# hello from lab");
    assert!(!project.has("infrastructure") && !project.has(".infra"));
}

#[test]
fn a_file_edited_by_hand_stays_until_it_is_forced() {
    let project = project();
    project.run("configure").succeeds();
    project.write("infrastructure/a/main.tf", "# mine\n");
    project.write("templates/config/other.txt.j2", "other\n");

    let run = project.run("configure").exits(1);

    run.stderr_has("edited by hand").stderr_has("-# mine").stderr_has("hint: ").stderr_has("--force");
    assert_eq!(project.read("infrastructure/a/main.tf"), "# mine\n");
    assert!(!project.has("other.txt"), "a refused run writes nothing at all");
    project.run("configure --force").succeeds();
    assert_eq!(project.read("infrastructure/a/main.tf"), "# hello from lab\n");
}

#[test]
fn check_and_diff_name_what_was_edited_by_hand() {
    let project = project();
    project.run("configure").succeeds();
    project.write("infrastructure/a/main.tf", "# mine\n");

    let check = project.run("configure --check").exits(1);
    let diff = project.run("configure --diff").succeeds();

    check.stderr_has("`infrastructure/a/main.tf` was edited by hand").stderr_has("`--force`");
    diff.stdout_has("-# mine").stderr_has("was edited by hand");
}

#[test]
fn what_a_template_is_made_from_is_never_its_output() {
    let project = project().file("templates/config/cluster.yaml.j2", "x: 1\n");
    let before = project.read("cluster.yaml");

    project.run("configure --force").exits(65).stderr_has("which is an input itself");

    assert_eq!(project.read("cluster.yaml"), before);
}

#[test]
fn a_lost_key_is_no_dead_end() {
    let (project, key) = with_secrets();
    project.run("configure").succeeds();
    let new = AgeKey::new();
    let rules = project.read("templates/config/.sops.yaml.j2").replace(&key.recipient, &new.recipient);
    project.write("templates/config/.sops.yaml.j2", &rules);
    let with_new_key = |args: &str| project.command(args).env("SOPS_AGE_KEY", &new.secret).output().unwrap();

    let refused = with_new_key("configure");
    let forced = with_new_key("configure --force");

    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(77) && said.contains("infra configure --force"), "{said}");
    assert!(forced.status.success(), "{}", String::from_utf8_lossy(&forced.stderr));
    assert!(new.run_sops(&project.path("infrastructure"), &["-d", "secrets.sops.yaml"]).status.success());
}

#[test]
fn secrets_that_are_no_yaml_name_their_template() {
    let (project, _key) = with_secrets();
    project.write("templates/config/infrastructure/secrets.sops.yaml.j2", "token: [ #{ token }#\n");

    let run = project.run("configure").exits(65);

    run.stderr_has("templates/config/infrastructure/secrets.sops.yaml.j2").stderr_lacks("hunter2-canary");
    assert!(!project.has("infrastructure"));
}

#[test]
fn a_file_that_was_there_before_is_replaced_only_where_git_has_it() {
    let project = project().file("infrastructure/a/main.tf", "# older\n");
    project.run("configure").exits(1).stderr_has("was not generated");
    project.git(&["init", "-q"]);
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "all"]);

    project.run("configure").succeeds();

    assert_eq!(project.read("infrastructure/a/main.tf"), "# hello from lab\n");
}

#[test]
fn an_output_whose_template_is_gone_is_removed_with_its_folder() {
    let project = project().file("templates/config/old/x.txt.j2", "x\n");
    project.run("configure").succeeds();
    std::fs::remove_file(project.path("templates/config/old/x.txt.j2")).unwrap();

    project.run("configure").succeeds().stderr_has("1 removed");

    assert!(!project.has("old") && project.has("infrastructure/a/main.tf"));
}

#[test]
fn a_failed_template_is_named_with_its_line_and_nothing_is_written() {
    let project = project().file("templates/config/z.txt.j2", "fine\n#{ nothing_of_the_kind }#\n");

    let run = project.run("configure").exits(65);

    run.stderr_has("templates/config/z.txt.j2:2").stdout_lacks("hello");
    assert!(!project.has("infrastructure") && !project.has("z.txt"));
}

#[test]
fn invalid_data_is_told_all_at_once_with_file_and_line_before_a_byte_is_written() {
    let project = project().file(
        "cluster.yaml",
        "cluster_name: lab\ngreeting: hello\nproxmox_api_url: pve\nproxmox_node: \"\"\n",
    );

    let run = project.run("configure").exits(65);

    run.stderr_has("cluster.yaml:3").stderr_has("cluster.yaml:4").stderr_has("proxmox_api_url");
    assert!(!project.has("infrastructure"));
}

/// A project whose secrets are rendered, with the key that opens them.
fn with_secrets() -> (Project, AgeKey) {
    let key = AgeKey::new();
    let rules = format!("creation_rules:\n  - path_regex: .*\\.sops\\.yaml\n    age: {}\n", key.recipient);
    let project = project()
        .file("templates/config/.sops.yaml.j2", &rules)
        .file("templates/config/infrastructure/secrets.sops.yaml.j2", "token: \"#{ token }#\"\nother: 1\n")
        .env("SOPS_AGE_KEY", &key.secret);
    project.write("cluster.yaml", "cluster_name: lab\ngreeting: hello\ntoken: hunter2-canary\n");
    (project, key)
}

#[test]
fn rendered_secrets_are_encrypted_and_the_real_sops_opens_them() {
    let (project, key) = with_secrets();

    let run = project.run("configure").succeeds();

    run.stderr_lacks("hunter2-canary");
    assert_eq!(project.files_containing("hunter2-canary"), ["cluster.yaml"]);
    let opened = key.run_sops(&project.path("infrastructure"), &["-d", "secrets.sops.yaml"]);
    assert_eq!(String::from_utf8_lossy(&opened.stdout), "token: hunter2-canary\nother: 1\n");
    project.run("configure --check").succeeds();
}

#[test]
fn unchanged_secrets_are_left_alone_and_changed_ones_change_little() {
    let (project, _key) = with_secrets();
    project.run("configure").succeeds();
    let before = project.read("infrastructure/secrets.sops.yaml");
    project.run("configure").succeeds();
    assert_eq!(project.read("infrastructure/secrets.sops.yaml"), before);
    project.write("cluster.yaml", "cluster_name: lab\ngreeting: hello\ntoken: another-canary\n");

    let run = project.run("configure --diff").succeeds();
    project.run("configure").succeeds();

    run.stdout_has("encrypted").stdout_lacks("canary");
    let after = project.read("infrastructure/secrets.sops.yaml");
    let line = |text: &str, key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert_ne!(line(&after, "token"), line(&before, "token"));
    assert_eq!(line(&after, "other"), line(&before, "other"));
}

#[test]
fn secrets_without_a_rule_or_a_key_stop_everything_with_77_or_a_reason() {
    let (project, _key) = with_secrets();
    project.run("configure").succeeds();
    let before = project.read("infrastructure/secrets.sops.yaml");

    let mut closed = project.command("configure");
    let closed = closed.env("SOPS_AGE_KEY", "").env("HOME", project.root()).output().unwrap();
    project.write("templates/config/.sops.yaml.j2", "creation_rules: []\n");
    project.run("configure").stderr_has("secrets.sops.yaml");

    assert_eq!(closed.status.code(), Some(77), "{}", String::from_utf8_lossy(&closed.stderr));
    assert_eq!(project.read("infrastructure/secrets.sops.yaml"), before);
}

#[test]
fn a_template_that_fails_leaves_no_secret_behind() {
    let (project, _key) = with_secrets();
    project.write("templates/config/z.txt.j2", "#{ token.nothing.at.all }#\n");

    let run = project.run("configure").exits(65);

    run.stderr_lacks("hunter2-canary");
    assert!(!project.has("infrastructure"));
}

/// The data of a project that takes a while to render.
fn long_data(word: &str) -> String {
    format!("greeting: {word}\ncluster_name: {}\n", "x".repeat(20_000))
}

/// A configured project of many files, each of which begins and ends with the greeting.
fn many_files() -> Project {
    let project = project().file("cluster.yaml", &long_data("old"));
    for number in 0..200 {
        let template = format!("templates/config/out/{number:03}.txt.j2");
        project.write(&template, "#{ greeting }# #{ cluster_name }# #{ greeting }#\n");
    }
    project.run("configure").succeeds();
    project
}

/// Returns whether a process handles Ctrl-C itself.
fn listens(pid: nix::unistd::Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
    u64::from_str_radix(caught.trim(), 16)
        .is_ok_and(|caught| caught & (1 << (Signal::SIGINT as u64 - 1)) != 0)
}

#[test]
fn ctrl_c_while_it_renders_leaves_everything_as_it_was() {
    let project = many_files();
    project.write("cluster.yaml", &long_data("new"));
    project.write("templates/config/slow.txt.j2", "#% for n in range(90000) %##{ n }##% endfor %#\n");
    let before = project.read("out/000.txt");

    let run = project.start("configure");
    support::run::wait_until("it listens", || listens(run.pid()));
    run.signal(Signal::SIGINT);

    run.wait().exits(130).stderr_has("before anything was written");
    assert_eq!(project.read("out/000.txt"), before);
    assert_eq!(project.read("out/199.txt"), before);
    assert!(!project.has("slow.txt"));
}

#[test]
fn a_killed_run_leaves_each_file_old_or_new_and_the_next_one_finishes() {
    let project = many_files();

    for round in 0..12_u64 {
        project.write("cluster.yaml", &long_data(&format!("new{round}")));
        let run = project.start("configure");
        std::thread::sleep(std::time::Duration::from_millis(15 + 7 * round));
        // It may have ended by itself already; then there is nothing to kill.
        let _ = nix::sys::signal::kill(run.pid(), Signal::SIGKILL);
        run.wait();
        all_files_are_whole(&project.path("out"));
    }

    project.run("configure").succeeds();
    project.run("configure --check").succeeds();
    assert!(!project.has(".infra/staging"));
}

/// Each file begins and ends with the same word.
fn all_files_are_whole(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!((words.len(), words.first()), (3, words.last()), "{} is torn", entry.path().display());
    }
}

#[test]
fn a_file_in_the_place_of_a_folder_leaves_the_tree_as_it_was() {
    let project = project().file("templates/config/blocked/x.txt.j2", "x\n");
    project.write("blocked", "a file where a folder should be");

    let run = project.run("configure").exits(65);

    run.stderr_has("`blocked/x.txt` would be generated, but a file is there").stderr_has("hint: ");
    assert!(!project.has("infrastructure") && !project.has(".infra/generated.json"));
}

#[test]
fn an_output_that_leaves_the_project_is_refused() {
    let project = project().config("name: lab\nconfigure:\n  output: ../elsewhere\n");

    project.run("configure").exits(65).stderr_has("inside the project");

    assert!(!project.root().parent().unwrap().join("elsewhere").exists());
}

/// A makejinja project whose plugin computes a value.
fn with_plugin() -> Project {
    Project::new()
        .file(
            "makejinja.toml",
            concat!(
                "[makejinja]\ninputs = [\"in\"]\noutput = \"out\"\ndata = [\"data.yaml\"]\n",
                "jinja_suffix = \".j2\"\nplugins = [\"plugin.Plugin\"]\n"
            ),
        )
        .file("data.yaml", "word: hello\n")
        .file("in/x.txt.j2", "{{ shout | default('nobody shouts') }}\n")
        .file(
            "plugin.py",
            concat!(
                "import makejinja\n\nclass Plugin(makejinja.plugin.Plugin):\n",
                "    def __init__(self, data):\n        self._data = data\n",
                "    def data(self):\n        return {**self._data, 'shout': self._data['word'].upper()}\n"
            ),
        )
}

#[test]
fn a_python_plugin_runs_only_when_it_is_allowed() {
    let project = with_plugin();

    let denied = project.run("configure").succeeds();
    let quiet = project.read("out/x.txt");
    project.run("trust --yes").succeeds();
    project.run("configure").succeeds();

    denied.stderr_has("plugin.py` is not run").stderr_has("`infra trust`");
    assert_eq!((quiet.as_str(), project.read("out/x.txt").as_str()), ("nobody shouts\n", "HELLO\n"));
}

#[test]
fn a_yes_on_the_terminal_is_remembered_until_the_plugin_changes() {
    let project = with_plugin();
    let mut person = AtTerminal::start(project.command("configure"));
    person.sees("runs Python of this project: `plugin.py`").sees("Trust this project with it?");
    person.types("y");
    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");

    project.run("configure --check").succeeds();
    let changed = project.read("plugin.py").replace("upper", "title");
    project.write("plugin.py", &changed);

    project.run("configure").succeeds().stderr_has("is not run");
}

#[test]
fn a_project_that_was_never_rendered_says_how_to_get_its_stacks() {
    let project = project();

    project
        .run("plan --all")
        .exits(65)
        .stderr_has("hint: its templates are not rendered yet: `infra configure`");
    project.run("stacks").succeeds().stderr_has("`infra configure`");
}

#[test]
fn up_renders_before_it_applies() {
    let project = project();
    project.write("templates/config/infrastructure/a/main.tf.j2", SIMPLE);

    project.run("up --yes").succeeds().stderr_has("1 new");

    assert_eq!(project.resources("a"), ["terraform_data.thing"]);
}

/// A rendered project with one stack that applies anywhere.
fn rendered_stack() -> Project {
    let main = format!("{SIMPLE}\noutput \"who\" {{\n  value = \"#{{ name }}#\"\n}}\n");
    let project = Project::new().file("cluster.yaml", "name: one\n");
    let project = project.file("templates/config/infrastructure/01-a/x/main.tf.j2", &main);
    project.run("configure").succeeds();
    project.run("apply --yes").succeeds().stderr_lacks("changed since");
    project
}

#[test]
fn a_run_after_an_edit_says_what_is_not_rendered_yet_until_configure_was_run() {
    let project = rendered_stack();

    project.write("cluster.yaml", "name: two\n");
    let warning = "cluster.yaml changed since the last `infra configure`";
    for run in ["plan", "drift", "apply --yes", "validate"] {
        project.run(run).succeeds().stderr_has(warning).stderr_has("hint: render it: `infra configure`");
    }
    let events = project.run("plan --jsonl").succeeds().stdout;
    let told = |line: &str| line.contains("\"warning\"") && line.contains("cluster.yaml changed since");
    assert!(events.lines().any(told), "{events}");

    project.run("configure").succeeds();
    project.run("plan").succeeds().stderr_lacks("changed since");
}

#[test]
fn only_what_changed_counts_as_edited_and_up_renders_by_itself() {
    let project = rendered_stack();
    // The same bytes with a new time.
    project.write("cluster.yaml", "name: one\n");
    project.write("infra.yaml", "name: lab\nrun:\n  parallelism: 2\n");
    project.run("plan").succeeds().stderr_lacks("changed since");

    // Nothing of the output changes by these, and still they are edits.
    project.write("templates/config/empty.j2", "");
    project.write("cluster.yaml", "name: one # why\n");
    project.write("derive.yaml", "{}\n");
    let named = "cluster.yaml, derive.yaml, templates/config/empty.j2 changed since";
    project.run("plan").succeeds().stderr_has(named);
    project.write("templates/config/second.j2", "");
    project.run("plan").succeeds().stderr_has("templates/config/empty.j2 and 1 more changed since");

    project.run("up --yes").succeeds().stderr_lacks("changed since");
    project.run("plan").succeeds().stderr_lacks("changed since");
    std::fs::remove_file(project.path("templates/config/empty.j2")).unwrap();
    project.run("plan").succeeds().stderr_has("templates/config/empty.j2 changed since");
}

#[test]
fn a_list_of_generated_files_that_says_nothing_about_inputs_warns_of_nothing() {
    let project = rendered_stack();
    let mut manifest: serde_json::Value =
        serde_json::from_str(&project.read(".infra/generated.json")).unwrap();
    manifest.as_object_mut().unwrap().retain(|key, _| key == "version" || key == "files");
    project.write(".infra/generated.json", &manifest.to_string());
    project.write("cluster.yaml", "name: two\n");

    project.run("plan").succeeds().stderr_lacks("changed since");
}

#[test]
fn an_edit_of_rendered_secrets_names_their_template_and_a_new_key_needs_none() {
    let (project, _key) = with_secrets();
    project.run("configure").succeeds();

    let file = "infrastructure/secrets.sops.yaml";
    project.run(&format!("secrets rotate {file}")).succeeds().stderr_lacks("is generated from");
    project.run("configure").succeeds();

    project
        .run(&format!("secrets set {file} [\"token\"] \"another\""))
        .succeeds()
        .stderr_has(&format!("`{file}` is generated from `templates/config/{file}.j2`: change that too"));
    project.run("configure").exits(1).stderr_has("was edited by hand");
    // A fresh clone has no list of generated files, and still the template is known.
    std::fs::remove_dir_all(project.path(".infra")).unwrap();
    project
        .run(&format!("secrets set {file} [\"token\"] \"third\""))
        .succeeds()
        .stderr_has("is generated from");
}
