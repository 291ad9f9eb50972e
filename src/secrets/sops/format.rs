//! The formats that SOPS knows: what a file is by its name, and what `--input-type` calls it.

use std::path::Path;

/// How a document is laid out in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Maps, lists and scalars with comments; several documents in one file.
    Yaml,
    /// One object; no comments.
    Json,
    /// Lines of `NAME=value`.
    Dotenv,
    /// Sections of `name = value`.
    Ini,
    /// Anything else: one value without structure.
    Binary,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Yaml, Self::Json, Self::Dotenv, Self::Ini, Self::Binary];

    /// Returns the format of a file by the end of its name; case counts, as in sops.
    pub fn of_path(path: &Path) -> Self {
        let path = path.as_os_str().to_string_lossy();
        let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
        if ends(&[".yaml", ".yml"]) {
            Self::Yaml
        } else if ends(&[".json"]) {
            Self::Json
        } else if ends(&[".env"]) {
            Self::Dotenv
        } else if ends(&[".ini"]) {
            Self::Ini
        } else {
            Self::Binary
        }
    }

    /// Returns the format that a name such as `dotenv` stands for.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the name that `--input-type` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Dotenv => "dotenv",
            Self::Ini => "ini",
            Self::Binary => "binary",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_name_decides_the_format() {
        let of = |path| Format::of_path(Path::new(path));

        assert_eq!(of("a/secrets.yaml"), Format::Yaml);
        assert_eq!(of("a/secrets.enc.yml"), Format::Yaml);
        assert_eq!(of("a.json"), Format::Json);
        assert_eq!(of(".env"), Format::Dotenv);
        assert_eq!(of("prod.env"), Format::Dotenv);
        assert_eq!(of("a.ini"), Format::Ini);
        assert_eq!(of("a.YAML"), Format::Binary);
        assert_eq!(of("cert.pem"), Format::Binary);
    }

    #[test]
    fn every_name_stands_for_its_format_and_no_other_does() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()), Some(format));
        }

        assert_eq!(Format::parse("toml"), None);
    }
}
