//! Whom infra asks, with which token, and that the real tofu asks the same.

use std::time::{Duration, Instant};

use crate::registry::{Answer, Registry};
use crate::world::{HOST, World};
use crate::{THING, support};

const SECRET: &str = "s3cr3t-t0ken";

/// Returns the requests for versions, with the tokens that came along.
fn asked(registry: &Registry) -> Vec<(String, Option<String>)> {
    let seen = registry.seen().into_iter().filter(|seen| seen.path.ends_with("/versions"));
    seen.map(|seen| (seen.path, seen.token)).collect()
}

#[test]
fn infra_and_tofu_ask_the_same_places_with_the_same_token_and_take_the_same_version() {
    let credentials = format!("credentials \"{HOST}\" {{\n  token = \"{SECRET}\"\n}}\n");
    let world = World::with_settings(&credentials).stack("01-a/x", THING, "~> 5.1.0");
    world.registry.provider("acme/thing", &["5.4.0", "5.1.0", "5.1.10", "5.1.9", "6.0.0"]);

    let row = world.row(THING);
    let by_infra = asked(&world.registry);
    world.registry.forget();
    world.tofu("01-a/x", &["init"]);

    assert_eq!(by_infra, [("/p/acme/thing/versions".to_owned(), Some(format!("Bearer {SECRET}")))]);
    assert_eq!(asked(&world.registry), by_infra);
    let taken = format!("/p/acme/thing/{}/download/", row["uses"][0]["allowed"].as_str().unwrap());
    assert!(world.registry.paths().iter().any(|path| path.starts_with(&taken)), "{taken}");
}

#[test]
fn a_variable_gives_the_token_in_the_spellings_that_tofu_reads() {
    for (name, host) in [
        ("TF_TOKEN_registry_example", HOST),
        ("TF_TOKEN_my__registry_example", "my-registry.example"),
        ("TF_TOKEN_xn____caf__dma_example", "café.example"),
    ] {
        let registry = Registry::plain();
        registry.provider("acme/thing", &["1.0.0"]);
        let settings = format!(
            "host \"{host}\" {{\n  services = {{ \"providers.v1\" = \"{}\" }}\n}}\n\
             credentials \"{host}\" {{\n  token = \"older\"\n}}\n",
            registry.url("/p/")
        );
        let world = World::of(registry, &settings).env(name, SECRET);
        let world = world.stack("01-a/x", &format!("{host}/acme/thing"), "1.0.0");

        world.outdated("").stderr_has("0 not known");
        let by_infra = asked(&world.registry);
        world.registry.forget();
        world.tofu("01-a/x", &["init"]);

        assert_eq!(by_infra[0].1, Some(format!("Bearer {SECRET}")), "{name}");
        assert_eq!(asked(&world.registry), by_infra, "{name}");
    }
}

#[test]
fn a_document_behind_a_redirect_leads_to_the_services_and_no_other_host_sees_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let (front, behind) = (Registry::tls(folder.path()), Registry::tls(other.path()));
    let both = ["tls.pem"].map(|name| {
        let read = |folder: &tempfile::TempDir| std::fs::read_to_string(folder.path().join(name)).unwrap();
        format!("{}{}", read(&folder), read(&other))
    });
    std::fs::write(folder.path().join("all.pem"), both.concat()).unwrap();
    front.answer("/.well-known/terraform.json", Answer::Redirect(behind.url("/here/terraform.json")));
    behind.answer("/here/terraform.json", Answer::Json(r#"{"providers.v1":"p/"}"#.to_owned()));
    behind.answer("/here/p/acme/thing/versions", Answer::Redirect(front.url("/moved")));
    front.answer("/moved", Answer::Json(r#"{"versions":[{"version":"1.0.0"}]}"#.to_owned()));
    let source = format!("{}/acme/thing", front.host);
    let world = World::new()
        .stack("01-a/x", &source, "1.0.0")
        .env("SSL_CERT_FILE", folder.path().join("all.pem").to_str().unwrap())
        .env(&format!("TF_TOKEN_{}", front.host), SECRET);

    world.outdated("").stderr_has("0 not known");

    let token = Some(format!("Bearer {SECRET}"));
    let tokens =
        |registry: &Registry| -> Vec<_> { registry.seen().into_iter().map(|seen| seen.token).collect() };
    // The host of the address sees its own token; after the redirect nobody does.
    assert_eq!(tokens(&front), [token.clone(), None]);
    assert_eq!(tokens(&behind), [None, token]);
    front.forget();
    world.tofu("01-a/x", &["init"]);
    assert!(front.paths().contains(&"/.well-known/terraform.json".to_owned()));
    assert!(behind.paths().iter().filter(|path| *path == "/here/p/acme/thing/versions").count() >= 2);
}

#[test]
fn a_token_is_in_no_output_and_no_file() {
    let world = World::new().stack("01-a/x", THING, "1.0.0").env("TF_TOKEN_registry_example", SECRET);
    world.registry.answer("/p/acme/thing/versions", Answer::Status(401));
    let world = world.env("INFRA_LOG", "trace");

    let run = world.outdated("-vvv").exits(69);
    run.stdout_has("wants another token").stdout_lacks(SECRET).stderr_lacks(SECRET);

    world.registry.provider("acme/thing", &["1.0.0"]);
    world.outdated("--json -vvv").stdout_lacks(SECRET).stderr_lacks(SECRET);
    assert_eq!(world.project.files_containing(SECRET), [""; 0]);
    let kept = world.beside("cache/infra/registry");
    let kept: Vec<_> = std::fs::read_dir(kept).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(!kept.is_empty());
    for file in kept {
        assert!(!std::fs::read_to_string(&file).unwrap().contains(SECRET), "{}", file.display());
    }
}

#[test]
fn each_address_is_asked_once_and_its_answer_counts_for_an_hour() {
    let world =
        (1..=12).fold(World::new(), |world, number| world.stack(&format!("01-a/s{number}"), THING, "~> 1.0"));
    world.registry.provider("acme/thing", &["1.0.0"]);
    let count = || asked(&world.registry).len();

    world.outdated("").stderr_has("0 not known");
    assert_eq!(count(), 1);
    world.outdated("").stderr_has("0 not known");
    assert_eq!(count(), 1);
    world.outdated("--fresh").stderr_has("0 not known");
    assert_eq!(count(), 2);
}

#[test]
fn a_failure_is_never_kept() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0");
    world.outdated("").exits(69);
    world.registry.provider("acme/thing", &["1.0.0"]);

    world.outdated("").stderr_has("0 not known");
}

#[test]
fn a_host_in_trouble_is_asked_again_and_a_silent_one_is_given_up() {
    let world =
        World::new().stack("01-a/x", THING, "~> 1.0").stack("01-a/y", "registry.example/acme/mute", "1.0.0");
    let well = r#"{"versions":[{"version":"1.0.0"}]}"#.to_owned();
    world.registry.answer("/p/acme/thing/versions", Answer::TroubleFirst(503, 1, well));
    world.registry.answer("/p/acme/mute/versions", Answer::Silence);
    let world = world.env("TF_REGISTRY_CLIENT_TIMEOUT", "1");

    let started = Instant::now();
    let run = world.outdated("").exits(69);

    assert!(started.elapsed() < Duration::from_secs(20), "{run}");
    run.stdout_has("acme/mute  not known").stdout_has("does not answer in time").stderr_has("1 not known");
}

#[test]
fn what_a_hostile_registry_says_is_no_version_and_moves_no_cursor() {
    for answer in [
        Answer::Json("{\"versions\":[{\"version\":\"\\u001b[2J9.9.9\"}]}".to_owned()),
        Answer::Json("[".repeat(100_000)),
        Answer::Json("{\"versions\":{}}".to_owned()),
        Answer::Text("<html>login</html>".to_owned()),
        Answer::Redirect("/p/acme/thing/versions".to_owned()),
        Answer::Status(500),
    ] {
        let world = World::new().stack("01-a/x", THING, "~> 1.0");
        world.registry.answer("/p/acme/thing/versions", answer);

        world.outdated("").exits(69).stdout_has("not known").stdout_lacks("\u{1b}[2J");
    }
}

#[test]
fn a_discovery_document_that_is_not_json_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::tls(folder.path());
    registry.answer("/.well-known/terraform.json", Answer::Text(r#"{"providers.v1":"/p/"}"#.to_owned()));
    registry.provider("acme/thing", &["1.0.0"]);
    let source = format!("{}/acme/thing", registry.host);
    let pem = folder.path().join("tls.pem");
    let world = World::of(registry, "").env("SSL_CERT_FILE", pem.to_str().unwrap());
    let world = world.stack("01-a/x", &source, "1.0.0");

    world.outdated("").exits(69).stdout_has("has no document that says where its registry is");
}

#[test]
fn settings_of_tofu_that_make_no_sense_are_an_error_with_their_place() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0");
    world.settings("credentials \"x\" {\n  token = \n}\n");

    let run = world.outdated("--json").exits(65);

    run.stderr_has("tofurc:2:").stdout_has("\"error\"");
    assert!(!world.tofu("01-a/x", &["init"]).status.success());
}

#[test]
fn a_stop_ends_the_asking() {
    let world = World::new().stack("01-a/x", THING, "~> 1.0");
    world.registry.answer("/p/acme/thing/versions", Answer::Silence);
    let running = world.project.start("deps outdated");
    support::run::wait_until("it asks", || {
        world.registry.paths().iter().any(|path| path.ends_with("/versions"))
    });

    running.signal(nix::sys::signal::Signal::SIGINT);

    running.wait().exits(130);
}
