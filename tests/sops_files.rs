//! SOPS files against the real sops, in both directions: what one writes, the other reads.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "the product's rules, not the tests'")]

#[expect(dead_code, reason = "shared with other tests")]
#[path = "support/tools.rs"]
mod tools;

use std::path::Path;
use std::process::Command;

use infra::error::Error;
use infra::model::Environment;
use infra::secrets::identities::Identities;
use infra::secrets::sops::Format;
use infra::secrets::sops::creation_rules::{CreationRule, CreationRules, rule_for};
use infra::secrets::sops::stores::Layout;
use infra::secrets::sops::{Input, RecipientChange, SopsFile, encrypt_new, is_encrypted, updated_keys};
use jiff::Timestamp;
use tools::AgeKey;
use zeroize::Zeroizing;

const CANARY: &str = "canary-hunter2";

/// The same content in every format, as far as the format can hold it.
const SAMPLES: [(&str, &str); 5] = [
    (
        "a.yaml",
        "# top\ndatabase:\n    # who\n    user: admin\n    password: canary-hunter2\n    port: 5432\n    ratio: 0.5\n    tls: true\n    none: null\n    empty: \"\"\nlist:\n    - one\n    - one\n    - deep:\n        key: |\n            two\n            lines\nday: 2024-01-31\nopen_unencrypted: plain\n---\nsecond: document\n",
    ),
    (
        "a.json",
        "{\n\t\"database\": {\n\t\t\"password\": \"canary-hunter2\",\n\t\t\"port\": 5432,\n\t\t\"ratio\": 0.25\n\t},\n\t\"list\": [\n\t\t\"one\",\n\t\ttrue,\n\t\tnull\n\t],\n\t\"open_unencrypted\": \"x\"\n}\n",
    ),
    ("a.env", "# top\nUSER=admin\nPASSWORD=canary-hunter2\nEMPTY=\nOPEN_unencrypted=x\n"),
    ("a.ini", "[database]\nuser     = admin\npassword = canary-hunter2\n\n[other]\nkey = value\n"),
    ("a.bin", "anything \u{1} canary-hunter2\nmore"),
];

fn nobody(_: &str) -> Option<Zeroizing<String>> {
    None
}

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

/// Returns identities that hold these keys.
fn holding(keys: &[&AgeKey]) -> Identities<'static> {
    let mut identities = Identities::none(&nobody);
    keys.iter().for_each(|key| identities.add("`SOPS_AGE_KEY`", key.secret.as_bytes()));
    identities
}

/// A folder with rules, in which the real sops runs with one key.
struct Lab {
    dir: tempfile::TempDir,
    key: AgeKey,
}

impl Lab {
    fn new() -> Self {
        let (dir, key) = (tempfile::tempdir().unwrap(), AgeKey::new());
        let settings = format!("age: {}", key.recipient);
        Self { dir, key }.rules(&settings)
    }

    /// Replaces the rule by these settings.
    fn rules(self, settings: &str) -> Self {
        let indented = settings.replace('\n', "\n    ");
        self.write(".sops.yaml", format!("creation_rules:\n  - {indented}\n").as_bytes());
        self
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.dir.path().join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.path().join(name)).unwrap()
    }

    fn rule(&self) -> CreationRule {
        let rules = CreationRules::find(self.dir.path()).unwrap().unwrap();
        rule_for(Some(&rules), &self.dir.path().join("any"), &Environment::default()).unwrap()
    }

    /// Runs sops and returns what it printed.
    fn printed(&self, args: &[&str]) -> Vec<u8> {
        let output = self.key.run_sops(self.dir.path(), args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Encrypts a plain text with the real sops.
    fn theirs(&self, name: &str, plain: &str) -> Vec<u8> {
        self.write(name, plain.as_bytes());
        self.printed(&["-e", name])
    }

    /// Lets the real sops decrypt.
    fn decrypted_by_sops(&self, name: &str, encrypted: &[u8]) -> Vec<u8> {
        self.write(name, encrypted);
        self.printed(&["-d", name])
    }

    fn ours(&self, name: &str, plain: &str) -> Vec<u8> {
        encrypt_new(input(name, plain.as_bytes()), &self.rule(), now()).unwrap()
    }

    fn open(&self, name: &str, encrypted: &[u8]) -> SopsFile {
        SopsFile::open(input(name, encrypted), &holding(&[&self.key])).unwrap()
    }
}

fn input<'a>(name: &'a str, bytes: &'a [u8]) -> Input<'a> {
    Input { name, format: Format::of_path(Path::new(name)), bytes, layout: Layout::default() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_sops_wrote_opens_to_what_sops_shows() {
    let lab = Lab::new();

    for (name, plain) in SAMPLES {
        let encrypted = lab.theirs(name, plain);
        let file = lab.open(name, &encrypted);

        assert!(!text(&encrypted).contains(CANARY));
        assert_eq!(
            text(&file.plaintext().unwrap()),
            text(&lab.decrypted_by_sops(name, &encrypted)),
            "{name}"
        );
    }
}

#[test]
fn sops_opens_what_was_encrypted_here() {
    let lab = Lab::new();

    for (name, plain) in SAMPLES {
        let encrypted = lab.ours(name, plain);
        let shown = lab.decrypted_by_sops(name, &encrypted);

        assert!(!text(&encrypted).contains(CANARY), "{name}");
        assert!(is_encrypted(input(name, &encrypted)) && !is_encrypted(input(name, plain.as_bytes())));
        assert_eq!(text(&shown), text(&lab.open(name, &encrypted).plaintext().unwrap()), "{name}");
        assert!(text(&shown).contains(CANARY), "{name}");
    }
}

#[test]
fn every_rule_about_values_means_the_same_to_both() {
    let rules = [
        "unencrypted_suffix: _open",
        "encrypted_suffix: _secret",
        "unencrypted_regex: ^pub",
        "encrypted_regex: ^(data|a_secret)$",
        "unencrypted_comment_regex: open",
        "encrypted_comment_regex: hide",
        "mac_only_encrypted: true\nencrypted_regex: ^data$",
    ];
    let plain = "a_open: 1\na_secret: 2\npublic:\n    x: 3\ndata:\n    - 4\n# hide open\nlast: 5\n";

    for rule in rules {
        let lab = Lab::new();
        let settings = format!("age: {}\n{rule}", lab.key.recipient);
        let lab = lab.rules(&settings);
        let (theirs, ours) = (lab.theirs("a.yaml", plain), lab.ours("a.yaml", plain));

        assert_eq!(plain_lines(&theirs), plain_lines(&ours), "{rule}");
        assert_eq!(text(&lab.decrypted_by_sops("a.yaml", &ours)), plain, "{rule}");
        assert_eq!(text(&lab.open("a.yaml", &theirs).plaintext().unwrap()), plain, "{rule}");
    }
}

/// Returns the lines before the metadata with ciphertexts left out.
fn plain_lines(encrypted: &[u8]) -> Vec<String> {
    let text = text(encrypted);
    let lines = text.lines().take_while(|line| *line != "sops:");
    lines.map(|line| line.split("ENC[").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn a_binary_file_is_encrypted_whatever_the_rule_picks() {
    let lab = Lab::new();
    let settings = format!("age: {}\nencrypted_regex: ^never$", lab.key.recipient);
    let lab = lab.rules(&settings);

    let encrypted = lab.ours("a.bin", CANARY);

    assert!(!text(&encrypted).contains(CANARY) && !text(&encrypted).contains("encrypted_regex"));
    assert_eq!(text(&lab.decrypted_by_sops("a.bin", &encrypted)), CANARY);
}

#[test]
fn what_a_format_cannot_keep_is_refused_instead_of_lost() {
    let lab = Lab::new();
    // The real sops writes this file, and cannot open it again.
    let plain = b"{\"`\":{canary-hunter2\n";

    let refused = encrypt_new(input("a.ini", plain), &lab.rule(), now()).unwrap_err();

    assert!(refused.to_string().contains("cannot keep"), "{refused}");
    assert!(!refused.to_string().contains(CANARY));
}

#[test]
fn what_was_tampered_with_is_refused_and_shows_nothing() {
    let lab = Lab::new();
    let good = text(&lab.theirs("a.yaml", "user: admin\npassword: canary-hunter2\nopen_unencrypted: x\n"));
    let (user, password) = (good.lines().next().unwrap(), good.lines().nth(1).unwrap());
    let cut = |name: &str| {
        good.lines().filter(|line| !line.trim().starts_with(name)).collect::<Vec<_>>().join("\n")
    };
    let tampered = [
        ("a value", good.replacen("data:", "data:AAAA", 1)),
        ("a moved value", good.replace(user, &password.replace("password", "user"))),
        ("a removed value", good.replace(&format!("{user}\n"), "")),
        ("an open value", good.replace("open_unencrypted: x", "open_unencrypted: y")),
        ("a plain value", format!("extra: plain\n{good}")),
        ("a duplicate key", format!("{user}\n{good}")),
        ("the mac", good.replace("mac: ENC[AES256_GCM,data:", "mac: ENC[AES256_GCM,data:AAAA")),
        ("no mac", cut("mac:")),
        ("the time", good.replace("lastmodified: \"20", "lastmodified: \"21")),
        ("no version", cut("version:")),
        ("the wrapped key", good.replace("-----BEGIN AGE ENCRYPTED FILE-----", "-----BEGIN AGE-----")),
        ("no metadata", good.split("sops:").next().unwrap().to_owned()),
    ];

    for (what, bytes) in tampered {
        let error = SopsFile::open(input("a.yaml", bytes.as_bytes()), &holding(&[&lab.key]));

        assert_refused(what, &error.unwrap_err());
    }
    let stranger = SopsFile::open(input("a.yaml", good.as_bytes()), &holding(&[&AgeKey::new()])).unwrap_err();
    assert_refused("a stranger", &stranger);
    assert!(stranger.to_string().contains(&lab.key.recipient), "{stranger}");
}

fn assert_refused(what: &str, error: &Error) {
    let text = error.to_string();
    assert_eq!(error.exit().0, 77, "{what}: {text}");
    assert!(error.message().contains("`a.yaml`"), "{what}: {text}");
    assert!(!text.contains(CANARY) && !text.contains("AGE-SECRET"), "{what}: {text}");
}

#[test]
fn a_truncated_or_damaged_file_is_refused_in_every_format() {
    let lab = Lab::new();

    for (name, plain) in SAMPLES {
        // Only the metadata of the first document counts, so a cut in that of the second does no harm.
        let good = lab.ours(name, plain.split("---\n").next().unwrap());
        for length in (0..good.len() - 20).step_by(97) {
            let opened = SopsFile::open(input(name, &good[..length]), &holding(&[&lab.key]));
            assert!(opened.is_err(), "{name} opens when cut at {length}");
        }
        for at in (0..good.len()).step_by(89) {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            let opened = SopsFile::open(input(name, &bad), &holding(&[&lab.key]));
            assert!(
                opened.is_err() || same_content(&opened.unwrap(), &lab.open(name, &good)),
                "{name} at {at}"
            );
        }
    }
}

/// Tells whether two files hold the same values; a damaged comment or name of a recipient is no harm.
fn same_content(one: &SopsFile, other: &SopsFile) -> bool {
    let values = |file: &SopsFile| {
        let shown = text(&file.plaintext().unwrap());
        shown.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])).collect::<Vec<_>>().join("\n")
    };
    values(one) == values(other)
}

#[test]
fn key_groups_need_as_many_keys_for_both() {
    let (lab, second, third) = (Lab::new(), AgeKey::new(), AgeKey::new());
    let groups = [&lab.key, &second, &third].map(|key| format!("- age: [{}]", key.recipient)).join("\n");
    let lab = lab.rules(&format!("shamir_threshold: 2\nkey_groups:\n{groups}"));
    let both = format!("{}\n{}", lab.key.secret, third.secret);

    let theirs = lab.theirs("a.yaml", "a: canary-hunter2\n");
    let ours = lab.ours("a.yaml", "a: canary-hunter2\n");
    let lab = Lab { key: AgeKey { secret: both, recipient: String::new() }, ..lab };

    assert_eq!(text(&lab.decrypted_by_sops("a.yaml", &ours)), "a: canary-hunter2\n");
    let opened = SopsFile::open(input("a.yaml", &theirs), &holding(&[&second, &third])).unwrap();
    assert_eq!(text(&opened.plaintext().unwrap()), "a: canary-hunter2\n");
    let alone = SopsFile::open(input("a.yaml", &theirs), &holding(&[&second])).unwrap_err();
    assert!(alone.to_string().contains("2 of its 3 key groups"), "{alone}");
}

#[test]
fn one_set_changes_exactly_three_lines() {
    let lab = Lab::new();
    let changes = [
        ("a.yaml", r#"["database"]["port"]"#, "1"),
        ("a.json", r#"["database"]["port"]"#, "1"),
        ("a.env", r#"["USER"]"#, "\"other\""),
        ("a.ini", r#"["database"]["user"]"#, "\"other\""),
    ];

    for (name, path, value) in changes {
        let plain =
            SAMPLES.iter().find(|(sample, _)| *sample == name).unwrap().1.split("---\n").next().unwrap();
        for before in [lab.theirs(name, plain), lab.ours(name, plain)] {
            let (path, file) = (path.parse().unwrap(), lab.open(name, &before));
            let after = file.set(&path, value, now()).unwrap().unwrap();
            let again = lab.open(name, &after).set(&path, value, now()).unwrap();

            let changed = changed_lines(&before, &after);
            assert_eq!(changed.len(), 3, "{name}: {changed:#?}");
            assert!(again.is_none(), "{name}");
            assert!(lab.open(name, &after).unset(&path, now()).unwrap().is_some());
            lab.decrypted_by_sops(name, &after);
        }
    }
}

fn changed_lines(before: &[u8], after: &[u8]) -> Vec<String> {
    let (before, after) = (text(before), text(after));
    assert_eq!(before.lines().count(), after.lines().count());
    let pairs = before.lines().zip(after.lines()).filter(|(old, new)| old != new);
    pairs.map(|(old, new)| format!("{old} → {new}")).collect()
}

#[test]
fn an_edit_changes_only_what_was_edited() {
    let lab = Lab::new();

    for (name, plain) in SAMPLES.into_iter().filter(|(name, _)| *name != "a.bin") {
        for before in [lab.theirs(name, plain), lab.ours(name, plain)] {
            let file = lab.open(name, &before);
            let shown = text(&file.plaintext().unwrap());
            let after = file.edited(shown.replace(CANARY, "changed").as_bytes(), now()).unwrap().unwrap();

            let blocks = 1 + usize::from(name == "a.yaml");
            let changed = changed_lines(&before, &after);
            assert_eq!(changed.len(), 1 + 2 * blocks, "{name}: {changed:#?}");
            assert!(file.edited(shown.as_bytes(), now()).unwrap().is_none(), "{name}");
            assert!(text(&lab.decrypted_by_sops(name, &after)).contains("changed"), "{name}");
        }
    }
}

#[test]
fn rotating_renews_everything_and_changes_recipients() {
    let (lab, second) = (Lab::new(), AgeKey::new());
    let add = RecipientChange { add: vec![second.recipient.clone()], remove: vec![] };
    let remove = RecipientChange { add: vec![], remove: vec![second.recipient.clone()] };

    for (name, plain) in SAMPLES {
        let before = lab.theirs(name, plain);
        let shared = lab.open(name, &before).rotated(&add, now()).unwrap();
        let alone = lab.open(name, &shared).rotated(&remove, now()).unwrap();

        let shown = text(&lab.decrypted_by_sops(name, &shared));
        let seconds = SopsFile::open(input(name, &shared), &holding(&[&second])).unwrap();
        assert_eq!(text(&seconds.plaintext().unwrap()), shown, "{name}");
        assert!(SopsFile::open(input(name, &alone), &holding(&[&second])).is_err(), "{name}");
        assert!(lab.open(name, &alone).rotated(&remove, now()).is_err(), "{name}");
        let (old, new) = (text(&before), text(&alone));
        assert!(old.lines().filter(|line| line.contains("ENC[")).all(|line| !new.contains(line)), "{name}");
    }
}

#[test]
fn updating_keys_keeps_values_mac_and_time() {
    let (lab, second) = (Lab::new(), AgeKey::new());
    let before = lab.theirs("a.yaml", "a: canary-hunter2\n");
    let identities = holding(&[&lab.key]);
    let unchanged = updated_keys(input("a.yaml", &before), &lab.rule(), &identities).unwrap();
    let settings = format!("age: [{}, {}]", lab.key.recipient, second.recipient);
    let lab = lab.rules(&settings);

    let after = updated_keys(input("a.yaml", &before), &lab.rule(), &identities).unwrap().unwrap();

    assert!(unchanged.is_none());
    let (old, new) = (text(&before), text(&after));
    assert!(old.lines().all(|line| new.contains(line)), "{new}");
    let seconds = SopsFile::open(input("a.yaml", &after), &holding(&[&second])).unwrap();
    assert_eq!(text(&seconds.plaintext().unwrap()), "a: canary-hunter2\n");
    assert_eq!(text(&lab.decrypted_by_sops("a.yaml", &after)), "a: canary-hunter2\n");
    assert!(updated_keys(input("a.yaml", &after), &lab.rule(), &identities).unwrap().is_none());
}

#[test]
fn ssh_keys_open_files_also_behind_a_passphrase() {
    let lab = Lab::new();
    for (name, kind, passphrase) in
        [("ed", "ed25519", ""), ("rsa", "rsa", ""), ("locked", "ed25519", "open sesame")]
    {
        make_ssh_key(lab.dir.path(), name, kind, passphrase);
    }
    let publics =
        ["ed", "rsa", "locked"].map(|name| text(&lab.read(&format!("{name}.pub"))).trim().to_owned());
    let settings = format!("age: [\"{}\"]", publics.join("\", \""));
    let lab = lab.rules(&settings);
    let prompt = |_: &str| Some(Zeroizing::new("open sesame".to_owned()));

    let (theirs, ours) = (lab.theirs("a.yaml", "a: one\n"), lab.ours("a.yaml", "a: one\n"));

    for (name, encrypted) in
        ["ed", "rsa", "locked"].into_iter().flat_map(|name| [(name, &theirs), (name, &ours)])
    {
        let mut identities = Identities::none(&prompt);
        identities.add(name, &lab.read(name));
        let opened = SopsFile::open(input("a.yaml", encrypted), &identities).unwrap();
        assert_eq!(text(&opened.plaintext().unwrap()), "a: one\n", "{name}");
    }
    std::fs::create_dir(lab.dir.path().join(".ssh")).unwrap();
    lab.write(".ssh/id_ed25519", &lab.read("ed"));
    assert_eq!(text(&lab.decrypted_by_sops("a.yaml", &ours)), "a: one\n");
}

/// Makes an ssh key.
fn make_ssh_key(dir: &Path, name: &str, kind: &str, passphrase: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", passphrase, "-C", name, "-f", name])
        .current_dir(dir)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes no {kind} key");
}

#[test]
fn keys_that_only_sops_can_use_are_kept_and_named() {
    let (lab, second) = (Lab::new(), AgeKey::new());
    let mut file: serde_json::Value = serde_json::from_slice(&lab.ours("a.json", r#"{"a": "one"}"#)).unwrap();
    file["sops"]["pgp"] =
        serde_json::json!([{"created_at": "2024-01-01T00:00:00Z", "enc": "x", "fp": "ABCD"}]);
    let with_pgp = serde_json::to_vec(&file).unwrap();
    file["sops"].as_object_mut().unwrap().remove("age");
    let only_pgp = serde_json::to_vec(&file).unwrap();
    let settings = format!("age: [{}, {}]\npgp: ABCD", lab.key.recipient, second.recipient);
    let lab = lab.rules(&settings);

    let updated = updated_keys(input("a.json", &with_pgp), &lab.rule(), &holding(&[&lab.key])).unwrap();
    let rotated = lab.open("a.json", &with_pgp).rotated(&RecipientChange::default(), now()).unwrap_err();
    let unopened = SopsFile::open(input("a.json", &only_pgp), &holding(&[&lab.key])).unwrap_err();

    let updated: serde_json::Value = serde_json::from_slice(&updated.unwrap()).unwrap();
    assert_eq!(updated["sops"]["pgp"][0]["fp"], "ABCD");
    assert_eq!(updated["sops"]["age"][1]["recipient"], second.recipient);
    assert!(rotated.to_string().contains("`pgp ABCD`"), "{rotated}");
    assert!(unopened.to_string().contains("needs  pgp ABCD"), "{unopened}");
}
