//! The names that decide what a folder or file is, before anything is read: stack roots,
//! module folders, skipped folders, OpenTofu files.

/// Where stacks are looked for, in this order, before the project itself.
pub const CONVENTIONAL_ROOTS: [&str; 4] = ["infrastructure", "tofu/stacks", "stacks", "terraform"];

/// The endings of OpenTofu files, longest first.
pub const TOFU_ENDINGS: [&str; 4] = [".tofu.json", ".tf.json", ".tofu", ".tf"];

/// Returns whether OpenTofu reads a file of this name: hidden files and editors' copies are not read.
pub fn is_tofu_file(name: &str) -> bool {
    let is_ignored =
        name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !is_ignored && TOFU_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a folder of this name holds modules: `modules`, `modules-x`, `x_modules`.
pub fn is_module_folder(name: &str) -> bool {
    name == "modules"
        || name.starts_with("modules-")
        || name.starts_with("modules_")
        || name.ends_with("-modules")
        || name.ends_with("_modules")
}

/// Returns whether a folder of this name is never looked into: hidden ones and `tests`.
pub fn is_skipped_folder(name: &str) -> bool {
    name.starts_with('.') || name == "tests"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tofu_files_are_those_that_tofu_reads() {
        for name in ["main.tf", "a.tofu", "a.tf.json", "a.tofu.json", "x_override.tf"] {
            assert!(is_tofu_file(name), "{name}");
        }
        for name in [".main.tf", "main.tf~", "#main.tf#", "main.tf.j2", "x.tfvars", "x.tftest.hcl", ".keep"] {
            assert!(!is_tofu_file(name), "{name}");
        }
    }

    #[test]
    fn module_folders_are_told_by_their_name() {
        for name in ["modules", "modules-shared", "modules_v2", "tf-modules", "tf_modules"] {
            assert!(is_module_folder(name), "{name}");
        }
        assert!(!is_module_folder("mymodules"));
        assert!(!is_module_folder("module"));
    }
}
