//! A set of templates rendered by the real makejinja, in a folder of its own.

use std::path::Path;

use crate::installed::makejinja;

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
    let output = makejinja(dir).output().expect("python3 starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}
