//! `infra show`.

use clap::Args;

use super::Context;
use super::left_out::Sound;
use super::stack_args::StackArgs;
use super::var_args::VarArgs;
use super::workspace::{Purpose, Workspace};
use crate::engine::{self, SavedPlans};
use crate::error::{Error, Exit, Result};
use crate::report::Tone;

/// Show the state of stacks, or a saved plan in full
///
/// Examples:
///   infra show pihole
///   infra show pihole --plan
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
}

/// Runs the command.
pub async fn run(args: &ShowArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load(context)?;
    let chosen = workspace.choose_to_read(&args.stacks, context)?;
    let plans = SavedPlans::at(workspace.project.plans_dir());
    workspace
        .with_session(context, Purpose::states_of(&chosen).given(&args.variables), async |session| {
            let sound = match args.plan {
                true => None,
                false => Some(Sound::of(session, &chosen).await?),
            };
            for id in sound.as_ref().map_or(&chosen, |sound| &sound.stacks) {
                let plan = args.plan.then(|| plans.plan_path(id));
                if plan.as_ref().is_some_and(|plan| !plan.exists()) {
                    return Err(
                        Error::failed(format!("`{id}` has no saved plan")).hint(format!("`infra plan {id}`"))
                    );
                }
                let text = engine::read_text(session, id, plan.as_deref()).await?;
                if chosen.len() > 1 {
                    context
                        .terminal
                        .data_line(&context.terminal.paint_data(Tone::Strong, &format!("# {id}")));
                }
                context.terminal.text(&text);
            }
            Ok(sound.map_or(Exit::OK, |sound| sound.end(context)))
        })
        .await
}
