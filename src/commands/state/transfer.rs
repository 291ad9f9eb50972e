//! Commands after which the state of a stack is another one, or somewhere else: it is brought along,
//! follows a renamed stack, is made again from a copy, is given up or taken over.

mod bring_along;
mod forget;
mod migrate;
mod readers;
mod recover;
mod rename;

pub(super) use forget::{AdoptArgs, ForgetArgs, adopt, forget};
pub(super) use migrate::{MigrateArgs, run as migrate};
pub(super) use recover::{RecoverArgs, run as recover};
pub(super) use rename::{RenameArgs, run as rename};
