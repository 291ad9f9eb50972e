//! Asks for the releases of providers and modules whoever OpenTofu would ask, with the settings it would
//! use. Begin at [`Registries::releases`].

use std::path::{Path, PathBuf};

use reqwest::Url;

use super::address::{Dependency, ModuleAddress, ProviderAddress};
use super::answers::Answers;
use super::config_files::config_files;
use super::config_text::{self, Section};
use super::folder_mirror;
use super::host::Host;
use super::http::{Asker, Document, host as host_of_url};
use super::installation::{Installation, ReleaseOrigin};
use super::releases::{self, Release};
use super::services::Discovery;
use super::tokens::Tokens;
use crate::error::{Error, Kind, Result};
use crate::model::{Clock, Environment};
use crate::syntax::line_and_column;
use crate::tofu::version::Flavour;

/// Everybody who knows of releases.
#[derive(Debug)]
pub struct Registries {
    installation: Installation,
    discovery: Discovery,
    tokens: Tokens,
    asker: Asker,
    answers: Answers,
}

/// Whether answers of the last hour count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Freshness {
    /// They do.
    Recent,
    /// Everybody is asked now.
    Now,
}

impl Registries {
    /// Reads OpenTofu's own settings.
    pub fn new(env: &Environment, flavour: Flavour, clock: Clock, freshness: Freshness) -> Result<Self> {
        let settings = config_files(env).into_iter().map(read_file).collect::<Result<Vec<_>>>()?;
        let settings: Vec<Section> = settings.into_iter().flatten().collect();
        Ok(Self {
            installation: Installation::of(&settings, env, flavour)?,
            discovery: Discovery::of(&settings),
            tokens: Tokens::of(&settings, env),
            asker: Asker::new(env)?,
            answers: Answers::new(env, clock, freshness == Freshness::Recent),
        })
    }

    /// Returns who is asked for a dependency of a stack in a folder.
    pub fn sources_of(&self, dependency: &Dependency, folder: &Path) -> Vec<ReleaseOrigin> {
        match dependency {
            Dependency::Provider(address) => self.installation.sources_of(address, folder),
            Dependency::Module(_) => vec![ReleaseOrigin::Registry],
        }
    }

    /// Returns the releases that sources know, lowest first. What one of them does not tell makes the whole
    /// unknown, as for OpenTofu.
    pub async fn releases(&self, dependency: &Dependency, sources: &[ReleaseOrigin]) -> Result<Vec<Release>> {
        let mut all: Vec<Release> = Vec::new();
        for source in sources {
            for release in self.of_source(dependency, source).await?.unwrap_or_default() {
                if all.iter().all(|known| known.version != release.version) {
                    all.push(release);
                }
            }
        }
        if all.is_empty() {
            return Err(nowhere(dependency, sources));
        }
        all.sort_by(|one, other| one.version.cmp(&other.version));
        Ok(all)
    }

    /// Returns what one source knows; nothing if it knows of no such thing.
    async fn of_source(
        &self,
        dependency: &Dependency,
        source: &ReleaseOrigin,
    ) -> Result<Option<Vec<Release>>> {
        let question = match (source, dependency) {
            (ReleaseOrigin::Folder(mirror), Dependency::Provider(address)) => {
                return folder_mirror::releases(mirror, address).map(Some);
            }
            (ReleaseOrigin::Unasked(name), _) => {
                return Err(Error::unavailable(format!(
                    "`{name}` of `provider_installation` is a way that infra cannot ask"
                )));
            }
            (source, dependency) => self.question(dependency, source),
        };
        if let Some(known) = self.answers.recall(&question) {
            return Ok(Some(known));
        }
        let found = match (source, dependency) {
            (ReleaseOrigin::NetworkMirror(url), Dependency::Provider(address)) => {
                self.of_mirror(url, address).await?
            }
            (_, Dependency::Provider(address)) => self.of_provider(address).await?,
            (_, Dependency::Module(address)) => self.of_module(address).await?,
        };
        if let Some(found) = &found {
            self.answers.keep(&question, found);
        }
        Ok(found)
    }

    /// Returns what is asked, and whom, as one text: another place gives another answer.
    fn question(&self, dependency: &Dependency, source: &ReleaseOrigin) -> String {
        let place = match source {
            ReleaseOrigin::NetworkMirror(url) => url.as_str(),
            _ => self.discovery.forced(dependency.host(), service_of(dependency)).unwrap_or_default(),
        };
        let has_token = self.tokens.for_host(dependency.host()).is_some();
        format!("{} {dependency} {place} {has_token}", dependency.kind())
    }

    async fn of_provider(&self, address: &ProviderAddress) -> Result<Option<Vec<Release>>> {
        let base = self.service(&address.host, "providers.v1").await?;
        let path = format!("{}/{}/versions", address.namespace, address.name);
        // OpenTofu adds no slash here: a document that misses it leads elsewhere for both.
        let url = base.join(&path).map_err(|_| no_address(&address.host))?;
        self.ask(&url, &address.host, releases::of_provider).await
    }

    async fn of_module(&self, address: &ModuleAddress) -> Result<Option<Vec<Release>>> {
        let mut base = self.service(&address.host, "modules.v1").await?;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let path = format!("{}/{}/{}/versions", address.namespace, address.name, address.system);
        let url = base.join(&path).map_err(|_| no_address(&address.host))?;
        self.ask(&url, &address.host, releases::of_module).await
    }

    async fn of_mirror(&self, base: &str, address: &ProviderAddress) -> Result<Option<Vec<Release>>> {
        let path = format!("{}/{}/{}/index.json", address.host, address.namespace, address.name);
        // `localhost:8443/…` would be read as a scheme.
        let url = Url::parse(base).ok().and_then(|base| base.join(&format!("./{path}")).ok());
        let url = url.ok_or_else(|| Error::invalid("the URL of a network mirror is none"))?;
        let host = Host::of(&url).ok_or_else(|| Error::invalid("the URL of a network mirror has no host"))?;
        self.ask(&url, &host, releases::of_mirror).await
    }

    async fn service(&self, host: &Host, service: &str) -> Result<Url> {
        let found = self.discovery.url(host, service, &self.asker, &self.tokens).await;
        found.map_err(|error| self.with_helper(error))
    }

    async fn ask(
        &self,
        url: &Url,
        host: &Host,
        read: fn(&[u8]) -> std::result::Result<Vec<Release>, String>,
    ) -> Result<Option<Vec<Release>>> {
        let document = self.asker.get(url, self.tokens.for_host(host)).await;
        let document = document.map_err(|error| self.with_helper(error))?;
        let Some(Document { bytes, .. }) = document else { return Ok(None) };
        let releases = read(&bytes);
        releases.map(Some).map_err(|why| Error::unavailable(format!("`{}`: {why}", host_of_url(url))))
    }

    /// Says that a program which knows tokens was not asked.
    fn with_helper(&self, error: Error) -> Error {
        match self.tokens.has_helper && error.kind() == Kind::Unavailable {
            true => error.detail("the `credentials_helper` of OpenTofu's settings is not run by infra"),
            false => error,
        }
    }
}

const fn service_of(dependency: &Dependency) -> &'static str {
    match dependency {
        Dependency::Provider(_) => "providers.v1",
        Dependency::Module(_) => "modules.v1",
    }
}

fn no_address(host: &Host) -> Error {
    Error::unavailable(format!("`{host}` names no usable address for its registry"))
}

fn nowhere(dependency: &Dependency, sources: &[ReleaseOrigin]) -> Error {
    let kind = dependency.kind();
    let words = |source: &ReleaseOrigin| match source {
        ReleaseOrigin::Registry => format!("`{}`", dependency.host()),
        ReleaseOrigin::NetworkMirror(url) => {
            format!("`{}`", Url::parse(url).as_ref().map(host_of_url).unwrap_or_default())
        }
        ReleaseOrigin::Folder(path) => format!("`{}`", path.display()),
        ReleaseOrigin::Unasked(name) => format!("`{name}`"),
    };
    match sources {
        [] => Error::unavailable(format!("no method of `provider_installation` is for this {kind}")),
        sources => {
            let asked = sources.iter().map(words).collect::<Vec<_>>().join(", ");
            Error::unavailable(format!("{asked} lists no version of this {kind}"))
        }
    }
}

/// Reads a file of settings; one that is not there says nothing, as for OpenTofu.
fn read_file(file: PathBuf) -> Result<Option<Section>> {
    let shown = file.display();
    let text = match std::fs::read(&file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(
                Error::invalid(format!("OpenTofu's settings `{shown}` cannot be read")).because(error)
            );
        }
    };
    match config_text::read(&text) {
        Ok(section) => Ok(Some(section)),
        Err(fault) => {
            let (line, column) = line_and_column(&text, fault.at);
            Err(Error::invalid(format!("OpenTofu's settings `{shown}` make no sense"))
                .at(format!("{shown}:{line}:{column}"))
                .detail(fault.what))
        }
    }
}
