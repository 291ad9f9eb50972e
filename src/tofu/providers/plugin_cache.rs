//! One cache of providers for all stacks of a run, so that a provider is downloaded and
//! stored once.
//!
//! Only where it is safe and the user decided nothing else. Several `tofu init` may use one cache at the
//! same time since OpenTofu 1.12.2, unless packages come as folders from a mirror on this disk; a cache
//! of the user's own comes first. Where the user says from which mirror providers
//! come, that mirror has a cache of its own: another one may hold another package under
//! the same name and version.

use std::path::PathBuf;

use semver::Version;

use super::mirrors::any_in_place;
use crate::error::{Result, io};
use crate::model::{Environment, Fingerprint};
use crate::tofu::registry::config_files;
use crate::tofu::{Flavour, Tofu};

const VARIABLE: &str = "TF_PLUGIN_CACHE_DIR";

/// The first version in which several `init` may share a cache at once.
///
/// OpenTofu locks the cache since <https://github.com/opentofu/opentofu/pull/1878>, and 1.12.1 could block
/// itself by that: <https://github.com/gruntwork-io/terragrunt/issues/6230>.
const SOUND_SINCE: Version = Version::new(1, 12, 2);

/// Returns the environment with a cache of providers for the stacks in these folders, where one may
/// be shared.
pub fn with_plugin_cache(env: &Environment, tofu: &Tofu, folders: &[PathBuf]) -> Result<Environment> {
    let is_sound = tofu.flavour == Flavour::OpenTofu && tofu.version >= SOUND_SINCE;
    let Some(dir) = cache_folder(env, folders).filter(|_| is_sound) else { return Ok(env.clone()) };
    // tofu refuses a cache folder that is not there.
    std::fs::create_dir_all(&dir).map_err(io("create", &dir))?;
    Ok(env.clone().with(VARIABLE, dir))
}

/// Returns where the cache lies; `None` if the user has one, or if sharing it would do harm.
fn cache_folder(env: &Environment, folders: &[PathBuf]) -> Option<PathBuf> {
    let settings = config_files(env).into_iter().filter_map(|file| std::fs::read_to_string(file).ok());
    let settings: Vec<String> = settings.collect();
    let says = |word: &str| settings.iter().any(|text| text.contains(word));
    let is_decided = env.get(VARIABLE).is_some() || says("plugin_cache_dir");
    if is_decided || any_in_place(env, &settings, folders) {
        return None;
    }
    let name = match says("provider_installation") {
        true => format!("plugins-{:.12}", digest(&settings)),
        false => "plugins".to_owned(),
    };
    Some(env.cache_dir()?.join(name))
}

fn digest(settings: &[String]) -> String {
    Fingerprint::of(settings.iter().map(String::as_bytes)).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tofu::TofuSource;

    fn tofu(minor: u64, flavour: Flavour) -> Tofu {
        Tofu { path: "tofu".into(), version: Version::new(1, minor, 2), flavour, source: TofuSource::Path }
    }

    fn cache_of(env: &Environment, tofu: &Tofu) -> Option<String> {
        with_plugin_cache(env, tofu, &[]).expect("an environment").get(VARIABLE).map(str::to_owned)
    }

    #[test]
    fn stacks_share_one_cache_where_that_is_sound() {
        let home = tempfile::tempdir().expect("a folder");
        let env = Environment::default().with("HOME", home.path());

        let cache = cache_of(&env, &tofu(12, Flavour::OpenTofu)).expect("a cache");

        assert!(Path::new(&cache).is_dir() && Path::new(&cache).starts_with(home.path()));
        assert_eq!(cache_of(&env, &tofu(11, Flavour::OpenTofu)), None);
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

    #[test]
    fn each_mirror_has_a_cache_of_its_own() {
        let home = tempfile::tempdir().expect("a folder");
        let env = Environment::default().with("HOME", home.path());
        let with_mirror = |path: &str| {
            let text = format!("provider_installation {{\n  filesystem_mirror {{ path = \"{path}\" }}\n}}\n");
            std::fs::write(home.path().join(".tofurc"), text).expect("a file");
            cache_of(&env, &tofu(12, Flavour::OpenTofu)).expect("a cache")
        };
        let without = cache_of(&env, &tofu(12, Flavour::OpenTofu)).expect("a cache");

        let (one, other) = (with_mirror("/one"), with_mirror("/other"));

        assert!(one != other && one != without && one == with_mirror("/one"));
    }
}
