//! Where providers come from: the methods of `provider_installation`, and which of them count for an
//! address. What OpenTofu takes from several methods is the union. Begin at [`Installation::sources_of`].

use std::path::{Path, PathBuf};

use reqwest::Url;

use super::address::{ProviderAddress, default_host};
use super::config_text::Section;
use super::folder_mirror::has_provider;
use super::host::Host;
use crate::error::{Error, Result};
use crate::model::Environment;
use crate::tofu::version::Flavour;

/// One place that knows which versions of a provider there are.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ReleaseOrigin {
    /// The registry of the address's host.
    Registry,
    /// A mirror that speaks http.
    NetworkMirror(String),
    /// A mirror in a folder.
    Folder(PathBuf),
    /// A way that infra does not ask, by its name in the settings.
    Unasked(String),
}

/// How providers are installed.
#[derive(Debug)]
pub(super) enum Installation {
    /// As the settings say.
    Methods(Vec<Method>),
    /// From folders that OpenTofu looks into by itself, else from the registry.
    Implied(Vec<PathBuf>),
}

/// One method of the settings.
#[derive(Debug)]
pub(super) struct Method {
    source: ReleaseOrigin,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

/// Which addresses a method is for; a part that is missing stands for any.
#[derive(Debug)]
struct Pattern {
    host: Option<Host>,
    namespace: Option<String>,
    name: Option<String>,
}

impl Installation {
    /// Reads `provider_installation`, if the settings have one.
    pub fn of(settings: &[Section], env: &Environment, flavour: Flavour) -> Result<Self> {
        let mut blocks = settings.iter().flat_map(|file| file.all("provider_installation")).peekable();
        if blocks.peek().is_none() {
            return Ok(Self::Implied(implied_folders(env)));
        }
        let methods =
            blocks.flat_map(|block| &block.sections).filter(|method| method.name != "dev_overrides");
        methods.map(|method| Method::of(method, flavour)).collect::<Result<_>>().map(Self::Methods)
    }

    /// Returns who is asked about a provider by a stack in a folder.
    pub fn sources_of(&self, address: &ProviderAddress, folder: &Path) -> Vec<ReleaseOrigin> {
        match self {
            Self::Methods(methods) => {
                let meant = methods.iter().filter(|method| method.is_for(address));
                meant.map(|method| method.source.seen_from(folder)).collect()
            }
            Self::Implied(shared) => {
                let own = folder.join("terraform.d/plugins");
                let folders = std::iter::once(&own).chain(shared);
                let holding = folders.filter(|mirror| has_provider(mirror, address));
                let holding: Vec<ReleaseOrigin> =
                    holding.map(|mirror| ReleaseOrigin::Folder(mirror.clone())).collect();
                if holding.is_empty() { vec![ReleaseOrigin::Registry] } else { holding }
            }
        }
    }
}

impl Method {
    fn of(section: &Section, flavour: Flavour) -> Result<Self> {
        let source = match section.name.as_str() {
            "direct" => ReleaseOrigin::Registry,
            "network_mirror" => ReleaseOrigin::NetworkMirror(mirror_url(section)?),
            "filesystem_mirror" => ReleaseOrigin::Folder(required(section, "path")?.into()),
            other => ReleaseOrigin::Unasked(other.to_owned()),
        };
        let patterns = |name: &str| {
            section.list(name).iter().map(|text| Pattern::parse(text, flavour)).collect::<Result<Vec<_>>>()
        };
        Ok(Self { source, include: patterns("include")?, exclude: patterns("exclude")? })
    }

    fn is_for(&self, address: &ProviderAddress) -> bool {
        let is_in = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.fits(address));
        !is_in(&self.exclude) && (self.include.is_empty() || is_in(&self.include))
    }
}

impl ReleaseOrigin {
    /// Returns the source with a path that begins at the folder in which tofu runs.
    fn seen_from(&self, folder: &Path) -> Self {
        match self {
            Self::Folder(path) => Self::Folder(folder.join(path)),
            other => other.clone(),
        }
    }
}

impl Pattern {
    fn parse(text: &str, flavour: Flavour) -> Result<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (host, namespace, name) = match parts.as_slice() {
            [namespace, name] => (default_host(flavour), *namespace, *name),
            [host, namespace, name] => (*host, *namespace, *name),
            _ => return Err(no_pattern(text)),
        };
        let part = |text: &str| (text != "*").then(|| text.to_lowercase());
        let host = match host {
            "*" => None,
            host => Some(Host::parse(host).ok_or_else(|| no_pattern(text))?),
        };
        Ok(Self { host, namespace: part(namespace), name: part(name) })
    }

    fn fits(&self, address: &ProviderAddress) -> bool {
        let Self { host, namespace, name } = self;
        host.as_ref().is_none_or(|host| *host == address.host)
            && namespace.as_ref().is_none_or(|namespace| *namespace == address.namespace)
            && name.as_ref().is_none_or(|name| *name == address.name)
    }
}

fn no_pattern(text: &str) -> Error {
    Error::invalid(format!("`{text}` in `provider_installation` names no providers"))
        .detail("expected `namespace/name` or `host/namespace/name`, where `*` stands for any")
}

fn required<'a>(section: &'a Section, name: &str) -> Result<&'a str> {
    section.text(name).filter(|text| !text.is_empty()).ok_or_else(|| {
        Error::invalid(format!("`{}` in `provider_installation` has no `{name}`", section.name))
    })
}

/// OpenTofu takes a mirror at an https URL only: credentials may go there.
fn mirror_url(section: &Section) -> Result<String> {
    let text = required(section, "url")?;
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.has_host());
    let url = url.ok_or_else(|| {
        Error::invalid("the `url` of a `network_mirror` in `provider_installation` is no https URL")
            .hint("write it as `https://mirror.example/providers/`, with the slash at its end")
    })?;
    Ok(url.to_string())
}

/// Returns the folders that OpenTofu looks into by itself, beside the one of each stack.
fn implied_folders(env: &Environment) -> Vec<PathBuf> {
    let home = env.path("HOME").unwrap_or_default();
    let data = env.path("XDG_DATA_HOME");
    let shared = env.get("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    let mut folders = vec![home.join(".terraform.d/plugins")];
    folders.extend(data.as_ref().map(|data| data.join("opentofu/plugins")));
    folders.push(data.unwrap_or_else(|| home.join(".local/share")).join("terraform/plugins"));
    folders.extend(shared.split(':').map(|dir| Path::new(dir).join("terraform/plugins")));
    folders
}

#[cfg(test)]
mod tests {
    use super::super::config_text::read;
    use super::*;

    fn sources(settings: &str, address: &str) -> Vec<ReleaseOrigin> {
        let env = Environment::default().with("HOME", "/none").with("XDG_DATA_DIRS", "/none");
        let sections = [read(settings).ok().unwrap()];
        let installation = Installation::of(&sections, &env, Flavour::OpenTofu).unwrap();
        let address = ProviderAddress::parse(address, Flavour::OpenTofu).unwrap();
        installation.sources_of(&address, Path::new("/stack"))
    }

    const MIXED: &str = r#"
provider_installation {
  filesystem_mirror {
    path    = "mirror"
    include = ["bpg/*", "h.example/*/*"]
  }
  network_mirror {
    url     = "https://m.example/p/"
    exclude = ["h.example/*/*", "*/*/*"]
  }
  direct {
    exclude = ["bpg/proxmox"]
  }
}
"#;

    #[test]
    fn each_method_counts_for_the_addresses_it_is_meant_for() {
        let mirror = || ReleaseOrigin::Folder("/stack/mirror".into());

        assert_eq!(sources(MIXED, "bpg/proxmox"), [mirror()]);
        assert_eq!(sources(MIXED, "bpg/other"), [mirror(), ReleaseOrigin::Registry]);
        assert_eq!(sources(MIXED, "h.example/a/b"), [mirror(), ReleaseOrigin::Registry]);
        assert_eq!(sources(MIXED, "hashicorp/time"), [ReleaseOrigin::Registry]);
        assert_eq!(sources("", "hashicorp/time"), [ReleaseOrigin::Registry]);
        assert_eq!(sources("provider_installation {}", "hashicorp/time"), []);
    }

    #[test]
    fn settings_that_opentofu_refuses_are_refused() {
        let env = Environment::default();
        for text in [
            "network_mirror {\n url = \"http://m.example/\"\n}",
            "filesystem_mirror {}",
            "direct {\n include = [\"a\"]\n}",
            "direct {\n exclude = [\"a b/c/d\"]\n}",
        ] {
            let sections = [read(&format!("provider_installation {{\n{text}\n}}")).ok().unwrap()];
            assert!(Installation::of(&sections, &env, Flavour::OpenTofu).is_err(), "{text}");
        }
    }
}
