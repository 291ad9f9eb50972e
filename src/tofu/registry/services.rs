//! Where a host serves providers and modules: its discovery document, or what the settings say in its place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::config_text::Section;
use super::host::Host;
use super::http::Asker;
use super::tokens::Tokens;
use crate::error::{Error, Result};

const PATH: &str = "/.well-known/terraform.json";

/// The services of one host.
#[derive(Clone, Debug)]
struct Services {
    /// Where the document was; relative addresses begin there.
    base: Url,
    by_name: BTreeMap<String, String>,
}

/// Finds the services of hosts, asking each host once.
#[derive(Debug)]
pub(super) struct Discovery {
    forced: BTreeMap<Host, BTreeMap<String, String>>,
    asked: Mutex<BTreeMap<Host, Arc<OnceCell<Result<Services>>>>>,
}

impl Discovery {
    /// Reads the `host` blocks of the settings.
    pub fn of(settings: &[Section]) -> Self {
        let blocks = settings.iter().flat_map(|file| file.all("host")).flat_map(|all| &all.sections);
        let forced = blocks.filter_map(|block| {
            let services = block.all("services").flat_map(|services| &services.texts);
            let services = services.filter_map(|(name, texts)| Some((name.clone(), texts.first()?.clone())));
            Some((Host::parse(&block.name)?, services.collect()))
        });
        Self { forced: forced.collect(), asked: Mutex::default() }
    }

    /// Returns what the settings say of a host: answers from another place are other answers.
    pub fn forced(&self, host: &Host, service: &str) -> Option<&str> {
        self.forced.get(host)?.get(service).map(String::as_str)
    }

    /// Returns where a host has a service.
    pub async fn url(&self, host: &Host, service: &str, asker: &Asker, tokens: &Tokens) -> Result<Url> {
        let cell = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(asked.entry(host.clone()).or_default())
        };
        let services = cell.get_or_init(|| self.services(host, asker, tokens)).await;
        services.as_ref().map_err(Clone::clone)?.url(host, service)
    }

    async fn services(&self, host: &Host, asker: &Asker, tokens: &Tokens) -> Result<Services> {
        let base = Url::parse(&format!("https://{host}{PATH}"));
        let base = base.map_err(|_| Error::invalid(format!("`{host}` is no name of a host")))?;
        if let Some(by_name) = self.forced.get(host) {
            return Ok(Services { base, by_name: by_name.clone() });
        }
        let Some(document) = asker.get(&base, tokens.for_host(host)).await? else {
            return Ok(Services { base, by_name: BTreeMap::new() });
        };
        let no_document =
            || Error::unavailable(format!("`{host}` has no document that says where its registry is"));
        let parsed: Option<BTreeMap<String, Value>> = serde_json::from_slice(&document.bytes).ok();
        let services = parsed.filter(|_| document.is_json).ok_or_else(no_document)?;
        let named = services.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
        Ok(Services { base: document.url, by_name: named.collect() })
    }
}

impl Services {
    fn url(&self, host: &Host, service: &str) -> Result<Url> {
        let kind = service.split('.').next().unwrap_or(service);
        let text = self.by_name.get(service);
        let text = text.ok_or_else(|| Error::unavailable(format!("`{host}` is no registry of {kind}")))?;
        let url = self.base.join(text).ok().filter(is_plain);
        url.ok_or_else(|| Error::unavailable(format!("`{host}` names no usable address for its {kind}")))
    }
}

/// Returns whether a URL is one that OpenTofu follows: http, and without a password in it.
fn is_plain(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
}
