//! Who may use a server: login, users, their rights, and requests of other sites' pages.

mod credentials;
mod login;
mod login_attempts;
mod origin_check;
mod password_hash;
mod rights;
mod source_address;
mod users;

pub use credentials::Credentials;
pub(super) use login::{Caller, Login, LoginRefusal};
pub(super) use origin_check::foreign_origin;
pub use password_hash::hash_password;
pub use rights::{Right, Rights};
pub(super) use source_address::source_of;
pub use users::Users;
