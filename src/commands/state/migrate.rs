//! `infra state migrate`.

use std::collections::BTreeMap;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::Context;
use crate::commands::stack_args::stack_names;
use crate::commands::workspace::{Purpose, Workspace};
use crate::engine::{self, Likeness, Migration, StateNeed};
use crate::error::{Error, Exit, Result};
use crate::model::Backend;
use crate::report::{Asking, confirm};
use crate::tofu::call::PushMode;

/// Move the state of a stack to another backend
///
/// Copies it, reads the copy back, compares serial, lineage and bytes (or content, where tofu
/// must write it), and only then changes the backend block in the stack's files. The old
/// state stays where it is; a `terraform.tfstate` is renamed, so that tofu does not find it again.
///
/// TO is `embedded` (also for `state.url`), `local`, `local:PATH`, an http address, or
/// `s3://BUCKET/KEY?region=…&endpoint=…&use_lockfile=true`.
///
/// Examples:
///   infra state migrate pihole --to embedded
///   infra state migrate pihole --to 's3://states/pihole.tfstate?region=eu-central-1' --yes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct MigrateArgs {
    /// The stack
    #[arg(value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    stack: String,
    /// Where to
    #[arg(long, value_name = "TO")]
    to: String,
    /// Overwrite a state that is already there
    #[arg(long)]
    force: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Runs the command.
pub(super) async fn run(args: &MigrateArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load(context)?;
    let stack = workspace.choose_one(Some(args.stack.clone()), context)?;
    let migration = read_target(args)?;
    if migration.backend == stack.backend {
        return Err(Error::usage(format!("`{}` keeps its state there already", stack.id)));
    }
    let from = stack.backend.kind();
    ask(args, &format!("Move the state of `{}` from {from} to {}?", stack.id, args.to), context).await?;
    let id = stack.id.clone();
    // The embedded server must run although no stack may use it yet.
    let purpose = Purpose { state: StateNeed::Served, ..Purpose::states_of(std::slice::from_ref(&id)) };
    let migrated = workspace
        .with_session(context, purpose, async |session| engine::migrate_state(session, &id, &migration).await)
        .await?;
    match migrated.copied {
        Some((facts, likeness)) => context.terminal.note(&format!(
            "copied and compared the state of `{id}`: serial {}, lineage {}, {} resources; {}",
            facts.serial,
            facts.lineage,
            facts.resources,
            words(likeness)
        )),
        None => context.terminal.note(&format!("`{id}` had no state to copy")),
    }
    let old = match &migrated.aside {
        Some(aside) => format!("the old state is kept as {}", aside.display()),
        None => "the old state was left alone".to_owned(),
    };
    context.terminal.note(&format!("changed the backend in {}; {old}", migrated.file.display()));
    context.terminal.note(&format!("hint: check it: `infra plan {id}`"));
    Ok(Exit::OK)
}

const fn words(likeness: Likeness) -> &'static str {
    match likeness {
        Likeness::Bytes => "every byte is the same",
        Likeness::EncryptedBytes => "every byte of it, encrypted as it is, is the same",
        Likeness::Content => "its content is the same, written in the way of the new place",
        Likeness::DecryptedContent => "its content is the same, encrypted anew by tofu",
    }
}

fn read_target(args: &MigrateArgs) -> Result<Migration> {
    let mode = if args.force { PushMode::Forced } else { PushMode::Careful };
    let settings = match args.to.as_str() {
        "embedded" => {
            let block = Some("backend \"http\" {}".to_owned());
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
    let (kind, settings) = settings;
    let lines = settings.iter().map(|(name, value)| format!("    {name} = {}\n", literal(name, value)));
    let block = format!("backend \"{kind}\" {{\n{}  }}", lines.collect::<String>());
    let attributes = settings.into_iter().map(|(name, value)| (name, Some(value))).collect();
    Ok(Migration {
        block: Some(block),
        backend: Backend::Configured { kind: kind.to_owned(), attributes },
        mode,
    })
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

fn literal(name: &str, value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string().replace("${", "$${").replace("%{", "%%{");
    match (name, value) {
        ("endpoints", _) => format!("{{ s3 = {quoted} }}"),
        (_, "true" | "false") => value.to_owned(),
        _ => quoted,
    }
}

fn unknown(to: &str) -> Error {
    Error::usage(format!("`{to}` is no place for a state"))
        .hint("expected `embedded`, `local`, `local:PATH`, `https://…` or `s3://BUCKET/KEY?region=…`")
}

async fn ask(args: &MigrateArgs, question: &str, context: &Context) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let Asking::Person(terminal) = context.asking() else {
        return Err(
            Error::usage("`state migrate` has to ask, but there is no terminal").hint("say yes: `--yes`")
        );
    };
    match confirm(&terminal, question).await {
        true => Ok(()),
        false => Err(Error::failed("the state was left where it is")),
    }
}
