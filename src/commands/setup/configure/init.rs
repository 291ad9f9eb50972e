//! After the files are written: the stacks whose backend needs credentials are prepared,
//! where those are there, so that the next command can start at once.
//!
//! The tree is complete by then; a backend that cannot be reached is told and changes
//! nothing about that.

use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::run::{Request, RunArgs, execute};
use crate::engine::StackSecrets;
use crate::error::{Error, Exit, Result};
use crate::model::{Backend, RunCommand, StackId};
use crate::trust::UNTRUSTED;

/// Variables of which each alone says that a backend can be reached.
const CREDENTIALS: [&str; 3] = ["TF_HTTP_PASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"];

/// Runs `init` over those stacks.
pub(super) async fn init_where_credentials_are(context: &Context) -> Result<()> {
    let loaded = LoadedProject::load(context)?;
    let ready = match stacks_with_credentials(&loaded, context).await {
        // The files are written whether the project may use somebody's keys or not.
        Err(error) if error.label() == Some(UNTRUSTED) => {
            tell_untrusted(&error, context);
            return Ok(());
        }
        ready => ready?,
    };
    if ready.is_empty() {
        return Ok(());
    }
    let names = ready.iter().map(StackId::to_string).collect();
    let stacks = StackArgs { names, ..StackArgs::default() };
    let exit = execute(Request::new(RunCommand::Init, stacks, RunArgs::default()), context).await;
    if !matches!(exit, Ok(Exit::OK)) {
        context.terminal.alert("the files are written; `infra init --all` prepares the stacks later");
    }
    Ok(())
}

fn tell_untrusted(error: &Error, context: &Context) {
    context
        .terminal
        .alert(&format!("the files are written; the stacks are not prepared: {}", error.message()));
    error.body().iter().for_each(|line| context.terminal.alert(&format!("  {line}")));
    error.hints().iter().for_each(|hint| context.terminal.alert(&format!("  hint: {hint}")));
}

async fn stacks_with_credentials(loaded: &LoadedProject, context: &Context) -> Result<Vec<StackId>> {
    let remote = loaded.stacks.iter().filter(|stack| needs_credentials(loaded, &stack.backend));
    let remote: Vec<StackId> = remote.map(|stack| stack.id.clone()).collect();
    if remote.is_empty() || CREDENTIALS.iter().any(|name| context.env.get(name).is_some()) {
        return Ok(remote);
    }
    let secrets = loaded.open_secrets(context, &Purpose::states_of(&remote)).await?;
    let has = |id: &StackId| secrets.get(id).is_some_and(StackSecrets::has_credentials);
    Ok(remote.into_iter().filter(has).collect())
}

fn needs_credentials(loaded: &LoadedProject, backend: &Backend) -> bool {
    match backend {
        Backend::Embedded => loaded.project.state.url.is_some(),
        Backend::None | Backend::Unknown => false,
        Backend::Configured { kind, .. } => kind != "local",
    }
}
