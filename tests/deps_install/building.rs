//! When OpenTofu is built by Go, and when it must not be. A scripted `go` stands in for the
//! real one, which needs a network and minutes; it fails on any call it was not told of.

use infra::tofu::{Origin, Progress, ReleaseSource, receipt};

use crate::release::{Release, SIGNATURE, fresh_key, sign};
use crate::release_server::{Answer, ReleaseServer};
use crate::world::{World, closed_port};

/// Puts a `go` onto the PATH that "builds" a tofu; `sumdb` is what it says about checksums.
async fn install_go(world: &World, sumdb: &str) {
    let module = world.path("module");
    std::fs::create_dir(&module).expect("a temporary folder");
    for name in ["go.mod", "go.sum"] {
        std::fs::write(module.join(name), "").expect("a temporary folder");
    }
    let script = format!(
        r#"#!/bin/sh
echo "$1 $2 $GOFLAGS $CGO_ENABLED" >> {log}
case "$1 $2" in
"env GOSUMDB") echo {sumdb} ;;
"mod download") test "$4" = github.com/opentofu/opentofu@v1.12.6 && echo '{{"Dir":"{module}"}}' ;;
"build -v")
  echo github.com/opentofu/opentofu/cmd/tofu >&2
  while [ "$1" != -o ]; do shift; done
  printf '%s\n' '#!/bin/sh' "echo 'OpenTofu v1.12.6'" > "$2"
  /bin/chmod 755 "$2" ;;
*) exit 64 ;;
esac
"#,
        log = world.path("go.log").display(),
        module = module.display(),
    );
    world.program("bin/go", &script).await;
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_is_replaced_by_a_build() {
    let world = World::new();
    install_go(&world, "sum.example").await;

    let tofu = world.locate().await.expect("go builds it");

    assert_eq!(receipt(&tofu).expect("it was installed").source, Origin::Go);
    assert_eq!(world.cache(), ["1.12.6", "1.12.6.lock", "1.12.6/install.json", "1.12.6/tofu"]);
    assert_eq!(world.calls("go.log").last().expect("a build"), "build -v -mod=mod 0");
    let lines = world.progress.borrow();
    assert!(lines.iter().any(
        |step| matches!(step, Progress::Building { line: Some(line), .. } if line.ends_with("cmd/tofu"))
    ));
}

#[tokio::test]
async fn a_proxy_that_refuses_counts_as_unreachable() {
    let filter = ReleaseServer::start(Default::default(), 403).await;
    for proxy in [filter.url, format!("http://{}", closed_port())] {
        let mut world = World::new();
        world.env.set("HTTP_PROXY", proxy);
        install_go(&world, "sum.example").await;

        let tofu = world.locate().await.expect("go builds it");

        assert_eq!(receipt(&tofu).expect("it was installed").source, Origin::Go);
    }
}

#[tokio::test]
async fn a_wrong_signature_is_never_answered_with_a_build() {
    let mut release = Release::of("");
    release.answer(SIGNATURE, Answer::Whole(sign(&fresh_key(), b"")));
    let (world, _server) = World::with_release(&release).await;
    install_go(&world, "sum.example").await;

    world.refuses().await;

    assert!(world.calls("go.log").is_empty());
    assert_eq!(world.cache(), ["1.12.6.lock"]);
}

#[tokio::test]
async fn a_mirror_that_is_no_url_is_an_error_and_no_reason_to_build() {
    let mut world = World::new();
    world.source = ReleaseSource::at("dana:hunter2@mirror", "");
    install_go(&world, "sum.example").await;

    let error = world.refuses().await;

    assert!(error.message().contains("no http or https URL"), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    assert!(world.calls("go.log").is_empty());
}

#[tokio::test]
async fn a_go_that_verifies_nothing_is_not_used() {
    let world = World::new();
    install_go(&world, "off").await;

    let error = world.refuses().await;

    assert!(error.message().contains("GOSUMDB=off"), "{error}");
    assert_eq!(world.cache(), ["1.12.6.lock"]);
}

#[tokio::test]
async fn a_failed_build_shows_what_go_said_and_leaves_nothing() {
    let world = World::new();
    world.program("bin/go", "#!/bin/sh\necho 'go: no space left' >&2\nexit 1\n").await;

    let error = world.refuses().await;

    assert!(error.to_string().contains("go: no space left"), "{error}");
    assert!(error.to_string().contains("cannot reach"), "{error}");
    assert_eq!(world.cache(), ["1.12.6.lock"]);
}
