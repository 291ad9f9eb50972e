//! Which files OpenTofu reads its own settings from: one main file and, unless a variable names that, every
//! `*.tfrc` of a folder, where `tofu login` keeps its tokens. As of `internal/command/cliconfig` of OpenTofu.

use std::path::PathBuf;

use crate::model::Environment;

/// Returns the files, those that are not there included; a later one counts more.
pub fn config_files(env: &Environment) -> Vec<PathBuf> {
    let named = env.path("TF_CLI_CONFIG_FILE").or_else(|| env.path("TERRAFORM_CONFIG"));
    if let Some(file) = named {
        return vec![file];
    }
    let mut files = vec![main_file(env)];
    files.extend(folder_files(config_folder(env)));
    files
}

fn main_file(env: &Environment) -> PathBuf {
    let home = env.path("HOME").unwrap_or_default();
    let (new, old) = (home.join(".tofurc"), home.join(".terraformrc"));
    match env.path("XDG_CONFIG_HOME") {
        _ if new.exists() => new,
        _ if old.exists() => old,
        Some(config) => config.join("opentofu/tofurc"),
        None => new,
    }
}

fn config_folder(env: &Environment) -> PathBuf {
    let usual = env.path("HOME").unwrap_or_default().join(".terraform.d");
    match env.path("XDG_CONFIG_HOME") {
        Some(config) if !usual.exists() => config.join("opentofu"),
        _ => usual,
    }
}

fn folder_files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".tfrc") || name.ends_with(".tfrc.json")
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_meant).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(env: &Environment, home: &std::path::Path) -> Vec<String> {
        let files = config_files(env).into_iter();
        files.map(|file| file.strip_prefix(home).unwrap_or(&file).display().to_string()).collect()
    }

    #[test]
    fn the_newer_name_comes_first_and_a_named_file_stands_alone() {
        let home = tempfile::tempdir().unwrap();
        let env = Environment::default().with("HOME", home.path());
        assert_eq!(names(&env, home.path()), [".tofurc"]);

        std::fs::write(home.path().join(".terraformrc"), "").unwrap();
        std::fs::create_dir(home.path().join(".terraform.d")).unwrap();
        for name in ["b.tfrc", "credentials.tfrc.json", "notes"] {
            std::fs::write(home.path().join(".terraform.d").join(name), "").unwrap();
        }
        assert_eq!(
            names(&env, home.path()),
            [".terraformrc", ".terraform.d/b.tfrc", ".terraform.d/credentials.tfrc.json"]
        );
        let xdg = env.clone().with("XDG_CONFIG_HOME", home.path().join("config"));
        assert_eq!(names(&xdg, home.path())[0], ".terraformrc");

        assert_eq!(names(&env.with("TF_CLI_CONFIG_FILE", "/x"), home.path()), ["/x"]);
    }
}
