//! To whom a changed path belongs.

use std::os::unix::fs::PermissionsExt as _;

use crate::repository::{Repository, git_in, reasons};

/// Two layers; `net` is used through `vm`, `dns` by one stack alone.
fn lab() -> Repository {
    let lab = Repository::new()
        .stack("01-base/net", &["../../modules/vm"])
        .stack("01-base/dns", &["../../modules/dns"])
        .stack("02-apps/web", &[])
        .stack("02-apps/web/nested", &[])
        .module("vm", &["../net"])
        .module("net", &[])
        .module("dns", &[])
        .module("unused", &[])
        .file("infrastructure/02-apps/web/files/motd.txt", "hello\n")
        .file("README.md", "words\n");
    lab.publish();
    lab
}

#[test]
fn a_file_belongs_to_the_deepest_stack_or_module_around_it() {
    let lab = lab();
    for (path, affected) in [
        ("infrastructure/02-apps/web/main.tf", vec!["02-apps/web"]),
        ("infrastructure/02-apps/web/files/motd.txt", vec!["02-apps/web"]),
        ("infrastructure/02-apps/web/nested/main.tf", vec!["02-apps/web/nested"]),
        ("infrastructure/modules/dns/main.tf", vec!["01-base/dns"]),
        ("infrastructure/modules/net/main.tf", vec!["01-base/net"]),
        ("infrastructure/modules/unused/main.tf", vec![]),
        ("README.md", vec![]),
    ] {
        let old = std::fs::read_to_string(lab.root.join(path)).unwrap();
        lab.append(path, "# edited\n");
        let told = lab.changed("");
        assert_eq!(told.stacks.iter().collect::<Vec<_>>(), affected, "{path}");
        for stack in affected {
            assert_eq!(reasons(&told, stack), [path]);
        }
        lab.write(path, &old);
    }
    assert!(lab.affected().is_empty(), "everything is as it was");
}

#[test]
fn what_is_not_committed_counts_and_what_git_ignores_does_not() {
    let lab = lab();
    lab.write(".gitignore", "*.log\n");
    lab.commit();

    lab.write("infrastructure/02-apps/web/x.log", "");
    assert!(lab.affected().is_empty());
    lab.write("infrastructure/02-apps/web/new/deep.txt", "");
    assert_eq!(lab.affected(), ["02-apps/web"]);
    lab.git("add -A");
    assert_eq!(lab.affected(), ["02-apps/web"]);
    lab.remove("infrastructure/02-apps/web/new");
    lab.write("infrastructure/01-base/dns/.terraform.lock.hcl", "# pins\n");
    lab.write("infrastructure/01-base/dns/.github/workflow.yaml", "");
    let told = lab.changed("HEAD");
    assert_eq!(reasons(&told, "01-base/dns"), ["infrastructure/01-base/dns/.terraform.lock.hcl"]);
    assert_eq!(told.stacks.len(), 1);
}

#[test]
fn a_deleted_file_belongs_to_its_owner_at_the_base() {
    let lab = lab();
    lab.remove("infrastructure/modules/net");
    lab.write("infrastructure/modules/vm/main.tf", "");
    lab.remove("infrastructure/02-apps/web/nested");

    let told = lab.changed("");

    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-base/net"]);
    assert_eq!(
        reasons(&told, "01-base/net"),
        ["infrastructure/modules/net/main.tf", "infrastructure/modules/vm/main.tf"]
    );
    assert_eq!(told.removed.iter().collect::<Vec<_>>(), ["02-apps/web/nested"]);
}

#[test]
fn removed_and_renamed_stacks_are_listed_apart_and_what_became_a_module_is_neither() {
    let lab = lab();
    lab.git("mv infrastructure/01-base/dns infrastructure/01-base/names");
    lab.write("infrastructure/01-base/net/main.tf", &crate::repository::uses(&["../../02-apps/web"]));
    lab.remove("infrastructure/02-apps/web/nested/main.tf");
    lab.write("infrastructure/02-apps/web/nested/.keep", "");
    lab.commit();

    let finished = lab.run(&["changed", "--json"]).succeeds();
    let told = crate::repository::told(&finished);

    assert_eq!(told.removed.iter().collect::<Vec<_>>(), ["01-base/dns", "02-apps/web/nested"]);
    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-base/names", "01-base/net"]);
    assert_eq!(
        finished.json()["renamed"],
        serde_json::json!([{ "from": "01-base/dns", "to": "01-base/names" }])
    );
    lab.run(&["changed"]).succeeds().stdout_has("renamed to 01-base/names");
    lab.run(&["stacks", "--changed"]).succeeds().stderr_has("`01-base/dns` is renamed to 01-base/names");
}

#[test]
fn a_folder_that_nobody_uses_any_more_as_a_module_is_a_new_stack() {
    let lab = lab();
    lab.write("infrastructure/01-base/net/main.tf", &crate::repository::uses(&["../../02-apps/web"]));
    lab.publish();
    lab.write("infrastructure/01-base/net/main.tf", &crate::repository::uses(&[]));

    let told = lab.changed("");

    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-base/net", "02-apps/web"]);
    assert_eq!(reasons(&told, "02-apps/web"), ["infrastructure/01-base/net/main.tf"]);
}

#[test]
fn a_linked_file_counts_wherever_it_is_linked() {
    let lab = lab().file("shared/providers.tf", "# shared\n").file("shared/files/a.txt", "a\n");
    lab.link("../../../shared/providers.tf", "infrastructure/01-base/dns/providers.tf");
    lab.link("../dns/providers.tf", "infrastructure/01-base/net/again.tf");
    lab.link("../../../shared/files", "infrastructure/02-apps/web/linked");
    lab.commit();

    lab.append("shared/providers.tf", "# more\n");
    assert_eq!(lab.affected(), ["01-base/dns", "01-base/net"]);
    lab.commit();
    lab.append("shared/files/a.txt", "b\n");
    assert_eq!(lab.affected(), ["02-apps/web"]);
    lab.commit();
    lab.remove("infrastructure/01-base/dns/providers.tf");
    lab.link("../../../README.md", "infrastructure/01-base/dns/providers.tf");
    assert_eq!(lab.affected(), ["01-base/dns", "01-base/net"], "the link in the middle leads elsewhere");
}

#[test]
fn a_mode_is_a_change_and_a_touched_time_is_none() {
    let lab = lab();
    lab.git("config core.fileMode false");
    let script = lab.root.join("infrastructure/02-apps/web/files/motd.txt");
    let file = std::fs::File::options().append(true).open(&script).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(lab.affected().is_empty());

    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(lab.affected(), ["02-apps/web"]);
}

#[test]
fn the_users_git_settings_do_not_matter() {
    let lab = lab();
    let before = (lab.root.join("infrastructure/02-apps/web"), "ä \"b\"\n-c.txt");
    std::fs::write(before.0.join(before.1), "x").unwrap();
    lab.commit();
    std::fs::write(before.0.join(before.1), "y").unwrap();
    lab.git("mv infrastructure/01-base/dns infrastructure/01-base/names");
    lab.write("infrastructure/01-base/net/untracked.tf", "");
    let expected = ["01-base/names", "01-base/net", "02-apps/web"];
    assert_eq!(lab.affected(), expected);

    for setting in [
        "diff.renames copies",
        "core.quotePath true",
        "diff.relative true",
        "diff.noprefix true",
        "status.showUntrackedFiles no",
        "diff.ignoreSubmodules all",
        "diff.orderFile /nowhere",
        "diff.autoRefreshIndex false",
        "color.ui always",
        "core.abbrev 5",
        "diff.external false",
        "status.renames copies",
        "core.pager false",
        "diff.wordRegex .",
        "diff.algorithm patience",
        "diff.submodule diff",
        "diff.mnemonicPrefix true",
        "core.bare false",
        "diff.statGraphWidth 1",
    ] {
        lab.git(&format!("config {setting}"));
    }

    let told = lab.changed("HEAD");
    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), expected);
    assert_eq!(reasons(&told, "02-apps/web"), [format!("infrastructure/02-apps/web/{}", before.1)]);
    let below = lab.root.join("infrastructure/02-apps");
    let mut elsewhere = lab.command(&["changed", "--base", "HEAD", "--json"]);
    let finished = crate::support::Running::start(
        {
            elsewhere.current_dir(below);
            elsewhere
        },
        "below",
    )
    .wait();
    assert_eq!(crate::repository::told(&finished).stacks.len(), 3, "{finished}");
}

#[test]
fn no_program_that_the_repository_names_is_run() {
    let lab = lab();
    let mark = lab.beside("ran");
    let program = format!("touch {}", mark.display());
    for name in [
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "core.fsmonitor",
        "diff.external",
    ] {
        git_in(&lab.top, &["config", name, &program]);
    }
    git_in(&lab.top, &["config", "filter.evil.required", "true"]);
    std::fs::write(lab.top.join(".git/info/attributes"), "*.tf filter=evil diff=evil\n").unwrap();
    lab.write("infrastructure/02-apps/web/main.tf", "# edited\n");

    assert_eq!(lab.affected(), ["02-apps/web"]);
    assert!(!mark.exists(), "a program ran");
}

#[test]
fn a_new_commit_of_a_submodule_is_a_change_of_the_module_there() {
    let lab = lab();
    let module = lab.beside("module");
    std::fs::create_dir_all(&module).unwrap();
    git_in(&module, &["init", "-q", "-b", "main"]);
    let commit = |text: &str| {
        std::fs::write(module.join("main.tf"), text).unwrap();
        git_in(&module, &["add", "-A"]);
        git_in(&module, &["commit", "-qm", "change"]);
    };
    commit("# one\n");
    git_in(
        &lab.top,
        &["submodule", "--quiet", "add", &module.display().to_string(), "infrastructure/modules/sub"],
    );
    lab.write("infrastructure/02-apps/web/main.tf", &crate::repository::uses(&["../../modules/sub"]));
    lab.commit();
    assert!(lab.affected().is_empty());

    commit("# two\n");
    git_in(&lab.top.join("infrastructure/modules/sub"), &["pull", "-q", "origin", "main"]);
    lab.git("config submodule.infrastructure/modules/sub.ignore all");
    let told = lab.changed("HEAD");
    assert_eq!(reasons(&told, "02-apps/web"), ["infrastructure/modules/sub"]);
    let base = lab.git("rev-parse HEAD");
    lab.commit();
    assert_eq!(lab.changed(base.trim()).stacks.iter().collect::<Vec<_>>(), ["02-apps/web"]);
}

#[test]
fn a_project_below_the_repository_uses_modules_beside_it_also_in_a_linked_worktree() {
    let lab =
        Repository::below("sites/lab").stack("01-a/x", &["../../../../../shared/vm"]).stack("01-a/y", &[]);
    std::fs::create_dir_all(lab.top.join("shared/vm")).unwrap();
    std::fs::write(lab.top.join("shared/vm/main.tf"), "").unwrap();
    std::fs::write(lab.top.join("infra-notes.md"), "").unwrap();
    lab.commit();
    let tree = lab.beside("tree");
    git_in(&lab.top, &["worktree", "add", "-q", &tree.display().to_string(), "-b", "topic"]);
    std::fs::write(tree.join("shared/vm/main.tf"), "# edited\n").unwrap();

    let mut command = lab.command(&["changed", "--base", "main", "--json"]);
    command.current_dir(tree.join("sites/lab"));
    let told = crate::repository::told(&crate::support::Running::start(command, "changed").wait().succeeds());

    assert_eq!(told.stacks.iter().collect::<Vec<_>>(), ["01-a/x"]);
    assert_eq!(reasons(&told, "01-a/x"), ["../../shared/vm/main.tf"]);
    assert!(lab.affected().is_empty(), "the other tree is as it was");
}

#[test]
fn why_tells_the_paths_and_the_modules_on_the_way() {
    let lab = lab();
    lab.append("infrastructure/modules/net/main.tf", "# edited\n");

    lab.run(&["changed", "--why", "net"])
        .succeeds()
        .stdout_has("infrastructure/modules/net/main.tf")
        .stdout_has("infrastructure/modules/vm → infrastructure/modules/net");
    lab.run(&["changed", "--why", "dns"]).succeeds().stdout_has("01-base/dns is not affected");
    let why = lab.run(&["changed", "--why", "net", "--json"]).succeeds().json();
    assert_eq!(why["why"]["01-base/net"][0]["modules"][0], "infrastructure/modules/vm");
    lab.run(&["changed", "--why", "nett"]).exits(64).stderr_has("did you mean");
}

#[test]
fn a_file_that_git_lets_go_of_is_unchanged_while_it_holds_the_same() {
    let lab = lab();
    lab.git("rm -q --cached infrastructure/02-apps/web/main.tf");
    assert!(lab.affected().is_empty());
    lab.append("infrastructure/02-apps/web/main.tf", "# edited\n");
    assert_eq!(lab.affected(), ["02-apps/web"]);
}
