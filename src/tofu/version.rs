//! Turns what `version -json` prints into a flavour and a version.
//!
//! Starts nothing itself; the probe hands the text in. The pin and the floor live here.

use semver::Version;
use serde::{Deserialize, Serialize};

/// The version that is installed when `infra.yaml` names none.
pub const PIN: Version = Version::new(1, 12, 6);

/// The oldest version that is run: before it, Ctrl-C left the lock of an http state held
/// (<https://github.com/opentofu/opentofu/issues/3624>).
pub const FLOOR: Version = Version::new(1, 11, 3);

/// Which of the two programs a binary is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// OpenTofu.
    OpenTofu,
    /// Terraform, which works where nothing only OpenTofu has is used.
    Terraform,
}

impl Flavour {
    /// Returns the program's name as its makers write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenTofu => "OpenTofu",
            Self::Terraform => "Terraform",
        }
    }
}

/// What a binary says it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Identity {
    pub(super) flavour: Flavour,
    pub(super) version: Version,
}

impl Identity {
    /// Reads the output of `version -json`, or the plain first line that old programs print.
    pub(super) fn from_output(text: &str) -> Option<Self> {
        Self::from_json(text).or_else(|| text.lines().find_map(Self::from_line))
    }

    /// Reads the JSON form; warnings about a CLI configuration file may stand before it.
    fn from_json(text: &str) -> Option<Self> {
        let start = if text.starts_with('{') { 0 } else { text.find("\n{")? };
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>();
        let value = values.next()?.ok()?;
        // Both programs call their own version `terraform_version`; only Terraform asks home whether it is old.
        let terraform = value.get("terraform_outdated").is_some();
        let flavour = if terraform { Flavour::Terraform } else { Flavour::OpenTofu };
        let version = Version::parse(value.get("terraform_version")?.as_str()?).ok()?;
        Some(Self { flavour, version })
    }

    fn from_line(line: &str) -> Option<Self> {
        let (name, version) = line.trim().split_once(" v")?;
        let flavour = [Flavour::OpenTofu, Flavour::Terraform].into_iter().find(|one| one.name() == name)?;
        Some(Self { flavour, version: Version::parse(version).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opentofu(version: &str) -> Option<Identity> {
        Some(Identity { flavour: Flavour::OpenTofu, version: Version::parse(version).expect("a version") })
    }

    #[test]
    fn the_json_is_found_behind_warnings() {
        let text =
            "\nWarning: Unable to open CLI configuration file\n\n{\n \"terraform_version\": \"1.12.6\"\n}\n";

        assert_eq!(Identity::from_output(text), opentofu("1.12.6"));
    }

    #[test]
    fn terraform_is_told_apart_by_what_only_it_says() {
        let text = r#"{"terraform_version":"1.9.8","platform":"linux_amd64","terraform_outdated":true}"#;

        let identity = Identity::from_output(text).expect("it names a version");

        assert_eq!((identity.flavour, identity.version), (Flavour::Terraform, Version::new(1, 9, 8)));
    }

    #[test]
    fn the_plain_form_is_read_too() {
        assert_eq!(Identity::from_output("OpenTofu v1.12.6\non linux_amd64\n"), opentofu("1.12.6"));
        assert_eq!(Identity::from_output("OpenTofu v1.13.0-rc1\n"), opentofu("1.13.0-rc1"));
    }

    #[test]
    fn anything_else_is_no_version() {
        for text in ["", "{", "{}", "\n{\"terraform_version\":7}", "Tofu v1.12.6", "OpenTofu v1"] {
            assert_eq!(Identity::from_output(text), None, "{text:?}");
        }
    }
}
