//! What to do about the failures of OpenTofu that are known: a table from its words to ours.
//!
//! Matched on the summary or detail of a diagnostic, never on wrapped screen text. The
//! first row that matches counts.

use std::path::Path;

use crate::error::Kind;
use crate::model::{Diagnostic, StackError, StackId, is_in};

/// What the hints can name.
#[derive(Clone, Copy, Debug)]
pub struct HintContext<'a> {
    /// The stack that failed.
    pub stack: &'a StackId,
    /// Its folder, relative to the project.
    pub path: &'a Path,
    /// The command that moves its state to where its files say that it is.
    pub migration_command: &'a str,
    /// The variables behind the encryption that its own files ask for, and where they come from.
    pub own_encryption: Option<&'a str>,
}

/// Returns the words in a problem that something is done about; they are looked for before
/// anything is masked, for a secret may be one of them.
pub fn signs_in(summary: &str, detail: &str) -> Vec<&'static str> {
    let rows = TABLE.iter().flat_map(|row| row.texts);
    let known = rows.chain(SILENCE).copied();
    known.filter(|text| is_in(text, summary, detail)).collect()
}

/// Returns whether a plan failed because a state that it reads does not exist yet.
pub fn tells_of_missing_state(error: &StackError) -> bool {
    const TEXT: &str = "Unable to find remote state";
    error.summary.contains(TEXT) || error.detail.contains(TEXT)
}

/// Texts of errors in which a server does not answer.
const SILENCE: &[&str] = &[
    "connection refused",
    "giving up after",
    "no such host",
    "i/o timeout",
    "network is unreachable",
    "connection reset by peer",
    "context deadline exceeded",
    "server misbehaving",
    "Temporary failure in name resolution",
    // What git says of a host that cannot be resolved.
    "Could not resolve host",
];

/// What OpenTofu says of a module that it cannot fetch.
const MODULE: &[&str] =
    &["Error accessing remote module registry", "Failed to download module", "Failed to retrieve available"];

/// What OpenTofu's http backend says of wrong credentials.
const REFUSED: &[&str] = &["requires auth", "invalid auth"];

/// What the s3 backend says of credentials that are not there, or are of no use.
const NO_CREDENTIALS: &[&str] = &[
    "No valid credential sources found",
    "failed to get shared config profile",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "ExpiredToken",
    "the SSO session has expired or is invalid",
];

/// What a server says that wants a certificate of its client, or another one.
const CERTIFICATE: &[&str] =
    &["tls: certificate required", "tls: bad certificate", "tls: unknown certificate"];

/// Returns what lies behind a problem, where it is not the stack itself: a backend, or the place where
/// a provider comes from, that does not answer or does not let us in.
///
/// What a provider cannot reach is a matter of the stack: such a problem names its resource or a place
/// in the files. A module that cannot be fetched names its call, and is still no mistake in the files.
pub fn cause_of(diagnostic: &Diagnostic) -> Option<Kind> {
    let mentions = |texts: &[&str]| texts.iter().any(|text| diagnostic.mentions(text));
    let is_of_a_module = mentions(MODULE);
    if diagnostic.address.is_some() || (diagnostic.place.is_some() && !is_of_a_module) {
        None
    } else if mentions(REFUSED) || mentions(CERTIFICATE) || mentions(NO_CREDENTIALS) {
        Some(Kind::Refused)
    } else if mentions(SILENCE) || mentions(&["could not connect to"]) {
        Some(Kind::Unavailable)
    } else {
        None
    }
}

/// What OpenTofu says of a state that the keys it was given do not open.
const WRONG_KEY: &[&str] =
    &["decryption failed for all provided methods", "cipher: message authentication failed"];

/// What it says of a state that is not encrypted, but should be.
const NOT_ENCRYPTED: &[&str] = &["encountered unencrypted payload without unencrypted method configured"];

/// What it says when it is to take the lock of a state.
const LOCK: &str = "Error acquiring the state lock";

/// Returns whether somebody holds the lock of a state: one that cannot be asked for, or whose state cannot
/// be opened to copy it first, is held by nobody.
pub fn tells_of_a_held_lock(diagnostic: &Diagnostic) -> bool {
    let mentions = |texts: &[&str]| texts.iter().any(|text| diagnostic.mentions(text));
    mentions(&[LOCK]) && cause_of(diagnostic).is_none() && !mentions(WRONG_KEY) && !mentions(NOT_ENCRYPTED)
}

/// A row: any of the texts, and the hints with `{stack}`, `{path}` and `{variable}` to fill in.
struct Row {
    texts: &'static [&'static str],
    hints: &'static [&'static str],
}

const TABLE: &[Row] = &[
    Row {
        texts: CERTIFICATE,
        hints: &["the server of `{path}` wants a certificate: give TF_HTTP_CLIENT_CERTIFICATE_PEM and \
             TF_HTTP_CLIENT_PRIVATE_KEY_PEM"],
    },
    Row {
        texts: &["certificate signed by unknown authority"],
        hints: &["give the authority behind the server of `{path}`: TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"],
    },
    Row {
        texts: REFUSED,
        hints: &[
            "the backend block in `{path}` got its user and password from TF_HTTP_USERNAME and TF_HTTP_PASSWORD \
             (`tfstate_username`, `tfstate_password`); check them",
            "see what is set: `infra doctor`",
        ],
    },
    Row {
        texts: NO_CREDENTIALS,
        hints: &[
            "the backend block in `{path}` found no credentials that hold: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY, or put `aws_access_key_id` and `aws_secret_access_key` into the secrets file",
            "see what is found: `infra doctor`",
        ],
    },
    Row {
        texts: &[LOCK],
        hints: &["wait with `--lock-timeout 5m`", "if that run is dead: `infra force-unlock {stack}`"],
    },
    Row {
        texts: &[
            "Backend configuration changed",
            "Backend type changed",
            "Can't ask approval for state migration",
        ],
        hints: &[
            "keep the old state and move it: `{migration_command}`",
            "or forget the old backend: `infra init {stack} -- -reconfigure`",
        ],
    },
    Row { texts: &["Backend initialization required"], hints: &["`infra init {stack} -- -reconfigure`"] },
    Row {
        texts: &["Inconsistent dependency lock file", "must use tofu init -upgrade"],
        hints: &[
            "accept the new providers: `infra init {stack} -- -upgrade`, then commit `{path}/.terraform.lock.hcl`",
        ],
    },
    Row {
        texts: &["Required plugins are not installed", "Module not installed", "Missing required provider"],
        hints: &["`infra init {stack}`"],
    },
    Row {
        texts: &["Saved plan is stale", "Saved plan does not match the given state"],
        hints: &["the state changed since the plan was made; plan again: `infra plan {stack}`"],
    },
    Row {
        texts: &["doesn't match any of the checksums"],
        hints: &["`{path}/.terraform.lock.hcl` and the provider mirror disagree; if the mirror is right: \
             `infra init {stack} -- -upgrade`"],
    },
    Row {
        texts: &["No value for required variable"],
        hints: &[
            "set `{variable}` in `{path}/terraform.tfvars`, or name a file under `var_files` in infra.yaml",
            "or feed it from another stack's output: `inputs: { {variable}: \"STACK.OUTPUT\" }` in infra.yaml",
        ],
    },
    Row {
        texts: NOT_ENCRYPTED,
        hints: &["the state of `{stack}` is not encrypted yet; encrypt it: `infra state encrypt {stack}`"],
    },
    Row {
        texts: WRONG_KEY,
        hints: &[
            "the state of `{stack}` was encrypted with another passphrase: check `state_encryption_passphrase`",
            "after a rotation, the value of `state_encryption_passphrase_next` belongs there",
        ],
    },
    Row {
        texts: &["can not be read without an encryption configuration"],
        hints: &[
            "the state of `{stack}` is encrypted: put its `state_encryption_passphrase` into the secrets file",
        ],
    },
    Row {
        texts: &["passphrase is too short"],
        hints: &["`state_encryption_passphrase` needs at least 16 characters"],
    },
    Row {
        texts: &["state data in S3 does not have the expected content"],
        hints: &["R2, MinIO and Scaleway need `skip_s3_checksum = true` in the backend block in `{path}`"],
    },
    Row {
        texts: &[
            "Incompatible module",
            "Unsupported OpenTofu Core version",
            "Unsupported Terraform Core version",
        ],
        hints: &["see which tofu is used and get another: `infra deps`, `tofu.version` in infra.yaml"],
    },
    Row {
        texts: MODULE,
        hints: &["a module cannot be fetched: check its source and version in `{path}`, the network, \
             HTTPS_PROXY, or what `git` may read; then `infra init {stack}`"],
    },
    Row {
        texts: &[
            "Failed to resolve provider packages",
            "Failed to query available provider packages",
            "Failed to install provider",
            "could not connect to",
        ],
        hints: &[
            "a provider cannot be fetched: check its source and version in `{path}`, the network, HTTPS_PROXY, \
             or the mirror in the tofu CLI configuration; then `infra init {stack}`",
        ],
    },
    Row {
        texts: &["Plugin did not respond"],
        hints: &["the provider crashed or its machine is out of memory; try again: `infra plan {stack}`"],
    },
    Row {
        texts: &["Provider produced inconsistent result after apply"],
        hints: &["a defect of the provider; the resource exists: plan again with `infra plan {stack}`"],
    },
];

/// What to do where the files of the stack say how its state is encrypted.
const OWN_ENCRYPTION: &[Row] = &[
    Row {
        texts: NOT_ENCRYPTED,
        hints: &[
            "the state of `{stack}` is not encrypted yet: in `{path}`, add `method \"unencrypted\" \"before\" {}` \
             to `encryption` and `fallback { method = method.unencrypted.before }` to its `state`, without \
             `enforced`; apply once, then take them away again",
        ],
    },
    Row {
        texts: WRONG_KEY,
        hints: &[
            "what is stored of `{stack}` was encrypted with another value than {own_encryption}",
            "where that was changed: the key before must stay in a `fallback` of `state` in `{path}` until an \
             apply has written the state anew",
        ],
    },
    Row {
        texts: &["passphrase is too short"],
        hints: &["a passphrase needs at least 16 characters: {own_encryption}"],
    },
];

/// What to do about a backend that does not answer.
const UNREACHABLE: Row =
    Row { texts: SILENCE, hints: &["the backend of `{path}` cannot be reached: `infra doctor`"] };

/// Returns what to do about a diagnostic; empty if it is not known.
pub fn hints_for(diagnostic: &Diagnostic, context: HintContext<'_>) -> Vec<String> {
    let known = |row: &&Row| row.texts.iter().any(|text| diagnostic.mentions(text));
    let silent = cause_of(diagnostic) == Some(Kind::Unavailable);
    let held = tells_of_a_held_lock(diagnostic);
    let rows = TABLE.iter().filter(|row| held || !row.texts.contains(&LOCK));
    let own = OWN_ENCRYPTION.iter().filter(|_| context.own_encryption.is_some());
    let Some(row) = own.chain(rows).chain(silent.then_some(&UNREACHABLE)).find(known) else {
        return Vec::new();
    };
    row.hints.iter().map(|hint| fill_in(hint, diagnostic, context)).collect()
}

fn fill_in(hint: &str, diagnostic: &Diagnostic, context: HintContext<'_>) -> String {
    hint.replace("{stack}", context.stack.as_str())
        .replace("{migration_command}", context.migration_command)
        .replace("{own_encryption}", context.own_encryption.unwrap_or_default())
        .replace("{path}", &context.path.display().to_string())
        .replace("{variable}", quoted_name(&diagnostic.detail).unwrap_or("NAME"))
}

/// Returns the first name in double quotes.
fn quoted_name(text: &str) -> Option<&str> {
    text.split('"').nth(1).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Safe, Severity};
    use crate::secrets::redactor::Redactor;

    /// Tells the words by their signs alone: the text itself may be masked.
    fn hints(summary: &str, detail: &str) -> Vec<String> {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            summary: "(redacted)".into(),
            detail: Safe::through(&Redactor::default(), detail),
            address: None,
            place: None,
            code: None,
            signs: signs_in(summary, detail),
        };
        let stack = StackId::new("02-platforms/k8s");
        let path = Path::new("infrastructure/02-platforms/k8s");
        let own_encryption = detail.contains("own").then_some("`p` from `s.sops.yaml`");
        hints_for(
            &diagnostic,
            HintContext { stack: &stack, path, migration_command: "infra state migrate", own_encryption },
        )
    }

    #[test]
    fn every_row_of_the_table_matches_its_own_texts_and_leaves_nothing_to_fill_in() {
        for row in TABLE {
            for text in row.texts {
                let by_summary = hints(text, "");
                let by_detail = hints("Error", &format!("HTTP remote state endpoint {text}"));

                assert!(!by_summary.is_empty() && !by_detail.is_empty(), "{text}");
                assert!(
                    by_summary.iter().all(|hint| !hint.contains("{stack}") && !hint.contains("{path}")),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn a_missing_variable_is_named_with_the_file_to_set_it_in() {
        let hints =
            hints("No value for required variable", "The root module input variable \"node\" is not set.");

        assert!(
            hints[0].starts_with("set `node` in `infrastructure/02-platforms/k8s/terraform.tfvars`"),
            "{hints:?}"
        );
    }

    #[test]
    fn a_wrong_passphrase_of_the_stacks_own_is_named_with_where_it_comes_from() {
        let summary = "decryption failed for all provided methods";

        assert!(hints(summary, "own")[0].ends_with("another value than `p` from `s.sops.yaml`"));
        assert!(hints(summary, "")[0].contains("state_encryption_passphrase"));
    }

    #[test]
    fn a_state_that_does_not_open_is_not_locked_although_tofu_was_about_to_lock_it() {
        let detail = "Error message: failed to write backup file: decryption failed for all provided methods";

        assert!(hints(LOCK, detail)[0].contains("another passphrase"));
        assert!(hints(LOCK, "Lock Info: ID: 1")[0].contains("--lock-timeout"));
    }

    #[test]
    fn an_unknown_failure_gets_no_invented_advice() {
        assert_eq!(hints("Something new", "happened"), Vec::<String>::new());
    }
}
