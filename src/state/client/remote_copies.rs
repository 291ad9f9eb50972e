//! The copies of what was applied, on an `infra state serve`.
//!
//! They have addresses of their own beside `/states/`, because a server that does not know
//! them must never take one for a state. One that answers that there is nothing keeps none.

use reqwest::StatusCode;

use super::remote_state::RemoteState;
use crate::error::{Error, Result};
use crate::state::{StateName, percent};

/// What a state's address has between the server and the name.
const STATES: &str = "/states";

/// Whether a server keeps copies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CopySupport {
    /// It keeps this one now.
    Kept,
    /// It is another kind of server.
    NotOffered,
}

impl RemoteState {
    /// Keeps a copy beside this state.
    pub async fn keep_copy(&self, copy: Vec<u8>) -> Result<CopySupport> {
        let Some(address) = self.copy_address() else { return Ok(CopySupport::NotOffered) };
        let answer = self.send(self.client.post(address).body(copy)).await?;
        match answer.status() {
            status if status.is_success() => Ok(CopySupport::Kept),
            status if is_unknown(status) => Ok(CopySupport::NotOffered),
            status => Err(self.refused(status)),
        }
    }

    /// Returns the copy beside this state, where there is one.
    pub async fn copy(&self) -> Result<Option<Vec<u8>>> {
        let Some(address) = self.copy_address() else { return Ok(None) };
        let answer = self.send(self.client.get(address)).await?;
        match answer.status() {
            StatusCode::OK => self.bytes(answer).await.map(Some),
            status if is_unknown(status) => Ok(None),
            status => Err(self.refused(status)),
        }
    }

    /// Removes the copy beside this state.
    pub async fn drop_copy(&self) -> Result<()> {
        let Some(address) = self.copy_address() else { return Ok(()) };
        let status = self.send(self.client.delete(address)).await?.status();
        if status.is_success() || is_unknown(status) { Ok(()) } else { Err(self.refused(status)) }
    }

    /// Returns the states below this address that have a copy; `None` if the server keeps none.
    pub async fn copies(&self) -> Result<Option<Vec<StateName>>> {
        let Some((server, below)) = parts_of(&self.address) else { return Ok(None) };
        let answer = self.send(self.client.get(format!("{server}/applied"))).await?;
        match answer.status() {
            StatusCode::OK => {}
            status if is_unknown(status) => return Ok(None),
            status => return Err(self.refused(status)),
        }
        let Ok(names) = serde_json::from_slice::<Vec<String>>(&self.bytes(answer).await?) else {
            return Ok(None);
        };
        let below = percent::decode(below.trim_matches('/'))
            .ok_or_else(|| Error::invalid(format!("the address `{}` is broken", self.address)))?;
        let names = names.iter().filter_map(|name| below_of(name, &below));
        Ok(Some(names.filter_map(|name| StateName::parse(name).ok()).collect()))
    }

    fn copy_address(&self) -> Option<String> {
        let (server, name) = parts_of(&self.address)?;
        Some(format!("{server}/applied{name}"))
    }
}

/// Returns what stands before `/states` in an address, and what behind.
pub(super) fn parts_of(address: &str) -> Option<(&str, &str)> {
    let (server, name) = address.split_once(STATES)?;
    (name.is_empty() || name.starts_with('/')).then_some((server, name))
}

fn below_of<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() { Some(name) } else { name.strip_prefix(prefix)?.strip_prefix('/') }
}

/// Another kind of server has nothing at these addresses, or does not know the method.
pub(super) fn is_unknown(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_with_states_in_it_has_a_place_for_copies() {
        assert_eq!(parts_of("https://h/x/states/lab/a"), Some(("https://h/x", "/lab/a")));
        assert_eq!(parts_of("https://h/states"), Some(("https://h", "")));
        assert_eq!(parts_of("https://h/statesmen/a"), None);
        assert_eq!(parts_of("https://h/terraform/a"), None);
    }

    #[test]
    fn names_are_those_below_the_address() {
        assert_eq!(below_of("lab/a/b", "lab"), Some("a/b"));
        assert_eq!(below_of("laboratory/a", "lab"), None);
        assert_eq!(below_of("a", ""), Some("a"));
    }
}
