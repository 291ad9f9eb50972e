//! Start-up: reads the environment once, installs the panic hook, and alone exits.

use std::process::ExitCode;

use infra::model::{Clock, Environment};

#[expect(clippy::disallowed_methods, reason = "the one place that reads environment and clock")]
fn main() -> ExitCode {
    infra::bug::install_panic_hook();
    let exit = std::panic::catch_unwind(|| {
        let env: Environment = std::env::vars_os().collect();
        infra::cli::run(std::env::args_os().collect(), env, Clock::new(jiff::Timestamp::now))
    });
    ExitCode::from(exit.map_or(infra::error::Kind::Bug.exit().0, |exit| exit.0))
}
