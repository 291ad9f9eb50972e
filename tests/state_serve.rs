//! `infra state serve`: users and their rights, TLS, abuse, a clean end; and the real tofu.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/served.rs"]
mod served;
mod support;
#[path = "support/tools.rs"]
#[expect(dead_code, reason = "each test file uses its own part")]
mod tools;

use std::fs::Permissions;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use infra::model::Clock;
use infra::state::{Credentials, Server, Service, StateStore, TimeLimits};
use jiff::Timestamp;
use nix::sys::signal::Signal;
use served::{PASSWORD, Reply, Served, USER, exchange, info, read_reply};
use support::{Project, Running, SIMPLE, infra};

fn project_on(url: &str) -> Project {
    Project::new()
        .config(&format!("name: lab\nstate:\n  url: {url}\n"))
        .env("TF_HTTP_USERNAME", USER)
        .env("TF_HTTP_PASSWORD", PASSWORD)
}

#[test]
fn two_projects_share_a_server_through_the_paths_of_the_worker() {
    let server = Served::start();
    let url = format!("http://{}/tfstate/states", server.address);
    let one = project_on(&url).stack("01-a/x", SIMPLE);
    let other = project_on(&url).stack("01-a/x", SIMPLE);

    one.run("apply x --yes").succeeds();

    assert_eq!(other.resources("x"), ["terraform_data.thing"]);
    assert!(server.send("GET", "/states/01-a/x", "").body.contains("terraform_data"));
    assert!(!one.has(".infra/state") && !other.has(".infra/state"));
}

#[test]
fn an_address_without_a_path_is_told_with_the_one_that_serves_states() {
    let served = Served::start();
    let project = project_on(&format!("http://{}", served.address)).stack("01-a/x", SIMPLE);

    let run = project.run("plan --all");

    run.stderr_has("`state.url` in infra.yaml has no path")
        .stderr_has(&format!("{}/states`", served.address));
}

#[test]
fn a_lock_on_the_server_keeps_the_real_tofu_out() {
    let server = Served::start();
    let project = project_on(&format!("http://{}/states", server.address)).stack("01-a/x", SIMPLE);
    assert_eq!(server.send("LOCK", "/states/01-a/x/lock", &info("L1")).status, 200);

    project.run("plan x").exits(75).stderr_has("dana@here").stderr_has("L1");

    assert_eq!(server.send("UNLOCK", "/states/01-a/x/lock", &info("L1")).status, 200);
    project.run("plan x").succeeds();
}

#[test]
fn the_real_tofu_is_told_where_a_moved_state_went_and_changes_nothing() {
    let server = Served::start();
    let project = project_on(&format!("http://{}/states", server.address)).stack("01-a/x", SIMPLE);
    project.run("apply x --yes").succeeds();
    let versions = server.send("GET", "/states/01-a/x?versions", "").body;
    let moved = r#"{"moved":{"to":"s3://new-place"}}"#;
    assert_eq!(server.send("POST", "/status/01-a/x", moved).status, 200);

    let plan = project.run("tofu --stack x -- plan -input=false");
    let unlocked = project.run("tofu --stack x -- plan -lock=false -input=false");

    assert!(plan.code != Some(0) && unlocked.code != Some(0), "{} {}", plan.stdout, unlocked.stdout);
    assert!(plan.stderr.contains("s3://new-place") && plan.stderr.contains("moved"), "{}", plan.stderr);
    assert!(!unlocked.stdout.contains("will be created"), "{}", unlocked.stdout);
    assert_eq!(server.send("GET", "/states/01-a/x?versions", "").body, versions);
    project.run("force-unlock x --yes").exits(65).stderr_has("s3://new-place").stderr_has("state-elsewhere");
    project.run("force-unlock x --yes --force").exits(65);
    project.run("locks").succeeds().stdout_has("moved to s3://new-place").stderr_has("no stack is locked");
    assert_eq!(server.send("POST", "/status/01-a/x", "\"lifted\"").status, 200);
    assert_eq!(project.resources("x"), ["terraform_data.thing"]);
}

#[test]
fn marks_need_the_right_to_write_and_are_counted() {
    let server = with_users();
    let send = |user, password, method, body: &str| {
        server.send_as(Some((user, password)), method, "/status/01-a/x", body)
    };
    server.send_as(Some(("ci", "ci-secret")), "POST", "/states/01-a/x", "one");

    assert_eq!(send("viewer", "look", "GET", "").status, 200);
    for mark in [r#"{"moved":{"to":"y"}}"#, "\"lifted\"", "\"left_behind\"", r#"{"of_project":"p"}"#] {
        assert_eq!(send("viewer", "look", "POST", mark).status, 403, "{mark}");
    }
    assert_eq!(server.send_as(Some(("viewer", "look")), "GET", "/status/01-a/y", "").status, 403);
    assert_eq!(server.send_as(None, "GET", "/status/01-a/x", "").status, 401);
    assert_eq!(send("ci", "ci-secret", "POST", r#"{"of_project":"p"}"#).status, 200);
    let metrics = server.send_as(None, "GET", "/metrics", "").body;
    assert!(metrics.contains(r#"action="mark",status="200"} 1"#), "{metrics}");
    assert!(metrics.contains(r#"action="mark",status="403"} 4"#), "{metrics}");
    let listed: serde_json::Value =
        serde_json::from_str(&server.send_as(Some(("admin", "all")), "GET", "/states", "").body).unwrap();
    assert_eq!((&listed[0]["project"], &listed[0]["moved"]), (&"p".into(), &serde_json::Value::Null));
}

const USERS: &str = r#"
users:
  admin:
    password: all
    rights: { "**": [admin] }
  ci:
    password: ci-secret
    rights:
      "01-a/*": [write]
      "02-b/**": [read]
  viewer:
    password: look
    rights: { "01-a/x": [read] }
"#;

fn with_users() -> Served {
    Served::with(|command, folder| {
        std::fs::write(folder.join("users.yaml"), USERS).unwrap();
        command.args(["--users", "users.yaml"]);
    })
}

#[test]
fn users_may_do_what_their_rights_say_and_nothing_else() {
    let server = with_users();
    let status = |user, password, method, path, body: &str| {
        server.send_as(Some((user, password)), method, path, body).status
    };

    assert_eq!(status("ci", "ci-secret", "POST", "/states/01-a/x", "one"), 200);
    assert_eq!(status("ci", "ci-secret", "LOCK", "/states/01-a/x/lock", &info("L")), 200);
    assert_eq!(status("ci", "ci-secret", "UNLOCK", "/states/01-a/x/lock?force", &info("L")), 403);
    assert_eq!(status("ci", "ci-secret", "POST", "/states/02-b/x/deep", "one"), 403);
    assert_eq!(status("ci", "ci-secret", "GET", "/states/03-c/x", ""), 403);
    assert_eq!(status("viewer", "look", "GET", "/states/01-a/x", ""), 200);
    assert_eq!(status("viewer", "look", "GET", "/states/01-a/x/lock", ""), 200);
    for (method, path) in
        [("POST", "/states/01-a/x?ID=L"), ("DELETE", "/states/01-a/x"), ("LOCK", "/states/01-a/x/lock")]
    {
        assert_eq!(status("viewer", "look", method, path, &info("M")), 403, "{method}");
    }
    assert_eq!(status("admin", "all", "UNLOCK", "/states/01-a/x/lock?force", &info("L")), 200);
    assert_eq!(status("ci", "ci-secret", "POST", "/states/01-a/x?ID=L", "late"), 409);
    assert_eq!(status("ci", "wrong", "GET", "/states/01-a/x", ""), 401);
    assert_eq!(server.send_as(None, "GET", "/states/01-a/x", "").status, 401);
}

#[test]
fn only_an_admin_uses_the_lock_of_another_user() {
    let server = Served::with(|command, folder| {
        let users = "users:\n  root: { password: r, rights: { \"**\": [admin] } }\n  \
            locker: { password: l, rights: { \"**\": [lock] } }\n  \
            dana: { password: d, rights: { \"**\": [write] } }\n";
        std::fs::write(folder.join("users.yaml"), users).unwrap();
        command.args(["--users", "users.yaml"]);
    });
    let send =
        |user, password, method, path, body: &str| server.send_as(Some((user, password)), method, path, body);
    assert_eq!(send("dana", "d", "LOCK", "/states/s/lock", &info("abc")).status, 200);
    assert_eq!(send("dana", "d", "LOCK", "/states/s/lock", &info("abc")).status, 200);

    let taken = send("locker", "l", "LOCK", "/states/s/lock", &info("abc"));
    let released = send("locker", "l", "UNLOCK", "/states/s/lock", &info("abc"));

    assert_eq!(taken.status, 423, "{}", taken.body);
    assert_eq!(released.status, 403, "{}", released.body);
    assert!(released.body.contains("`dana` holds the lock of the state `s`"), "{}", released.body);
    assert_eq!(send("dana", "d", "POST", "/states/s?ID=abc", "one").status, 200);
    assert_eq!(send("root", "r", "UNLOCK", "/states/s/lock", &info("abc")).status, 200);
    assert_eq!(send("root", "r", "LOCK", "/states/s/lock", &info("def")).status, 200);
    assert_eq!(send("dana", "d", "POST", "/states/s?ID=def", "two").status, 403);
    assert_eq!(send("dana", "d", "DELETE", "/states/s?ID=def", "").status, 403);
    assert_eq!(send("dana", "d", "GET", "/states/s", "").body, "one");
}

#[test]
fn the_page_shows_a_user_what_the_user_may_see() {
    let server = with_users();
    server.send_as(Some(("admin", "all")), "POST", "/states/01-a/x", "{\"secret\":\"hunter2\"}");
    server.send_as(Some(("admin", "all")), "POST", "/states/02-b/y", "two");
    server.send_as(Some(("admin", "all")), "LOCK", "/states/01-a/x/lock", &info("L9"));

    let all = server.send_as(Some(("admin", "all")), "GET", "/", "");
    let some = server.send_as(Some(("viewer", "look")), "GET", "/", "");

    for part in ["01-a/x", "02-b/y", "dana@here", "L9", "2 states, 1 locked"] {
        assert!(all.body.contains(part), "{part}: {}", all.body);
    }
    assert!(!all.body.contains("hunter2") && !all.body.contains("<script"));
    assert!(all.head.contains("content-security-policy: default-src 'none'"));
    assert!(some.body.contains("01-a/x") && !some.body.contains("02-b/y"), "{}", some.body);
    assert_eq!(server.send_as(None, "GET", "/", "").status, 401);
}

#[test]
fn a_users_file_may_be_encrypted_and_hold_hashes() {
    let key = tools::AgeKey::new();
    let mut hashing = infra();
    hashing.args(["state", "serve", "--hash-password"]).stdin(std::process::Stdio::piped());
    let mut hashing = hashing.stdout(std::process::Stdio::piped()).spawn().unwrap();
    hashing.stdin.take().unwrap().write_all(b"correct horse\n").unwrap();
    let hash = String::from_utf8(hashing.wait_with_output().unwrap().stdout).unwrap();
    let server = Served::with(|command, folder| {
        let file = format!(
            "users:\n    kim:\n        hash: {}\n        rights:\n            '**': [write]\n",
            hash.trim()
        );
        std::fs::write(folder.join("users.yaml"), file).unwrap();
        let sealed = key.run_sops(folder, &["encrypt", "--age", &key.recipient, "--in-place", "users.yaml"]);
        assert!(sealed.status.success(), "{}", String::from_utf8_lossy(&sealed.stderr));
        command.args(["--users", "users.yaml"]).env("SOPS_AGE_KEY", &key.secret);
    });

    assert!(hash.starts_with("$argon2id$"), "{hash}");
    assert_eq!(server.send_as(Some(("kim", "correct horse")), "POST", "/states/a", "one").status, 200);
    assert_eq!(server.send_as(Some(("kim", "wrong")), "GET", "/states/a", "").status, 401);
}

fn refused(args: &str, env: &[(&str, &str)]) -> support::Finished {
    let folder = tempfile::tempdir().unwrap();
    let mut command = infra();
    command.args(["state", "serve", "--store", "s"]).args(args.split_whitespace());
    command.current_dir(folder.path()).envs(env.iter().copied());
    Running::start(command, args).wait()
}

#[test]
fn a_server_that_would_let_nobody_or_everybody_in_does_not_start() {
    refused("--listen 127.0.0.1:0", &[])
        .exits(64)
        .stderr_has("there is no user")
        .stderr_has("INFRA_STATE_USERNAME");
    refused("--listen 127.0.0.1:0", &[("INFRA_STATE_USERNAME", "dana")]).exits(64);
    refused("--listen 0.0.0.0:0 --no-auth", &[]).exits(64).stderr_has("would let everybody in");
    refused("--listen 127.0.0.1:0 --users none.yaml", &[]).exits(69).stderr_has("none.yaml");
    refused("--listen nonsense --no-auth", &[]).exits(69).stderr_has("cannot listen on `nonsense`");
    refused("--listen 127.0.0.1:0 --tls-cert c.pem", &[]).exits(64);
}

#[test]
fn without_authentication_a_loopback_server_serves_everybody() {
    let server = Served::with(|command, _| {
        command.arg("--no-auth").env_remove("INFRA_STATE_USERNAME").env_remove("INFRA_STATE_PASSWORD");
    });

    assert_eq!(server.send_as(None, "POST", "/states/a", "one").status, 200);
    assert_eq!(server.send_as(None, "GET", "/states/a", "").body, "one");
}

#[test]
fn guessing_is_stopped_for_a_while_and_then_the_right_password_is_served_again() {
    let server = Served::start();
    let guess = |number: usize| {
        server.send_as(Some((USER, &format!("guess{number}"))), "GET", "/states/a", "").status
    };

    let told: Vec<u16> = (0..15).map(guess).collect();
    let locked_out = server.send("GET", "/states/a", "");

    assert_eq!((told[0], told[14]), (401, 429), "{told:?}");
    assert_eq!(locked_out.status, 429);
    assert!(locked_out.head.contains("retry-after:"), "{}", locked_out.head);
    let begun = Instant::now();
    while server.send("GET", "/states/a", "").status != 404 {
        assert!(begun.elapsed() < Duration::from_secs(30), "still locked out");
        std::thread::sleep(Duration::from_millis(200));
    }
    let audit = std::fs::read_to_string(server.folder.join("audit.jsonl")).unwrap();
    assert!(audit.contains("\"action\":\"login\"") && !audit.contains("guess"), "{audit}");
}

#[test]
fn the_audit_log_says_who_did_what_to_which_state() {
    let server = Served::start();

    server.send("LOCK", "/states/a/b/lock", &info("L"));
    server.send("POST", "/states/a/b?ID=L", "{\"secret\":\"hunter2\"}");
    server.send("GET", "/health", "");

    let audit = server.audit();
    let written = &audit[1];
    assert_eq!(audit.len(), 2, "{audit:?}");
    assert_eq!(
        (&written["user"], &written["action"], &written["state"]),
        (&USER.into(), &"write".into(), &"a/b".into())
    );
    assert_eq!(
        (&written["lock_id"], &written["status"], &written["bytes"]),
        (&"L".into(), &200.into(), &20.into())
    );
    assert!(!format!("{audit:?}").contains("hunter2"));
}

#[test]
fn a_failed_login_and_an_old_version_are_told_in_the_audit_log() {
    let server = Served::start();
    server.send("POST", "/states/a", "one");

    server.send_as(Some((&"x".repeat(5000), "wrong")), "GET", "/states/a", "");
    server.send("GET", "/states/a?version=1", "");
    let missing = server.send("GET", "/states/a?version=99", "");

    let audit = server.audit();
    assert_eq!(audit[1]["user"], "an unknown user");
    assert_eq!((&audit[2]["action"], &audit[2]["version"]), (&"read".into(), &1.into()));
    assert!(missing.body.contains("has no version 99"), "{}", missing.body);
}

#[test]
fn a_lost_audit_line_is_told_once_and_counted() {
    let errors = tempfile::NamedTempFile::new().unwrap();
    let server = Served::with(|command, _| {
        command.stderr(errors.reopen().unwrap());
    });
    server.send("POST", "/states/a", "one");
    std::fs::remove_file(server.folder.join("audit.jsonl")).unwrap();
    std::fs::create_dir(server.folder.join("audit.jsonl")).unwrap();

    let statuses = [(); 2].map(|()| server.send("GET", "/states/a", "").status);

    let metrics = server.send_as(None, "GET", "/metrics", "").body;
    let told = std::fs::read_to_string(errors.path()).unwrap();
    assert_eq!(statuses, [200, 200]);
    assert!(metrics.contains("infra_state_audit_lines_lost_total 2\n"), "{metrics}");
    assert_eq!(told.matches("cannot be written, lines are lost").count(), 1, "{told}");
}

#[test]
fn a_quiet_server_still_keeps_its_audit_log() {
    let errors = tempfile::NamedTempFile::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = infra();
    command.args(["-q", "state", "serve", "--listen", "127.0.0.1:0", "--store", "s", "--no-auth"]);
    let server = Served::of(command.current_dir(folder.path()).stderr(errors.reopen().unwrap()));

    server.send_as(None, "POST", "/states/a", "one");

    let told = std::fs::read_to_string(errors.path()).unwrap();
    assert!(told.contains("\"action\":\"write\""), "{told}");
}

#[test]
fn without_users_no_page_of_another_site_is_served() {
    let server = Served::with(|command, _| {
        command.arg("--no-auth").env_remove("INFRA_STATE_USERNAME").env_remove("INFRA_STATE_PASSWORD");
    });
    let post = |headers: &str| {
        let head =
            format!("POST /states/a HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: 3\r\n\r\n");
        exchange(server.address, (head + "one").as_bytes())
    };

    let renamed = post("Host: evil.example\r\n");
    let from_page = post(&format!("Host: {}\r\nOrigin: http://evil.example\r\n", server.address));

    assert_eq!((renamed.status, from_page.status), (403, 403), "{renamed:?} {from_page:?}");
    assert!(renamed.body.contains("evil.example") && from_page.body.contains("evil.example"));
    assert_eq!(server.send_as(None, "GET", "/states/a", "").status, 404);
    assert_eq!(post(&format!("Host: {}\r\n", server.address)).status, 200);
}

#[test]
fn a_damaged_state_and_a_closed_folder_do_not_hide_the_others() {
    let server = Served::start();
    server.send("POST", "/states/good", "one");
    server.send("POST", "/states/bad", "one");
    std::fs::write(server.folder.join("states/bad/@log/00000000000000000002"), "junk\n").unwrap();
    // A folder that leads into itself cannot be listed, not even by root.
    std::fs::create_dir(server.folder.join("states/closed")).unwrap();
    std::os::unix::fs::symlink(".", server.folder.join("states/closed/again")).unwrap();

    let page = server.send("GET", "/", "");
    let listed: serde_json::Value = serde_json::from_str(&server.send("GET", "/states", "").body).unwrap();

    assert_eq!(page.status, 200);
    assert!(page.body.contains("good") && page.body.contains("damaged</span>: entry 2"), "{}", page.body);
    let names = [0, 1, 2].map(|row| listed[row]["name"].as_str().unwrap_or_default());
    assert_eq!((names, &listed[2]["size"]), (["bad", "closed", "good"], &3.into()));
    assert!(listed[0]["error"].as_str().unwrap().contains("entry 2 of the state `bad`"), "{listed}");
    assert!(listed[1]["error"].is_string() && listed[2]["error"].is_null(), "{listed}");
    assert_eq!(server.send("GET", "/states/bad", "").status, 500);
}

#[test]
fn a_store_that_takes_nothing_is_refused_and_is_unhealthy_later() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("s")).unwrap();
    std::fs::write(folder.path().join("s/@probe"), "in the way").unwrap();
    let mut command = infra();
    command.args(["state", "serve", "--listen", "127.0.0.1:0", "--store", "s", "--no-auth"]);
    command.current_dir(folder.path());
    Running::start(command, "serve")
        .wait()
        .exits(69)
        .stderr_has("the store cannot be written")
        .stderr_has("/s");

    let server = Served::start();
    let blocked = ["states/@probe", "states/a"].map(|path| server.folder.join(path));
    blocked.iter().for_each(|path| std::fs::write(path, "in the way").unwrap());
    let health = |server: &Served| server.send_as(None, "GET", "/health", "").status;
    assert_eq!((health(&server), server.send("POST", "/states/a", "one").status), (200, 500));
    assert_eq!(health(&server), 503);
    blocked.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    assert_eq!(health(&server), 200);
}

/// Starts a server under a umask, as a user of this system or as the one who runs the tests.
fn served_under(umask: &str, folder: &Path, user: Option<(u32, u32)>) -> Served {
    let binary = folder.join("infra");
    if !binary.exists() {
        // Another user may not reach the folder in which it was built.
        let built = env!("CARGO_BIN_EXE_infra");
        std::fs::hard_link(built, &binary).or_else(|_| std::fs::copy(built, &binary).map(drop)).unwrap();
    }
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]).arg(binary);
    command.args(["state", "serve", "--listen", "127.0.0.1:0", "--store", "states", "--no-auth"]);
    command.current_dir(folder).env("HOME", folder).env_remove("XDG_STATE_HOME");
    if let Some((user, group)) = user {
        std::os::unix::process::CommandExt::uid(&mut command, user);
        std::os::unix::process::CommandExt::gid(&mut command, group);
    }
    Served::of(command.stderr(std::process::Stdio::null()))
}

#[test]
fn users_of_one_group_share_a_state_folder_whatever_their_umask() {
    const GROUP: u32 = 54_321;
    let is_root = nix::unistd::geteuid().is_root();
    let folder = tempfile::tempdir().unwrap();
    let states = folder.path().join("states");
    let set = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    std::fs::create_dir(&states).unwrap();
    if is_root {
        std::os::unix::fs::chown(&states, None, Some(GROUP)).unwrap();
    }
    set(folder.path(), 0o755);
    set(&states, 0o2775);
    // Only root can be two users; for anybody else the modes are all there is to see.
    let users = if is_root { [Some((54_001, GROUP)), Some((54_002, GROUP))] } else { [None, None] };
    let one = served_under("077", folder.path(), users[0]);
    let other = served_under("000", folder.path(), users[1]);

    assert_eq!(one.send_as(None, "POST", "/states/a/x", "one").status, 200);
    assert_eq!(other.send_as(None, "GET", "/states/a/x", "").body, "one");
    assert_eq!(other.send_as(None, "LOCK", "/states/a/x/lock", &info("L")).status, 200);
    assert_eq!(one.send_as(None, "LOCK", "/states/a/x/lock", &info("M")).status, 423);
    assert_eq!(other.send_as(None, "POST", "/states/a/x?ID=L", "two").status, 200);
    assert_eq!(other.send_as(None, "POST", "/states/a/y", "three").status, 200);
    assert_eq!(one.send_as(None, "POST", "/states/a/y", "four").status, 200);
    assert_eq!(one.send_as(None, "GET", "/states/a/x", "").body, "two");

    let mode = |path: &str| std::fs::metadata(states.join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(""), 0o2775);
    for log in ["a/x/@log", "a/y/@log"] {
        assert_eq!((mode("a"), mode(log)), (0o2770, 0o2770), "{log}");
        for entry in std::fs::read_dir(states.join(log)).unwrap() {
            let facts = entry.unwrap().metadata().unwrap();
            assert_eq!(facts.permissions().mode() & 0o7777, 0o660, "{log}");
            assert!(!is_root || std::os::unix::fs::MetadataExt::gid(&facts) == GROUP, "{log}");
        }
    }
}

#[test]
fn a_user_name_with_which_nobody_could_log_in_is_refused() {
    refused("--listen 127.0.0.1:0", &[("INFRA_STATE_USERNAME", "a:b"), ("INFRA_STATE_PASSWORD", "x")])
        .exits(65)
        .stderr_has("`a:b` is no user name")
        .stderr_has("INFRA_STATE_USERNAME");
}

#[test]
fn a_busy_port_is_told_with_a_way_out() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap();

    refused(&format!("--listen {address} --no-auth"), &[])
        .exits(69)
        .stderr_has(&format!("cannot listen on `{address}`"))
        .stderr_has("--listen 127.0.0.1:0");
}

#[test]
fn health_and_metrics_are_for_machines_and_name_no_state() {
    let server = Served::start();
    server.send("POST", "/states/secret-project", "one");

    let metrics = server.send_as(None, "GET", "/metrics", "");

    assert_eq!(server.send_as(None, "GET", "/health", "").body, "ok\n");
    assert!(
        metrics.body.contains("infra_state_requests_total{action=\"write\",status=\"200\"} 1"),
        "{}",
        metrics.body
    );
    assert!(!metrics.body.contains("secret-project"));
}

#[test]
fn versions_can_be_listed_and_read_through_the_server() {
    let server = Served::start();
    server.send("POST", "/states/a", "one");
    server.send("POST", "/states/a", "two");

    let listed: serde_json::Value =
        serde_json::from_str(&server.send("GET", "/states/a?versions", "").body).unwrap();
    let first = listed["versions"][0]["number"].as_u64().unwrap();

    assert_eq!(listed["versions"].as_array().unwrap().len(), 2);
    assert_eq!(server.send("GET", &format!("/states/a?version={first}"), "").body, "one");
    assert_eq!(server.send("GET", "/states/a?version=999", "").status, 404);
    assert_eq!(server.send("GET", "/states/a?version=x", "").status, 400);
    let all: serde_json::Value = serde_json::from_str(&server.send("GET", "/states", "").body).unwrap();
    assert_eq!((&all[0]["name"], &all[0]["size"], &all[0]["versions"]), (&"a".into(), &3.into(), &2.into()));
}

#[test]
fn a_method_that_makes_no_sense_is_told_405() {
    let server = Served::start();

    for (method, path) in [
        ("PATCH", "/states/a"),
        ("PUT", "/states/a"),
        ("LOCK", "/states/a"),
        ("POST", "/states/a/lock"),
        ("POST", "/"),
        ("DELETE", "/health"),
        ("POST", "/metrics"),
        ("DELETE", "/states"),
    ] {
        let reply = server.send(method, path, "x");
        assert_eq!(reply.status, 405, "{method} {path}");
        assert!(reply.head.contains("allow: get, head"), "{}", reply.head);
    }
}

#[test]
fn paths_that_climb_headers_that_lie_and_bodies_that_swell_do_no_harm() {
    let server = Served::with(|command, _| {
        command.args(["--max-state", "1"]);
    });
    std::fs::write(server.folder.join("outside"), "untouched").unwrap();

    for path in [
        "/states/../outside",
        "/states/%2e%2e/outside",
        "/states/..%2foutside",
        "/states/a/%00",
        "/states//etc/passwd",
        "/states/a%5c..%5cb",
        "/states/%ff",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            assert_eq!(server.send(method, path, "x").status, 400, "{method} {path}");
        }
    }
    assert_eq!(server.send("POST", "/states/a", &"x".repeat(1024 * 1024 + 1)).status, 413);
    for request in abusive_requests() {
        let status = exchange(server.address, request.as_bytes()).status;
        assert!(status == 0 || (400..500).contains(&status), "{status}: {request:.80}");
    }
    assert_eq!(std::fs::read_to_string(server.folder.join("outside")).unwrap(), "untouched");
    assert_eq!(server.send("GET", "/states/a", "").status, 404);
}

/// Requests that no client sends by accident.
fn abusive_requests() -> Vec<String> {
    let post = "POST /states/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    vec![
        "\r\n\r\n\r\n".to_owned(),
        "NONSENSE\r\n\r\n".to_owned(),
        "GET /states/a HTTP/9.9\r\n\r\n".to_owned(),
        format!("GET /states/{} HTTP/1.1\r\nHost: x\r\n\r\n", "a/".repeat(100_000)),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-A: b\r\n".repeat(10_000)),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "y".repeat(200_000)),
        format!("{post}Content-Length: -1\r\n\r\n"),
        format!("{post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        format!("{post}Content-Length: 99999999999999999999\r\n\r\n"),
        format!("{post}Transfer-Encoding: chunked\r\n\r\nZZZ\r\n"),
        format!("{post}Authorization: Basic \x01\x02\r\n\r\n"),
        format!("{post}Authorization: Basic {}\r\n\r\n", "A".repeat(50_000)),
    ]
}

#[tokio::test]
async fn a_client_that_never_finishes_is_not_waited_for_and_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateStore::open_local(folder.path(), Clock::new(Timestamp::now)).unwrap();
    let short = Duration::from_millis(300);
    let patience = TimeLimits { head: Some(short), stall: short, handshake: short, memory: short };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = Service::new(store, Credentials::new(USER, PASSWORD)).with_time_limits(patience);
    let server = Server::start(listener, service).unwrap();
    let address = server.address();

    let ended = tokio::task::spawn_blocking(move || {
        let slow: Vec<TcpStream> = (0..200).map(|_| unfinished(address, "GET /states/a HT")).collect();
        let body = unfinished(
            address,
            "POST /states/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\nContent-Length: 9\r\n\r\nhe",
        );
        let healthy = exchange(address, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answers: Vec<Reply> =
            slow.into_iter().chain([body]).map(|mut stream| read_reply(&mut stream)).collect();
        (healthy.status, answers)
    });
    let (healthy, answers) = ended.await.unwrap();

    assert_eq!(healthy, 200);
    assert!(answers[..200].iter().all(|answer| [0, 408].contains(&answer.status)), "{answers:?}");
    assert_eq!(answers[200].status, 408, "{:?}", answers[200]);
    server.shutdown().await;
}

fn unfinished(address: std::net::SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

#[test]
fn a_write_that_has_begun_is_finished_before_the_server_ends() {
    let server = Served::start();
    let body = "x".repeat(3_000_000);
    let head = format!(
        "POST /states/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Basic ZGFuYTpwYXNzOndvcmQ=\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = unfinished(server.address, &head);
    stream.write_all(&body.as_bytes()[..1_000_000]).unwrap();
    server.send("GET", "/health", "");

    server.signal(Signal::SIGTERM);
    stream.write_all(&body.as_bytes()[1_000_000..]).unwrap();
    let reply = read_reply(&mut stream);

    let folder = server.folder.join("states");
    assert_eq!(reply.status, 200);
    let store = StateStore::open_local(&folder, Clock::new(Timestamp::now)).unwrap();
    let kept = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let kept = kept.block_on(store.read(&infra::state::StateName::parse("a").unwrap())).unwrap();
    assert_eq!(kept.map(|bytes| bytes.len()), Some(3_000_000));
    assert!(server.wait().0.success());
}

#[test]
fn an_idle_client_does_not_keep_the_server_from_ending() {
    let server = Served::start();
    let _idle = unfinished(server.address, "GET /states/a HTTP/1.1\r\nHost: x\r\n");

    server.signal(Signal::SIGTERM);
    let (status, took) = server.wait();

    assert!(status.success());
    assert!(took < Duration::from_secs(10), "{took:?}");
}

/// Makes an authority and a certificate for 127.0.0.1 and for a client.
fn certificates(folder: &Path) {
    let script = r#"set -e
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.pem
    for name in server client; do
      openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=$name -keyout $name.key -out $name.csr
      printf 'subjectAltName=IP:127.0.0.1\n' > ext
      openssl x509 -req -in $name.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out $name.pem
    done"#;
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn the_real_tofu_uses_a_server_with_certificates_on_both_sides() {
    let server = Served::with(|command, folder| {
        certificates(folder);
        command.args(["--tls-cert", "server.pem", "--tls-key", "server.key", "--client-ca", "ca.pem"]);
    });
    let pem = |name: &str| std::fs::read_to_string(server.folder.join(name)).unwrap();
    let url = format!("https://{}/states", server.address);
    let stranger =
        project_on(&url).stack("x", SIMPLE).env("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM", &pem("ca.pem"));
    let known = project_on(&url)
        .stack("x", SIMPLE)
        .env("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM", &pem("ca.pem"))
        .env("TF_HTTP_CLIENT_CERTIFICATE_PEM", &pem("client.pem"))
        .env("TF_HTTP_CLIENT_PRIVATE_KEY_PEM", &pem("client.key"));

    known.run("apply x --yes").succeeds();
    stranger.run("plan x").exits(77).stderr_has("certificate required");

    assert_eq!(known.resources("x"), ["terraform_data.thing"]);
    assert_eq!(exchange(server.address, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").status, 0);
}
