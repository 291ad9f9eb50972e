//! Files of profiles that a stack's own files or `infra.yaml` name for its bucket: a
//! `credential_process` in one is a program that tofu runs, and infra when it looks into the
//! bucket; a token file that one names is sent to a server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::digest;
use crate::backends::{BackendRecord, resolved_backend};
use crate::engine::data_folder;
use crate::error::Result;
use crate::model::{Backend, Environment, Fingerprint, Project, Stack, without_dots};
use crate::stacks;
use crate::state::AwsSettings;
use crate::trust::{TrustItem, TrustItemKind};

/// What in such a file does more than tell a value.
const POWERFUL: [&str; 2] = ["credential_process", "web_identity_token_file"];

/// A token that a block sends to a server of its own choice.
const TOKEN_FILE: &str = "assume_role_with_web_identity.web_identity_token_file";

/// Returns the files that such programs, or files to send, are named in.
pub fn credential_file_items(
    project: &Project,
    stacks: &[&Stack],
    env: &Environment,
) -> Result<Vec<TrustItem>> {
    let mut items = Vec::new();
    for stack in stacks.iter().filter(|stack| stack.backend.kind() == "s3") {
        let dir = project.root.join(&stack.path);
        let own = stacks::settings_for(project, &stack.id).env;
        let data_dir = data_folder(project, stack, env, &own);
        let backend =
            resolved_backend(&stack.backend, BackendRecord { data_dir: &data_dir, workspace: None });
        items.extend(sent_token(stack, &backend));
        let named = named_files(&backend, &own.into_iter().collect::<Vec<_>>(), env, &dir);
        for path in named.into_iter().filter(|path| names_a_program_or_token(path)) {
            let name = project.relative(&path).display().to_string();
            items.push(TrustItem::new(TrustItemKind::CredentialFile, name, digest(&path)?));
        }
    }
    items.sort();
    items.dedup_by(|a, b| a.is_same(b));
    Ok(items)
}

/// Returns the files that the repository names; what the caller's own variables name, or what lies where a
/// person keeps such files, is theirs.
fn named_files(
    backend: &Backend,
    own: &[(String, String)],
    env: &Environment,
    dir: &Path,
) -> BTreeSet<PathBuf> {
    const VARIABLES: [&str; 3] = ["AWS_CONFIG_FILE", "AWS_SHARED_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"];
    let mut env = env.clone();
    env.remove_where(|name| VARIABLES.contains(&name));
    let env = own.iter().fold(env, |env, (name, value)| env.with(name, value));
    let home = env.path("HOME").map(|home| home.join(".aws"));
    let files = AwsSettings::of_block(backend, &env, dir).files().concat().into_iter();
    let files = files.map(|file| without_dots(&file));
    files.filter(|file| home.as_ref().is_none_or(|home| file.parent() != Some(home))).collect()
}

fn names_a_program_or_token(path: &Path) -> bool {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).to_lowercase();
    POWERFUL.iter().any(|word| text.contains(word))
}

fn sent_token(stack: &Stack, backend: &Backend) -> Option<TrustItem> {
    let file = backend.attribute(TOKEN_FILE)?;
    let server = backend.attribute("endpoints.sts").or_else(|| backend.attribute("sts_endpoint"))?;
    let name = stack.path.join("backend").display().to_string();
    let digest = Fingerprint::of([file.as_bytes(), server.as_bytes()]).to_string();
    Some(TrustItem::new(TrustItemKind::CredentialFile, name, digest))
}
