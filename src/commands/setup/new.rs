//! `infra new`: a project from an example that this program brings along. Needs no network; the
//! age key is made here and is nobody else's.

mod example;
mod folder;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use self::example::Example;
use self::folder::Folder;
use crate::commands::{Context, program};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::quoted;
use crate::secrets::identities::FreshKey;
use crate::trust::Consents;

/// Make a project from an example
///
/// Everything it needs is in this program; the age key of its secrets is made anew.
///
/// Examples:
///   infra new lab                              five stacks that apply anywhere, to try things out
///   infra new lab --example proxmox-talos      a Talos cluster on Proxmox
///   infra new lab --example layered            hypervisors, platforms and legacy, layer by layer
///   infra new                                  in this folder, which must be empty
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct NewArgs {
    /// The folder to make; it may exist, but must be empty
    #[arg(value_name = "DIR", default_value = ".", value_hint = clap::ValueHint::DirPath)]
    dir: PathBuf,
    /// The example to begin with
    #[arg(long, value_name = "NAME", default_value = example::DEFAULT, value_parser = PossibleValuesParser::new(example::NAMES))]
    example: String,
}

/// Runs the command.
pub fn run(args: &NewArgs, context: &Context) -> Result<Exit> {
    let example = example::find(&args.example)?;
    let folder = Folder::check(&args.dir, &context.cwd)
        .map_err(|error| error.clone().hint_if(elsewhere(args, &error, context)))?;
    let key = FreshKey::generate(context.clock.now());
    folder.fill(&example.files(&key, name_of(&context.cwd.join(&args.dir)).as_deref()))?;
    remember(&context.cwd.join(&args.dir), context);
    tell(&example, &args.dir, context);
    Ok(Exit::OK)
}

/// Names a folder that is free, where the one that was named is not.
fn elsewhere(args: &NewArgs, error: &Error, context: &Context) -> Option<String> {
    let free = free_name(&context.cwd, &args.dir);
    let example = match args.example.as_str() {
        example::DEFAULT => String::new(),
        name => format!(" --example {name}"),
    };
    let command = format!("{} new {}{example}", program(context), quoted(&free.display().to_string()));
    (error.kind() == Kind::Usage).then(|| format!("name a folder that is not there yet: `{command}`"))
}

/// Returns what the project is called: like its folder.
fn name_of(dir: &Path) -> Option<String> {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    Some(dir.file_name()?.to_str()?.to_owned())
}

/// What is made here holds no secrets of others; where that cannot be kept, a run asks.
fn remember(root: &Path, context: &Context) {
    let kept = Consents::of(&context.env).and_then(|consents| consents.made_here(root, context.clock.now()));
    if let Err(error) = kept {
        tracing::debug!(%error, "not remembered as made here");
    }
}

/// Returns a name like this one that nothing has yet.
pub fn free_name(cwd: &Path, wanted: &Path) -> PathBuf {
    let (folder, name) = match wanted.file_name() {
        Some(name) => (wanted.parent().unwrap_or(Path::new("")), name.to_string_lossy().into_owned()),
        None => (wanted.strip_prefix(".").unwrap_or(wanted), "lab".to_owned()),
    };
    let numbered = (2..).map(|number| folder.join(format!("{name}-{number}")));
    let mut names = std::iter::once(folder.join(&name)).chain(numbered);
    names.find(|name| cwd.join(name).symlink_metadata().is_err()).unwrap_or_else(|| wanted.to_owned())
}

fn tell(example: &Example, dir: &Path, context: &Context) {
    let terminal = &context.terminal;
    terminal.note(&format!("made `{}` from the example `{}`", dir.display(), example.name));
    terminal.note("  age.key opens its secrets: git ignores it, keep a copy somewhere safe");
    terminal.note("next:");
    if dir != Path::new(".") {
        terminal.note(&format!("  cd {}", quoted(&dir.display().to_string())));
    }
    for step in example.next {
        terminal.note(&format!("  {step}"));
    }
}
