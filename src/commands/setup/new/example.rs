//! The examples in this program: their own files, the templates of a built-in set where they are
//! rendered from one, and what every project gets: `.gitignore`, `.sops.yaml`, a key, a CI workflow.
//!
//! A test holds the list of files against the folder `examples`. Begin at [`find`].

use std::path::Path;

use super::folder::{Access, NewFile};
use crate::commands::gitops::{Forge, Layout, Rendering, WorkflowFile, workflows};
use crate::error::{Error, Result};
use crate::render::{EmbeddedFile, built_in, embedded_files};
use crate::secrets::identities::FreshKey;

/// The names of the examples, the simplest first.
pub const NAMES: [&str; 3] = ["homelab", "proxmox-talos", "layered"];

/// The one that is made where none is named.
pub const DEFAULT: &str = "homelab";

/// Where the templates of a built-in set go.
const TEMPLATES: &str = "templates/config";

/// What `infra.yaml` is called.
const SETTINGS: &str = "infra.yaml";

/// Stands before the name of a project.
const NAME: &str =
    "# States remember this name: on a store that several projects share, it tells whose they are.\n";

/// Words that YAML takes for something else than a text.
const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

const GITIGNORE: &str = include_str!("gitignore");

/// Where data holds credentials, git does not get it.
const GITIGNORE_DATA: &str =
    "\n# Holds credentials; what is rendered from it holds them encrypted.\ncluster.yaml\n";

/// An example.
#[derive(Debug)]
pub struct Example {
    /// Its name.
    pub name: &'static str,
    /// What to do once it is there.
    pub next: &'static [&'static str],
    files: &'static [EmbeddedFile],
    templates: Option<&'static str>,
    data: Data,
}

/// What the data of an example holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Data {
    /// Nothing that others may not see.
    Plain,
    /// Credentials.
    Secret,
}

/// Returns an example by its name.
pub fn find(name: &str) -> Result<Example> {
    match name {
        "homelab" => Ok(HOMELAB),
        "proxmox-talos" => Ok(PROXMOX_TALOS),
        "layered" => Ok(LAYERED),
        _ => Err(Error::usage(format!("there is no example `{name}`"))
            .hint(format!("the examples are {}", NAMES.join(", ")))),
    }
}

impl Example {
    /// Returns the files of a project with this key and this name.
    pub fn files(&self, key: &FreshKey, name: Option<&str>) -> Vec<NewFile> {
        let own = self.files.iter().map(|(path, bytes)| match (*path, name) {
            (SETTINGS, Some(name)) => file(path, named(&String::from_utf8_lossy(bytes), name).as_bytes()),
            _ => file(path, bytes),
        });
        let templates = self.templates.and_then(built_in).unwrap_or_default();
        let templates = templates.iter().map(|file| usual(format!("{TEMPLATES}/{}", file.path), &file.bytes));
        let key_file = NewFile {
            path: "age.key".to_owned(),
            bytes: key.text.as_bytes().to_vec(),
            access: Access::Private,
        };
        let common = [
            key_file,
            file(".sops.yaml", sops_rules(&key.recipient).as_bytes()),
            file(".gitignore", self.gitignore().as_bytes()),
        ];
        let workflows = self.workflows();
        let workflows = workflows.iter().map(|workflow| file(workflow.path, workflow.text.as_bytes()));
        own.chain(templates).chain(common).chain(workflows).collect()
    }

    fn gitignore(&self) -> String {
        match self.data {
            Data::Plain => GITIGNORE.to_owned(),
            Data::Secret => format!("{GITIGNORE}{GITIGNORE_DATA}"),
        }
    }

    /// Returns the workflows; where git has the data, the rendered files are checked against it.
    fn workflows(&self) -> Vec<WorkflowFile> {
        let rendering = match self.data {
            Data::Plain => Rendering::Checked,
            Data::Secret => Rendering::Given,
        };
        workflows(Forge::Github, &Layout { branch: "main", folder: Path::new(""), rendering })
    }
}

/// Returns the creation rules for a key: the same bytes that the built-in templates render, so that
/// `infra configure` finds them as it would write them.
fn sops_rules(recipient: &str) -> String {
    format!(
        r#"# Who can open the secrets: the public half of `age.key`.
creation_rules:
  - path_regex: infrastructure/.*\.sops\.ya?ml
    mac_only_encrypted: true
    age: "{recipient}"
"#
    )
}

/// Returns settings with a name before the first of them, below what the comment at the top says.
fn named(settings: &str, name: &str) -> String {
    // What YAML cannot hold, or nobody can read, is no name.
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return settings.to_owned();
    }
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    let is_word = name.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && name.chars().all(is_plain)
        && !WORDS.contains(&name.to_ascii_lowercase().as_str());
    // A text of JSON is one of YAML.
    let text = if is_word { name.to_owned() } else { serde_json::Value::from(name).to_string() };
    let is_setting = |line: &str| !line.is_empty() && !line.starts_with('#');
    let above: usize =
        settings.split_inclusive('\n').take_while(|line| !is_setting(line.trim_end())).map(str::len).sum();
    let (comment, rest) = settings.split_at(above);
    format!("{comment}{NAME}name: {text}\n\n{rest}")
}

fn file(path: &str, bytes: &[u8]) -> NewFile {
    usual(path.to_owned(), bytes)
}

fn usual(path: String, bytes: &[u8]) -> NewFile {
    NewFile { path, bytes: bytes.to_vec(), access: Access::Usual }
}

const HOMELAB: Example = Example {
    name: "homelab",
    next: &[
        "infra up                  render five stacks and apply them, offline",
        "infra output --all        see what they made",
    ],
    files: embedded_files! {
        "examples/homelab":
        "Taskfile.yml",
        "cluster.yaml",
        "infra.yaml",
        "nodes.yaml",
        "templates/config/infrastructure/01-hypervisors/pve1/main.tf.j2",
        "templates/config/infrastructure/01-hypervisors/pve2/main.tf.j2",
        "templates/config/infrastructure/02-platforms/k8s-prod/main.tf.j2",
        "templates/config/infrastructure/02-platforms/storage/main.tf.j2",
        "templates/config/infrastructure/03-legacy/pihole/main.tf.j2",
        "templates/config/infrastructure/modules/hypervisor/README.md",
        "templates/config/infrastructure/modules/hypervisor/main.tf",
        "templates/config/infrastructure/modules/hypervisor/outputs.tf",
        "templates/config/infrastructure/modules/hypervisor/variables.tf",
        "templates/config/infrastructure/modules/machine/README.md",
        "templates/config/infrastructure/modules/machine/main.tf",
        "templates/config/infrastructure/modules/machine/outputs.tf",
        "templates/config/infrastructure/modules/machine/variables.tf",
        "templates/config/text.partial.j2",
    },
    templates: None,
    data: Data::Plain,
};

const RENDERED_NEXT: &[&str] = &[
    "$EDITOR cluster.yaml nodes.yaml     your hosts, addresses and credentials",
    "infra configure                     render the folder `infrastructure`, encrypt the credentials",
    "infra plan --all                    see what would be made",
];

const PROXMOX_TALOS: Example = Example {
    name: "proxmox-talos",
    next: RENDERED_NEXT,
    files: embedded_files! {
        "examples/proxmox-talos":
        "README.md",
        "Taskfile.yml",
        "cluster.yaml",
        "infra.yaml",
        "nodes.yaml",
    },
    templates: Some("proxmox-talos"),
    data: Data::Secret,
};

const LAYERED: Example = Example {
    name: "layered",
    next: RENDERED_NEXT,
    files: embedded_files! {
        "examples/layered":
        "README.md",
        "Taskfile.yml",
        "cluster.yaml",
        "infra.yaml",
        "nodes.yaml",
    },
    templates: Some("layered"),
    data: Data::Secret,
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use jiff::Timestamp;

    use super::*;

    #[test]
    fn an_example_holds_every_file_of_its_folder_but_what_is_rendered() {
        for name in NAMES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
            let mut found = BTreeSet::new();
            list(&folder, &folder, &mut found);
            let example = find(name).expect("an example");

            found.retain(|path| !path.starts_with("infrastructure/"));

            let embedded: BTreeSet<String> =
                example.files.iter().map(|(path, _)| (*path).to_owned()).collect();
            assert_eq!(embedded, found, "{name}");
        }
    }

    #[test]
    fn a_key_is_private_and_only_its_public_half_is_elsewhere() {
        let key = FreshKey::generate(Timestamp::UNIX_EPOCH);

        let files = find("layered").expect("an example").files(&key, Some("lab"));

        for file in files {
            let text = String::from_utf8(file.bytes).expect("text");
            let is_key = file.path == "age.key";
            assert_eq!(text.contains("AGE-SECRET-KEY-"), is_key, "{}", file.path);
            assert_eq!(file.access == Access::Private, is_key, "{}", file.path);
            assert_eq!(text.contains(&key.recipient), is_key || file.path == ".sops.yaml", "{}", file.path);
        }
    }

    #[test]
    fn the_name_of_the_folder_stands_below_the_first_comment() {
        let named = |name: &str| named("# A lab.\n#\n# Of mine.\nstacks: {}\n", name);

        assert!(named("la").starts_with("# A lab.\n#\n# Of mine.\n# States remember"), "{}", named("la"));
        for (name, line) in [
            ("la", "\nname: la\n\nstacks: {}\n"),
            ("1 \"a\": #b", "\nname: \"1 \\\"a\\\": #b\"\n"),
            ("off", "\nname: \"off\"\n"),
        ] {
            assert!(named(name).contains(line), "{}", named(name));
        }
        assert!(!named("a\nstate: x").contains("name:"));
    }

    fn list(dir: &Path, folder: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            // What runs leave behind.
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if path.is_dir() {
                list(&path, folder, found);
            } else {
                found.insert(path.strip_prefix(folder).expect("below").display().to_string());
            }
        }
    }
}
