//! The script that people put beside their playbooks, so that Ansible calls infra.
//!
//! It may be committed, copied or linked to, and Ansible runs it from any folder. So it looks for the
//! project around itself first, and only then where the project was when the script was made.

use std::path::Path;

use crate::model::quoted;

/// What a script is made for.
#[derive(Clone, Copy, Debug)]
pub struct Wrapper<'a> {
    /// The root of the project.
    pub root: &'a Path,
    /// Whether the root has an `infra.yaml`, by which the script finds another checkout of it.
    pub has_config: bool,
    /// The choice of stacks, ready to be typed; empty for all.
    pub chosen: &'a str,
}

/// Returns the script.
pub fn wrapper(parts: &Wrapper<'_>) -> String {
    let Wrapper { root, has_config, chosen } = parts;
    let root = quoted(&root.display().to_string());
    let search = if *has_config { SEARCH } else { "" };
    let chosen = if chosen.is_empty() { String::new() } else { format!(" {chosen}") };
    format!(
        "#!/bin/sh\n\
         # The machines that infra manages, for Ansible: ansible-playbook -i THIS_FILE site.yml\n\
         # Made by `infra inventory --script`.\n\
         project={root}\n\
         {search}\
         # Ansible shows what it is told beside the inventory as errors: -q leaves it at those.\n\
         exec infra -q -C \"$project\" inventory{chosen} \"$@\"\n"
    )
}

/// A checkout around the script is the one that is meant.
const SEARCH: &str = "\
here=$(CDPATH= cd -P -- \"$(dirname -- \"$0\")\" && pwd) || exit 1
while [ \"$here\" != / ]; do
  if [ -f \"$here/infra.yaml\" ]; then
    project=$here
    break
  fi
  here=$(dirname -- \"$here\")
done
";
