//! Whole projects rendered by the real makejinja and by this program: the same files with the
//! same bytes and modes.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests may panic and start programs")]

#[path = "support/makejinja.rs"]
mod makejinja;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use infra::model::ConfigureSettings;
use infra::model::{Environment, Values};
use infra::process::Interrupts;
use infra::render::plugin::{self, Permission, PluginCall};
use infra::render::{Engine, RenderSettings, TemplateAccess, load_inputs, render_tree, settings};
use serde_json::{Value, json};

/// `makejinja.toml` as the seeds have it.
const SEED: &str = r##"
[makejinja]
inputs = ["./templates/overrides", "./templates/config"]
output = "./"
exclude_patterns = ["*.partial.yaml.j2"]
data = ["./data.json"]
jinja_suffix = ".j2"
copy_metadata = true
force = true
undefined = "chainable"

[makejinja.delimiter]
block_start = "#%"
block_end = "%#"
comment_start = "#|"
comment_end = "#|"
variable_start = "#{"
variable_end = "}#"
"##;

#[test]
fn a_project_of_the_seeds_layout_comes_out_the_same() {
    let project = Project::new(SEED)
        .data(&nodes())
        .file("templates/config/talos/talconfig.yaml.j2", TALCONFIG)
        .file("templates/config/.sops.yaml.j2", "#| keys #|\ncreation_rules:\n  - age: \"#{ age }#\"\n")
        .file("templates/config/kubernetes/app.yaml.j2", "#% if apps.echo | default(false) %#\nkind: App\n#% endif %#\n")
        .file("templates/config/kubernetes/off.yaml.j2", "#% if apps.gone | default(false) %#\nkind: App\n#% endif %#\n")
        .file("templates/config/kubernetes/readme.md", "#{ not rendered }#\r\nkept\r\n")
        .file("templates/config/windows.txt.j2", "a: #{ age }#\r\n#% if true %#\r\nb\r\n#% endif %#\r\n")
        .file("templates/overrides/kubernetes/readme.md", "from overrides\n")
        .file("templates/config/common.partial.yaml.j2", "#% macro labels(n) %#\nname: #{ n }#\n#% endmacro %#\n")
        .file("templates/config/uses.yaml.j2", "#% from 'common.partial.yaml.j2' import labels with context %#\nlabels:\n  #% filter indent(2) %#\n#{ labels('x') }#\n  #% endfilter %#\nend: 1\n")
        .file("templates/config/run.sh.j2", "#!/bin/sh\necho #{ age }#\n")
        .mode("templates/config/run.sh.j2", 0o755)
        .file("templates/config/plain.sh", "#!/bin/sh\n")
        .mode("templates/config/plain.sh", 0o750);

    project.compare();
}

#[test]
fn jinjas_own_delimiters_and_defaults_come_out_the_same() {
    let toml =
        "[makejinja]\ninputs = [\"tpl\"]\noutput = \"out\"\ndata = [\"data.json\"]\ncopy_metadata = true\n";
    let project = Project::new(toml)
        .data(&nodes())
        .file(
            "tpl/a.txt.jinja",
            "{% for n in nodes %}\n{{ loop.index }}: {{ n.name }} {{ n.gone }}\n{% endfor %}\n",
        )
        .file("tpl/b.jinja", "{# note #}\n{{ nodes | map(attribute='name') | join(', ') }}\n\n\n")
        .file("tpl/deep/er/c.yaml.jinja", "{% include './b.jinja' %}\n{{ env.LC_ALL }}{{ apps | tojson }}\n")
        .file("tpl/blank.jinja", "  \n{% set x = 1 %}\n\n")
        .file("tpl/name.j2", "copied {{ as it is }}\n")
        .file("tpl/.jinja", "a dotfile without a suffix {{ x }}\n")
        .file("tpl/two.jinja.jinja", "{{ age }}");

    project.compare();
}

#[test]
fn other_settings_come_out_the_same() {
    let toml = "[makejinja]\ninputs = [\"one\", \"two\"]\noutput = \"out\"\ndata = [\"data.json\"]\njinja_suffix = \".tpl\"\n\
        keep_jinja_suffix = true\nkeep_empty = true\nexclude_patterns = [\"skip/*\", \"[xy]*.txt\"]\ncopy_metadata = true\n\
        [makejinja.data_vars]\n\"apps.extra\" = \"set\"\n\
        [makejinja.whitespace]\ntrim_blocks = false\nlstrip_blocks = false\nkeep_trailing_newline = false\n\
        [makejinja.delimiter]\nblock_start = \"<%\"\nblock_end = \"%>\"\nvariable_start = \"<<\"\nvariable_end = \">>\"\n\
        comment_start = \"<#\"\ncomment_end = \"#>\"\n";
    let project = Project::new(toml)
        .data(&nodes())
        .file("one/a.tpl", "x\n  <% if true %>\n  y << age >>\n  <% endif %>\n<# c #>\nz << apps.extra >>\n")
        .file("two/a.tpl", "never seen")
        .file("two/b.tpl", "<% include 'a.tpl' %>|<< nodes[0].name >>\n")
        .file("two/empty.tpl", "<% set x = 1 %>")
        .file("two/skip/c.tpl", "skipped")
        .file("two/x1.txt", "skipped")
        .file("two/z1.txt", "kept");

    project.compare();
}

#[tokio::test]
async fn a_project_with_a_plugin_comes_out_the_same() {
    let toml = SEED.replace(
        "force = true",
        "force = true\nimport_paths = [\"./scripts\"]\nloaders = [\"plugin:Plugin\"]",
    );
    let mut project = Project::new(&toml)
        .data(&nodes())
        .file("scripts/plugin.py", PLUGIN)
        .file("age.key", "# public key: age1abc\nAGE-SECRET-KEY-1XYZ\n")
        .file("templates/overrides/empty", "")
        .file("templates/config/talos/patches/global/net.yaml.j2", "mtu: #{ 9000 }#\n")
        .file("templates/config/out.yaml.j2", USES_PLUGIN);

    let plugins = plugin::find(project.dir.path(), &project.settings()).unwrap().unwrap();
    let permission = Permission::for_hash(plugins.plugin_hash());
    let env: Environment = std::env::vars_os().collect();
    let call = PluginCall { root: project.dir.path(), env: &env, values: &project.values };
    let more = plugin::run(&plugins, &permission, call, &Interrupts::listen().unwrap()).await.unwrap();
    project.values.extend(more);

    project.compare();
}

const PLUGIN: &str = r##"
import ipaddress
import re
from pathlib import Path

import makejinja


def basename(value: str) -> str:
    return Path(value).stem


def nthhost(value: str, query: int) -> str:
    try:
        return str(ipaddress.ip_network(value, strict=False)[query])
    except (ValueError, IndexError):
        return False


def age_key(kind: str, file_path: str = "age.key") -> str:
    pattern = {"public": r"# public key: (age1\w+)", "private": r"(AGE-SECRET-KEY-\w+)"}[kind]
    return re.search(pattern, Path(file_path).read_text()).group(1)


def talos_patches(value: str) -> list[str]:
    return [str(path) for path in sorted(Path(f"templates/config/talos/patches/{value}").glob("*.yaml.j2"))]


class Plugin(makejinja.plugin.Plugin):
    def __init__(self, data):
        self._data = data

    def data(self):
        self._data.setdefault("gateway", nthhost("10.0.0.0/24", 1))
        self._data.setdefault("several", len(self._data["nodes"]) > 1)
        return self._data

    def filters(self):
        return [basename, nthhost]

    def functions(self):
        return [age_key, talos_patches]
"##;

const USES_PLUGIN: &str = r##"gateway: #{ gateway }#
several: #{ several | string | lower }#
keys: [#{ age_key('public') }#, "#{ age_key('private', file_path='age.key') }#"]
hosts: #{ '10.0.0.0/29' | nthhost(3) }# #{ 'nonsense' | nthhost(1) }# #{ '10.0.0.0/30' | nthhost(9) }#
#% for file in talos_patches('global') %#
- "#{ file }# #{ file | basename }#"
#% endfor %#
none: #{ talos_patches('none') | length }#
"##;

const TALCONFIG: &str = r##"# yaml-language-server: $schema=x
---
clusterName: kubernetes
#% set workers = [] %#
#% for node in nodes %#
#% if node.role == 'worker' %#
#% set _ = workers.append(node.name) %#
#% endif %#
#% endfor %#
workers: #{ workers | tojson }#
endpoint: https://#{ nodes[0].address }#:6443
patches:
  #% for node in nodes | selectattr('controller') | list %#
  - "@./patches/#{ node.name | lower }#.yaml"
  #% endfor %#
nodes:
  #% for node in nodes %#
  - hostname: "#{ node.name }#"
    ipAddress: "#{ node.address }#"
    controlPlane: #{ (node.controller) | string | lower }#
    mtu: #{ node.mtu | default(1500) }#
    #% if node.tags is defined and node.tags | length > 0 %#
    tags:
      #% for tag in node.tags %#
      - "#{ tag }#"
      #% endfor %#
    #% endif %#
    #% if not loop.last %#
    # next: #{ loop.nextitem.name }#
    #% endif %#
  #% endfor %#
#| a comment
   of two lines #|
disk: "#{ '%s-%03d' % (age, 7) }#"
sum: #{ nodes | map(attribute='mtu', default=1500) | sum }#
missing: "#{ some.thing.missing }#"
"##;

fn nodes() -> Value {
    json!({
        "age": "age1xyz",
        "apps": {"echo": true, "list": [1, 2.5, null, "ü"]},
        "nodes": [
            {"name": "K8s-0", "address": "10.0.0.10", "controller": true, "role": "control", "mtu": 9000, "tags": ["a", "b"]},
            {"name": "K8s-1", "address": "10.0.0.11", "controller": false, "role": "worker", "tags": []},
            {"name": "K8s-2", "address": "10.0.0.12", "controller": false, "role": "worker"},
        ],
    })
}

/// A project in a temporary folder.
struct Project {
    dir: tempfile::TempDir,
    values: Values,
}

/// Bytes and mode of each file, by path.
type Files = BTreeMap<PathBuf, (String, u32)>;

impl Project {
    fn new(toml: &str) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), values: Values::new() }.file("makejinja.toml", toml)
    }

    fn data(mut self, data: &Value) -> Self {
        self.values = data.as_object().unwrap().clone();
        self.file("data.json", &data.to_string())
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn mode(self, path: &str, mode: u32) -> Self {
        fs::set_permissions(self.dir.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// Renders here, then lets makejinja render, and compares.
    fn compare(&self) {
        let before = files(self.dir.path());
        let ours = self.render();
        let output = makejinja::makejinja(self.dir.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut theirs = files(self.dir.path());
        theirs.retain(|path, _| !before.contains_key(path));

        assert!(!theirs.is_empty());
        assert_eq!(ours, theirs);
    }

    fn settings(&self) -> RenderSettings {
        settings::resolve(self.dir.path(), &ConfigureSettings::default()).unwrap()
    }

    fn render(&self) -> Files {
        let root = self.dir.path();
        let settings = self.settings();
        let sources = load_inputs(root, &settings).unwrap();
        let env = Environment::default().with("LC_ALL", "C.UTF-8");
        let template_access = TemplateAccess { root: root.to_owned(), env };
        let engine = Engine::new(&settings, &template_access).unwrap();
        let values = settings.with_data_vars(&self.values);
        let rendered = render_tree(&engine, &sources, &values, Path::new(&settings.output)).unwrap();
        rendered
            .files
            .into_iter()
            .map(|file| (file.path, (String::from_utf8(file.bytes).unwrap(), file.mode)))
            .collect()
    }
}

fn files(root: &Path) -> Files {
    let mut found = Files::new();
    collect(root, root, &mut found);
    found
}

fn collect(root: &Path, dir: &Path, found: &mut Files) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
            continue;
        }
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let text = fs::read_to_string(&path).unwrap();
        found.insert(path.strip_prefix(root).unwrap().to_owned(), (text, mode));
    }
}
