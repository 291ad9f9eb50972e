//! `infra state list`.

use clap::Args;
use serde_json::{Map, Value};

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs, VarArgs};
use crate::commands::loaded_project::{LoadedProject, Purpose, ReadableStates};
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::model::{Safe, quoted};
use crate::report::Tone;

/// List the resources of stacks
///
/// Examples:
///   infra state list k8s-prod
///   infra state list --all --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ListArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    variables: VarArgs,
    /// Print as JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// What to pass on to `tofu state list`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: &ListArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = loaded.choose_to_read(&args.stacks, context);
    let chosen = chosen.map_err(|error| with_address(error, &args.stacks))?;
    let (listed, sound) = loaded
        .with_session(context, Purpose::reading(&chosen).given(&args.variables), async |session| {
            let sound = ReadableStates::of(session, &chosen).await?;
            let mut listed = Map::new();
            for id in &sound.stacks {
                let addresses = engine::read_addresses(session, id, &args.extra).await?;
                listed.insert(id.to_string(), addresses.iter().map(Safe::as_str).collect());
            }
            Ok((listed, sound))
        })
        .await?;
    if args.json {
        context.terminal.data_line(&serde_json::to_string_pretty(&listed).unwrap_or_default());
    } else {
        show(&listed, context);
    }
    Ok(sound.end(context))
}

/// Says where an address goes that was typed where a stack belongs, as `tofu state list` takes it.
fn with_address(error: Error, args: &StackArgs) -> Error {
    let names = args.selection().names;
    let is_address = |name: &&String| name.contains('.') && !name.starts_with('.') && !name.contains('/');
    let address = names.iter().find(is_address).map(|address| quoted(address));
    error.hint_if(address.map(|address| format!("an address follows `--`: `infra state list -- {address}`")))
}

fn show(listed: &Map<String, Value>, context: &Context) {
    for (stack, addresses) in listed {
        let addresses = addresses.as_array().map(Vec::as_slice).unwrap_or_default();
        let indent = if listed.len() > 1 { "  " } else { "" };
        if listed.len() > 1 {
            context.terminal.data_line(&context.terminal.paint_data(Tone::Strong, stack));
        }
        for address in addresses.iter().filter_map(Value::as_str) {
            context.terminal.data_line(&format!("{indent}{address}"));
        }
        if addresses.is_empty() {
            context.terminal.note(&format!("{indent}{stack} has no resources"));
        }
    }
}
