//! Tracing for those who look for a defect: `INFRA_LOG=debug`, to stderr.

use tracing::Level;
use tracing_subscriber::filter::LevelFilter;

use crate::error::{Error, Result};
use crate::model::Environment;

/// Turns tracing on if the environment asks for it.
pub fn start(env: &Environment) -> Result<()> {
    let Some(text) = env.get("INFRA_LOG") else { return Ok(()) };
    let level: Level = text.parse().map_err(|_| {
        Error::usage(format!("INFRA_LOG is `{text}`"))
            .hint("expected `error`, `warn`, `info`, `debug` or `trace`")
    })?;
    let subscriber =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(LevelFilter::from_level(level));
    // A second start in one process, as tests do it, keeps the first.
    let _ = subscriber.try_init();
    Ok(())
}
