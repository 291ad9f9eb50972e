//! `plaintext-secret`: what stands in a file in the clear. The text itself is never told.

use crate::lint::files::{FoundSecret, SourceFile};
use crate::lint::finding::Finding;
use crate::lint::plaintext::Suspicion;
use crate::model::LintRule;

/// Tells the secrets of a file.
pub fn secrets_in_files(file: &SourceFile) -> Vec<Finding> {
    file.secrets.iter().map(|secret| finding(file, secret)).collect()
}

fn finding(file: &SourceFile, secret: &FoundSecret) -> Finding {
    let way = "keep it in an encrypted file, and change it where it is used";
    let name = secret.name.escape_debug();
    let message = match secret.why {
        Suspicion::Name => format!("`{name}` is a secret in the clear: {way}"),
        Suspicion::Shape(shape) => format!("`{name}` holds {shape} in the clear: {way}"),
    };
    let place = file.place_in_block(secret.at, secret.block);
    Finding::new(LintRule::PlaintextSecret, place, secret.subject.clone(), message)
}
