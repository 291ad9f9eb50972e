//! The real makejinja: installed once from the Python package index into the user's cache, under a
//! lock, then run over a set of templates in a folder of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The release that the built-in sets are checked with.
const PACKAGE: &str = "makejinja==2.8.1";

/// Gives templates what a project's plugin gives them.
const PLUGIN: &str = include_str!("plugin.py");

/// How projects set makejinja up; the set's folder goes in between.
const BEFORE: &str = "[makejinja]\ninputs = [";
const AFTER: &str = r##"]
output = "out"
data = ["cluster.yaml"]
jinja_suffix = ".j2"
exclude_patterns = ["*.partial.*"]
undefined = "strict"
import_paths = ["."]
plugins = ["plugin.Plugin"]
quiet = true
[makejinja.delimiter]
block_start = "#%"
block_end = "%#"
comment_start = "#|"
comment_end = "#|"
variable_start = "#{"
variable_end = "}#"
"##;

/// Renders the templates of a folder below `dir/out`, with the data of `dir/cluster.yaml`.
pub fn render(templates: &Path, dir: &Path) {
    let settings = format!("{BEFORE}{:?}{AFTER}", templates.display().to_string());
    std::fs::write(dir.join("makejinja.toml"), settings).expect("a writable folder");
    std::fs::write(dir.join("plugin.py"), PLUGIN).expect("a writable folder");
    let output = Command::new("python3")
        .arg(site().join("bin/makejinja"))
        .env("PYTHONPATH", site())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(dir)
        .output()
        .expect("python3 starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// Returns the folder of the installed packages; installs them first.
fn site() -> &'static Path {
    static SITE: OnceLock<PathBuf> = OnceLock::new();
    SITE.get_or_init(|| {
        let tools = cache().join("infra-test-tools");
        std::fs::create_dir_all(&tools).expect("a writable cache");
        let site = tools.join(format!("{}-python{}", PACKAGE.replace("==", "-"), python_version()));
        let lock = File::create(tools.join("makejinja.lock")).expect("a writable cache");
        lock.lock().expect("a lock");
        if !site.exists() {
            install(&tools, &site);
        }
        site
    })
}

/// Installs beside the place and renames, so that a broken installation is never found there.
fn install(tools: &Path, site: &Path) {
    let fresh = tempfile::tempdir_in(tools).expect("a writable cache");
    let output = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"])
        .args([fresh.path().as_os_str(), PACKAGE.as_ref()])
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "no makejinja: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(fresh.keep(), site).expect("one file system");
}

fn python_version() -> String {
    let program = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", program]).output().expect("python3 starts");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

fn cache() -> PathBuf {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").expect("HOME")).join(".cache"))
}
