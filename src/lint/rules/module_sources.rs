//! `module-source` and `module-version-pin`: where modules come from, and which version.

use super::providers::{Pin, pin};
use crate::lint::files::DeclarationKind;
use crate::lint::finding::Finding;
use crate::lint::folder::{Folder, Merged};
use crate::model::LintRule;
use crate::syntax::Setting;

/// Hosts that OpenTofu takes for repositories, never for registries.
const REPOSITORY_HOSTS: [&str; 3] = ["github.com", "bitbucket.org", "gitlab.com"];

/// Judges the modules that a folder calls.
pub fn module_sources(folder: &Folder<'_>) -> Vec<Finding> {
    let modules = folder.declared(DeclarationKind::Module);
    modules.iter().filter_map(|module| judge(module)).collect()
}

fn judge(module: &Merged<'_>) -> Option<Finding> {
    let name = &module.block.name;
    let found =
        |rule, message| Some(Finding::new(rule, module.place.clone(), module.block.subject(), message));
    match kind_of(module.value("source")?) {
        ModuleSource::Local | ModuleSource::Unknown => None,
        ModuleSource::Elsewhere(what) => {
            let message = format!(
                "module `{name}` comes from {what}: take it from a local path (`./…`, `../…`) or from a registry"
            );
            found(LintRule::ModuleSource, message)
        }
        ModuleSource::Registry => {
            let message = match pin(module.value("version")) {
                Pin::Pessimistic | Pin::Unknown => return None,
                Pin::None => {
                    format!("module `{name}` takes any version: pin it, such as `version = \"~> 1.2\"`")
                }
                Pin::Exact(version) => {
                    format!(
                        "module `{name}` is pinned to exactly `{version}`: `~> {version}` takes its fixes too"
                    )
                }
                Pin::Loose(version) => {
                    format!("module `{name}` takes any version that `{version}` allows: pin it with `~>`")
                }
            };
            found(LintRule::ModuleVersionPin, message)
        }
    }
}

/// Where a module comes from.
#[derive(Debug, PartialEq)]
enum ModuleSource {
    Local,
    Registry,
    /// Only OpenTofu can tell.
    Unknown,
    /// From somewhere else, in words.
    Elsewhere(&'static str),
}

fn kind_of(source: &Setting) -> ModuleSource {
    match source {
        Setting::Literal(text) => kind_of_text(text),
        // What stands before the first thing that is filled in often tells.
        Setting::Expression(written) => {
            let start = written.strip_prefix('"').unwrap_or_default();
            let start = start.split(['$', '%']).next().unwrap_or_default();
            match kind_of_text(start) {
                ModuleSource::Elsewhere(UNCLEAR) | ModuleSource::Registry => ModuleSource::Unknown,
                kind => kind,
            }
        }
        Setting::Map(_) => ModuleSource::Unknown,
    }
}

/// What is said of an address that makes no sense to this reader.
const UNCLEAR: &str = "an address that is neither";

fn kind_of_text(source: &str) -> ModuleSource {
    let source = source.trim();
    let is_local = source == "."
        || source == ".."
        || ["./", "../", ".\\", "..\\"].iter().any(|start| source.starts_with(start));
    if is_local {
        return ModuleSource::Local;
    }
    let host = source.split('/').next().unwrap_or_default();
    let is_drive = source.as_bytes().get(1) == Some(&b':')
        && source.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let elsewhere = match source.split_once("::").map(|(getter, _)| getter) {
        Some("git") => "a git repository",
        Some("hg") => "a Mercurial repository",
        Some("s3" | "gcs") => "a bucket",
        Some("oci") => "an OCI registry",
        Some(_) => "a getter's address",
        None if source.starts_with("git@") || REPOSITORY_HOSTS.contains(&host) => "a git repository",
        None if source.starts_with("oci://") => "an OCI registry",
        None if source.contains("://") => "an archive or a repository at a URL",
        None if source.starts_with(['/', '~']) || is_drive => "a path of one machine",
        None if is_registry_address(source) => return ModuleSource::Registry,
        None => UNCLEAR,
    };
    ModuleSource::Elsewhere(elsewhere)
}

/// Returns whether a text is `[HOST/]NAMESPACE/NAME/SYSTEM[//FOLDER]`.
fn is_registry_address(source: &str) -> bool {
    let address = source.split_once("//").map_or(source, |(address, _)| address);
    let parts: Vec<&str> = address.split('/').collect();
    let is_package = |parts: &[&str]| match parts {
        [namespace, name, system] => {
            is_name(namespace)
                && is_name(name)
                && !system.is_empty()
                && system.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        }
        _ => false,
    };
    match parts.as_slice() {
        [host, rest @ ..] if rest.len() == 3 => is_host(host) && is_package(rest),
        parts => is_package(parts),
    }
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !text.is_empty() && text.len() <= 64 && !text.starts_with(['-', '_']) && text.bytes().all(is_plain)
}

/// A host has a dot or a port, or is this machine.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let has_port =
        port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '.';
    let is_like_a_host = name.contains('.') || has_port || name == "localhost";
    is_like_a_host && (port.is_none() || has_port) && !name.is_empty() && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_paths_and_registry_addresses_are_permitted() {
        for local in ["./a", "../modules/vm", "../../x//y", "./"] {
            assert_eq!(kind_of_text(local), ModuleSource::Local, "{local}");
        }
        for registry in [
            "terraform-aws-modules/vpc/aws",
            "registry.opentofu.org/terraform-aws-modules/vpc/aws",
            "app.example.com:8443/acme/vm/proxmox//modules/small",
            "localhost:8080/acme/vm/proxmox",
            "acme/my_module/null//sub",
        ] {
            assert_eq!(kind_of_text(registry), ModuleSource::Registry, "{registry}");
        }
    }

    #[test]
    fn everything_else_comes_from_elsewhere() {
        for source in [
            "git::https://example.com/vpc.git?ref=v1.2.0",
            "git@github.com:acme/vpc.git",
            "github.com/acme/vpc",
            "github.com/acme/vpc/aws/x",
            "bitbucket.org/acme/vpc/aws",
            "https://example.com/vpc.zip",
            "s3::https://s3.amazonaws.com/b/vpc.zip",
            "oci://example.com/modules/vpc",
            "/opt/modules/vpc",
            "~/modules/vpc",
            "C:\\modules\\vpc",
            "modules/vpc",
            "vpc",
            "",
            "acme/vpc/AWS",
        ] {
            assert!(matches!(kind_of_text(source), ModuleSource::Elsewhere(_)), "{source}");
        }
    }

    #[test]
    fn of_a_template_the_beginning_tells() {
        let of = |text: &str| kind_of(&Setting::Expression(text.to_owned()));

        assert_eq!(of("\"./modules/${var.cloud}\""), ModuleSource::Local);
        assert!(matches!(of("\"git::https://x/y?ref=${var.v}\""), ModuleSource::Elsewhere(_)));
        assert_eq!(of("\"${var.base}/vpc\""), ModuleSource::Unknown);
        assert_eq!(of("var.source"), ModuleSource::Unknown);
        assert_eq!(of("\"acme/vpc/${var.system}\""), ModuleSource::Unknown);
    }
}
