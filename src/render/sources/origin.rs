//! Which template a generated file is made from, without rendering: by the names alone.
//!
//! The manifest knows it too, but a fresh clone has none.

use std::path::Path;

use super::walk;
use crate::model::ConfigureSettings;
use crate::render::settings::{BUILT_IN, resolve};

/// Returns the template that is written to a path, both below the root; the first input wins.
pub fn template_of(root: &Path, configure: &ConfigureSettings, path: &Path) -> Option<String> {
    let settings = resolve(root, configure).ok()?;
    let below = path.strip_prefix(&settings.output).ok()?.to_str()?;
    let inputs = settings.inputs.iter().filter(|input| !input.starts_with(BUILT_IN));
    inputs.filter(|input| root.join(input).is_dir()).find_map(|input| {
        let names = walk::files_below(&root.join(input), &settings).ok()?;
        let made = names.into_iter().find(|file| settings.output_of(&file.path) == below)?.path;
        let template = format!("{input}/{made}");
        (!settings.excludes(&template)).then_some(template)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_the_name_of_its_template() {
        let dir = tempfile::tempdir().expect("a folder");
        let below = dir.path().join("templates/config/a");
        std::fs::create_dir_all(&below).expect("a folder");
        std::fs::write(below.join("x.tf.j2"), "").expect("a file");
        let of = |path: &str| template_of(dir.path(), &ConfigureSettings::default(), Path::new(path));

        assert_eq!(of("a/x.tf").as_deref(), Some("templates/config/a/x.tf.j2"));
        assert_eq!(of("a/y.tf"), None);
    }
}
