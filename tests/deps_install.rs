//! Finding, fetching, verifying and building OpenTofu, against a release server of the test's own.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "deps_install/building.rs"]
mod building;
#[path = "deps_install/finding.rs"]
mod finding;
#[path = "deps_install/release.rs"]
mod release;
#[path = "deps_install/release_server.rs"]
mod release_server;
#[path = "deps_install/world.rs"]
mod world;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use infra::error::Kind;
use infra::tofu::{self, Origin, Progress, ReleaseSource, TofuSource, receipt};
use release::{LIST, Release, SIGNATURE, archive_name, fresh_key, pack, sign};
use release_server::{Answer, ReleaseServer};
use semver::Version;
use world::World;

/// The smallest program that says it is the pinned OpenTofu.
const TOFU: &str = "#!/bin/sh\necho '{\"terraform_version\":\"1.12.6\"}'\n";

/// What an installed version leaves in the cache.
const INSTALLED: [&str; 4] = ["1.12.6", "1.12.6.lock", "1.12.6/install.json", "1.12.6/tofu"];

/// What a failed install leaves: the lock file, which is never deleted.
const NOTHING: [&str; 1] = ["1.12.6.lock"];

#[tokio::test]
async fn a_signed_release_is_installed_and_runs() {
    let (world, _server) = World::with_release(&Release::of(TOFU)).await;

    let tofu = world.locate().await.expect("the release is good");

    assert_eq!((&tofu.version, tofu.source), (&Version::new(1, 12, 6), TofuSource::Cache));
    assert_eq!(world.cache(), INSTALLED);
    assert_eq!(tofu.path.metadata().expect("it is there").permissions().mode() & 0o777, 0o755);
    assert_eq!(receipt(&tofu).expect("it was installed").source, Origin::Release);
    assert!(matches!(world.progress.borrow().last(), Some(Progress::Installed { .. })));
}

#[tokio::test]
async fn an_installed_tofu_is_found_again_without_network_or_process() {
    let mut world = World::new();
    let release = Release::of(&world.tofu("1.12.6"));
    let server = release.serve().await;
    world.source = ReleaseSource::at(&server.url, release.armored_key());
    let installed = world.locate().await.expect("the release is good");
    let calls = world.calls("tofu.log");

    let found = world.locate().await.expect("it is installed");

    assert_eq!(found, installed);
    assert_eq!(world.calls("tofu.log"), calls);
    assert_eq!((calls.len(), server.requests_for("")), (1, 3));
}

#[tokio::test]
async fn a_tampered_archive_installs_nothing() {
    let mut release = Release::of(TOFU);
    release.answer(&archive_name(), Answer::Whole(pack("#!/bin/sh\necho evil\n")));
    let (world, _server) = World::with_release(&release).await;

    let error = world.refuses().await;

    assert_eq!(error.message(), format!("`{}` is not the file that was released", archive_name()));
    assert!(error.to_string().contains("expected  sha256 "), "{error}");
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn a_release_signed_by_another_key_installs_nothing() {
    let mut release = Release::of(TOFU);
    let trusted = release.armored_key();
    release.key = fresh_key();
    release.list_and_sign("everything else is right");
    let (mut world, server) = World::with_release(&release).await;
    world.source = ReleaseSource::at(&server.url, trusted);

    let error = world.refuses().await;

    assert_eq!(error.message(), "the signature is by another key");
    assert_eq!((world.cache(), server.requests_for(".gz")), (NOTHING.map(str::to_owned).to_vec(), 0));
}

#[tokio::test]
async fn a_signature_over_another_list_installs_nothing() {
    let mut release = Release::of(TOFU);
    release.answer(SIGNATURE, Answer::Whole(sign(&release.key, b"another list")));
    let (world, server) = World::with_release(&release).await;

    let error = world.refuses().await;

    assert_eq!(error.message(), "the signature does not match the file it stands beside");
    assert!(error.to_string().contains(LIST), "{error}");
    assert_eq!((world.cache(), server.requests_for(".gz")), (NOTHING.map(str::to_owned).to_vec(), 0));
}

#[tokio::test]
async fn a_cut_download_installs_nothing_and_says_how_much_came() {
    let mut release = Release::of(TOFU);
    let archive = pack(TOFU);
    let counts = format!("after {} of {} bytes", archive.len() / 2, archive.len());
    release.answer(&archive_name(), Answer::Half(archive));
    let (world, _server) = World::with_release(&release).await;

    let error = world.refuses().await;

    assert!(error.message().contains("was cut") && error.message().contains(&counts), "{error}");
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn a_release_without_its_signature_is_not_installed() {
    let mut release = Release::of(TOFU);
    release.answer(SIGNATURE, Answer::Status(404));
    let (world, _server) = World::with_release(&release).await;

    let error = world.refuses().await;

    assert!(error.to_string().contains("without its signature"), "{error}");
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn a_version_that_was_never_released_is_said_to_be_so() {
    let (mut world, _server) = World::with_release(&Release::of(TOFU)).await;
    world.settings.version = Some("1.12.99".to_owned());

    let error = world.refuses().await;

    assert_eq!(error.message(), "there is no release of OpenTofu 1.12.99");
    assert_eq!(world.cache(), ["1.12.99.lock"]);
}

#[tokio::test]
async fn a_platform_without_a_release_is_said_to_be_so() {
    let mut release = Release::of(TOFU);
    release.list_and_sign(&format!("{}  tofu_1.12.6_plan9_mips.tar.gz\n", "0".repeat(64)));
    let (world, _server) = World::with_release(&release).await;

    let error = world.refuses().await;

    assert!(error.message().contains("is not released for"), "{error}");
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn a_binary_that_is_another_version_than_its_name_is_not_installed() {
    let (world, _server) = World::with_release(&Release::of(&TOFU.replace("1.12.6", "1.12.5"))).await;

    let error = world.refuses().await;

    assert!(error.message().contains("says it is OpenTofu 1.12.5"), "{error}");
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn an_unreachable_host_without_go_says_what_to_do() {
    let world = World::new();

    let error = world.refuses().await;

    assert_eq!(error.kind(), Kind::Unavailable);
    assert!(error.message().contains("cannot reach"), "{error}");
    for way in ["tofu.binary", "INFRA_TOFU_MIRROR", "install Go"] {
        assert!(error.hints().iter().any(|hint| hint.contains(way)), "{way}: {error}");
    }
    assert_eq!(world.cache(), NOTHING);
}

#[tokio::test]
async fn two_installs_at_once_share_one_download() {
    let (world, server) = World::with_release(&Release::of(TOFU)).await;

    let (one, other) = tokio::join!(world.locate(), world.locate());

    assert_eq!(one.expect("the release is good"), other.expect("the first one installed it"));
    assert_eq!(server.requests_for(".tar.gz"), 1);
    let waits =
        world.progress.borrow().iter().filter(|step| matches!(step, Progress::Waiting { .. })).count();
    assert_eq!(waits, 1);
}

#[tokio::test]
async fn what_a_killed_install_left_is_cleaned_by_the_next() {
    let (world, _server) = World::with_release(&Release::of(TOFU)).await;
    let left = world.path("cache/infra/tofu/1.12.6.partial");
    std::fs::create_dir_all(&left).expect("a temporary folder");
    std::fs::write(left.join(archive_name()), "half").expect("a temporary folder");

    world.locate().await.expect("the release is good");

    assert_eq!(world.cache(), INSTALLED);
}

#[tokio::test]
async fn a_damaged_tofu_in_the_cache_is_replaced() {
    let (world, server) = World::with_release(&Release::of(TOFU)).await;
    let installed = world.locate().await.expect("the release is good");
    std::fs::write(&installed.path, "").expect("its own file");

    let repaired = world.locate().await.expect("the release is good");

    assert_eq!(repaired, installed);
    assert_eq!(std::fs::read_to_string(&repaired.path).expect("it is there"), TOFU);
    assert_eq!(server.requests_for(".tar.gz"), 2);
}

#[tokio::test]
async fn the_newest_release_comes_from_the_index() {
    let index = br#"{"versions":[{"id":"1.12.6"},{"id":"1.13.0"},{"id":"1.14.0-beta1"}]}"#;
    let answers = BTreeMap::from([("/api.json".to_owned(), Answer::Whole(index.to_vec()))]);
    let server = ReleaseServer::start(answers, 404).await;
    let mut world = World::new();
    let unreachable = tofu::newest_release(&world.request()).await.expect_err("nobody listens");

    world.source = ReleaseSource::at(&server.url, "");
    let newest = tofu::newest_release(&world.request()).await.expect("the index is there");

    assert_eq!((newest, unreachable.kind()), (Version::new(1, 13, 0), Kind::Unavailable));
}
