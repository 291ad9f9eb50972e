//! Which tofu is taken of those that are there already.

use infra::tofu::{Flavour, TofuSource, find};
use semver::Version;

use crate::world::World;

#[tokio::test]
async fn a_tofu_on_the_path_that_suits_is_taken_and_nothing_is_installed() {
    let world = World::new();
    let path = world.program("bin/tofu", &world.tofu("1.13.1")).await;

    let tofu = world.locate().await.expect("it suits");

    assert_eq!((tofu.path, tofu.source), (path, TofuSource::Path));
    assert_eq!((tofu.version, tofu.flavour), (Version::new(1, 13, 1), Flavour::OpenTofu));
    assert!(world.cache().is_empty());
}

#[tokio::test]
async fn tofus_on_the_path_that_do_not_suit_are_passed_over_with_a_reason() {
    let mut world = World::new();
    std::fs::create_dir(world.path("bin2")).expect("a temporary folder");
    world.program("bin/tofu", &world.tofu("1.10.9")).await;
    world.program("bin2/tofu", "#!/bin/sh\nexit 3\n").await;
    world.env.set("PATH", format!("{}:{}", world.path("bin").display(), world.path("bin2").display()));

    let search = world.search().await.expect("none of them is an error");

    assert_eq!(search.found, None);
    assert_eq!(search.passed_over[0].why, "OpenTofu 1.10.9 is older than 1.11.3");
    assert!(search.passed_over[1].why.contains("names no version"), "{:?}", search.passed_over);
    assert!(world.refuses().await.to_string().contains("passed over"));
}

#[tokio::test]
async fn an_exact_version_passes_over_a_newer_tofu() {
    let mut world = World::new();
    world.settings.version = Some("1.12.6".to_owned());
    world.program("bin/tofu", &world.tofu("1.12.7")).await;

    assert_eq!(find(&world.request()).await.expect("a search"), None);

    world.program("bin/tofu", &world.tofu("1.12.6")).await;
    assert!(find(&world.request()).await.expect("a search").is_some());
}

#[tokio::test]
async fn a_large_binary_is_asked_once_and_a_launcher_every_time() {
    let world = World::new();
    let path = world.program("bin/tofu", &format!("{}exit 0\n", world.tofu("1.12.6"))).await;

    world.locate().await.expect("it suits");
    world.locate().await.expect("it suits");
    let as_launcher = world.calls("tofu.log").len();
    // A hole makes it as large as a real one; the shell stops reading before it.
    std::fs::File::options()
        .append(true)
        .open(path)
        .and_then(|file| file.set_len(20 << 20))
        .expect("its own file");
    world.locate().await.expect("it suits");
    world.locate().await.expect("it suits");

    assert_eq!((as_launcher, world.calls("tofu.log").len()), (2, 3));
}

#[tokio::test]
async fn a_named_binary_is_relative_to_the_project() {
    let mut world = World::new();
    world.settings.binary = Some("project/my-tofu".to_owned());
    let path = world.program("project/my-tofu", &world.tofu("1.12.0")).await;

    let tofu = world.locate().await.expect("it is named");

    assert_eq!((tofu.path, tofu.source), (path, TofuSource::Settings));
}

#[tokio::test]
async fn a_named_binary_that_is_not_there_is_not_replaced_by_another() {
    let mut world = World::new();
    world.program("bin/tofu", &world.tofu("1.12.6")).await;

    for (name, what) in [("no-such-tofu", "on PATH"), ("project/no-such-tofu", "does not exist")] {
        world.settings.binary = Some(name.to_owned());
        let error = world.refuses().await;
        assert!(error.message().contains(name) && error.message().contains(what), "{error}");
    }
}

#[tokio::test]
async fn a_named_binary_must_suit_the_named_version() {
    let mut world = World::new();
    world.settings.version = Some("~> 1.12.0".to_owned());
    world.settings.binary = Some("my-tofu".to_owned());
    world.program("bin/my-tofu", &world.tofu("1.13.0")).await;

    let error = world.refuses().await;

    assert_eq!(error.message(), "`tofu.binary` is OpenTofu 1.13.0, but `tofu.version` is `~> 1.12.0`");
}

#[tokio::test]
async fn a_named_binary_below_the_floor_is_refused_with_the_reason() {
    let mut world = World::new();
    world.settings.binary = Some("my-tofu".to_owned());
    world.program("bin/my-tofu", &world.tofu("1.11.2")).await;

    let error = world.refuses().await;

    assert!(error.to_string().contains("Ctrl-C left the lock"), "{error}");
}

#[tokio::test]
async fn terraform_is_taken_when_it_is_named() {
    let mut world = World::new();
    world.settings.binary = Some("terraform".to_owned());
    let answer = r#"{"terraform_version":"1.5.7","terraform_outdated":true}"#;
    world.program("bin/terraform", &format!("#!/bin/sh\necho '{answer}'\n")).await;

    let tofu = world.locate().await.expect("Terraform's versions are its own");

    assert_eq!((tofu.flavour, tofu.version), (Flavour::Terraform, Version::new(1, 5, 7)));
}
