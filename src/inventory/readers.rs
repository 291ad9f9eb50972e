//! Which types of resources are machines, and how each is read: one file a family of providers.

mod aws;
mod hetzner;
mod incus;
mod openstack;
mod oracle;
mod outscale;
mod ovh;
mod proxmox;
mod scaleway;

use serde_json::Value;

use super::machine::Machine;

/// Reads the attributes of a resource; none where it is no machine, such as a template.
pub(super) type Reader = fn(&Value) -> Option<Machine>;

/// Returns the reader of a type; none for a type that is no machine, or that nobody knows here.
pub(super) fn reader_of(kind: &str) -> Option<Reader> {
    let families = [
        aws::reader,
        hetzner::reader,
        incus::reader,
        openstack::reader,
        oracle::reader,
        outscale::reader,
        ovh::reader,
        proxmox::reader,
        scaleway::reader,
    ];
    families.into_iter().find_map(|family| family(kind))
}

/// Returns whether an attribute says one of these words, in any case.
fn says(attributes: &Value, name: &str, words: &[&str]) -> bool {
    let said = attributes[name].as_str().unwrap_or_default();
    words.iter().any(|word| said.eq_ignore_ascii_case(word))
}

/// Returns whether a machine runs by the word for its state; nothing where there is none.
fn runs(attributes: &Value, name: &str, words: &[&str]) -> Option<bool> {
    let said = attributes[name].as_str().filter(|said| !said.is_empty());
    said.map(|_| says(attributes, name, words))
}
