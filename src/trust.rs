//! What this person made and allowed, kept outside of every project.
//!
//! A repository that somebody else wrote is believed in nothing: what it may run, and which
//! plans were made here, is remembered below `$XDG_STATE_HOME/infra`. [`UserKey`] is the
//! secret that proofs and keys come from; [`Consents`] holds every yes to a [`TrustItem`] of a
//! project; [`TrustWord`] is what the caller said beforehand.

mod consents;
mod own_file;
mod trust_item;
mod user_key;
mod word;

pub use consents::{Consent, Consents};
pub use own_file::read_own_file;
pub use trust_item::{TrustItem, TrustItemKind, UNTRUSTED};
pub use user_key::UserKey;
pub use word::TrustWord;
