//! The command line: global flags, the list of commands, and the way from arguments to
//! an exit code.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use clap_complete::CompleteEnv;

use crate::commands;
use crate::commands::{COMPLETE, Context};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::{Clock, Environment};
use crate::process::Interrupts;
use crate::report::{ColorChoice, Terminal, Verbosity, show_error};
use crate::secrets::harden_process;
use crate::trust::TrustWord;

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
    /// Show only failures
    #[arg(short, long, global = true, env = "INFRA_QUIET", value_parser = BoolishValueParser::new(), hide_env = true)]
    quiet: bool,
    /// Show everything that tofu writes
    #[arg(short, long, global = true, action = ArgAction::Count, env = "INFRA_VERBOSE", hide_env = true)]
    verbose: u8,
    /// Never ask; what would need an answer fails instead
    #[arg(long, global = true, env = "INFRA_NO_INPUT", value_parser = BoolishValueParser::new(), hide_env = true)]
    no_input: bool,
    /// Trust this project for this call: run what it brings, open what it holds, take its plans
    #[arg(long, global = true)]
    trust: bool,
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
    New(commands::NewArgs),
    NewStack(commands::NewStackArgs),
    Configure(commands::ConfigureArgs),
    Up(commands::UpArgs),
    Stacks(commands::StacksArgs),
    Init(commands::InitArgs),
    Validate(commands::ValidateArgs),
    Plan(commands::PlanArgs),
    Apply(commands::ApplyArgs),
    Destroy(commands::DestroyArgs),
    Drift(commands::DriftArgs),
    Test(commands::TestArgs),
    Runs(commands::RunsArgs),
    Output(commands::OutputArgs),
    Show(commands::ShowArgs),
    State(commands::StateArgs),
    Fmt(commands::FmtArgs),
    Locks(commands::LocksArgs),
    ForceUnlock(commands::ForceUnlockArgs),
    Tofu(commands::TofuArgs),
    Trust(commands::TrustArgs),
    Secrets(commands::SecretsArgs),
    Deps(commands::DepsArgs),
    Comment(commands::CommentArgs),
    Inventory(commands::InventoryArgs),
    Changed(commands::ChangedArgs),
    Lint(commands::LintArgs),
    Ci(commands::CiArgs),
    Doctor(commands::DoctorArgs),
    Completions(commands::CompletionsArgs),
    Man(commands::ManArgs),
    Schema(commands::SchemaArgs),
    Help(commands::HelpArgs),
}

/// Returns the whole command line as clap knows it, for completions and man pages.
fn definition() -> clap::Command {
    Cli::command()
}

/// Runs the program: arguments in, exit code out.
pub fn run(args: Vec<OsString>, env: Environment, clock: Clock) -> Exit {
    // Part of every call of tofu that touches a plan: nothing else may start before it.
    if commands::is_plan_key(&args) {
        return commands::plan_key(&args).unwrap_or_else(|error| {
            let terminal = Terminal::detect(&env, ColorChoice::Never, Verbosity::Normal);
            fail(&terminal, &error, false)
        });
    }
    if env.get(COMPLETE).is_some() {
        return complete(args, &env);
    }
    let asked_for_json = args.iter().any(|arg| arg == "--json" || arg == "--jsonl");
    let matches = match definition().try_get_matches_from(args.clone()) {
        Ok(matches) => matches,
        Err(error) => return correct_or_refuse(&args, &error, &env, asked_for_json),
    };
    let wants_json = wants_json(&matches);
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &env, wants_json),
    };
    let terminal = Terminal::detect(&env, cli.global.color, cli.global.verbosity());
    let command = command_of(&matches);
    let outcome = crate::log::start(&env).and_then(|()| start(cli, command, env, clock, terminal));
    let outcome = match outcome {
        Ok(_) if terminal.has_lost_data() => Err(Error::unavailable("the output could not be written")
            .hint("stdout is closed, or its disk is full")),
        outcome => outcome,
    };
    outcome.unwrap_or_else(|error| fail(&terminal, &error, wants_json))
}

/// Shows an error to a person, and to a machine if one asked.
fn fail(terminal: &Terminal, error: &Error, wants_json: bool) -> Exit {
    if wants_json {
        terminal.data_line(&error.to_json().to_string());
    }
    show_error(terminal, error);
    error.exit()
}

/// Answers a shell that completes a command line.
fn complete(args: Vec<OsString>, env: &Environment) -> Exit {
    let cwd = std::env::current_dir().ok();
    match CompleteEnv::with_factory(definition).var(COMPLETE).try_complete(args, cwd.as_deref()) {
        Ok(_) => Exit::OK,
        Err(error) => refuse(&error, env, false),
    }
}

/// Starts the runtime and the command in it.
fn start(cli: Cli, command: String, env: Environment, clock: Clock, terminal: Terminal) -> Result<Exit> {
    if cli.global.mode == Mode::Service {
        return Err(
            Error::usage("`--mode service` needs a service command").hint("for commands leave `--mode` out")
        );
    }
    let cwd = cli.global.working_directory()?;
    for warning in harden_process() {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Error::unavailable("cannot start the runtime").because(e))?;
    let exit = runtime.block_on(async {
        let interrupts = Interrupts::listen()?;
        let trust = TrustWord::of(cli.global.trust, &env, &cwd);
        let no_input = cli.global.no_input;
        let context = Context { command, definition, env, clock, cwd, terminal, no_input, trust, interrupts };
        dispatch(cli.command, &context).await
    });
    // A thread may still wait for the keyboard; nobody waits for it.
    runtime.shutdown_background();
    exit
}

async fn dispatch(command: Command, context: &Context) -> Result<Exit> {
    match command {
        Command::New(args) => commands::new(&args, context),
        Command::NewStack(args) => commands::new_stack(&args, context),
        Command::Configure(args) => commands::configure(&args, context).await,
        Command::Up(args) => commands::up(args, context).await,
        Command::Stacks(args) => commands::stacks(&args, context).await,
        Command::Init(args) => commands::init(args, context).await,
        Command::Validate(args) => commands::validate(args, context).await,
        Command::Plan(args) => commands::plan(args, context).await,
        Command::Apply(args) => commands::apply(args, context).await,
        Command::Destroy(args) => commands::destroy(args, context).await,
        Command::Drift(args) => commands::drift(args, context).await,
        Command::Test(args) => commands::test(args, context).await,
        Command::Runs(args) => commands::runs(&args, context),
        Command::Output(args) => commands::output(&args, context).await,
        Command::Show(args) => commands::show(&args, context).await,
        Command::State(args) => commands::state(&args, context).await,
        Command::Fmt(args) => commands::fmt(&args, context).await,
        Command::Locks(args) => commands::locks(&args, context).await,
        Command::ForceUnlock(args) => commands::force_unlock(&args, context).await,
        Command::Tofu(args) => commands::tofu(&args, context).await,
        Command::Trust(args) => commands::trust(&args, context).await,
        Command::Secrets(args) => commands::secrets(&args, context).await,
        Command::Comment(args) => commands::comment(args, context).await,
        Command::Inventory(args) => commands::inventory(&args, context).await,
        Command::Changed(args) => commands::changed(&args, context).await,
        Command::Lint(args) => commands::lint(&args, context).await,
        Command::Ci(args) => commands::ci(args, context).await,
        Command::Deps(args) => commands::deps(args, context).await,
        Command::Doctor(args) => commands::doctor(&args, context).await,
        Command::Completions(args) => Ok(commands::completions(&args, context)),
        Command::Man(args) => commands::man(&args, context),
        Command::Schema(args) => Ok(commands::schema(&args, context)),
        Command::Help(args) => commands::help(&args, context),
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
        let dir = self.directory.as_deref().unwrap_or(Path::new("."));
        let found = std::fs::canonicalize(dir).ok().filter(|path| path.is_dir());
        found.ok_or_else(|| match &self.directory {
            Some(dir) => Error::usage(format!("`-C {}` is no folder", dir.display())),
            None => Error::usage("the working folder is gone").hint("change to a folder that exists"),
        })
    }
}

/// Shows what to type instead, where the line is one of another tool.
fn correct_or_refuse(args: &[OsString], error: &clap::Error, env: &Environment, wants_json: bool) -> Exit {
    let terminal = Terminal::detect(env, ColorChoice::Auto, Verbosity::Normal);
    let is_log = wants_json || !terminal.has_person();
    // Help and version need no correction, and looking for one reads the project.
    let better = error.use_stderr().then(|| commands::correction(args, definition, env, is_log)).flatten();
    match better {
        Some(better) => fail(&terminal, &better, wants_json),
        None => refuse(error, env, wants_json),
    }
}

/// Shows clap's own message: help and version are no failures, anything else is a usage error.
fn refuse(error: &clap::Error, env: &Environment, wants_json: bool) -> Exit {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::OK;
    }
    if wants_json {
        let terminal = Terminal::detect(env, ColorChoice::Never, Verbosity::Normal);
        let text = error.to_string();
        let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        terminal.data_line(&Error::usage(message).to_json().to_string());
    }
    let _ = error.print();
    Kind::Usage.exit()
}

/// Returns the command as it is typed: `state list`.
fn command_of(matches: &ArgMatches) -> String {
    let mut words = Vec::new();
    let mut next = matches.subcommand();
    while let Some((word, below)) = next {
        words.push(word);
        next = below.subcommand();
    }
    words.join(" ")
}

/// Returns whether the chosen command was asked for JSON, so that its error is JSON too.
fn wants_json(matches: &ArgMatches) -> bool {
    let here =
        ["json", "jsonl"].iter().any(|name| matches!(matches.try_get_one::<bool>(name), Ok(Some(true))));
    here || matches.subcommand().is_some_and(|(_, matches)| wants_json(matches))
}
