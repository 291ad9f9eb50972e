//! Ansible Vaults through the same commands, both ways with the real ansible-vault.

use crate::PLAIN;
use crate::ansible::ansible_vault;
use crate::folder::Folder;
use crate::support::{Finished, Running};

/// A folder with a vault that the real tool made under the label `prod`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("pass", b"open sesame\n");
    folder.write("vault.yml", PLAIN.as_bytes());
    ansible(&folder, "encrypt", &["--encrypt-vault-id", "prod"]);
    folder
}

fn ansible(folder: &Folder, action: &str, more: &[&str]) -> Vec<u8> {
    let (id, file) = (format!("prod@{}", folder.path("pass").display()), folder.path("vault.yml"));
    let args = [&[action, "--vault-id", &id], more, &[file.to_str().unwrap()]].concat();
    let output = ansible_vault(&args, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn run(folder: &Folder, args: &[&str]) -> Finished {
    let mut command = folder.infra(args);
    command.env("ANSIBLE_VAULT_IDENTITY_LIST", "prod@pass").env("EDITOR", "sed -i s/hunter2/hunter3/");
    Running::start(command, &args.join(" ")).wait()
}

#[test]
fn view_opens_what_ansible_vault_made() {
    let folder = folder();

    assert_eq!(run(&folder, &["view", "vault.yml"]).succeeds().stdout, PLAIN);
    assert_eq!(run(&folder, &["view", "--json", "vault.yml"]).succeeds().json()["user"], "root");
    let by_flag = folder.run(&["view", "--vault-password-file", "pass", "vault.yml"]).succeeds();
    assert_eq!(by_flag.stdout, PLAIN);
}

#[test]
fn edit_keeps_the_label_and_ansible_vault_opens_the_result() {
    let folder = folder();

    run(&folder, &["edit", "vault.yml"]).succeeds();

    assert!(folder.text("vault.yml").starts_with("$ANSIBLE_VAULT;1.2;AES256;prod\n"));
    assert_eq!(ansible(&folder, "view", &[]), PLAIN.replace("hunter2", "hunter3").into_bytes());
    let before = folder.bytes("vault.yml");
    run(&folder, &["edit", "vault.yml"]).succeeds();
    assert_eq!((folder.bytes("vault.yml"), folder.edits_in_memory()), (before, 0));
}

#[test]
fn encrypt_makes_a_vault_if_asked() {
    let folder = folder();
    folder.write("vault.yml", PLAIN.as_bytes());

    run(&folder, &["encrypt", "--vault", "vault.yml"]).succeeds();

    assert_eq!(ansible(&folder, "view", &[]), PLAIN.as_bytes());
    let before = folder.bytes("vault.yml");
    run(&folder, &["encrypt", "--vault", "vault.yml"]).succeeds().stderr_has("already");
    run(&folder, &["encrypt", "vault.yml"]).succeeds().stderr_has("already");
    assert_eq!(folder.bytes("vault.yml"), before);
}

#[test]
fn rotate_gives_a_vault_a_new_salt_and_keeps_its_label() {
    let folder = folder();
    let before = folder.text("vault.yml");

    run(&folder, &["rotate", "vault.yml"]).succeeds();

    let after = folder.text("vault.yml");
    assert_eq!(before.lines().next(), after.lines().next());
    assert_ne!(before, after);
    assert_eq!(ansible(&folder, "view", &[]), PLAIN.as_bytes());
}

#[test]
fn what_only_sops_files_have_is_refused_for_a_vault() {
    let folder = folder();
    let before = folder.bytes("vault.yml");

    for args in [
        &["set", "vault.yml", r#"["user"]"#, "1"][..],
        &["unset", "vault.yml", r#"["user"]"#],
        &["updatekeys", "--yes", "vault.yml"],
        &["rotate", "--add-age", "age1x", "vault.yml"],
    ] {
        run(&folder, args).exits(77).stderr_has("vault.yml").stderr_has("Ansible Vault");
    }

    assert_eq!(folder.bytes("vault.yml"), before);
}

#[test]
fn a_vault_stays_shut_without_its_password_and_when_it_was_damaged() {
    let folder = folder();
    folder.write("wrong", b"something else\n");
    let text = folder.text("vault.yml");

    for (password, bytes) in
        [("wrong", text.as_str()), ("pass", &text[..300]), ("pass", &text.replacen('3', "4", 1))]
    {
        folder.write("vault.yml", bytes.as_bytes());
        let refused = folder.run(&["view", "--vault-password-file", password, "vault.yml"]).exits(77);

        assert_eq!(refused.stdout, "");
        refused.stderr_has("vault.yml").stderr_lacks("hunter2").stderr_lacks("sesame");
    }
    folder.write("vault.yml", text.as_bytes());
    folder.run(&["view", "vault.yml"]).exits(77).stderr_has("the prompt, which nobody answered");
}
