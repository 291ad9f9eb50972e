//! A real provider, `hashicorp/time`: built once from the Go module proxy into the user's
//! cache, and offered as mirrors on the disk, so that no test asks a registry.
//!
//! `INFRA_TEST_PROVIDER_TIME` names another binary of the same version.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version that the mirrors hold.
pub const VERSION: &str = "0.14.2";

/// How a mirror keeps its packages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// As folders that are used in place.
    Unpacked,
    /// As archives that are unpacked before they are used.
    Packed,
}

/// Makes a mirror below a folder and returns the settings of tofu that name it.
pub fn mirror(folder: &Path, tofu: &Path, layout: Layout) -> PathBuf {
    let packages = folder.join("mirror").join(address(folder, tofu));
    let platform = format!("{}_{}", go_env("GOOS"), go_env("GOARCH"));
    let program = format!("terraform-provider-time_v{VERSION}");
    match layout {
        Layout::Unpacked => {
            let package = packages.join(VERSION).join(&platform);
            std::fs::create_dir_all(&package).expect("a new folder");
            std::fs::copy(binary(), package.join(&program)).expect("a copy");
        }
        Layout::Packed => {
            std::fs::create_dir_all(&packages).expect("a new folder");
            std::fs::copy(binary(), packages.join(&program)).expect("a copy");
            pack(&packages, &format!("terraform-provider-time_{VERSION}_{platform}.zip"), &program);
            std::fs::remove_file(packages.join(&program)).expect("the copy");
        }
    }
    let settings = folder.join("tofurc");
    let path = folder.join("mirror");
    let text = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
        path.display()
    );
    std::fs::write(&settings, text).expect("a file");
    settings
}

/// Returns the full address of the provider as a path; tofu knows which host a short one means.
fn address(folder: &Path, tofu: &Path) -> PathBuf {
    let asked = folder.join("address");
    std::fs::create_dir_all(&asked).expect("a new folder");
    let text = "terraform {\n  required_providers {\n    time = { source = \"hashicorp/time\" }\n  }\n}\n";
    std::fs::write(asked.join("main.tf"), text).expect("a file");
    let output =
        Command::new(tofu).arg("providers").current_dir(&asked).env_remove("TF_CLI_CONFIG_FILE").output();
    let text = String::from_utf8(output.expect("tofu starts").stdout).expect("text");
    let address = text.split_once("provider[").and_then(|(_, rest)| rest.split_once(']'));
    PathBuf::from(address.unwrap_or_else(|| panic!("no address: {text}")).0)
}

fn pack(folder: &Path, archive: &str, file: &str) {
    let python = Command::new("python3")
        .args(["-m", "zipfile", "-c", archive, file])
        .current_dir(folder)
        .output()
        .expect("python3 starts");
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
}

fn binary() -> PathBuf {
    std::env::var_os("INFRA_TEST_PROVIDER_TIME").map_or_else(installed, PathBuf::from)
}

fn installed() -> PathBuf {
    let tools = cache().join("infra-test-tools");
    std::fs::create_dir_all(&tools).expect("a folder in the cache");
    let target = tools.join(format!("terraform-provider-time-{VERSION}"));
    let lock = File::create(tools.join("terraform-provider-time.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    if !target.exists() {
        build(&tools.join(format!("terraform-provider-time-{VERSION}.partial")), &target);
    }
    target.join("terraform-provider-time")
}

/// Builds beside the target and renames, so that a broken build is never taken for one.
fn build(partial: &Path, target: &Path) {
    let _ = std::fs::remove_dir_all(partial);
    let go = Command::new("nice")
        .args(["go", "install", "-trimpath", "-ldflags=-s -w"])
        .arg(format!("github.com/hashicorp/terraform-provider-time@v{VERSION}"))
        .env("GOBIN", partial)
        .output()
        .expect("the Go tools");
    assert!(go.status.success(), "{}", String::from_utf8_lossy(&go.stderr));
    std::fs::rename(partial, target).expect("the new folder in its place");
}

fn go_env(name: &str) -> String {
    let output = Command::new("go").args(["env", name]).output().expect("the Go tools");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

fn cache() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache"))).expect("a home folder")
}
