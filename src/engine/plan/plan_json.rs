//! A saved plan as data: what `tofu show -json` says of it, which stays in memory.

use std::path::Path;

use serde_json::Value;

use crate::engine::calls::successful;
use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::model::StackId;
use crate::process::Invocation;
use crate::tofu::call;

/// Reads a plan, sensitive values included; `base` is a call that can open it.
pub async fn read_plan(session: &Session, id: &StackId, base: Invocation, plan: &Path) -> Result<Value> {
    let shown = successful(session, id, call::show_json(base, Some(plan))).await?;
    let unreadable = || Error::failed(format!("the plan of `{id}` cannot be read as JSON"));
    let plan: Value =
        serde_json::from_slice(shown.stdout.unmasked()).map_err(|error| unreadable().because(error))?;
    if plan["format_version"].is_string() { Ok(plan) } else { Err(unreadable()) }
}
