//! `infra deps outdated`: newer providers, modules and tofu, asked as tofu asks, against a registry of the
//! test's own; and the edits of `--write`.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "deps_outdated/asking.rs"]
mod asking;
#[path = "deps_outdated/mirrors.rs"]
mod mirrors;
#[path = "deps_outdated/registry.rs"]
mod registry;
mod support;
#[path = "deps_outdated/world.rs"]
mod world;
#[path = "deps_outdated/writing.rs"]
mod writing;

use registry::Answer;
use world::{HOST, World, lock, own_tofu};

const THING: &str = "registry.example/acme/thing";

#[test]
fn minor_and_major_updates_are_told_apart_with_what_they_would_touch() {
    let world = World::new().stack("01-a/x", THING, "~> 5.1.0").stack("01-a/y", THING, ">= 5.0");
    world.registry.provider("acme/thing", &["5.10.0", "6.2.0", "5.1.0", "5.1.9", "4.0.0", "7.0.0-rc1"]);
    world.project.write("infrastructure/01-a/x/.terraform.lock.hcl", &lock(THING, "5.1.0"));

    let run = world.outdated("").exits(1);

    let (minor, major) = run.stdout.split_once("major updates").expect("two parts");
    assert!(minor.contains("minor updates") && minor.contains("5.1.0 → 5.10.0  01-a/x"), "{run}");
    assert!(minor.contains("infrastructure/01-a/x/main.tf:5  ~> 5.1.0"), "{run}");
    assert!(minor.contains("5.1.9 without an edit"), "{run}");
    assert!(major.contains("5.1.0 → 6.2.0  01-a/x"), "{run}");
    let row = world.row(THING);
    let uses = row["uses"].as_array().unwrap();
    assert_eq!((&uses[0]["locked"], &uses[0]["allowed"]), (&"5.1.0".into(), &"5.1.9".into()));
    assert_eq!(uses[0]["minor"], serde_json::json!({"version": "5.10.0", "needs_edit": true}));
    assert_eq!(uses[0]["major"], serde_json::json!({"version": "6.2.0", "needs_edit": true}));
    assert_eq!(
        (&uses[1]["version"], &uses[1]["minor"], &uses[1]["major"]),
        (&"6.2.0".into(), &serde_json::Value::Null, &serde_json::Value::Null)
    );
    assert_eq!(
        (&row["newest"], &row["outdated"], &row["known"]),
        (&"6.2.0".into(), &true.into(), &true.into())
    );
}

#[test]
fn what_the_constraint_allows_already_needs_no_edit_and_the_advice_takes_it() {
    let world = World::new().stack("01-a/x", THING, "~> 5.1");
    world.registry.provider("acme/thing", &["5.1.0", "5.4.0"]);
    world.project.write("infrastructure/01-a/x/.terraform.lock.hcl", &lock(THING, "5.1.0"));

    let run = world.outdated("").exits(1);

    run.stdout_has("5.1.0 → 5.4.0")
        .stdout_has("no edit: `init -upgrade` takes it")
        .stderr_has("infra init 01-a/x -- -upgrade");
}

#[test]
fn up_to_date_is_said_only_of_what_is_known() {
    let world = World::new().stack("01-a/x", THING, "~> 5.1");
    world.registry.provider("acme/thing", &["5.4.0"]);
    world.releases_of_tofu(&[&own_tofu()]);
    world.outdated("").succeeds().stderr_has("1 up to date, 0 not known");

    let world = world.stack("01-a/y", "registry.example/acme/gone", "1.0.0");
    let run = world.outdated("").exits(69);

    run.stdout_has("registry.example/acme/gone  not known").stderr_has("1 up to date, 1 not known");
    let row = world.row("registry.example/acme/gone");
    assert_eq!(
        (&row["outdated"], &row["newest"], &row["known"]),
        (&serde_json::Value::Null, &serde_json::Value::Null, &false.into())
    );
    assert_eq!(world.row(THING)["outdated"], false);
}

#[test]
fn without_a_network_nothing_is_known_and_nothing_is_up_to_date() {
    let world = World::with_settings("");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.settings(&format!(
        "host \"{HOST}\" {{\n  services = {{ \"providers.v1\" = \"http://{nobody}/\" }}\n}}\n"
    ));
    let world = world.stack("01-a/x", THING, "~> 5.1").env("INFRA_TOFU_MIRROR", &format!("http://{nobody}"));

    let run = world.outdated("").exits(69);

    run.stdout_has("newest is not known")
        .stdout_has(&format!("{THING}  not known: cannot reach"))
        .stderr_has("0 up to date");
    let rows = world.outdated("--json").exits(69).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["outdated"].is_null()), "{rows}");
    world.outdated("--write").exits(69).stdout_has("not known");
}

#[test]
fn modules_of_a_registry_are_looked_up_and_others_are_named() {
    let world = World::new();
    world.registry.module("acme/vm/proxmox", &["1.2.0", "v1.3.0", "2.0.0", "odd"]);
    let text = "module \"vm\" {\n  source  = \"registry.example/acme/vm/proxmox//sub\"\n  version = \"1.2.0\"\n}\n\
                module \"git\" {\n  source = \"git::https://forge.example/vm.git?ref=v1\"\n}\n\
                module \"own\" {\n  source = \"../own\"\n}\n";
    let project = world.project.stack("01-a/x", text).file("infrastructure/01-a/own/main.tf", "");
    let world = World { project, registry: world.registry };

    let run = world.outdated("x").exits(1);

    let others = world.project.stack("01-a/y", "");
    others.run("deps outdated y").stderr_lacks("module `git`");
    run.stdout_has("1.2.0 → 1.3.0")
        .stdout_has("1.2.0 → 2.0.0")
        .stderr_has("main.tf:5: module `git` is not looked up");
    let rows = others.run("deps outdated --json").json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["kind"] == "module" && row["newest"] == "2.0.0"));
}

#[test]
fn pre_releases_count_only_where_a_constraint_names_one() {
    let world = World::new().stack("01-a/x", THING, "2.0.0-beta1").stack("01-a/y", THING, ">= 1.0");
    world.registry.provider("acme/thing", &["1.0.0", "2.0.0-beta1", "2.0.0-beta2"]);

    let row = world.row(THING);

    assert_eq!(row["uses"][0]["minor"]["version"], "2.0.0-beta2");
    assert_eq!(
        (&row["uses"][1]["version"], &row["uses"][1]["major"]),
        (&"1.0.0".into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_newer_tofu_is_told_with_the_way_to_it() {
    let world = World::new();
    world.releases_of_tofu(&["1.99.0", "2.0.0-alpha1"]);

    let run = world.outdated("").exits(1);

    run.stdout_has("1.99.0 is the newest").stderr_has("`version: \"1.99.0\"` below `tofu:`");
    assert_eq!(world.row("tofu")["newest"], "1.99.0");
}

#[test]
fn a_platform_that_the_newest_release_dropped_is_told() {
    let world = World::new().stack("01-a/x", THING, "~> 5.1");
    let version = |version: &str, machines: &[&str]| {
        let platforms: Vec<_> =
            machines.iter().map(|arch| serde_json::json!({"os": "linux", "arch": arch})).collect();
        serde_json::json!({"version": version, "platforms": platforms})
    };
    let versions = [version("5.1.0", &["amd64", "arm64"]), version("5.2.0", &["amd64"])];
    let body = serde_json::json!({"versions": versions}).to_string();
    world.registry.answer("/p/acme/thing/versions", Answer::Json(body));
    world.project.write("infrastructure/01-a/x/.terraform.lock.hcl", &lock(THING, "5.1.0"));

    world.outdated("").exits(1).stderr_has("5.2.0 has no package for linux_arm64, 5.1.0 has");
}

#[test]
fn a_constraint_that_no_release_fits_is_no_success() {
    let world = World::new().stack("01-a/x", THING, "~> 9.0");
    world.registry.provider("acme/thing", &["5.1.0"]);
    world.releases_of_tofu(&[&own_tofu()]);

    world.outdated("").exits(1).stderr_has("no release fits `~> 9.0`");
}

#[test]
fn outside_of_a_project_only_tofu_is_looked_at() {
    let world = World::new();
    std::fs::remove_file(world.project.path("infra.yaml")).unwrap();
    world.releases_of_tofu(&["1.99.0"]);

    world.outdated("").exits(1).stdout_has("1.99.0 is the newest");
}

#[test]
fn a_lock_file_names_providers_that_no_file_names() {
    let world = World::new();
    world.registry.provider("acme/thing", &["1.0.0", "1.1.0"]);
    let project = world
        .project
        .stack("01-a/x", "")
        .file("infrastructure/01-a/x/.terraform.lock.hcl", &lock(THING, "1.0.0"));
    let world = World { project, registry: world.registry };

    world.outdated("").exits(1).stdout_has("1.0.0 → 1.1.0");
}
