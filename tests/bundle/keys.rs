//! For whom a bundle is encrypted, and who can open it.

use crate::jobs::{CONFIG, Repository, STACK};
use crate::support::{Finished, Running, tofu};
use crate::tools::AgeKey;

fn repository() -> Repository {
    Repository::new().stack("01-a/x", STACK).committed()
}

fn run(repository: &Repository, args: &str, env: &[(&str, &str)]) -> Finished {
    let mut command = repository.command(args, repository.project.root(), "somebody");
    // A home without keys; what was installed stays where it is.
    let cache = tofu().ancestors().nth(4).unwrap();
    command.env("HOME", repository.beside("home")).env("XDG_CACHE_HOME", cache).envs(env.iter().copied());
    Running::start(command, args).wait()
}

#[test]
fn a_wrong_key_and_a_missing_one_are_refused_with_77() {
    let repository = repository();
    repository.plan("x --bundle ../plan.bundle").succeeds();
    let other = AgeKey::new();

    for env in [&[][..], &[("SOPS_AGE_KEY", other.secret.as_str())]] {
        let refused = run(&repository, "apply --bundle ../plan.bundle --yes --json", env).exits(77);
        assert_eq!(refused.json()["error"]["kind"], "secrets-refused");
        for word in ["key", "recipient", "identit", "../plan.bundle"] {
            assert!(refused.stderr.contains(word), "{word}\n{refused}");
        }
        assert!(!refused.stderr.contains(&other.secret));
    }
    assert_eq!(repository.output("x"), "");
    run(&repository, "apply --bundle ../plan.bundle", &[("SOPS_AGE_KEY", &repository.key.secret)]).succeeds();
}

#[test]
fn without_a_recipient_nothing_is_planned_and_the_advice_works() {
    let repository = repository();

    let refused = run(&repository, "plan x --bundle ../plan.bundle", &[]).exits(77);

    let refused =
        refused.stderr_has("for whom").stderr_has("INFRA_BUNDLE_RECIPIENTS").stderr_lacks("planning");
    assert!(!repository.beside("plan.bundle").exists());
    run(&repository, &refused.advice("secrets keygen"), &[]).succeeds();
    run(&repository, "plan x --bundle ../plan.bundle", &[]).succeeds();
    run(&repository, "apply --bundle ../plan.bundle", &[]).succeeds();
    assert_eq!(repository.output("x"), "one");
}

#[test]
fn recipients_come_from_the_first_place_that_names_some() {
    let keys: Vec<AgeKey> = (0..5).map(|_| AgeKey::new()).collect();
    let of = |number: usize| keys[number].recipient.as_str();
    let repository = repository();
    repository.project.write("age.key", &keys[4].secret);
    repository.project.write(".git/info/exclude", "age.key\n");
    let opens = |env: &[(&str, &str)], number: usize| {
        run(&repository, "plan x --bundle ../plan.bundle", env).succeeds();
        let bytes = std::fs::read(repository.beside("plan.bundle")).unwrap();
        for (other, key) in keys.iter().enumerate() {
            let identity: age::x25519::Identity = key.secret.parse().unwrap();
            assert_eq!(age::decrypt(&identity, &bytes).is_ok(), other == number, "{env:?} {other}");
        }
    };

    opens(&[], 4);
    repository.project.write(
        ".sops.yaml",
        &format!("creation_rules:\n  - path_regex: \\.sops\\.yaml$\n    age: {}\n", of(3)),
    );
    opens(&[], 3);
    opens(&[("SOPS_AGE_RECIPIENTS", of(2))], 2);
    repository.project.write("infra.yaml", &format!("{CONFIG}bundle: {{ recipients: [{}] }}\n", of(1)));
    opens(&[("SOPS_AGE_RECIPIENTS", of(2))], 1);
    opens(&[("SOPS_AGE_RECIPIENTS", of(2)), ("INFRA_BUNDLE_RECIPIENTS", of(0))], 0);

    let odd =
        run(&repository, "plan x --bundle ../plan.bundle", &[("INFRA_BUNDLE_RECIPIENTS", "age1nonsense")]);
    odd.exits(77).stderr_has("`age1nonsense` is no recipient").stderr_has("INFRA_BUNDLE_RECIPIENTS");
}

#[test]
fn several_recipients_and_ssh_keys_open_the_same_bundle() {
    let repository = repository();
    let ssh = repository.beside("id_ed25519");
    let mut made = std::process::Command::new("ssh-keygen");
    made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&ssh);
    assert!(made.status().unwrap().success());
    let public = std::fs::read_to_string(ssh.with_extension("pub")).unwrap();
    let both = format!("{}, {}", repository.key.recipient, public.trim());

    run(&repository, "plan x --bundle ../plan.bundle", &[("INFRA_BUNDLE_RECIPIENTS", &both)]).succeeds();

    let by_ssh = [("SOPS_AGE_SSH_PRIVATE_KEY_FILE", ssh.to_str().unwrap())];
    run(&repository, "apply --bundle ../plan.bundle --dry-run", &by_ssh).succeeds();
    repository.apply("--bundle ../plan.bundle").succeeds();
}
