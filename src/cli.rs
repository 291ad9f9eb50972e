//! The command line: global flags, the list of commands, and the way from arguments to
//! an exit code.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use clap_complete::CompleteEnv;

use crate::commands::{self, Context};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::{Clock, Environment};
use crate::process::Interrupts;
use crate::report::{ColorChoice, Terminal, Verbosity, show_error};

/// Run OpenTofu over layered stacks
///
/// Examples:
///   infra up                     get tofu, then apply every layer in order
///   infra plan --all             what would change, stack by stack
///   infra apply 02-platforms     plan one layer, show it, ask, apply
///   infra output k8s-prod        what a stack gives to others
///   infra doctor                 what is wrong here, and how to mend it
#[derive(Debug, Parser)]
#[command(name = "infra", version, verbatim_doc_comment, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Global options")]
struct GlobalArgs {
    /// Work in this folder
    #[arg(short = 'C', global = true, value_name = "DIR", env = "INFRA_DIR", hide_env = true)]
    directory: Option<PathBuf>,
    /// Use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        env = "INFRA_COLOR",
        default_value = "auto",
        hide_env = true
    )]
    color: ColorChoice,
    /// Only tell failures
    #[arg(short, long, global = true, env = "INFRA_QUIET", conflicts_with = "verbose", hide_env = true)]
    quiet: bool,
    /// Show everything that tofu writes
    #[arg(short, long, global = true, action = ArgAction::Count, env = "INFRA_VERBOSE", hide_env = true)]
    verbose: u8,
    /// Never ask; what would need an answer fails instead
    #[arg(long, global = true, env = "INFRA_NO_INPUT", hide_env = true)]
    no_input: bool,
    /// Run as a command, or as a service of a fleet
    #[arg(long, global = true, env = "INFRA_MODE", default_value = "cli", hide_env = true)]
    mode: Mode,
}

/// What this process is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Mode {
    /// A command that ends.
    Cli,
    /// A service that goes on.
    Service,
}

/// Everything infra can do.
#[derive(Debug, Subcommand)]
enum Command {
    Up(commands::up::UpArgs),
    Stacks(commands::stacks::StacksArgs),
    Init(commands::init::InitArgs),
    Validate(commands::validate::ValidateArgs),
    Plan(commands::plan::PlanArgs),
    Apply(commands::apply::ApplyArgs),
    Destroy(commands::destroy::DestroyArgs),
    Output(commands::output::OutputArgs),
    Show(commands::show::ShowArgs),
    State(commands::state::StateArgs),
    Fmt(commands::fmt::FmtArgs),
    Locks(commands::locks::LocksArgs),
    ForceUnlock(commands::force_unlock::ForceUnlockArgs),
    Tofu(commands::tofu::TofuArgs),
    Deps(commands::deps::DepsArgs),
    Doctor(commands::doctor::DoctorArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    Schema(commands::schema::SchemaArgs),
}

/// Returns the whole command line as clap knows it, for completions and man pages.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Runs the program: arguments in, exit code out.
pub fn run(args: Vec<OsString>, env: Environment, clock: Clock) -> Exit {
    if env.get("COMPLETE").is_some() {
        return complete(args);
    }
    let matches = match definition().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    let wants_json = wants_json(&matches);
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let terminal = Terminal::detect(&env, cli.global.color, cli.global.verbosity());
    crate::log::start(&env);
    match start(cli, env, clock, terminal) {
        Ok(exit) => exit,
        Err(error) => {
            if wants_json {
                terminal.data_line(&error.to_json().to_string());
            }
            show_error(&terminal, &error);
            error.exit()
        }
    }
}

/// Answers a shell that completes a command line.
fn complete(args: Vec<OsString>) -> Exit {
    let cwd = std::env::current_dir().ok();
    match CompleteEnv::with_factory(definition).try_complete(args, cwd.as_deref()) {
        Ok(_) => Exit::OK,
        Err(error) => refuse(&error),
    }
}

/// Starts the runtime and the command in it.
fn start(cli: Cli, env: Environment, clock: Clock, terminal: Terminal) -> Result<Exit> {
    if cli.global.mode == Mode::Service {
        return Err(
            Error::usage("`--mode service` needs a service command").hint("for commands leave `--mode` out")
        );
    }
    let cwd = cli.global.working_directory()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::unavailable("cannot start the runtime").because(e))?;
    let exit = runtime.block_on(async {
        let interrupts = Interrupts::listen()?;
        let context = Context { env, clock, cwd, terminal, no_input: cli.global.no_input, interrupts };
        dispatch(cli.command, &context).await
    });
    // A thread may still wait for the keyboard; nobody waits for it.
    runtime.shutdown_background();
    exit
}

async fn dispatch(command: Command, context: &Context) -> Result<Exit> {
    match command {
        Command::Up(args) => commands::up::run(args, context).await,
        Command::Stacks(args) => commands::stacks::run(&args, context),
        Command::Init(args) => commands::init::run(args, context).await,
        Command::Validate(args) => commands::validate::run(args, context).await,
        Command::Plan(args) => commands::plan::run(args, context).await,
        Command::Apply(args) => commands::apply::run(args, context).await,
        Command::Destroy(args) => commands::destroy::run(args, context).await,
        Command::Output(args) => commands::output::run(&args, context).await,
        Command::Show(args) => commands::show::run(&args, context).await,
        Command::State(args) => commands::state::run(&args, context).await,
        Command::Fmt(args) => commands::fmt::run(&args, context).await,
        Command::Locks(args) => commands::locks::run(&args, context).await,
        Command::ForceUnlock(args) => commands::force_unlock::run(&args, context).await,
        Command::Tofu(args) => commands::tofu::run(&args, context).await,
        Command::Deps(args) => commands::deps::run(args, context).await,
        Command::Doctor(args) => commands::doctor::run(&args, context).await,
        Command::Completions(args) => Ok(commands::completions::run(&args, context)),
        Command::Man(args) => commands::man::run(&args, context),
        Command::Schema(args) => Ok(commands::schema::run(&args, context)),
    }
}

impl GlobalArgs {
    const fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        }
    }

    fn working_directory(&self) -> Result<PathBuf> {
        let dir = self.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        let found = std::fs::canonicalize(&dir).ok().filter(|path| path.is_dir());
        found.ok_or_else(|| {
            Error::usage(format!("`{}` is no folder", dir.display())).hint("`-C` takes an existing folder")
        })
    }
}

/// Shows clap's own message: help and version are no failures, anything else is a usage error.
fn refuse(error: &clap::Error) -> Exit {
    let _ = error.print();
    if error.use_stderr() { Kind::Usage.exit() } else { Exit::OK }
}

/// Returns whether the chosen command was asked for JSON, so that its error is JSON too.
fn wants_json(matches: &ArgMatches) -> bool {
    let here =
        ["json", "jsonl"].iter().any(|name| matches!(matches.try_get_one::<bool>(name), Ok(Some(true))));
    here || matches.subcommand().is_some_and(|(_, matches)| wants_json(matches))
}
