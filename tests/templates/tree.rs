//! A rendered set: its files by path, and the folders of OpenTofu files in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use hcl_edit::structure::{Block, BlockLabel, Body};

use super::makejinja;
use crate::support::{Project, infra};

/// The built-in sets.
pub const SETS: [&str; 2] = ["proxmox-talos", "layered"];

/// The data they are rendered with, each in `tests/data/clusters`.
pub const CLUSTERS: [&str; 5] = ["minimal", "full", "secureboot", "vlan", "hostile"];

/// Returns the age key of every project in these tests.
pub fn age_key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let made = infra().args(["secrets", "keygen"]).output().expect("the binary under test starts");
        String::from_utf8(made.stdout).expect("text")
    })
}

/// The files that a set was rendered to.
#[derive(Clone)]
pub struct Tree {
    pub files: BTreeMap<String, String>,
}

/// The OpenTofu files of one folder, taken together.
pub struct Folder {
    pub path: String,
    pub bodies: Vec<(String, Body)>,
}

impl Tree {
    /// Renders a set with the data of one cluster, as `infra configure` does.
    pub fn render(set: &str, cluster: &str) -> Self {
        let project = Project::new()
            .config(&format!("configure: {{ inputs: [\"builtin:{set}\"], output: out }}\n"))
            .file("cluster.yaml", &data(cluster))
            .file("age.key", age_key());
        project.run("configure --no-init").succeeds();
        let mut tree = Self::read(&project.path("out"));
        for (path, text) in tree.files.iter_mut().filter(|(path, _)| path.ends_with("secrets.sops.yaml")) {
            *text = project.run(&format!("secrets view out/{path}")).succeeds().stdout;
        }
        tree
    }

    /// Renders the same as makejinja does.
    pub fn render_by_makejinja(set: &str, cluster: &str) -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("cluster.yaml"), data(cluster)).expect("a writable folder");
        std::fs::write(dir.path().join("age.key"), age_key()).expect("a writable folder");
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(set);
        makejinja::render(&templates, dir.path());
        Self::read(&dir.path().join("out"))
    }

    /// Reads the files of a folder, without hidden folders.
    pub fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        read(folder, folder, &mut files);
        Self { files }
    }

    /// Returns every set with every cluster, rendered once for all tests.
    pub fn all() -> &'static [(String, Self)] {
        static ALL: OnceLock<Vec<(String, Tree)>> = OnceLock::new();
        ALL.get_or_init(|| {
            let pairs = SETS.iter().flat_map(|set| CLUSTERS.iter().map(move |cluster| (set, cluster)));
            pairs.map(|(set, cluster)| (format!("{set}, {cluster}"), Self::render(set, cluster))).collect()
        })
    }

    /// Writes the files into a folder.
    pub fn write(&self, dir: &Path) {
        for (path, text) in &self.files {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a writable folder");
            std::fs::write(path, text).expect("a writable folder");
        }
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &str) -> &str {
        self.files.get(path).unwrap_or_else(|| panic!("no `{path}` in {:?}", self.files.keys()))
    }

    /// Returns the folders that hold `.tf` files.
    pub fn folders(&self) -> Vec<Folder> {
        let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
        for (path, text) in self.files.iter().filter(|(path, _)| path.ends_with(".tf")) {
            let (folder, _) = path.rsplit_once('/').expect("a folder");
            let body = text.parse::<Body>().unwrap_or_else(|error| panic!("{path}: {error}"));
            let entry = folders.entry(folder.to_owned());
            let entry = entry.or_insert_with(|| Folder { path: folder.to_owned(), bodies: Vec::new() });
            entry.bodies.push((path.clone(), body));
        }
        folders.into_values().collect()
    }

    /// Returns the names that a file of `name = value` gives.
    pub fn keys(&self, path: &str) -> Vec<String> {
        let Some(text) = self.files.get(path) else { return Vec::new() };
        let body = text.parse::<Body>().unwrap_or_else(|error| panic!("{path}: {error}"));
        body.attributes().map(|attribute| attribute.key.to_string()).collect()
    }
}

impl Folder {
    /// Returns the top-level blocks with their file.
    pub fn blocks(&self) -> impl Iterator<Item = (&str, &Block)> {
        self.bodies.iter().flat_map(|(file, body)| body.blocks().map(move |block| (file.as_str(), block)))
    }

    /// Returns the labels of the blocks of one kind.
    pub fn labels<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (Vec<&'a str>, &'a Block)> {
        let blocks = self.blocks().map(|(_, block)| block).filter(move |block| block.ident.as_str() == kind);
        blocks.map(|block| (block.labels.iter().map(BlockLabel::as_str).collect(), block))
    }
}

fn data(cluster: &str) -> String {
    let path = format!("{}/tests/data/clusters/{cluster}.yaml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the data")
}

fn read(dir: &Path, root: &Path, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !entry.file_name().as_encoded_bytes().starts_with(b".") {
            read(&path, root, files);
        } else if path.is_file() {
            let below = path.strip_prefix(root).expect("below the root").display().to_string();
            files.insert(below, std::fs::read_to_string(&path).expect("text"));
        }
    }
}
