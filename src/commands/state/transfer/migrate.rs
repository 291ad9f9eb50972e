//! `infra state migrate`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::{Value, json};

use super::bring_along::BringAlong;
use super::readers::tell_readers;
use crate::backends::StateFacts;
use crate::commands::Context;
use crate::commands::args::{StackArgs, VarArgs, stack_names};
use crate::commands::generated_files::warn_of_edit;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::state::asking::{StateQuestion, check_can_ask};
use crate::engine;
use crate::engine::{BackendEdit, Likeness, Migrated, Migration, StateNeed};
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, Stack, StackId};
use crate::stacks::NewBackend;
use crate::tofu::call::PushMode;

/// Move states to where infra.yaml says, or to another backend
///
/// With `--all`, or a stack without `--to`: from where `infra.lock` says they are kept, or from
/// `--from`, to the place that infra.yaml names. Versions go along, and what stays is marked as
/// moved, so that an old checkout cannot go on with it.
///
/// With `--to`: copies it, reads the copy back, compares serial, lineage and bytes (or content, where tofu
/// must write it), and only then changes the backend block in the stack's files. The old
/// state stays where it is; a `terraform.tfstate` is renamed, so that tofu does not find it again.
///
/// TO is `embedded` (also for `state.url`), `local`, `local:PATH`, an http address, or
/// `s3://BUCKET/KEY?region=…&endpoint=…&use_lockfile=true`.
///
/// Examples:
///   infra state migrate --all
///   infra state migrate --all --from 's3://states/lab?endpoint=https://minio.example.com' --yes
///   infra state migrate pihole --to embedded
///   infra state migrate pihole --to 's3://states/pihole.tfstate?region=eu-central-1' --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct MigrateArgs {
    #[command(flatten)]
    variables: VarArgs,
    /// The stack
    #[arg(value_name = "STACK", required_unless_present = "all", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// Every state of the project
    #[arg(long, conflicts_with_all = ["stack", "to"])]
    all: bool,
    /// Where to; without it the place that infra.yaml names
    #[arg(long, value_name = "TO")]
    to: Option<String>,
    /// Where from: `embedded`, a folder, `s3://…` or the address of a server
    #[arg(long, value_name = "PLACE", conflicts_with = "to")]
    from: Option<String>,
    /// Overwrite a state that is already there
    #[arg(long, requires = "to")]
    force: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Runs the command.
pub async fn run(args: &MigrateArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &StackArgs::one(args.stack.clone())).await?;
    let Some(to) = &args.to else { return bring_along(args, &loaded, context).await };
    let stack = loaded.choose_one(args.stack.clone(), context)?;
    let migration = read_target(to, args.force)?;
    if migration.backend == stack.backend || same_file(&migration.backend, &stack.backend) {
        return finish(args, (&loaded, stack), &migration, context).await;
    }
    check_can_ask("migrate", args.yes, context)?;
    let edit = BackendEdit::of(&loaded.project, &loaded.stacks, stack, &migration.block)?;
    let id = &stack.id;
    let migrated = loaded
        .with_session(context, purpose(id).given(&args.variables), async |session| {
            engine::require_states(session, std::slice::from_ref(id)).await?;
            let state = StateFacts::of(&engine::pull_state(session, id).await?);
            tell_beforehand(&loaded, (stack, &edit.file), state.as_ref(), context);
            ask(args, question(to, stack, state.as_ref()), context).await?;
            let migrated = engine::migrate_state(session, id, &migration).await;
            engine::tell_noted(session);
            migrated
        })
        .await?;
    tell_result(id, &migrated, context);
    Ok(Exit::OK)
}

/// Brings states along to the place that is configured now.
async fn bring_along(args: &MigrateArgs, loaded: &LoadedProject, context: &Context) -> Result<Exit> {
    let chosen = match &args.stack {
        Some(_) => Some(vec![loaded.choose_one(args.stack.clone(), context)?.id.clone()]),
        None => None,
    };
    BringAlong { chosen, from: args.from.clone(), yes: args.yes }.run(loaded, context).await
}

/// Asks before anything is moved.
async fn ask(args: &MigrateArgs, text: String, context: &Context) -> Result<()> {
    StateQuestion { command: "migrate", text, yes: args.yes }.ask(context).await
}

/// Brings along a state that stayed where it was when a person changed the block by hand.
async fn finish(
    args: &MigrateArgs,
    (loaded, stack): (&LoadedProject, &Stack),
    migration: &Migration,
    context: &Context,
) -> Result<Exit> {
    let id = &stack.id;
    let from = match engine::left_behind(&loaded.project, &context.env, stack) {
        Some(from) => from,
        None if stack.backend == Backend::Embedded => {
            let chosen = Some(vec![id.clone()]);
            return BringAlong { chosen, from: None, yes: args.yes }.run(loaded, context).await;
        }
        None => return Err(Error::usage(format!("`{id}` keeps its state there already"))),
    };
    check_can_ask("migrate", args.yes, context)?;
    tell_readers(loaded, std::iter::once(id), context);
    context.terminal.note(&format!("the state of `{id}` is still in {from}"));
    ask(args, "Move it?".to_owned(), context).await?;
    let migrated = loaded
        .with_session(context, purpose(id).given(&args.variables), async |session| {
            let migrated = engine::take_along(session, id, migration, &from).await;
            engine::tell_noted(session);
            migrated
        })
        .await?;
    tell_result(id, &migrated, context);
    Ok(Exit::OK)
}

/// The embedded server must run although no stack may use it yet.
fn purpose(id: &StackId) -> Purpose<'_> {
    Purpose { state: StateNeed::Served, ..Purpose::states_of(std::slice::from_ref(id)) }
}

/// Returns whether both keep the state in one file: without a block it is tofu's usual one.
fn same_file(one: &Backend, other: &Backend) -> bool {
    let file = |backend: &'_ Backend| match backend {
        Backend::None => Some("terraform.tfstate".to_owned()),
        Backend::Configured { kind, attributes } if kind == "local" => match attributes.get("path") {
            None => Some("terraform.tfstate".to_owned()),
            Some(path) => path.as_deref().map(|path| path.trim_start_matches("./").to_owned()),
        },
        Backend::Embedded | Backend::Unknown | Backend::Configured { .. } => None,
    };
    file(one).is_some_and(|file_of_one| Some(file_of_one) == file(other))
}

/// Tells what a person should know before the question: who else is concerned, and what is not moved.
fn tell_beforehand(
    loaded: &LoadedProject,
    (stack, file): (&Stack, &Path),
    state: Option<&StateFacts>,
    context: &Context,
) {
    tell_readers(loaded, std::iter::once(&stack.id), context);
    if state.is_none() {
        let id = &stack.id;
        context.terminal.note(&format!("`{id}` has no state yet: only its backend block is changed"));
    }
    warn_of_edit(&loaded.project, file, context);
}

fn question(to: &str, stack: &Stack, state: Option<&StateFacts>) -> String {
    let (id, from) = (&stack.id, stack.backend.kind());
    match state {
        Some(_) => format!("Move the state of `{id}` from {from} to {to}?"),
        None => format!("Change the backend of `{id}` from {from} to {to}?"),
    }
}

fn tell_result(id: &StackId, migrated: &Migrated, context: &Context) {
    let changed = migrated.file.as_ref().map(|file| format!("changed the backend in {}; ", file.display()));
    let changed = changed.unwrap_or_default();
    let Some((facts, likeness)) = &migrated.copied else {
        context.terminal.note(&format!("{changed}there was no state to copy"));
        return;
    };
    context.terminal.note(&format!(
        "copied and compared the state of `{id}`: serial {}, lineage {}, {} resources; {}",
        facts.serial,
        facts.lineage,
        facts.resources,
        words(*likeness)
    ));
    let old = match &migrated.aside {
        Some(aside) => format!("the old state is kept as {}", aside.display()),
        None => "the old state was left alone".to_owned(),
    };
    context.terminal.note(&format!("{changed}{old}"));
    context.terminal.note(&format!("hint: check it: `infra plan {id}`"));
}

const fn words(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Bytes => "every byte is the same",
        Likeness::EncryptedBytes => "every byte of it, encrypted as it is, is the same",
        Likeness::Content => "its content is the same, written in the way of the new place",
        Likeness::DecryptedContent => "its content is the same, encrypted anew by tofu",
    }
}

fn read_target(to: &str, force: bool) -> Result<Migration> {
    let mode = if force { PushMode::Forced } else { PushMode::Careful };
    let (kind, settings) = match to {
        "embedded" => {
            let block = NewBackend { kind: "http".to_owned(), settings: BTreeMap::new() };
            return Ok(Migration { block, backend: Backend::Embedded, mode });
        }
        "local" => ("local", BTreeMap::new()),
        to => match to.split_once(':') {
            Some(("local", path)) => ("local", BTreeMap::from([("path".to_owned(), path.to_owned())])),
            Some(("http" | "https", _)) => ("http", http_settings(to)),
            Some(("s3", _)) => ("s3", s3_settings(to)?),
            _ => return Err(unknown(to)),
        },
    };
    let values = settings.iter().map(|(name, value)| (name.clone(), value_of(name, value)));
    let block = NewBackend { kind: kind.to_owned(), settings: values.collect() };
    let attributes = settings.into_iter().map(|(name, value)| (name, Some(value))).collect();
    Ok(Migration { block, backend: Backend::Configured { kind: kind.to_owned(), attributes }, mode })
}

fn http_settings(address: &str) -> BTreeMap<String, String> {
    let lock = format!("{address}/lock");
    let all = [("address", address.to_owned()), ("lock_address", lock.clone()), ("unlock_address", lock)];
    all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Turns a URL into the settings of tofu's own s3 backend.
fn s3_settings(to: &str) -> Result<BTreeMap<String, String>> {
    let url = reqwest::Url::parse(to).map_err(|error| unknown(to).because(error))?;
    let (Some(bucket), key) = (url.host_str(), url.path().trim_start_matches('/')) else {
        return Err(unknown(to));
    };
    if key.is_empty() {
        return Err(unknown(to).detail("the key of the state is missing after the bucket"));
    }
    let mut settings =
        BTreeMap::from([("bucket".to_owned(), bucket.to_owned()), ("key".to_owned(), key.to_owned())]);
    for (name, value) in url.query_pairs() {
        settings.insert(name.into_owned(), value.into_owned());
    }
    if let Some(endpoint) = settings.remove("endpoint") {
        settings.insert("endpoints".to_owned(), endpoint);
        // Stores that are not Amazon's know none of what these ask for.
        for name in [
            "skip_credentials_validation",
            "skip_metadata_api_check",
            "skip_region_validation",
            "skip_requesting_account_id",
            "skip_s3_checksum",
            "use_path_style",
        ] {
            settings.insert(name.to_owned(), "true".to_owned());
        }
    }
    settings.entry("use_lockfile".to_owned()).or_insert_with(|| "true".to_owned());
    Ok(settings)
}

fn value_of(name: &str, value: &str) -> Value {
    match (name, value) {
        ("endpoints", _) => json!({ "s3": value }),
        (_, "true") => Value::from(true),
        (_, "false") => Value::from(false),
        _ => Value::from(value),
    }
}

fn unknown(to: &str) -> Error {
    Error::usage(format!("`{to}` is no place for a state"))
        .hint("expected `embedded`, `local`, `local:PATH`, `https://…` or `s3://BUCKET/KEY?region=…`")
}
