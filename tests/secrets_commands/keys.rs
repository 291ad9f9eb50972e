//! Who can open a file: new keys, new data keys, new recipients.

use std::process::Command;

use crate::PLAIN;
use crate::folder::{Folder, differing_lines};
use crate::support::terminal::AtTerminal;
use crate::tools::AgeKey;

/// Tells whether a key opens a file in the real sops.
fn opens(key: &AgeKey, folder: &Folder) -> bool {
    key.run_sops(&folder.path(""), &["decrypt", "a.yaml"]).status.success()
}

#[test]
fn a_new_key_is_closed_to_others_and_never_overwrites() {
    let folder = Folder::new();

    let made = folder.run(&["keygen", "--output", "new/keys.txt"]).succeeds();
    let text = folder.text("new/keys.txt");
    folder.run(&["keygen", "--output", "new/keys.txt"]).exits(77).stderr_has("new/keys.txt");

    assert!(made.stdout.starts_with("age1") && text.contains(&format!("# public key: {}", made.stdout)));
    assert_eq!((folder.mode("new/keys.txt"), folder.text("new/keys.txt")), (0o600, text));
}

#[test]
fn sops_works_with_a_new_key() {
    let folder = Folder::new();

    let text = folder.run(&["keygen"]).succeeds().stdout;
    let recipient = text.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap().to_owned();
    let secret = text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1")).unwrap().to_owned();
    folder.rule_for(&[&recipient]);
    folder.write("a.yaml", PLAIN.as_bytes());
    folder.run(&["encrypt", "a.yaml"]).succeeds();

    assert!(opens(&AgeKey { secret, recipient }, &folder));
}

#[test]
fn rotate_makes_every_value_and_every_wrapped_key_new() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let before = folder.text("a.yaml");

    folder.run(&["rotate", "a.yaml"]).succeeds();

    let after = folder.text("a.yaml");
    let kept = |line: &str| line.contains("ENC[") && after.contains(line);
    assert!(!before.lines().any(kept), "{before}\n{after}");
    let wrapped = |text: &str| text.split("BEGIN AGE").nth(1).map(str::to_owned);
    assert_ne!(wrapped(&before), wrapped(&after));
    assert!(String::from_utf8(folder.sops(&["decrypt", "a.yaml"])).unwrap().contains("hunter2-canary"));
}

#[test]
fn rotate_adds_and_removes_recipients() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let new = AgeKey::new();

    let old = folder.key.recipient.clone();
    folder.run(&["rotate", "--add-age", &new.recipient, "--rm-age", &old, "a.yaml"]).succeeds();

    assert!(opens(&new, &folder) && !opens(&folder.key, &folder));
}

#[test]
fn rotate_refuses_to_lock_everybody_out_and_recipients_that_are_none() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let (before, own) = (folder.bytes("a.yaml"), folder.key.recipient.clone());

    for args in [["--rm-age", &own], ["--add-age", "age1nonsense"], ["--rm-age", "age1nobody"]] {
        folder.run(&["rotate", args[0], args[1], "a.yaml"]).exits(77).stderr_has("a.yaml");
    }

    assert_eq!(folder.bytes("a.yaml"), before);
}

#[test]
fn updatekeys_gives_a_file_the_recipients_of_its_rule_and_touches_no_value() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let (new, before) = (AgeKey::new(), folder.text("a.yaml"));
    folder.rule_for(&[&folder.key.recipient, &new.recipient]);

    folder.run(&["updatekeys", "--yes", "a.yaml"]).succeeds().stderr_has(&format!("+ {}", new.recipient));

    let after = folder.text("a.yaml");
    assert!(before.lines().all(|line| after.contains(line)), "{before}\n{after}");
    assert!(opens(&new, &folder));
    folder.run(&["updatekeys", "a.yaml"]).succeeds().stderr_has("up to date");
    assert_eq!(differing_lines(&after, &folder.text("a.yaml")), 0);
}

#[test]
fn updatekeys_without_a_yes_is_a_usage_error_that_shows_the_change() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let (new, before) = (AgeKey::new(), folder.bytes("a.yaml"));
    folder.rule_for(&[&folder.key.recipient, &new.recipient]);

    folder.run(&["updatekeys", "a.yaml"]).exits(64).stderr_has(&new.recipient).stderr_has("--yes");

    assert_eq!(folder.bytes("a.yaml"), before);
}

#[test]
fn updatekeys_asks_the_person_at_the_terminal() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let new = AgeKey::new();
    folder.rule_for(&[&folder.key.recipient, &new.recipient]);
    let answer = |text: &str| {
        let mut person = AtTerminal::start(folder.infra(&["updatekeys", "a.yaml"]));
        person.sees("[y/N]");
        person.types(text);
        person.wait().0
    };

    assert_eq!(answer("n"), Some(1));
    assert!(!opens(&new, &folder));
    assert_eq!(answer("y"), Some(0));

    assert!(opens(&new, &folder));
}

#[test]
fn a_passphrase_is_asked_once_and_never_shown() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let mut lock = age::scrypt::Recipient::new("open sesame".to_owned().into());
    lock.set_work_factor(2);
    let locked = age::encrypt_and_armor(&lock, folder.key.secret.as_bytes()).unwrap();
    folder.write("locked.txt", locked.as_bytes());
    folder.set_mode("locked.txt", 0o600);
    let plain = folder.infra(&["view", "a.yaml"]);
    // The prompt goes to the controlling terminal, which only the leader of a session can take.
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(plain.get_program()).args(plain.get_args());
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("SOPS_AGE_KEY", "").env("SOPS_AGE_KEY_FILE", "locked.txt").current_dir(folder.path(""));
    let mut person = AtTerminal::start(command);

    person.sees("Passphrase for");
    person.types("open sesame");

    let (code, screen) = person.wait();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("hunter2-canary") && !screen.contains("sesame"), "{screen}");
    assert_eq!(screen.matches("Passphrase").count(), 1, "{screen}");
}

#[test]
fn a_project_s_own_key_opens_its_files() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    folder.write("infra.yaml", b"name: lab\n");
    folder.write("age.key", folder.key.secret.as_bytes());
    std::fs::create_dir(folder.path("below")).unwrap();
    let mut command = folder.infra(&["view", "../a.yaml"]);
    command.env("SOPS_AGE_KEY", "").current_dir(folder.path("below"));

    let viewed = command.output().unwrap();

    assert!(String::from_utf8_lossy(&viewed.stdout).contains("hunter2-canary"), "{viewed:?}");
}
