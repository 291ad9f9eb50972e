//! Everything that must not open: a refusal that names the file, and not a byte of plaintext.

use crate::PLAIN;
use crate::folder::Folder;
use crate::support::{Finished, Running};
use crate::tools::AgeKey;

/// Runs every command that opens a file; each must refuse in the same way and change nothing.
fn refused_by_all(folder: &Folder, env: &[(&str, &str)]) -> Vec<Finished> {
    let before = (folder.bytes("a.yaml"), folder.names());
    let calls: [&[&str]; 9] = [
        &["view", "a.yaml"],
        &["view", "--json", "a.yaml"],
        &["edit", "a.yaml"],
        &["set", "a.yaml", r#"["user"]"#, "1"],
        &["unset", "a.yaml", r#"["user"]"#],
        &["decrypt", "--force-plaintext", "a.yaml"],
        &["rotate", "a.yaml"],
        &["exec", "a.yaml", "--", "echo", "started"],
        &["updatekeys", "--yes", "a.yaml"],
    ];
    let run = |args: &&[&str]| {
        let mut command = folder.infra(args);
        command.env("EDITOR", "true").envs(env.iter().copied());
        let refused = Running::start(command, &args.join(" ")).wait().exits(77);
        refused.stderr_has("a.yaml").stderr_lacks("hunter2")
    };
    let all: Vec<Finished> = calls.iter().map(run).collect();
    assert!(all.iter().all(|refused| refused.stdout.is_empty()), "{}", all[0]);
    assert_eq!((folder.bytes("a.yaml"), folder.names()), before);
    all
}

/// A folder whose file has another recipient than its rule, so that `updatekeys` has work to do.
fn folder() -> Folder {
    let folder = Folder::new().encrypted("a.yaml", PLAIN);
    folder.rule_for(&[&folder.key.recipient, &AgeKey::new().recipient]);
    folder
}

fn changed(change: impl Fn(&str) -> String) -> Folder {
    let folder = folder();
    let text = folder.text("a.yaml");
    let changed = change(&text);
    assert_ne!(text, changed);
    folder.write("a.yaml", changed.as_bytes());
    folder
}

/// Turns the first letter after a mark into another one.
fn tampered(text: &str, mark: &str) -> String {
    let at = text.find(mark).unwrap() + mark.len();
    let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

#[test]
fn a_wrong_key_is_named_by_its_public_half_with_what_the_file_needs() {
    let folder = folder();
    let other = AgeKey::new();

    for refused in refused_by_all(&folder, &[("SOPS_AGE_KEY", &other.secret)]) {
        assert!(refused.stderr.contains(&other.recipient), "{refused}");
        assert!(refused.stderr.contains(&folder.key.recipient), "{refused}");
        assert!(!refused.stderr.contains("AGE-SECRET"), "{refused}");
    }
}

#[test]
fn without_any_key_the_places_that_were_looked_at_are_named() {
    for refused in refused_by_all(&folder(), &[("SOPS_AGE_KEY", "")]) {
        for place in ["SOPS_AGE_KEY_FILE", ".config/sops/age/keys.txt", "id_ed25519"] {
            assert!(refused.stderr.contains(place), "{refused}");
        }
    }
}

#[test]
fn an_identity_that_cannot_be_read_is_named() {
    let env = [("SOPS_AGE_KEY", ""), ("SOPS_AGE_KEY_FILE", "/nowhere/keys.txt")];

    for refused in refused_by_all(&folder(), &env) {
        assert!(refused.stderr.contains("/nowhere/keys.txt"), "{refused}");
    }
}

#[test]
fn a_locked_identity_is_refused_at_once_where_nobody_can_be_asked() {
    let folder = folder();
    let mut lock = age::scrypt::Recipient::new("open sesame".to_owned().into());
    lock.set_work_factor(2);
    let locked = age::encrypt_and_armor(&lock, folder.key.secret.as_bytes()).unwrap();
    folder.write("locked.txt", locked.as_bytes());

    for refused in refused_by_all(&folder, &[("SOPS_AGE_KEY", ""), ("SOPS_AGE_KEY_FILE", "locked.txt")]) {
        assert!(refused.stderr.contains("locked.txt") && refused.stderr.contains("passphrase"), "{refused}");
    }
}

#[test]
fn a_tampered_value_is_refused() {
    refused_by_all(&changed(|text| tampered(text, "token: ENC[AES256_GCM,data:")), &[]);
}

#[test]
fn a_tampered_mac_is_refused() {
    refused_by_all(&changed(|text| tampered(text, "mac: ENC[AES256_GCM,data:")), &[]);
}

#[test]
fn a_value_that_was_put_in_or_taken_out_is_refused() {
    refused_by_all(&changed(|text| text.replace("user: ENC", "injected_unencrypted: x\nuser: ENC")), &[]);
    let without_user =
        |text: &str| text.lines().filter(|line| !line.starts_with("user:")).collect::<Vec<_>>().join("\n");
    refused_by_all(&changed(without_user), &[]);
}

#[test]
fn tampered_metadata_is_refused() {
    refused_by_all(&changed(|text| text.replace("lastmodified: \"2", "lastmodified: \"1")), &[]);
    refused_by_all(&changed(|text| text.replace("unencrypted_suffix: _un", "unencrypted_regex: (")), &[]);
    refused_by_all(&changed(|text| tampered(text, "BEGIN AGE ENCRYPTED FILE-----\n            ")), &[]);
    refused_by_all(&changed(|text| text.replace("    mac:", "    cam:")), &[]);
}

#[test]
fn a_truncated_file_is_refused() {
    refused_by_all(&changed(|text| text[..text.find("    mac:").unwrap()].to_owned()), &[]);
    refused_by_all(&changed(|text| text[..text.find("sops:").unwrap()].to_owned()), &[]);
    refused_by_all(&changed(|text| text[..text.find("token:").unwrap() + 20].to_owned()), &[]);
}

#[test]
fn a_duplicate_key_is_refused() {
    refused_by_all(&changed(|text| format!("user: x\n{text}")), &[]);
}

#[test]
fn a_file_that_is_not_encrypted_at_all_is_refused_with_the_way_to_encrypt_it() {
    let folder = folder();
    folder.write("a.yaml", PLAIN.as_bytes());

    for refused in refused_by_all(&folder, &[]) {
        assert!(refused.stderr.contains("infra secrets encrypt"), "{refused}");
    }
}

#[test]
fn a_key_that_others_can_read_is_a_warning() {
    let folder = folder();
    folder.write("key.txt", folder.key.secret.as_bytes());
    folder.set_mode("key.txt", 0o644);
    let mut command = folder.infra(&["view", "a.yaml"]);
    command.env("SOPS_AGE_KEY", "").env("SOPS_AGE_KEY_FILE", "key.txt");

    let viewed = Running::start(command, "view").wait().succeeds();

    viewed.stderr_has("warning").stderr_has("chmod 600").stderr_has("key.txt").stdout_has("hunter2-canary");
}

#[test]
fn a_wrong_key_in_one_place_does_not_hide_the_right_one_in_another() {
    let folder = folder();
    std::fs::create_dir_all(folder.path(".config/sops/age")).unwrap();
    folder.write(".config/sops/age/keys.txt", folder.key.secret.as_bytes());
    let mut command = folder.infra(&["view", "a.yaml"]);
    command.env("SOPS_AGE_KEY", AgeKey::new().secret).env("SOPS_AGE_KEY_FILE", "/nowhere");

    Running::start(command, "view").wait().succeeds().stdout_has("hunter2-canary");
}

#[test]
fn a_missing_file_is_named() {
    Folder::new().run(&["view", "nowhere.yaml"]).exits(69).stderr_has("nowhere.yaml");
}
