//! The credentials that a request to Amazon is signed with: those that tofu's own `s3` backend
//! would take.
//!
//! Written by hand, because the chain of Amazon's own crates reads the environment of the
//! process, starts programs by itself and links a second HTTP and TLS stack. The order is that of
//! [the backend](https://opentofu.org/docs/language/settings/backends/s3/) and of the SDK below it:
//! keys of the block, its profile, the environment, a web identity, the profile of the
//! environment, the container, the machine. Nothing is asked before the first request, and what was
//! found is kept until it ends. Begin at [`AwsSources::of`].

mod chain;
mod container;
mod credential_process;
mod ini;
mod instance;
mod profiles;
mod query;
mod settings;
mod source;
mod sso;
mod sts;

pub use settings::AwsSettings;
pub(crate) use source::refusal;
pub use source::{AwsSource, AwsSources};
