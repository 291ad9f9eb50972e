//! `infra output`.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs, VarArgs};
use crate::commands::loaded_project::{LoadedProject, Purpose, ReadableStates};
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::model::StackId;
use crate::report::{Terminal, Tone};
use crate::secrets::redactor::Redactor;

/// Show what stacks give to others and to you
///
/// Sensitive values, and those of encrypted files, are hidden unless one is asked for by name.
///
/// Examples:
///   infra output --all
///   infra output k8s-prod
///   infra output k8s-prod --name kubeconfig --raw > kubeconfig
///   infra output --all --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct OutputArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    variables: VarArgs,
    /// Only this output; `infra output STACK NAME` works too
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Print as JSON
    #[arg(long, conflicts_with = "raw", help_heading = OUTPUT)]
    json: bool,
    /// Print one value and nothing else
    #[arg(long, help_heading = OUTPUT)]
    raw: bool,
    /// Show sensitive values
    #[arg(long, help_heading = OUTPUT)]
    show_sensitive: bool,
}

/// Runs the command.
pub async fn run(args: &OutputArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let WantedOutputs { chosen, name, no_stack } = choose(&loaded, args, context)?;
    let (outputs, mask, sound) = loaded
        .with_session(context, Purpose::reading(&chosen).given(&args.variables), async |session| {
            let sound = ReadableStates::of(session, &chosen).await?;
            Ok((engine::read_outputs(session, &sound.stacks).await?, session.mask(), sound))
        })
        .await?;
    let outputs = only_named(outputs, name.as_deref(), no_stack)?;
    if args.raw {
        return show_raw(&outputs, name.as_deref(), context);
    }
    let reveal = args.show_sensitive || (args.json && name.is_some());
    let outputs = if reveal { outputs } else { hidden(outputs, &mask) };
    if args.json {
        context.terminal.data_line(&serde_json::to_string_pretty(&outputs).unwrap_or_default());
    } else {
        show(&outputs, &context.terminal);
    }
    Ok(sound.end(context))
}

/// What was asked for.
struct WantedOutputs {
    chosen: Vec<StackId>,
    name: Option<String>,
    /// Why the name is no stack, where it could have been meant as one.
    no_stack: Option<Error>,
}

/// Takes a last argument that names no stack for the name of an output.
fn choose(loaded: &LoadedProject, args: &OutputArgs, context: &Context) -> Result<WantedOutputs> {
    let chosen = loaded.choose_to_read(&args.stacks, context);
    match (chosen, args.stacks.names.split_last()) {
        (Err(error), Some((name, stacks))) if args.name.is_none() => {
            let stacks = StackArgs { names: stacks.to_vec(), ..args.stacks.clone() };
            // If the rest names no stack either, the first message is the better one.
            match loaded.choose_to_read(&stacks, context) {
                Ok(chosen) => Ok(WantedOutputs { chosen, name: Some(name.clone()), no_stack: Some(error) }),
                Err(_) => Err(error),
            }
        }
        (chosen, _) => Ok(WantedOutputs { chosen: chosen?, name: args.name.clone(), no_stack: None }),
    }
}

fn only_named(
    outputs: Map<String, Value>,
    name: Option<&str>,
    no_stack: Option<Error>,
) -> Result<Map<String, Value>> {
    let Some(name) = name else { return Ok(outputs) };
    let pick = |(stack, all): (&String, &Value)| Some((stack.clone(), json!({ name: all.get(name)? })));
    let named: Map<String, Value> = outputs.iter().filter_map(pick).collect();
    if named.is_empty() {
        // Among several stacks it was rather one of them that was meant.
        if let Some(error) = no_stack.filter(|_| outputs.len() > 1) {
            return Err(error.hint("no output is called so either"));
        }
        let stacks = outputs.keys().cloned().collect::<Vec<_>>().join("`, `");
        let known: Vec<String> =
            outputs.values().filter_map(Value::as_object).flat_map(Map::keys).cloned().collect();
        let hint = match known.is_empty() {
            true => "it has no outputs; has it been applied?".to_owned(),
            false => format!("its outputs are `{}`", known.join("`, `")),
        };
        return Err(Error::usage(format!("`{stacks}` has no output `{name}`")).hint(hint));
    }
    Ok(named)
}

fn show_raw(outputs: &Map<String, Value>, name: Option<&str>, context: &Context) -> Result<Exit> {
    let values: Vec<&Value> = outputs.values().filter_map(Value::as_object).flat_map(Map::values).collect();
    let ([output], Some(_)) = (values.as_slice(), name) else {
        return Err(
            Error::usage("`--raw` prints one output of one stack").hint("`infra output STACK NAME --raw`")
        );
    };
    match output.get("value") {
        Some(Value::String(text)) => context.terminal.data(text),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => context.terminal.data(&value.to_string()),
        _ => return Err(Error::usage("`--raw` prints text, numbers and booleans").hint("use `--json`")),
    }
    Ok(Exit::OK)
}

/// Replaces sensitive values, and masks secrets in those that nobody called sensitive.
fn hidden(mut outputs: Map<String, Value>, mask: &Redactor) -> Map<String, Value> {
    for output in outputs.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        if output.get("sensitive") == Some(&Value::Bool(true)) {
            output["value"] = Value::Null;
        } else if let Some(value) = output.get_mut("value") {
            *value = mask.value(value.take());
        }
        // The type of an object names its attributes.
        if let Some(kind) = output.get_mut("type") {
            *kind = mask.keys(kind.take());
        }
    }
    outputs
}

fn show(outputs: &Map<String, Value>, terminal: &Terminal) {
    for (stack, values) in outputs {
        terminal.data_line(&terminal.paint_data(Tone::Strong, stack));
        let values = values.as_object().filter(|values| !values.is_empty());
        let Some(values) = values else {
            terminal.data_line("  no outputs");
            continue;
        };
        let width = values.keys().map(String::len).max().unwrap_or(0);
        for (name, output) in values {
            terminal.data_line(&format!("  {name:width$} = {}", shown(output)));
        }
    }
}

fn shown(output: &Value) -> String {
    let sensitive = output.get("sensitive") == Some(&Value::Bool(true));
    match output.get("value") {
        Some(Value::Null) | None if sensitive => "(sensitive)".to_owned(),
        Some(value) => value.to_string(),
        None => "null".to_owned(),
    }
}
