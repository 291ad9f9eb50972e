//! The mirrors of providers on this disk that tofu uses, and whether one of them holds
//! packages as folders.
//!
//! tofu links such a folder instead of unpacking an archive, and makes the link anew at
//! every `init`. In a cache that several stacks share, the others then find nothing for a
//! moment, and fail. Begin at [`any_in_place`].

use std::path::{Path, PathBuf};

use crate::model::Environment;
use crate::syntax;
use crate::syntax::{Block, Document, Setting};

/// How deep a package lies: host, namespace, name, version, platform.
const DEPTH: usize = 5;

/// Returns whether a mirror that tofu would use in these folders holds packages as folders.
///
/// `settings` are the texts of the user's settings of tofu.
pub fn any_in_place(env: &Environment, settings: &[String], folders: &[PathBuf]) -> bool {
    let named = settings.iter().filter(|text| text.contains("provider_installation"));
    let named: Vec<Option<Vec<PathBuf>>> = named.map(|text| named_mirrors(text)).collect();
    let mirrors = match named.is_empty() {
        true => Some(implied_mirrors(env, folders)),
        false => named.into_iter().collect::<Option<Vec<_>>>().map(|mirrors| mirrors.concat()),
    };
    // What cannot be read may be anything.
    mirrors.is_none_or(|mirrors| mirrors.iter().any(|mirror| has_folder(mirror, DEPTH)))
}

/// Returns the mirrors that settings name; `None` if they cannot be read.
fn named_mirrors(text: &str) -> Option<Vec<PathBuf>> {
    let Document { body, fault: None } = syntax::read(text) else { return None };
    let methods = body.blocks_of("provider_installation");
    let mirrors = methods.flat_map(|block| block.body.blocks_of("filesystem_mirror"));
    let path_of = |mirror: &Block<'_>| match syntax::value(text, &mirror.body.attribute("path")?.value)? {
        Setting::Literal(path) => Some(PathBuf::from(path)),
        Setting::Map(_) | Setting::Expression(_) => None,
    };
    mirrors.map(path_of).collect()
}

/// Returns where tofu looks if no setting names a place.
fn implied_mirrors(env: &Environment, folders: &[PathBuf]) -> Vec<PathBuf> {
    let home = env.path("HOME").unwrap_or_default();
    let data = env.path("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let shared = env.get("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    let mut mirrors: Vec<PathBuf> = folders.iter().map(|folder| folder.join("terraform.d/plugins")).collect();
    mirrors.push(home.join(".terraform.d/plugins"));
    mirrors.push(data.join("opentofu/plugins"));
    mirrors.push(data.join("terraform/plugins"));
    mirrors.extend(shared.split(':').map(|dir| Path::new(dir).join("terraform/plugins")));
    mirrors
}

fn has_folder(dir: &Path, depth: usize) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    if depth == 1 { folders.next().is_some() } else { folders.any(|folder| has_folder(&folder, depth - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGES: &str = "host/hashicorp/time";

    fn home() -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        let env = Environment::default().with("HOME", home.path()).with("XDG_DATA_DIRS", "");
        (home, env)
    }

    fn settings(mirror: &Path) -> String {
        format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
            mirror.display()
        )
    }

    #[test]
    fn a_mirror_of_archives_is_not_used_in_place() {
        let (home, env) = home();
        let mirror = home.path().join("mirror");
        std::fs::create_dir_all(mirror.join(PACKAGES)).unwrap();
        std::fs::write(mirror.join(PACKAGES).join("time_1.0.0_linux_amd64.zip"), "").unwrap();

        assert!(!any_in_place(&env, &[settings(&mirror)], &[]));

        std::fs::create_dir_all(mirror.join(PACKAGES).join("1.0.0/linux_amd64")).unwrap();
        assert!(any_in_place(&env, &[settings(&mirror)], &[]));
    }

    #[test]
    fn without_settings_the_places_count_where_tofu_looks_by_itself() {
        let (home, env) = home();
        let stack = home.path().join("stack");
        let package = stack.join("terraform.d/plugins").join(PACKAGES).join("1.0.0/linux_amd64");
        std::fs::create_dir_all(package).unwrap();

        assert!(any_in_place(&env, &[], std::slice::from_ref(&stack)));
        assert!(!any_in_place(&env, &[], &[]));
        assert!(!any_in_place(&env, &["provider_installation {\n}\n".to_owned()], &[stack]));
    }

    #[test]
    fn settings_that_cannot_be_read_may_name_any_mirror() {
        let (_home, env) = home();

        assert!(any_in_place(&env, &["provider_installation {".to_owned()], &[]));
        assert!(any_in_place(
            &env,
            &["provider_installation {\n  filesystem_mirror {}\n}\n".to_owned()],
            &[]
        ));
    }
}
