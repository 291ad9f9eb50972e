//! Getting infra onto a machine: the archive that is handed out, and the script that installs it, against a
//! folder and a server that play the place of releases. The binary that is packed starts the one under test:
//! packing it itself would only be slow.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn ci(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci").join(name)
}

fn target() -> String {
    let said = Command::new("rustc").arg("-vV").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    said.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A place of releases in a folder, with the folder to install into beside it.
struct Place {
    dir: tempfile::TempDir,
    archive: String,
}

impl Place {
    /// Makes a place whose newest release is the binary under test.
    fn new() -> Self {
        static PACKED: OnceLock<Place> = OnceLock::new();
        let packed = PACKED.get_or_init(|| {
            let place = Self::empty();
            place.release("latest/download", &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_infra")));
            place
        });
        let place = Self::empty();
        fs::create_dir_all(place.path("latest/download")).unwrap();
        for name in [place.archive.as_str(), "SHA256SUMS"] {
            let below = Path::new("latest/download").join(name);
            fs::copy(packed.dir.path().join(&below), place.dir.path().join(&below)).unwrap();
        }
        place
    }

    fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), archive: format!("infra-{}.tar.gz", target()) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Packs a program.
    fn release(&self, folder: &str, program: &str) {
        script(&self.path("program"), program);
        let packed =
            Command::new(ci("pack")).arg(self.path("program")).arg(target()).arg(self.path(folder)).output();
        let packed = packed.expect("python3");
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    }

    fn install(&self, more: &[&str]) -> Output {
        let from = format!("file://{}", self.dir.path().display());
        self.install_with(&[&["--from", &from], more].concat(), &[])
    }

    fn install_with(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        let mut command = Command::new("sh");
        command.arg(ci("install.sh")).args(["--to".as_ref(), self.path("bin").as_os_str()]).args(args);
        command.envs(env.iter().copied()).current_dir(self.dir.path()).output().expect("sh")
    }

    /// Returns what is in the folder that is installed into.
    fn installed(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("bin")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_archive_holds_the_program_its_pages_completions_and_licences() {
    let place = Place::new();
    let unpacked = place.path("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let archive = place.path("latest/download").join(&place.archive);
    let tar = Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&unpacked).status().unwrap();
    assert!(tar.success());

    let top = unpacked.join(format!("infra-{}", target()));
    let said = Command::new(top.join("infra")).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).starts_with("infra "));
    for name in
        ["man/infra.1", "man/infra-apply.1", "completions/infra.bash", "completions/_infra", "LICENSE"]
    {
        assert!(top.join(name).metadata().unwrap().len() > 0, "{name}");
    }
    let licences = fs::read_to_string(top.join("LICENSES-OF-CRATES")).unwrap();
    for named in ["\n  tokio ", "\n  clap ", "\n  rustls ", "Permission is hereby granted", "Apache License"]
    {
        assert!(licences.contains(named), "{named}");
    }
    // What only tests it is not handed out.
    assert!(!licences.contains("\n  proptest "));
}

#[test]
fn the_same_sources_and_binary_give_the_same_bytes_and_one_line_in_the_list() {
    let place = Place::new();
    let archive = place.path("latest/download").join(&place.archive);
    let first = fs::read(&archive).unwrap();

    place.release("latest/download", &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_infra")));

    assert!(fs::read(&archive).unwrap() == first, "the archive is another one");
    let sums = place.path("latest/download");
    let check = Command::new("sha256sum").args(["--check", "SHA256SUMS"]).current_dir(sums).output().unwrap();
    assert!(check.status.success());
    assert_eq!(String::from_utf8(check.stdout).unwrap(), format!("{}: OK\n", place.archive));
}

#[test]
fn the_newest_release_is_installed_and_replaced_in_one_step() {
    let place = Place::new();

    let output = place.install(&[]);

    assert!(output.status.success(), "{}", err(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("is installed"));
    assert!(err(&output).contains("add it to your PATH"));
    assert_eq!(place.installed(), ["infra"]);
    let before = fs::File::open(place.path("bin/infra")).unwrap();
    assert!(place.install(&[]).status.success());
    assert_eq!(place.installed(), ["infra"]);
    // Whoever has the old one open still has all of it.
    assert!(before.metadata().unwrap().len() > 0);
    let mode = fs::metadata(place.path("bin/infra")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn a_version_is_installed_by_its_name() {
    let place = Place::new();
    place.release(
        "download/v0.0.9",
        "case $1 in --version) echo infra 0.0.9 ;; *) exec INFRA \"$@\" ;; esac"
            .replace("INFRA", env!("CARGO_BIN_EXE_infra"))
            .as_str(),
    );

    let output = place.install(&["--version", "0.0.9"]);

    assert!(String::from_utf8_lossy(&output.stdout).contains("infra 0.0.9 is installed"), "{}", err(&output));
}

#[test]
fn what_is_not_the_file_that_was_released_replaces_nothing() {
    let place = Place::new();
    assert!(place.install(&[]).status.success());
    let before = fs::read(place.path("bin/infra")).unwrap();
    let archive = place.path("latest/download").join(&place.archive);
    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&archive, bytes).unwrap();

    let output = place.install(&[]);

    assert!(!output.status.success());
    assert!(err(&output).contains("is not the file that was released"), "{}", err(&output));
    assert_eq!(
        (fs::read(place.path("bin/infra")).unwrap(), place.installed()),
        (before, vec!["infra".to_owned()])
    );
}

#[test]
fn whatever_is_missing_is_named_and_nothing_stays_behind() {
    let place = Place::new();
    fs::write(place.path("latest/download/SHA256SUMS"), "").unwrap();
    let unlisted = place.install(&[]);
    fs::remove_file(place.path("latest/download/SHA256SUMS")).unwrap();
    let no_list = place.install(&[]);
    let unknown = place.install_with(&[], &[]);
    let odd = place.install_with(&["--from", "ftp://x"], &[]);

    for (output, why) in [
        (unlisted, "does not name"),
        (no_list, "cannot fetch"),
        (unknown, "does not know where releases are"),
        (odd, "is no address"),
    ] {
        assert!(!output.status.success() && err(&output).contains(why), "{}", err(&output));
    }
    assert_eq!(place.installed(), [""; 0]);
}

#[test]
fn another_machine_is_refused_by_its_name() {
    let place = Place::new();
    fs::create_dir(place.path("fake")).unwrap();
    script(&place.path("fake/uname"), "case $1 in -s) echo Plan9 ;; *) echo x86_64 ;; esac");
    let path = format!("{}:{}", place.path("fake").display(), std::env::var("PATH").unwrap());

    let output = place.install_with(&["--from", "file:///nowhere"], &[("PATH", &path)]);

    assert!(err(&output).contains("there is no infra for the system 'Plan9'"), "{}", err(&output));
}

#[test]
fn a_script_that_was_cut_on_its_way_does_nothing() {
    let place = Place::new();
    let whole = fs::read_to_string(ci("install.sh")).unwrap();
    let cut = whole.rsplit_once("main \"$@\"").unwrap().0;
    fs::write(place.path("cut.sh"), cut).unwrap();

    let output = Command::new("sh").arg(place.path("cut.sh")).env("HOME", place.dir.path()).output().unwrap();

    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert_eq!(place.installed(), [""; 0]);
}

#[test]
fn a_release_is_installed_from_a_server() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let from = format!("http://{}", listener.local_addr().unwrap());
    let root = place.dir.path().to_owned();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut first = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            reader.read_line(&mut first).unwrap();
            let mut line = String::new();
            while reader.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let path = first.split(' ').nth(1).unwrap().trim_start_matches('/');
            let (status, body) = fs::read(root.join(path)).map_or((404, Vec::new()), |body| (200, body));
            let head =
                format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    let direct = [("NO_PROXY", "*"), ("no_proxy", "*")];

    let output = place.install_with(&["--from", &from], &direct);
    let missing = place.install_with(&["--from", &from, "--version", "9.9.9"], &direct);

    assert!(output.status.success(), "{}", err(&output));
    assert!(err(&missing).contains("cannot fetch"), "{}", err(&missing));
    assert_eq!(place.installed(), ["infra"]);
}

/// Returns the workflows of this repository by name.
fn workflows() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows");
    let files = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn workflows_pin_what_they_use_and_may_do_little() {
    let all = workflows();
    assert_eq!(all.len(), 2);
    for (name, text) in all {
        let uses: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("uses: ")).map(|(_, what)| what).collect();
        assert!(!uses.is_empty(), "{name}");
        for what in uses {
            let (action, version) = what.split_once(" # ").unwrap_or_else(|| panic!("{name}: {what}"));
            let commit = action.split_once('@').unwrap().1;
            assert!(
                commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{name}: {what}"
            );
            assert!(version.starts_with('v'), "{name}: {what}");
        }
        let jobs = text.matches("runs-on:").count();
        assert_eq!(text.matches("timeout-minutes:").count(), jobs, "{name}");
        assert_eq!(
            text.matches("actions/checkout@").count(),
            text.matches("persist-credentials: false").count(),
            "{name}"
        );
        assert!(text.contains("\npermissions:\n  contents: read\n"), "{name}");
        assert!(!text.contains("pull_request_target") && !text.contains("${{ github.event"), "{name}");
        let runs = text.split("run: |").skip(1).map(|part| part.split("\n      - ").next().unwrap());
        assert!(runs.into_iter().all(|run| !run.contains("${{")), "{name}");
    }
}
