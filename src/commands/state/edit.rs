//! Commands that write a state where it is: resources leave it or get another name, an older or
//! another state takes its place, it is encrypted.

mod encrypt;
mod push;
mod rm;
mod rollback;

pub(super) use encrypt::{EncryptArgs, run as encrypt};
pub(super) use push::{PushArgs, run as push};
pub(super) use rm::{MvArgs, RmArgs, remove, rename};
pub(super) use rollback::{RollbackArgs, run as rollback};
