//! `infra secrets` as a person or a pipeline uses it, against the real sops and ansible-vault.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[expect(dead_code, reason = "another test uses the rest")]
#[path = "support/ansible.rs"]
mod ansible;
#[path = "secrets_commands/bad_input.rs"]
mod bad_input;
#[path = "secrets_commands/editing.rs"]
mod editing;
#[path = "secrets_commands/folder.rs"]
mod folder;
#[path = "secrets_commands/keys.rs"]
mod keys;
mod support;
#[expect(dead_code, reason = "another test uses the rest")]
#[path = "support/tools.rs"]
mod tools;
#[path = "secrets_commands/vaults.rs"]
mod vaults;

use folder::{Folder, differing_lines};

const PLAIN: &str = "# the cluster\nuser: root\nproxmox:\n    token: hunter2-canary\n    ports: [8006, 22]\n";

#[test]
fn view_prints_exactly_what_sops_prints_in_every_format() {
    let folder = Folder::new();
    let plain: [(&str, &[u8]); 5] = [
        ("a.yaml", PLAIN.as_bytes()),
        ("a.json", br#"{"a": {"b": [1, 2.5, true, null, "x"]}}"#),
        ("a.env", b"# note\nA=one\nB=two words\n"),
        ("a.ini", b"[x]\na = 1\nb = two\n"),
        ("a.pem", b"\x00\xff not text\r\n\n"),
    ];

    for (name, bytes) in plain {
        folder.write(name, bytes);
        folder.sops(&["encrypt", "-i", name]);
        let viewed = folder.infra(&["view", name]).output().unwrap();

        assert!(viewed.status.success(), "{name}: {}", String::from_utf8_lossy(&viewed.stderr));
        assert_eq!(viewed.stdout, folder.sops(&["decrypt", name]), "{name}");
    }
}

#[test]
fn view_prints_one_json_object_if_asked() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);

    let json = folder.run(&["view", "--json", "a.yaml"]).succeeds().json();

    assert_eq!(json["proxmox"]["token"], "hunter2-canary");
    assert_eq!(json["proxmox"]["ports"][1], 22);
}

#[test]
fn the_format_can_be_named_where_the_file_does_not() {
    let folder = Folder::new();
    folder.write("secrets", b"A=one\n");
    folder.run(&["encrypt", "--input-type", "dotenv", "secrets"]).succeeds();

    let viewed = folder.run(&["view", "--input-type", "dotenv", "secrets"]).succeeds();

    assert_eq!(viewed.stdout, "A=one\n");
    assert!(folder.text("secrets").starts_with("A=ENC["));
    folder.run(&["view", "--input-type", "toml", "secrets"]).exits(64).stderr_has("dotenv");
}

#[test]
fn encrypt_works_in_place_keeps_the_mode_and_leaves_nothing_beside() {
    let folder = Folder::new();
    folder.write("a.yaml", PLAIN.as_bytes());
    folder.set_mode("a.yaml", 0o640);
    let names = folder.names();

    folder.run(&["encrypt", "a.yaml"]).succeeds();

    assert_eq!((folder.mode("a.yaml"), folder.names()), (0o640, names));
    assert!(!folder.text("a.yaml").contains("hunter2-canary"));
    assert_eq!(folder.sops(&["decrypt", "a.yaml"]), folder.run(&["view", "a.yaml"]).stdout.into_bytes());
}

#[test]
fn what_is_encrypted_already_stays_byte_for_byte() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let before = folder.bytes("a.yaml");

    let again = folder.run(&["encrypt", "a.yaml"]).succeeds().stderr_has("already");

    assert_eq!((folder.bytes("a.yaml"), again.stdout.as_str()), (before, ""));
}

#[test]
fn encrypt_to_stdout_leaves_the_file_alone() {
    let folder = Folder::new();
    folder.write("a.yaml", PLAIN.as_bytes());

    let printed = folder.run(&["encrypt", "--stdout", "a.yaml"]).succeeds();
    folder.write("b.yaml", printed.stdout.as_bytes());

    assert_eq!(folder.text("a.yaml"), PLAIN);
    assert!(String::from_utf8(folder.sops(&["decrypt", "b.yaml"])).unwrap().contains("hunter2-canary"));
}

#[test]
fn without_a_rule_encrypt_is_refused_and_the_file_stays() {
    let folder = Folder::new();
    folder.write("a.yaml", PLAIN.as_bytes());

    for rules in
        ["creation_rules: [{path_regex: other, age: age1}]", "creation_rules: [{age: age1}]", "a: [", ""]
    {
        folder.write(".sops.yaml", rules.as_bytes());
        let refused = folder.run(&["encrypt", "a.yaml"]).exits(77).stderr_lacks("canary");

        assert!(refused.stderr.contains("a.yaml") || refused.stderr.contains(".sops.yaml"), "{refused}");
        assert_eq!((folder.text("a.yaml").as_str(), refused.stdout.as_str()), (PLAIN, ""));
    }
}

#[test]
fn set_changes_three_lines_and_sops_sees_the_value() {
    let folder = Folder::new();
    folder.write("a.yaml", PLAIN.as_bytes());
    folder.sops(&["encrypt", "-i", "a.yaml"]);
    folder.set_mode("a.yaml", 0o600);
    let before = folder.text("a.yaml");

    folder.run(&["set", "a.yaml", r#"["proxmox"]["ports"][1]"#, "-5"]).succeeds();

    let after = folder.text("a.yaml");
    assert_eq!(differing_lines(&before, &after), 3, "{before}\n{after}");
    assert!(String::from_utf8(folder.sops(&["decrypt", "a.yaml"])).unwrap().contains("- -5"));
    assert_eq!(folder.mode("a.yaml"), 0o600);
    folder.run(&["set", "a.yaml", r#"["proxmox"]["ports"][1]"#, "-5"]).succeeds();
    assert_eq!(folder.text("a.yaml"), after);
}

#[test]
fn set_takes_a_value_from_stdin_and_makes_the_maps_that_miss() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    folder.write("value.json", b"\"from stdin\"\n");
    let mut command = folder.infra(&["set", "a.yaml", r#"["new"]["deep"]"#, "--stdin"]);
    command.stdin(std::fs::File::open(folder.path("value.json")).unwrap());

    assert!(command.status().unwrap().success());

    assert_eq!(folder.sops(&["decrypt", "--extract", r#"["new"]["deep"]"#, "a.yaml"]), b"from stdin");
    folder.run(&["set", "a.yaml", r#"["x"]"#]).exits(64);
}

#[test]
fn unset_takes_one_value_away_and_refuses_what_is_not_there() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);

    folder.run(&["unset", "a.yaml", r#"["proxmox"]["token"]"#]).succeeds();
    let after = folder.bytes("a.yaml");
    folder.run(&["unset", "a.yaml", r#"["proxmox"]["token"]"#]).exits(77).stderr_has("a.yaml");

    assert_eq!(folder.bytes("a.yaml"), after);
    assert!(!String::from_utf8(folder.sops(&["decrypt", "a.yaml"])).unwrap().contains("token"));
}

#[test]
fn a_bad_path_or_value_is_a_usage_error_that_repeats_no_value() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    let before = folder.bytes("a.yaml");

    folder.run(&["set", "a.yaml", "proxmox.token", "1"]).exits(64).stderr_has("[\"database\"]");
    folder
        .run(&["set", "a.yaml", r#"["a"]"#, "hunter3-canary"])
        .exits(64)
        .stderr_lacks("hunter3")
        .stderr_has("JSON");

    assert_eq!(folder.bytes("a.yaml"), before);
}

#[test]
fn decrypt_in_place_must_be_insisted_on() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    folder.set_mode("a.yaml", 0o600);
    let sealed = folder.bytes("a.yaml");

    folder
        .run(&["decrypt", "a.yaml"])
        .exits(77)
        .stderr_has("infra secrets view a.yaml")
        .stderr_lacks("canary");
    assert_eq!(folder.bytes("a.yaml"), sealed);
    folder.run(&["decrypt", "--force-plaintext", "a.yaml"]).succeeds();

    assert!(folder.text("a.yaml").contains("token: hunter2-canary"));
    assert_eq!(folder.mode("a.yaml"), 0o600);
}

#[test]
fn exec_gives_the_values_to_a_program_and_returns_its_exit_code() {
    let folder = Folder::new().encrypted("a.yaml", PLAIN).encrypted("b.env", "TOKEN=a b\nempty=\n");
    let script = "printf '%s|%s|%s' \"$user\" \"$proxmox\" \"$EXTRA\"; exit 7";

    let mut command = folder.infra(&["exec", "a.yaml", "--", "sh", "-c", script]);
    let output = command.env("EXTRA", "kept").output().unwrap();
    let other = folder.run(&["exec", "b.env", "--", "sh", "-c", "printf %s \"$TOKEN\""]).succeeds();

    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(7), b"root||kept".as_slice()));
    assert_eq!(other.stdout, "a b");
    folder.run(&["exec", "a.yaml", "--", "no-such-program"]).exits(69).stderr_has("no-such-program");
}

#[test]
fn every_command_has_examples_first_and_stands_in_the_reference() {
    let folder = Folder::new();
    let reference = format!("{}/docs/reference.md", env!("CARGO_MANIFEST_DIR"));
    let reference = std::fs::read_to_string(reference).unwrap();

    for command in
        ["view", "edit", "set", "unset", "encrypt", "decrypt", "rotate", "updatekeys", "keygen", "exec"]
    {
        let help = folder.run(&[command, "--help"]).succeeds();
        let (before, _) = help.stdout.split_once("Usage:").expect("a usage line");
        assert!(before.contains("Examples:\n  "), "{help}");
        assert!(reference.contains(&format!("`infra secrets {command}")), "{command}");
    }
}
