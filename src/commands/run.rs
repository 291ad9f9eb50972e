//! The commands that run tofu over stacks, and what they share: a run from the request to the exit code.

mod apply;
mod destroy;
mod drift;
mod execute;
mod fmt;
mod init;
mod plan;
mod test;
mod tofu;
mod up;
mod validate;

pub use apply::{ApplyArgs, run as apply};
pub use destroy::{DestroyArgs, run as destroy};
pub use drift::{DriftArgs, run as drift};
pub use fmt::{FmtArgs, run as fmt};
pub use init::{InitArgs, run as init};
pub use plan::{PlanArgs, run as plan};
pub use test::{TestArgs, run as test};
pub use tofu::{TofuArgs, run as tofu};
pub use up::{UpArgs, run as up};
pub use validate::{ValidateArgs, run as validate};

pub(super) use execute::{Request, RunArgs, execute};
