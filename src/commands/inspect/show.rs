//! `infra show`.

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs, VarArgs};
use crate::commands::loaded_project::{LoadedProject, Purpose, ReadableStates};
use crate::engine;
use crate::engine::{SavedPlans, Sensitive, Session};
use crate::error::{Error, Exit, Result};
use crate::model::StackId;
use crate::report::Tone;

/// Show the state of stacks, or a saved plan in full
///
/// Examples:
///   infra show pihole
///   infra show pihole --plan
///   infra show pihole --plan --json         as `tofu show -json` writes it
///
/// Sensitive values, and those of encrypted files, are hidden unless `--show-sensitive` is given. With
/// `--json` one stack is tofu's own document, several are an object with one for each id.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ShowArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    variables: VarArgs,
    /// Show the saved plan instead of the state
    #[arg(long)]
    plan: bool,
    /// Print tofu's document as JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
    /// Show sensitive values
    #[arg(long, help_heading = OUTPUT)]
    show_sensitive: bool,
}

impl ShowArgs {
    const fn sensitive(&self) -> Sensitive {
        if self.show_sensitive { Sensitive::Shown } else { Sensitive::Hidden }
    }
}

/// Runs the command.
pub async fn run(args: &ShowArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = loaded.choose_to_read(&args.stacks, context)?;
    let plans = SavedPlans::at(loaded.project.plans_dir());
    loaded
        .with_session(context, Purpose::reading(&chosen).given(&args.variables), async |session| {
            let sound = match args.plan {
                true => None,
                false => Some(ReadableStates::of(session, &chosen).await?),
            };
            let mut documents = Map::new();
            for id in sound.as_ref().map_or(&chosen, |sound| &sound.stacks) {
                let plan = args.plan.then(|| plans.plan_path(id));
                if plan.as_ref().is_some_and(|plan| !plan.exists()) {
                    return Err(
                        Error::failed(format!("`{id}` has no saved plan")).hint(format!("`infra plan {id}`"))
                    );
                }
                if args.json {
                    let document = engine::read_document(session, id, plan.as_deref(), args.sensitive());
                    documents.insert(id.to_string(), document.await?);
                    continue;
                }
                let text = text_of(session, id, plan.as_deref(), args.sensitive()).await?;
                if chosen.len() > 1 {
                    context
                        .terminal
                        .data_line(&context.terminal.paint_data(Tone::Strong, &format!("# {id}")));
                }
                context.terminal.text(&text);
            }
            if args.json {
                print_documents(&documents, chosen.len(), context);
            }
            Ok(sound.map_or(Exit::OK, |sound| sound.end(context)))
        })
        .await
}

async fn text_of(
    session: &Session,
    id: &StackId,
    plan: Option<&Path>,
    sensitive: Sensitive,
) -> Result<Zeroizing<String>> {
    match sensitive {
        Sensitive::Shown => engine::read_everything(session, id, plan).await,
        Sensitive::Hidden => Ok(Zeroizing::new(engine::read_text(session, id, plan).await?.into())),
    }
}

/// Prints tofu's own document of one stack, or those of several by their ids.
fn print_documents(documents: &Map<String, Value>, chosen: usize, context: &Context) {
    let text = match (chosen, documents.values().next()) {
        (1, Some(only)) => serde_json::to_string_pretty(only),
        _ => serde_json::to_string_pretty(documents),
    };
    context.terminal.data_line(&text.unwrap_or_default());
}
