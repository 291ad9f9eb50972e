//! `infra inventory`.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::args::OUTPUT;
use crate::commands::args::StackArgs;
use crate::commands::args::VarArgs;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::inventory;
use crate::inventory::{Host, Inventory, StateOfStack, Wrapper};
use crate::model::{Mask, StackId, in_plain_sight, nearest};
use crate::report::{Table, Tone};
use crate::stacks;
use crate::stacks::Selection;

/// List the machines of stacks as an inventory for Ansible and ssh
///
/// Reads the states and nothing else: no provider is needed. Without a choice it
/// is the machines of all stacks, wherever it is called.
///
/// Examples:
///   infra inventory
///   infra inventory --script > inventory.sh && chmod +x inventory.sh
///   ansible-playbook -i inventory.sh site.yml
///   infra inventory --format yaml --tag prod > hosts.yaml
///   infra inventory --format ssh > ~/.ssh/infra.config
///   infra inventory --host web-1
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct InventoryArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    variables: VarArgs,
    /// Print what Ansible expects of an inventory script
    #[arg(long, group = "form", help_heading = OUTPUT)]
    list: bool,
    /// Print the variables of one host, as Ansible expects it of an inventory script
    #[arg(long, group = "form", value_name = "NAME", allow_hyphen_values = true, help_heading = OUTPUT)]
    host: Option<String>,
    /// Print in this form
    #[arg(long, group = "form", value_name = "FORM", help_heading = OUTPUT)]
    format: Option<Form>,
    /// Print as JSON, as `--list` does
    #[arg(long, group = "form", help_heading = OUTPUT)]
    json: bool,
    /// Print a script that calls infra, to be put beside playbooks
    #[arg(long, group = "form", help_heading = OUTPUT)]
    script: bool,
}

/// How an inventory is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Form {
    /// Ansible's INI
    Ini,
    /// Ansible's YAML
    Yaml,
    /// What `--list` prints
    Json,
    /// Sections of `~/.ssh/config`
    Ssh,
}

/// Runs the command.
pub async fn run(args: &InventoryArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = choose_or_all(&loaded, args, context)?;
    if args.script {
        context.terminal.data(&script(&loaded, args, context));
        return Ok(Exit::OK);
    }
    let (inventory, mask) = loaded
        .with_session(context, Purpose::reading(&chosen).given(&args.variables), async |session| {
            let states = engine::read_states(session, &chosen).await?;
            let mask = session.mask();
            Ok((machines(&loaded, &states, &mask)?, mask))
        })
        .await?;
    show(args, &inventory, context)?;
    inventory.notes.iter().for_each(|note| tell(&mask.masked(note), context));
    Ok(Exit::OK)
}

/// An inventory of nothing in particular has everything, wherever it is asked for: Ansible runs its
/// script in any folder.
fn choose_or_all(loaded: &LoadedProject, args: &InventoryArgs, context: &Context) -> Result<Vec<StackId>> {
    let selection = args.stacks.selection();
    let all = selection.all || names_none(&selection);
    loaded.select(&Selection { all, reads: true, ..selection }, context)
}

/// Returns whether a choice names no stacks, though it may leave some out.
fn names_none(choice: &Selection) -> bool {
    choice.names.is_empty() && choice.layers.is_empty() && choice.tags.is_empty()
}

fn machines(loaded: &LoadedProject, states: &[(StackId, Value)], mask: &dyn Mask) -> Result<Inventory> {
    let sources = states.iter().map(|(id, state)| Ok(StateOfStack { stack: loaded.stack(id)?, state }));
    let sources: Vec<StateOfStack<'_>> = sources.collect::<Result<_>>()?;
    Ok(Inventory::of(&sources, &loaded.project.inventory, mask))
}

/// Writes the inventory in the form that was asked for, whole or not at all.
fn show(args: &InventoryArgs, inventory: &Inventory, context: &Context) -> Result<()> {
    let terminal = &context.terminal;
    match (&args.host, args.format) {
        (Some(name), _) => terminal.data_line(&pretty(&json!(host(inventory, name)?.variables))),
        (None, Some(Form::Ini)) => terminal.data(&inventory::ini(inventory)),
        (None, Some(Form::Yaml)) => terminal.data(&inventory::yaml(inventory)),
        (None, Some(Form::Ssh)) => {
            let written = inventory::ssh_config(inventory);
            terminal.data(&written.text);
            written.notes.iter().for_each(|note| tell(note, context));
        }
        (None, Some(Form::Json)) => terminal.data_line(&pretty(&inventory::script(inventory))),
        (None, None) if args.list || args.json => terminal.data_line(&pretty(&inventory::script(inventory))),
        (None, None) => show_table(inventory, context),
    }
    Ok(())
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn host<'a>(inventory: &'a Inventory, name: &str) -> Result<&'a Host> {
    inventory.host(name).ok_or_else(|| {
        let guess = nearest(name, inventory.hosts.iter().map(|host| host.name.as_str()));
        let guess = guess.map(|guess| format!("did you mean `{}`?", in_plain_sight(guess)));
        let error = Error::failed(format!("no machine is called `{}`", in_plain_sight(name))).hint_if(guess);
        error.hint("all of them: `infra inventory`")
    })
}

fn show_table(inventory: &Inventory, context: &Context) {
    if inventory.hosts.is_empty() {
        context.terminal.note("no machines in these states");
        return;
    }
    let mut table = Table::new(["host", "address", "user", "stack", "resource"]);
    for host in &inventory.hosts {
        let (address, user) = (host.address.clone(), host.user.clone());
        let cells = [host.name.clone(), address.unwrap_or_default(), user.unwrap_or_default()];
        let cells = cells.into_iter().chain([host.stack.to_string(), host.resource.clone()]);
        table.row(cells.map(|cell| in_plain_sight(&cell)));
    }
    table.lines().iter().for_each(|line| context.terminal.data_line(line));
}

fn tell(note: &str, context: &Context) {
    let word = context.terminal.paint(Tone::Warn, "note");
    context.terminal.note(&format!("{word}: {}", in_plain_sight(note)));
}

/// Returns the script that people put beside their playbooks.
fn script(loaded: &LoadedProject, args: &InventoryArgs, context: &Context) -> String {
    let root = &loaded.project.root;
    let from_root = |name: &String| match stacks::is_path(name) {
        true => path_from_root(root, &context.cwd, name),
        false => name.clone(),
    };
    let names = |names: &[String]| names.iter().map(from_root).collect();
    let stacks = StackArgs {
        names: names(&args.stacks.names),
        stack: names(&args.stacks.stack),
        exclude: names(&args.stacks.exclude),
        all: args.stacks.all || names_none(&args.stacks.selection()),
        ..args.stacks.clone()
    };
    let has_config = root.join("infra.yaml").is_file();
    let chosen = stacks.typed().filter(|chosen| chosen != "--all").unwrap_or_default();
    inventory::wrapper(&Wrapper { root, has_config, chosen: &chosen })
}

/// Returns a path as it is typed in the root of the project, where the script works.
fn path_from_root(root: &Path, cwd: &Path, typed: &str) -> String {
    let path = crate::model::without_dots(&cwd.join(typed));
    match path.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => format!("./{}", below.display()),
        Err(_) => typed.to_owned(),
    }
}
