//! Which names of files say that they are encrypted.

/// The file that a project's secrets usually live in.
pub(super) const SHARED: &str = "secrets.sops.yaml";

/// Returns whether a file's name says that it is encrypted.
pub fn is_secret(name: &str) -> bool {
    let variables = ["secrets.tfvars", SHARED].contains(&name);
    variables || name.ends_with(".sops.tfvars") || name.ends_with(".secret.tfvars")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_what_is_encrypted() {
        assert!(
            is_secret("secrets.sops.yaml") && is_secret("prod.sops.tfvars") && is_secret("secrets.tfvars")
        );
        assert!(!is_secret("terraform.tfvars") && !is_secret("secrets.yaml") && !is_secret("vms.tfvars"));
    }
}
