//! A state or a saved plan for whoever wants more than tofu's text: as the document that tofu writes
//! for machines, or with everything that is hidden otherwise.
//!
//! The document is masked part by part, so that it stays one. Only who asks for sensitive values gets
//! what tofu wrote as it is.

use std::path::Path;

use serde_json::Value;
use zeroize::Zeroizing;

use super::reading::{call_showing, has_secrets};
use crate::engine::calls::successful;
use crate::engine::plan::{hide_old_values_in, mask_document};
use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::model::StackId;
use crate::process::Raw;
use crate::tofu::{Flavour, call};

/// Whether sensitive values are shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sensitive {
    /// No.
    Hidden,
    /// Yes, those of encrypted files as well: somebody asked for them.
    Shown,
}

/// Returns a state, or a saved plan, as the document that tofu writes for machines.
pub async fn read_document(
    session: &Session,
    id: &StackId,
    plan: Option<&Path>,
    sensitive: Sensitive,
) -> Result<Value> {
    let base = call_showing(session, session.stack(id)?, plan).await?;
    let shown = successful(session, id, call::show_json(base, plan)).await?;
    let document: Value = serde_json::from_slice(shown.stdout.unmasked())
        .map_err(|error| Error::failed(format!("what tofu shows of `{id}` is no JSON")).because(error))?;
    if sensitive == Sensitive::Shown {
        return Ok(document);
    }
    if has_secrets(session, session.stack(id)?).await && plan.is_some() {
        hide_old_values_in(session, id, &document)?;
    }
    Ok(mask_document(document, &session.mask()))
}

/// Returns a state, or a saved plan, as tofu writes it for people, with everything that is sensitive.
pub async fn read_everything(
    session: &Session,
    id: &StackId,
    plan: Option<&Path>,
) -> Result<Zeroizing<String>> {
    let base = call_showing(session, session.stack(id)?, plan).await?;
    let call = if session.tofu.flavour == Flavour::OpenTofu { call::show_everything } else { call::show };
    let shown = successful(session, id, call(base, plan)).await?;
    Ok(revealed(&shown.stdout))
}

fn revealed(shown: &Raw) -> Zeroizing<String> {
    Zeroizing::new(String::from_utf8_lossy(shown.unmasked()).into_owned())
}
