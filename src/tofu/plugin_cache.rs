//! One cache of providers for all stacks of a run, so that a provider is downloaded and
//! stored once.
//!
//! Only where it is safe and nobody decided otherwise: OpenTofu locks the cache since
//! 1.10, and a cache or an installation method of the user's own comes first.

use std::path::{Path, PathBuf};

use super::{Flavour, Tofu};
use crate::error::{Result, io};
use crate::model::Environment;

const VARIABLE: &str = "TF_PLUGIN_CACHE_DIR";

/// Returns the environment with a shared cache of providers, where one may be used.
pub fn with_plugin_cache(env: &Environment, tofu: &Tofu) -> Result<Environment> {
    let locks_it = tofu.flavour == Flavour::OpenTofu && (tofu.version.major, tofu.version.minor) >= (1, 10);
    let Some(dir) = env.cache_dir().map(|dir| dir.join("plugins")) else { return Ok(env.clone()) };
    if !locks_it || env.get(VARIABLE).is_some() || has_own_way(env) {
        return Ok(env.clone());
    }
    // tofu refuses a cache folder that is not there.
    std::fs::create_dir_all(&dir).map_err(io("create", &dir))?;
    Ok(env.clone().with(VARIABLE, dir))
}

/// Returns whether the user's settings of tofu say where providers come from.
fn has_own_way(env: &Environment) -> bool {
    let settings = config_files(env).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    settings
        .into_iter()
        .any(|text| text.contains("plugin_cache_dir") || text.contains("provider_installation"))
}

fn config_files(env: &Environment) -> Vec<PathBuf> {
    if let Some(file) = env.path("TF_CLI_CONFIG_FILE") {
        return vec![file];
    }
    let home = env.path("HOME").unwrap_or_default();
    let below = |home: &Path, names: [&str; 2]| names.map(|name| home.join(name));
    let config = env.path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let mut files: Vec<PathBuf> = below(&home, [".tofurc", ".terraformrc"]).into();
    files.push(config.join("opentofu/tofurc"));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tofu::Source;

    fn tofu(minor: u64, flavour: Flavour) -> Tofu {
        Tofu {
            path: "tofu".into(),
            version: semver::Version::new(1, minor, 0),
            flavour,
            source: Source::Path,
        }
    }

    fn cache_of(env: &Environment, tofu: &Tofu) -> Option<String> {
        with_plugin_cache(env, tofu).expect("an environment").get(VARIABLE).map(str::to_owned)
    }

    #[test]
    fn stacks_share_one_cache_where_tofu_locks_it() {
        let home = tempfile::tempdir().expect("a folder");
        let env = Environment::default().with("HOME", home.path());

        let cache = cache_of(&env, &tofu(12, Flavour::OpenTofu)).expect("a cache");

        assert!(Path::new(&cache).is_dir() && Path::new(&cache).starts_with(home.path()));
        assert_eq!(cache_of(&env, &tofu(9, Flavour::OpenTofu)), None);
        assert_eq!(cache_of(&env, &tofu(14, Flavour::Terraform)), None);
    }

    #[test]
    fn what_the_user_decided_comes_first() {
        let home = tempfile::tempdir().expect("a folder");
        let env = Environment::default().with("HOME", home.path());
        let own = env.clone().with(VARIABLE, "/own");
        assert_eq!(cache_of(&own, &tofu(12, Flavour::OpenTofu)).as_deref(), Some("/own"));

        std::fs::write(home.path().join(".tofurc"), "plugin_cache_dir = \"/mine\"\n").expect("a file");

        assert_eq!(cache_of(&env, &tofu(12, Flavour::OpenTofu)), None);
    }
}
