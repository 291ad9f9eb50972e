//! A project whose providers and modules come from a registry of the test's own, with settings of tofu, a
//! cache and an index of releases of its own.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::registry::{Answer, Registry};
use crate::support::{Finished, Project, tofu};

/// The host in the addresses; the settings say where it is.
pub const HOST: &str = "registry.example";

/// A project and its registry.
pub struct World {
    pub project: Project,
    pub registry: Registry,
}

impl World {
    /// Makes a world in which the settings lead to the registry.
    pub fn new() -> Self {
        Self::with_settings("")
    }

    /// Makes a world with more settings of tofu.
    pub fn with_settings(more: &str) -> Self {
        let registry = Registry::plain();
        registry.discovery();
        let services = format!(
            "host \"{HOST}\" {{\n  services = {{\n    \"providers.v1\" = \"{}\"\n    \"modules.v1\"   = \"{}\"\n  }}\n}}\n",
            registry.url("/p/"),
            registry.url("/m/"),
        );
        Self::of(registry, &format!("{services}{more}"))
    }

    /// Makes a world around a registry.
    pub fn of(registry: Registry, settings: &str) -> Self {
        let world = Self { project: project(), registry };
        world.releases_of_tofu(&[env!("CARGO_PKG_VERSION"), &own_tofu()]);
        let project = world.project.env("INFRA_TOFU_MIRROR", &world.registry.url("/tofu"));
        let world = Self { project, registry: world.registry };
        world.settings(settings);
        world
    }

    /// Replaces the settings of tofu.
    pub fn settings(&self, text: &str) {
        std::fs::write(self.beside("tofurc"), text).expect("a file");
    }

    /// Serves the index of the releases of tofu.
    pub fn releases_of_tofu(&self, versions: &[&str]) {
        let versions: Vec<_> = versions.iter().map(|id| serde_json::json!({"id": id, "files": []})).collect();
        let index = serde_json::json!({"versions": versions}).to_string();
        self.registry.answer("/tofu/api.json", Answer::Json(index));
    }

    /// Returns a path beside the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.project.root().with_file_name(name)
    }

    /// Adds a stack that wants a provider.
    pub fn stack(self, id: &str, source: &str, constraint: &str) -> Self {
        let Self { project, registry } = self;
        Self { project: project.stack(id, &wants(source, constraint)), registry }
    }

    /// Sets a variable.
    pub fn env(self, name: &str, value: &str) -> Self {
        let Self { project, registry } = self;
        Self { project: project.env(name, value), registry }
    }

    /// Runs `infra deps outdated`.
    pub fn outdated(&self, args: &str) -> Finished {
        self.project.run(&format!("deps outdated {args}"))
    }

    /// Returns the row of an address.
    pub fn row(&self, name: &str) -> serde_json::Value {
        let run = self.outdated("--json");
        let rows = run.json();
        let found = rows.as_array().and_then(|rows| rows.iter().find(|row| row["name"] == name));
        found.unwrap_or_else(|| panic!("no {name}\n{run}")).clone()
    }

    /// Runs the real tofu in a stack, with the same settings and variables.
    pub fn tofu(&self, stack: &str, args: &[&str]) -> Output {
        let like = self.project.command("deps");
        let mut command = Command::new(tofu());
        command.args(args).current_dir(self.project.path(&format!("infrastructure/{stack}")));
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().expect("tofu starts")
    }
}

fn project() -> Project {
    let project = Project::new();
    let beside = |name: &str| project.root().with_file_name(name).display().to_string();
    let (settings, cache, home) = (beside("tofurc"), beside("cache"), beside("home"));
    std::fs::create_dir_all(&home).expect("a folder");
    project
        .config(&format!("name: lab\ntofu: {{ binary: \"{}\" }}\n", tofu().display()))
        .env("TF_CLI_CONFIG_FILE", &settings)
        .env("XDG_CACHE_HOME", &cache)
        .env("HOME", &home)
        // What this machine asks its proxies for is no matter of a test.
        .env("NO_PROXY", "*")
}

/// Returns the version of the tofu that tests use.
pub fn own_tofu() -> String {
    said_by_tofu("terraform_version")
}

/// Returns this machine as tofu names it.
pub fn platform() -> String {
    said_by_tofu("platform")
}

fn said_by_tofu(name: &str) -> String {
    let output = Command::new(tofu()).args(["version", "-json"]).env_remove("TF_CLI_CONFIG_FILE").output();
    let said: serde_json::Value = serde_json::from_slice(&output.expect("tofu starts").stdout).expect("JSON");
    said[name].as_str().expect("a text").to_owned()
}

/// Returns a stack that wants a provider.
pub fn wants(source: &str, constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    thing = {{\n      source  = \"{source}\" # whose\n      \
         version = \"{constraint}\"\n    }}\n  }}\n}}\n"
    )
}

/// Returns a lock file that holds a version.
pub fn lock(address: &str, version: &str) -> String {
    format!("provider \"{address}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"h1:x\",\n  ]\n}}\n")
}
