//! What a stack is given: values from files, secrets, other stacks and the command line.
//!
//! Begin at [`Given`] (the command line), [`load_secrets`] (encrypted files) and [`resolve_inputs`]
//! (outputs of other stacks).

mod early_values;
mod encryption_origin;
mod given;
mod given_variables;
mod inputs;
mod lost_inputs;
mod outputs;
mod own_encryption;
mod secret_files;
mod secret_names;
mod stack_secrets;
mod var_files;
mod variable_flags;

pub(super) use early_values::{
    EarlyValues, early_sources, files_of, sources_of, sources_with, with_early_values,
};
pub(super) use encryption_origin::encryption_origins;
pub use given::{Given, GivenItem};
pub(super) use inputs::{Inputs, resolve_inputs};
pub(super) use outputs::outputs_of;
pub(super) use own_encryption::{SearchedPart, declares};
pub use secret_files::secret_files_of;
pub(super) use secret_names::is_secret;
pub use stack_secrets::{NEXT_PASSPHRASE, PASSPHRASE, StackSecrets, Unopened, load_secrets};
pub(super) use stack_secrets::{Passphrase, StateKeys, no_passphrase, tell_left_out};
pub(super) use var_files::var_files;
pub(super) use variable_flags::{given_var_files, giving_variables, only_give_variables};
