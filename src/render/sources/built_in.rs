//! The templates that this program brings along, one set a name, as the folder `templates` has
//! them. A project without templates of its own is rendered from them, and `infra new` copies them.
//!
//! A test holds the lists below against the folders. Begin at [`built_in`].

use std::borrow::Cow;

use crate::render::SourceFile;

/// A file in this program: where it stands below its folder, and what it holds.
pub type EmbeddedFile = (&'static str, &'static [u8]);

/// Puts the files of a folder of this repository into the program.
macro_rules! embedded_files {
    ($folder:literal: $($path:literal,)*) => {
        &[$((
            $path,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $folder, "/", $path)).as_slice(),
        )),*]
    };
}
pub(crate) use embedded_files;

/// The names of the sets; the first is for projects that name none.
pub const TEMPLATE_SETS: [&str; 2] = ["proxmox-talos", "layered"];

/// Returns the files of a set.
pub fn built_in(name: &str) -> Option<Vec<SourceFile>> {
    let files = match name {
        "proxmox-talos" => PROXMOX_TALOS,
        "layered" => LAYERED,
        _ => return None,
    };
    Some(files.iter().map(|file| source(name, file)).collect())
}

fn source(set: &str, (path, bytes): &EmbeddedFile) -> SourceFile {
    SourceFile {
        path: (*path).to_owned(),
        bytes: Cow::Borrowed(bytes),
        mode: 0o644,
        origin: format!("built-in {set}/{path}"),
    }
}

const PROXMOX_TALOS: &[EmbeddedFile] = embedded_files! {
    "templates/proxmox-talos":
    ".sops.yaml.j2",
    "infrastructure/README.md.j2",
    "infrastructure/secrets.sops.yaml.j2",
    "infrastructure/tofu/backend.tf.j2",
    "infrastructure/tofu/main.tf.j2",
    "infrastructure/tofu/outputs.tf.j2",
    "infrastructure/tofu/providers.tf.j2",
    "infrastructure/tofu/terraform.tfvars.j2",
    "infrastructure/tofu/variables.tf.j2",
    "infrastructure/tofu/versions.tf.j2",
    "text.partial.j2",
};

const LAYERED: &[EmbeddedFile] = embedded_files! {
    "templates/layered":
    ".sops.yaml.j2",
    "infrastructure/01-hypervisors/pve/backend.tf.j2",
    "infrastructure/01-hypervisors/pve/main.tf.j2",
    "infrastructure/01-hypervisors/pve/outputs.tf.j2",
    "infrastructure/01-hypervisors/pve/providers.tf.j2",
    "infrastructure/01-hypervisors/pve/terraform.tfvars.j2",
    "infrastructure/01-hypervisors/pve/variables.tf.j2",
    "infrastructure/01-hypervisors/pve/versions.tf.j2",
    "infrastructure/02-platforms/k8s-prod/backend.tf.j2",
    "infrastructure/02-platforms/k8s-prod/main.tf.j2",
    "infrastructure/02-platforms/k8s-prod/outputs.tf.j2",
    "infrastructure/02-platforms/k8s-prod/providers.tf.j2",
    "infrastructure/02-platforms/k8s-prod/terraform.tfvars.j2",
    "infrastructure/02-platforms/k8s-prod/variables.tf.j2",
    "infrastructure/02-platforms/k8s-prod/versions.tf.j2",
    "infrastructure/03-legacy/standalone/backend.tf.j2",
    "infrastructure/03-legacy/standalone/main.tf.j2",
    "infrastructure/03-legacy/standalone/outputs.tf.j2",
    "infrastructure/03-legacy/standalone/providers.tf.j2",
    "infrastructure/03-legacy/standalone/terraform.tfvars.j2",
    "infrastructure/03-legacy/standalone/variables.tf.j2",
    "infrastructure/03-legacy/standalone/versions.tf.j2",
    "infrastructure/README.md.j2",
    "infrastructure/modules/flux_bootstrap/README.md.j2",
    "infrastructure/modules/flux_bootstrap/main.tf.j2",
    "infrastructure/modules/flux_bootstrap/outputs.tf.j2",
    "infrastructure/modules/flux_bootstrap/variables.tf.j2",
    "infrastructure/modules/flux_bootstrap/versions.tf.j2",
    "infrastructure/modules/proxmox_access/README.md.j2",
    "infrastructure/modules/proxmox_access/main.tf.j2",
    "infrastructure/modules/proxmox_access/outputs.tf.j2",
    "infrastructure/modules/proxmox_access/variables.tf.j2",
    "infrastructure/modules/proxmox_access/versions.tf.j2",
    "infrastructure/modules/proxmox_lxc_container/README.md.j2",
    "infrastructure/modules/proxmox_lxc_container/main.tf.j2",
    "infrastructure/modules/proxmox_lxc_container/outputs.tf.j2",
    "infrastructure/modules/proxmox_lxc_container/variables.tf.j2",
    "infrastructure/modules/proxmox_lxc_container/versions.tf.j2",
    "infrastructure/modules/proxmox_network/README.md.j2",
    "infrastructure/modules/proxmox_network/main.tf.j2",
    "infrastructure/modules/proxmox_network/outputs.tf.j2",
    "infrastructure/modules/proxmox_network/variables.tf.j2",
    "infrastructure/modules/proxmox_network/versions.tf.j2",
    "infrastructure/modules/talos_cluster/README.md.j2",
    "infrastructure/modules/talos_cluster/main.tf.j2",
    "infrastructure/modules/talos_cluster/outputs.tf.j2",
    "infrastructure/modules/talos_cluster/variables.tf.j2",
    "infrastructure/modules/talos_cluster/versions.tf.j2",
    "infrastructure/modules/talos_machines/README.md.j2",
    "infrastructure/modules/talos_machines/main.tf.j2",
    "infrastructure/modules/talos_machines/outputs.tf.j2",
    "infrastructure/modules/talos_machines/variables.tf.j2",
    "infrastructure/modules/talos_machines/versions.tf.j2",
    "infrastructure/secrets.sops.yaml.j2",
    "text.partial.j2",
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_set_holds_every_file_of_its_folder_and_no_other() {
        for name in TEMPLATE_SETS {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates").join(name);
            let mut found = BTreeMap::new();
            read(&folder, &folder, &mut found);

            let embedded = built_in(name).expect("a set");

            let embedded: BTreeMap<_, _> =
                embedded.into_iter().map(|file| (file.path, file.bytes.into_owned())).collect();
            assert!(embedded == found, "{name}: {:?} but {:?}", embedded.keys(), found.keys());
        }
    }

    #[test]
    fn a_name_that_is_no_set_is_none() {
        assert!(built_in("proxmox").is_none());
        assert!(
            built_in(TEMPLATE_SETS[0])
                .is_some_and(|files| files[0].origin.starts_with("built-in proxmox-talos/"))
        );
    }

    #[test]
    fn text_is_written_in_one_way_by_every_set() {
        let text = |name| {
            let mut files = built_in(name).expect("a set").into_iter();
            files.find(|file| file.path == "text.partial.j2").expect("the macros").bytes
        };
        let example = include_bytes!("../../../examples/homelab/templates/config/text.partial.j2");

        assert_eq!(text(TEMPLATE_SETS[0]), text(TEMPLATE_SETS[1]));
        assert_eq!(text(TEMPLATE_SETS[0]), example.as_slice());
    }

    fn read(dir: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                read(&path, folder, found);
            } else {
                let below = path.strip_prefix(folder).expect("below").display().to_string();
                found.insert(below, std::fs::read(&path).expect("a file"));
            }
        }
    }
}
