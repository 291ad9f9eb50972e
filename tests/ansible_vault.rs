//! Ansible Vault, measured against the real one: what Ansible wrote is read here, what is written
//! here Ansible reads, and what it refuses is refused with a clear error and no plaintext.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[expect(dead_code, reason = "another test uses the rest")]
#[path = "support/ansible.rs"]
mod ansible;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ansible::{Action, Case, ask};
use infra::error::{Error, Kind};
use infra::model::Environment;
use infra::process::Interrupts;
use infra::secrets::KeyTrust;
use infra::secrets::vault::{PasswordOrigins, Passwords, is_vault, vault_ids};
use tempfile::TempDir;
use zeroize::Zeroizing;

const CANARY: &str = "canary-plaintext-0001";

/// A folder with password files.
struct Desk {
    dir: TempDir,
    env: Environment,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Environment::default().with("HOME", dir.path()).with("PATH", "/usr/bin:/bin");
        Self { dir, env }
    }

    fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    fn script(self, name: &str, lines: &str) -> Self {
        let desk = self.file(name, format!("#!/bin/sh\n{lines}\n"));
        std::fs::set_permissions(desk.path(name), PermissionsExt::from_mode(0o700)).unwrap();
        desk
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.env.set(name, value);
        self
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    async fn passwords(&self) -> Passwords {
        let (dir, settings_file) = (self.dir.path(), None);
        let origins = PasswordOrigins {
            env: &self.env,
            dir,
            root: dir,
            settings_file,
            settings_trust: KeyTrust::ALL,
            vault_ids: &[],
            password_files: &[],
        };
        let interrupts = Interrupts::listen().unwrap();
        Passwords::load(vault_ids(&origins), &self.env, dir, &interrupts).await.unwrap()
    }
}

/// Passwords of which the only one is this.
async fn only(password: &[u8]) -> Passwords {
    Desk::new().file("pass", password).env("ANSIBLE_VAULT_PASSWORD_FILE", "pass").passwords().await
}

fn nobody(_: &str) -> Option<Zeroizing<String>> {
    None
}

fn open(passwords: &Passwords, bytes: &[u8]) -> Result<Vec<u8>, Error> {
    passwords.open(Path::new("vault.yml"), bytes, &nobody).map(|opened| opened.plaintext().to_vec())
}

fn seal(passwords: &Passwords, plaintext: &[u8], label: Option<&str>) -> Vec<u8> {
    passwords.seal(Path::new("vault.yml"), plaintext, label, &nobody).unwrap()
}

/// Makes a vault here, for tests in which Ansible has no part.
async fn sealed(password: &[u8], label: &str, plaintext: &[u8]) -> Vec<u8> {
    let desk = Desk::new().file("pass", password);
    let passwords = desk.env("ANSIBLE_VAULT_IDENTITY_LIST", &format!("{label}@pass")).passwords().await;
    seal(&passwords, plaintext, Some(label))
}

/// Everything a file may hold that could go wrong at a border.
fn plaintexts() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [0, 1, 15, 16, 17, 31, 32, 64 * 1024].map(|n| vec![b'x'; n]).into();
    all.push((0..=255).collect());
    all.extend(["key: wért 🔐\n", "a: 1\r\nb: 2\r\n", "no end", "\n\n", "\u{10}\u{10}"].map(Into::into));
    all
}

fn encrypting(password: &[u8], label: &str, data: &[u8]) -> Case {
    Case { action: Action::Encrypt, password: password.into(), label: label.into(), data: data.into() }
}

fn decrypting(password: &[u8], label: &str, data: &[u8]) -> Case {
    Case { action: Action::Decrypt, ..encrypting(password, label, data) }
}

#[tokio::test]
async fn what_ansible_encrypts_is_opened_here() {
    let labels = ["default", "prod", "odd label", "a@b", "x.y-z_1", "1.1;AES256"];
    let texts = plaintexts();
    let asked = texts.iter().map(|text| ("default", text)).chain(labels.map(|label| (label, &texts[8])));
    let cases: Vec<Case> = asked.map(|(label, text)| encrypting(b"pass word", label, text)).collect();

    let vaults = ask(&cases);

    let passwords = only(b"pass word\n").await;
    for (case, vault) in cases.iter().zip(vaults) {
        let vault = vault.unwrap();
        assert!(is_vault(&vault));
        assert_eq!(open(&passwords, &vault).unwrap(), case.data, "label {}", case.label);
    }
}

#[tokio::test]
async fn what_is_encrypted_here_ansible_opens() {
    let desk = Desk::new().file("d", "päss wörd").file("p", "prod-pass").file("s", "spaced-pass");
    let desk = desk.env("ANSIBLE_VAULT_IDENTITY_LIST", "d,prod@p,odd label@s");
    let passwords = desk.passwords().await;
    let texts = plaintexts();

    let default = |text: &Vec<u8>| {
        let vault = seal(&passwords, text, Some("default"));
        assert!(vault.starts_with(b"$ANSIBLE_VAULT;1.1;AES256\n"));
        decrypting("päss wörd".as_bytes(), "default", &vault)
    };
    let mut cases: Vec<Case> = texts.iter().map(default).collect();
    for (label, password) in [("prod", "prod-pass"), ("odd label", "spaced-pass")] {
        let vault = seal(&passwords, &texts[8], Some(label));
        assert!(vault.starts_with(format!("$ANSIBLE_VAULT;1.2;AES256;{label}\n").as_bytes()));
        cases.push(decrypting(password.as_bytes(), label, &vault));
    }

    let expected = texts.iter().chain([&texts[8], &texts[8]]);
    for (answer, expected) in ask(&cases).into_iter().zip(expected) {
        assert_eq!(&answer.unwrap(), expected);
    }
}

#[tokio::test]
async fn ansible_and_this_program_refuse_and_accept_the_same_bytes() {
    let passwords = only(b"pass").await;
    let vault = String::from_utf8(seal(&passwords, CANARY.as_bytes(), None)).unwrap();
    let mut forms: Vec<Vec<u8>> = tampered(&vault);
    forms.extend((0..vault.len()).step_by(37).map(|end| vault.as_bytes()[..end].to_vec()));
    forms.push(vault.replace('\n', "\r\n").into());
    forms.push(vault.trim_end().into());
    forms.push(vault.replace("1.1;AES256", " 1.2 ; AES256 ; odd ;; label ").into());
    forms.push(vault.to_uppercase().into());
    forms.push(format!("{vault}00").into());
    forms.push(vault.replace("AES256", "AES").into());

    let cases: Vec<Case> = forms.iter().map(|form| decrypting(b"pass", "default", form)).collect();
    let answers = ask(&cases);

    let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!((3..10).contains(&accepted), "{accepted} of {}", forms.len());
    for (form, answer) in forms.iter().zip(answers) {
        let ours = open(&passwords, form);
        let text = String::from_utf8_lossy(form);
        assert_eq!(ours.as_ref().ok(), answer.as_ref().ok(), "{answer:?}\n{ours:?}\n{text}");
        if let Err(error) = ours {
            assert_refused(&error);
        }
    }
}

/// Changes one digit in each region of salt, HMAC and ciphertext, and breaks what separates them.
fn tampered(vault: &str) -> Vec<Vec<u8>> {
    let (header, body) = vault.split_once('\n').unwrap();
    let body: Vec<u8> = body.bytes().filter(|byte| *byte != b'\n').collect();
    let inner = body.len() / 2;
    let positions = (0..inner).step_by(29).chain([63, 64, 65, 128, 129, 130, inner - 1]);
    let change = |at: usize| {
        let mut body = body.clone();
        // Inside are digits once more: `0` is 30, `1` is 31, `a` is 61.
        body[at * 2 + 1] = if body[at * 2 + 1] == b'1' { b'2' } else { b'1' };
        [header.as_bytes(), b"\n", &body].concat()
    };
    positions.map(change).collect()
}

fn assert_refused(error: &Error) {
    let text = format!("{error} {error:?} {}", error.to_json());
    assert_eq!(error.kind(), Kind::Refused, "{text}");
    assert!(text.contains("vault.yml") && !error.hints().is_empty(), "{text}");
    assert!(!text.contains(CANARY) && !text.contains(&CANARY[..8]), "{text}");
}

#[tokio::test]
async fn a_wrong_password_is_refused_with_the_label_and_all_that_was_tried() {
    let vault = sealed(b"right-secret", "prod", CANARY.as_bytes()).await;
    let desk = Desk::new().file("a", "wrong-secret").file("empty", "\n");
    let desk = desk.env("ANSIBLE_VAULT_IDENTITY_LIST", "prod@a,dev@missing,x@empty,y@prompt");

    let error = open(&desk.passwords().await, &vault).unwrap_err();

    assert_refused(&error);
    let text = error.to_string();
    for part in ["prod", "/a`", "/missing`, which cannot be read", "which is empty", "which nobody answered"]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("-secret"), "{text}");
}

#[tokio::test]
async fn any_password_may_fit_whatever_its_label() {
    let vault = sealed(b"two", "unknown", b"text").await;
    let desk = Desk::new().file("1", "one").file("2", "two\r\n");

    let passwords = desk.env("ANSIBLE_VAULT_IDENTITY_LIST", "a@1,b@2").passwords().await;

    assert_eq!(open(&passwords, &vault).unwrap(), b"text");
}

#[tokio::test]
async fn scripts_print_passwords_and_client_scripts_hear_the_label() {
    let desk = Desk::new()
        .script("plain.sh", "echo ' spaced '")
        .script("ring-client.sh", r#"test "$1" = --vault-id && test "$2" != lost || exit 2; echo "pass-$2""#)
        .script("broken", "echo oops-on-stderr >&2; exit 9")
        .env("ANSIBLE_VAULT_IDENTITY_LIST", "plain.sh,prod@ring-client.sh,lost@ring-client.sh,b@broken");
    let cases = [encrypting(b" spaced ", "default", b"one"), encrypting(b"pass-prod", "prod", b"two")];
    let [one, two]: [_; 2] = ask(&cases).try_into().unwrap();
    let other = sealed(b"else", "prod", b"three").await;

    let passwords = desk.passwords().await;

    assert_eq!(open(&passwords, &one.unwrap()).unwrap(), b"one");
    assert_eq!(open(&passwords, &two.unwrap()).unwrap(), b"two");
    let text = open(&passwords, &other).unwrap_err().to_string();
    assert!(text.contains("exit code 9") && text.contains("does not know this label"), "{text}");
    assert!(!text.contains("oops"), "{text}");
}

#[tokio::test]
async fn a_password_file_may_itself_be_a_vault_that_an_earlier_password_opens() {
    let inner = sealed(b"outer", "default", b"inner\n").await;
    let vault = sealed(b"inner", "prod", b"the end").await;
    let desk = Desk::new().file("outer", "outer").file("inner", inner);

    let passwords = desk.env("ANSIBLE_VAULT_IDENTITY_LIST", "outer,prod@inner").passwords().await;

    assert_eq!(open(&passwords, &vault).unwrap(), b"the end");
}

#[tokio::test]
async fn sealing_again_keeps_password_label_and_version() {
    let vault = ask(&[encrypting(b"pass", "prod", b"old")]).remove(0).unwrap();
    let passwords = only(b"pass").await;

    let opened = passwords.open(Path::new("vault.yml"), &vault, &nobody).unwrap();
    let sealed = opened.seal(b"new").unwrap();

    assert_eq!(opened.label(), Some("prod"));
    assert!(sealed.starts_with(b"$ANSIBLE_VAULT;1.2;AES256;prod\n"));
    assert_eq!(ask(&[decrypting(b"pass", "prod", &sealed)]).remove(0).unwrap(), b"new");
}

#[tokio::test]
async fn the_command_reads_and_writes_the_same_files() {
    let desk = Desk::new().file("pass", " \tsecret \n\n").file("theirs", "a: 1\r\n").file("ours", "");
    let path = |name: &str| desk.path(name).display().to_string();
    let id = format!("prod@{}", path("pass"));
    let env = [("ANSIBLE_VAULT_IDENTITY_LIST", id.as_str())];
    let passwords = Desk::new().env("ANSIBLE_VAULT_IDENTITY_LIST", &id).passwords().await;

    let encrypted = ansible::ansible_vault(&["encrypt", "--encrypt-vault-id", "prod", &path("theirs")], &env);
    std::fs::write(path("ours"), seal(&passwords, b"b: 2\n", None)).unwrap();
    let viewed = ansible::ansible_vault(&["view", &path("ours")], &env);

    assert!(encrypted.status.success(), "{encrypted:?}");
    assert_eq!(open(&passwords, &std::fs::read(path("theirs")).unwrap()).unwrap(), b"a: 1\r\n");
    assert_eq!(String::from_utf8(viewed.stdout).unwrap(), "b: 2\n", "{:?}", viewed.stderr);
}

#[tokio::test]
async fn a_person_is_asked_once_and_only_if_nothing_else_fits() {
    let desk = Desk::new().file("1", "one").env("ANSIBLE_VAULT_IDENTITY_LIST", "a@prompt,b@1");
    let passwords = desk.passwords().await;
    let vaults = [sealed(b"one", "a", b"text").await, sealed(b"two", "a", b"text").await];
    let asked = std::cell::RefCell::new(Vec::new());
    let person = |question: &str| {
        asked.borrow_mut().push(question.to_owned());
        Some(Zeroizing::new("two".to_owned()))
    };

    for at in [0, 1, 1] {
        passwords.open(Path::new("vault.yml"), &vaults[at], &person).unwrap();
    }

    assert_eq!(*asked.borrow(), ["Vault password (a)"]);
}

#[tokio::test]
async fn a_new_password_is_typed_twice_and_both_must_agree() {
    let answers = std::cell::RefCell::new(vec!["slip", "typed"]);
    let person = |_: &str| answers.borrow_mut().pop().map(|answer| Zeroizing::new(answer.to_owned()));
    let passwords = Desk::new().passwords().await;

    let error = passwords.seal(Path::new("vault.yml"), CANARY.as_bytes(), None, &person).unwrap_err();

    assert_refused(&error);
    assert!(answers.borrow().is_empty());
}

#[tokio::test]
async fn encrypting_needs_one_clear_label() {
    let desk = Desk::new().file("1", "one").file("2", "two").env("ANSIBLE_VAULT_IDENTITY_LIST", "a@1,b@2");
    let file = Path::new("vault.yml");
    let several = desk.passwords().await;
    let told = desk.env("ANSIBLE_VAULT_ENCRYPT_IDENTITY", "b").passwords().await;

    let refusal = |label| several.seal(file, CANARY.as_bytes(), label, &nobody).unwrap_err();

    assert_refused(&refusal(None));
    assert_refused(&refusal(Some("c")));
    assert_eq!(refusal(Some("a;b")).kind(), Kind::Refused);
    assert!(seal(&told, b"x", None).starts_with(b"$ANSIBLE_VAULT;1.2;AES256;b\n"));
    let twice = told.seal(file, &seal(&told, b"x", None), None, &nobody).unwrap_err();
    assert!(twice.message().contains("already"), "{twice}");
}
