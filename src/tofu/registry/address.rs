//! The addresses of what a registry serves: providers and modules, read from their sources as
//! OpenTofu reads them. Begin at [`ProviderAddress::parse`] and [`ModuleAddress::parse`].

use std::fmt;

use super::host::Host;
use crate::tofu::version::Flavour;

/// The namespace that an address without one means.
const USUAL_NAMESPACE: &str = "hashicorp";

/// The longest part of an address that any registry serves.
const LONGEST_PART: usize = 64;

/// Returns the host that a short address means.
pub const fn default_host(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::OpenTofu => "registry.opentofu.org",
        Flavour::Terraform => "registry.terraform.io",
    }
}

/// Something of which a registry knows the releases.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Dependency {
    /// A provider.
    Provider(ProviderAddress),
    /// A module.
    Module(ModuleAddress),
}

/// The address of a provider.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ProviderAddress {
    /// Who serves it.
    pub host: Host,
    /// Whose it is.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The address of a module, without the folder in it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ModuleAddress {
    /// Who serves it.
    pub host: Host,
    /// Whose it is.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The system it is for.
    pub system: String,
}

impl Dependency {
    /// Returns what kind of thing it is, as a word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Provider(_) => "provider",
            Self::Module(_) => "module",
        }
    }

    /// Returns its address as one writes it: without the host where that is the one that a short address means.
    pub fn short(&self, flavour: Flavour) -> String {
        let whole = self.to_string();
        let below = whole.strip_prefix(default_host(flavour)).and_then(|rest| rest.strip_prefix('/'));
        below.map(str::to_owned).unwrap_or(whole)
    }

    /// Returns who serves it.
    pub const fn host(&self) -> &Host {
        match self {
            Self::Provider(address) => &address.host,
            Self::Module(address) => &address.host,
        }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(address) => address.fmt(f),
            Self::Module(address) => address.fmt(f),
        }
    }
}

impl ProviderAddress {
    /// Reads `name`, `namespace/name` or `host/namespace/name`; nothing if it is no address, or one of a
    /// provider that no registry serves.
    pub fn parse(text: &str, flavour: Flavour) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, name) = match parts.as_slice() {
            [name] => (default_host(flavour), USUAL_NAMESPACE, *name),
            [namespace, name] => (default_host(flavour), *namespace, *name),
            [host, namespace, name] => (*host, *namespace, *name),
            _ => return None,
        };
        let [namespace, name] = [namespace, name].map(str::to_lowercase);
        let host = Host::parse(host)?;
        let is_built_in = host.as_str() == "terraform.io" && namespace == "builtin";
        let is_address = is_part(&namespace) && is_part(&name) && !is_built_in;
        is_address.then_some(Self { host, namespace, name })
    }

    /// Returns the same provider at the host that the other program's short addresses mean: a lock file
    /// may have been written by it.
    pub fn of_other_program(&self) -> Option<Self> {
        let hosts = [default_host(Flavour::OpenTofu), default_host(Flavour::Terraform)];
        let at = hosts.iter().position(|host| *host == self.host.as_str())?;
        let host = Host::parse(hosts.get(1 - at)?)?;
        Some(Self { host, ..self.clone() })
    }
}

impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.namespace, self.name)
    }
}

impl ModuleAddress {
    /// Reads `namespace/name/system` with a host before it or without one, and a folder behind `//`;
    /// nothing if that is no address of a registry, but a path or a URL.
    pub fn parse(text: &str, flavour: Flavour) -> Option<Self> {
        let package = text.split_once("//").map_or(text, |(package, _)| package);
        let parts: Vec<&str> = package.split('/').collect();
        let (host, namespace, name, system) = match parts.as_slice() {
            [first, ..] if is_elsewhere(first) => return None,
            [namespace, name, system] => (default_host(flavour), *namespace, *name, *system),
            [host, namespace, name, system] => (*host, *namespace, *name, *system),
            _ => return None,
        };
        let is_address = is_part(namespace) && is_part(name) && is_part(system);
        let host = Host::parse(host).filter(|_| is_address)?;
        let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
        Some(Self { host, namespace, name, system })
    }
}

impl fmt::Display for ModuleAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host, self.namespace, self.name, self.system)
    }
}

/// Returns whether a source that begins so is a path, or short for the git repository of a forge.
fn is_elsewhere(first: &str) -> bool {
    ["", ".", "..", "github.com", "bitbucket.org", "gitlab.com"].contains(&first)
}

/// Returns whether a text is a part of an address, and stays one part of a path and of a URL.
fn is_part(text: &str) -> bool {
    let is_end = |sign: Option<char>| sign.is_some_and(|sign| sign.is_ascii_alphanumeric());
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
    text.len() <= LONGEST_PART
        && text.chars().all(is_sign)
        && is_end(text.chars().next())
        && is_end(text.chars().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(text: &str) -> Option<String> {
        ProviderAddress::parse(text, Flavour::OpenTofu).map(|address| address.to_string())
    }

    fn module(text: &str) -> Option<String> {
        ModuleAddress::parse(text, Flavour::OpenTofu).map(|address| address.to_string())
    }

    #[test]
    fn a_short_address_means_the_usual_host_and_namespace() {
        assert_eq!(provider("time"), provider("hashicorp/Time"));
        assert_eq!(provider("bpg/proxmox").as_deref(), Some("registry.opentofu.org/bpg/proxmox"));
        assert_eq!(provider("Example.com:8443/a/b").as_deref(), Some("example.com:8443/a/b"));
        assert_eq!(module("a/b/c//sub/dir").as_deref(), Some("registry.opentofu.org/a/b/c"));
        assert_eq!(module("h.example/a/b/c").as_deref(), Some("h.example/a/b/c"));
    }

    #[test]
    fn paths_urls_and_what_could_leave_a_path_are_no_addresses() {
        for text in ["", "a/b/c/d", "../x", "a/..", "a/b?c", "terraform.io/builtin/terraform", "-/aws"] {
            assert_eq!(provider(text), None, "{text}");
        }
        for text in [
            "./a/b/c",
            "../a/b",
            "/a/b/c",
            "github.com/a/b",
            "github.com/a/b/c",
            "git::https://h/a/b",
            "https://h/a/b",
            "git@h:a/b/c",
            "a/b",
            "a/b/c?ref=1",
            "a/b/..",
        ] {
            assert_eq!(module(text), None, "{text}");
        }
    }

    #[test]
    fn a_lock_file_of_the_other_program_names_the_same_provider() {
        let other = ProviderAddress::parse("registry.terraform.io/bpg/proxmox", Flavour::OpenTofu).unwrap();

        assert_eq!(other.of_other_program().map(|one| one.to_string()), provider("bpg/proxmox"));
        let own = ProviderAddress::parse("h.example/bpg/proxmox", Flavour::OpenTofu).unwrap();
        assert_eq!(own.of_other_program(), None);
    }
}
