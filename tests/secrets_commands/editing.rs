//! `infra secrets edit` with editors that are scripts, with and without a person.

use nix::sys::signal::Signal;

use crate::PLAIN;
use crate::folder::{Folder, differing_lines};
use crate::support::terminal::AtTerminal;
use crate::support::{Finished, Running};

fn folder() -> Folder {
    Folder::new().encrypted("a.yaml", PLAIN)
}

fn edit(folder: &Folder, file: &str, editor: &str) -> Finished {
    let mut command = folder.infra(&["edit", file]);
    command.env("EDITOR", editor);
    Running::start(command, &format!("edit {file}")).wait()
}

#[test]
fn an_editor_with_arguments_changes_one_value_and_three_lines() {
    let folder = folder();
    folder.set_mode("a.yaml", 0o640);
    let (before, names) = (folder.text("a.yaml"), folder.names());

    edit(&folder, "a.yaml", "sed -i -e s/hunter2/hunter3/").succeeds();

    assert_eq!(differing_lines(&before, &folder.text("a.yaml")), 3);
    assert!(String::from_utf8(folder.sops(&["decrypt", "a.yaml"])).unwrap().contains("hunter3-canary"));
    assert_eq!((folder.mode("a.yaml"), folder.names(), folder.edits_in_memory()), (0o640, names, 0));
}

#[test]
fn a_file_that_was_not_changed_is_not_touched() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = folder();
    let (before, inode) = (folder.bytes("a.yaml"), folder.path("a.yaml").metadata().unwrap().ino());

    edit(&folder, "a.yaml", "true").succeeds().stderr_has("nothing changed");

    assert_eq!(folder.bytes("a.yaml"), before);
    assert_eq!(folder.path("a.yaml").metadata().unwrap().ino(), inode);
    assert_eq!(folder.edits_in_memory(), 0);
}

#[test]
fn the_plaintext_lies_in_memory_under_its_own_name_closed_to_others_and_goes_away() {
    let folder = folder();
    let script =
        "echo \"$1\" > seen; stat -c %a \"$1\" \"$(dirname \"$1\")\" >> seen; stat -f -c %T \"$1\" >> seen";
    let editor = folder.script("editor", script);
    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", editor).env_remove("XDG_RUNTIME_DIR");

    Running::start(command, "edit a.yaml").wait().succeeds();

    let seen = folder.text("seen");
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].starts_with("/dev/shm/") && lines[0].ends_with("/a.yaml"), "{seen}");
    assert_eq!(lines[1..], ["600", "700", "tmpfs"]);
    let root = std::path::Path::new(lines[0]).ancestors().nth(2).unwrap();
    assert_eq!(root.parent(), Some(std::path::Path::new("/dev/shm")));
    assert!(!root.exists(), "{} is left", root.display());
}

#[test]
fn a_failing_editor_leaves_the_file_as_it_was() {
    let folder = folder();
    let (before, names) = (folder.bytes("a.yaml"), folder.names());

    edit(&folder, "a.yaml", "sed -i s/hunter2/hunter3/ \"$1\"; false").exits(1).stderr_has("failed");
    edit(&folder, "a.yaml", "no-such-editor").exits(1).stderr_has("no-such-editor").stderr_has("EDITOR");

    assert_eq!((folder.bytes("a.yaml"), folder.names(), folder.edits_in_memory()), (before, names, 0));
}

#[test]
fn a_text_that_does_not_parse_is_refused_where_nobody_can_mend_it() {
    let folder = folder();
    let before = folder.bytes("a.yaml");

    for broken in ["1s/^/a: [/", "1s/^/user: twice\\n/", "1s/^/\\tx: y\\n/", "1s/^/sops: mine\\n/"] {
        let refused = edit(&folder, "a.yaml", &format!("sed -i '{broken}'")).exits(77);
        refused.stderr_has("a.yaml").stderr_lacks("hunter2");
    }

    assert_eq!((folder.bytes("a.yaml"), folder.edits_in_memory()), (before, 0));
}

#[test]
fn a_person_may_mend_a_text_that_does_not_parse() {
    let folder = folder();
    let script = "if [ -e second ]; then sed -i '1d; s/hunter2/mended/' \"$1\"; \
                  else : > second; sed -i '1i a: [' \"$1\"; fi";
    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", folder.script("editor", script));
    let mut person = AtTerminal::start(command);

    person.sees("cannot encrypt `a.yaml`").sees("Edit it again? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(0), 0), "{screen}");
    folder.run(&["view", "a.yaml"]).succeeds().stdout_has("mended-canary");
}

#[test]
fn a_person_who_gives_up_can_resume_later() {
    let folder = folder();
    let before = folder.bytes("a.yaml");
    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", "sed -i '1s/^/a: [/; s/hunter2/typed-long/'");
    let mut person = AtTerminal::start(command);
    person.sees("Edit it again? [y/N]");
    person.types("n");
    let (code, screen) = person.wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(77), 1), "{screen}");
    assert_eq!(folder.bytes("a.yaml"), before);

    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", "sed -i '1s/^a: .//'");
    let mut person = AtTerminal::start(command);
    person.sees("Resume it? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(0), 0), "{screen}");
    folder.run(&["view", "a.yaml"]).succeeds().stdout_has("typed-long-canary");
}

#[test]
fn the_edit_of_a_killed_process_is_resumed() {
    let folder = folder();
    let (stdin, keyboard) = std::io::pipe().unwrap();
    let script = "sed -i s/hunter2/survived/ \"$1\"; : > ready; cat > /dev/null";
    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", folder.script("editor", script)).stdin(stdin);
    let running = Running::start(command, "edit a.yaml");
    running.until_exists(&folder.path("ready")).signal(Signal::SIGKILL);
    drop(keyboard);
    running.wait();
    edit(&folder, "a.yaml", "true").succeeds().stderr_has("an earlier edit");
    assert_eq!(folder.edits_in_memory(), 1);

    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", "true");
    let mut person = AtTerminal::start(command);
    person.sees("did not end. Resume it? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(0), 0), "{screen}");
    folder.run(&["view", "a.yaml"]).succeeds().stdout_has("survived-canary");
}

#[test]
fn an_edit_that_nobody_wants_any_more_is_shredded() {
    let folder = folder();
    let before = folder.bytes("a.yaml");
    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", folder.script("editor", "sed -i s/hunter2/lost/ \"$1\"; exit 1"));
    let (code, screen) = AtTerminal::start(command).wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(1), 1), "{screen}");

    let mut command = folder.infra(&["edit", "a.yaml"]);
    command.env("EDITOR", "true");
    let mut person = AtTerminal::start(command);
    person.sees("Resume it? [y/N]");
    person.types("n").sees("Shred it? [y/N]");
    person.types("y");

    let (code, screen) = person.wait();
    assert_eq!((code, folder.edits_in_memory()), (Some(0), 0), "{screen}");
    assert_eq!(folder.bytes("a.yaml"), before);
}

#[test]
fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
    let folder = folder();
    let other = folder.script("editor", "sed -i s/hunter2/mine/ \"$1\"; cp other.yaml a.yaml");
    folder.write("other.yaml", PLAIN.replace("root", "theirs").as_bytes());
    folder.run(&["encrypt", "other.yaml"]).succeeds();

    edit(&folder, "a.yaml", &other).exits(77).stderr_has("meanwhile");

    assert_eq!(folder.bytes("a.yaml"), folder.bytes("other.yaml"));
}

#[test]
fn a_file_that_is_not_there_is_made_by_its_rule() {
    let folder = Folder::new();
    let editor = folder.script("editor", "echo 'token: hunter2-canary' > \"$1\"");

    edit(&folder, "new.yaml", &editor).succeeds();

    assert_eq!(folder.sops(&["decrypt", "new.yaml"]), b"token: hunter2-canary\n");
    assert_eq!(folder.edits_in_memory(), 0);
}

#[test]
fn a_new_file_needs_a_rule_and_some_text() {
    let folder = Folder::new();

    edit(&folder, "empty.yaml", "true").succeeds().stderr_has("nothing changed");
    folder.write(".sops.yaml", b"creation_rules: [{path_regex: other, age: age1}]");
    edit(&folder, "new.yaml", "true").exits(77).stderr_has("new.yaml");

    assert!(!folder.path("empty.yaml").exists() && !folder.path("new.yaml").exists());
}
