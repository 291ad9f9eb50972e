//! What was last noted of a stack, here or by somebody who shares its state.

use std::path::Path;

use super::copies::{RECORD, Record, parse, recorded};
use super::shared_copies;
use crate::engine::session::Session;
use crate::model::Stack;

/// Returns what was last noted of a stack, here or by somebody who shares its state.
pub async fn last_record(session: &Session, stack: &Stack) -> Option<Record> {
    let shared = shared_copies::file_of(session, stack, Path::new(RECORD)).await.ok().flatten();
    let shared = shared.as_deref().and_then(parse);
    [recorded(&session.project, &stack.id), shared]
        .into_iter()
        .flatten()
        .max_by_key(|record| record.applied_at)
}
