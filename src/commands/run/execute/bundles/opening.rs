//! Opening bundles: with the keys at hand, all before anything of them is looked at.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::with_keys;
use crate::commands::Context;
use crate::engine::{Bundle, Bundles};
use crate::error::{Error, Result, io};
use crate::model::{Project, counted, quoted};

/// More than any bundle has.
const LARGEST: u64 = 2 << 30;

/// Opens all bundles that were named.
pub(super) async fn open_all(files: &[PathBuf], project: &Project, context: &Context) -> Result<Bundles> {
    let mut sealed = Vec::new();
    for file in files {
        sealed.push((file, read(&context.cwd.join(file), file)?));
    }
    let opened = with_keys(project, context, |keyring| {
        let open = |(file, bytes): &(&PathBuf, Vec<u8>)| {
            let bundle = keyring.identities().open_message(bytes);
            let bundle = bundle.and_then(|plain| Bundle::from_bytes(&plain));
            bundle.map_err(|error| about(&error, file))
        };
        sealed.iter().map(open).collect::<Result<Vec<Bundle>>>()
    })
    .await?;
    let mut bundles = Bundles::default();
    for (file, bundle) in files.iter().zip(opened) {
        check_project(file, &bundle, project)?;
        let typed = file.display().to_string();
        if !bundle.unchanged.is_empty() {
            let stacks = counted(bundle.unchanged.len(), "stack");
            context.terminal.note(&format!("`{typed}`: {stacks} had nothing to do when it was made"));
        }
        bundles.add(context.cwd.join(file), &typed, bundle)?;
    }
    if bundles.stacks().is_empty() {
        context.terminal.note("there is nothing to apply: no plan changes anything");
    }
    Ok(bundles)
}

fn read(path: &Path, typed: &Path) -> Result<Vec<u8>> {
    let facts = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(missing(typed)),
        facts => facts.map_err(io("read", typed))?,
    };
    if !facts.is_file() || facts.len() > LARGEST {
        return Err(Error::failed(format!("`{}` is no bundle", typed.display())));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io("read", typed))?;
    file.take(LARGEST).read_to_end(&mut bytes).map_err(io("read", typed))?;
    Ok(bytes)
}

fn missing(typed: &Path) -> Error {
    let name = quoted(&typed.display().to_string());
    Error::failed(format!("there is no bundle `{}`", typed.display()))
        .detail("what a job leaves behind for another is often removed after some time")
        .hint(format!("plan again: `infra plan --all --bundle {name}`"))
}

/// Says which bundle an error is about.
fn about(error: &Error, file: &Path) -> Error {
    let message = format!("the bundle `{}` cannot be opened: {}", file.display(), error.message());
    error.clone().with_message(message)
}

/// The name is a courtesy: what proves a bundle is compared later.
fn check_project(file: &Path, bundle: &Bundle, project: &Project) -> Result<()> {
    let same = match &bundle.project {
        Some(name) => !project.is_named || *name == project.name,
        None => true,
    };
    if same {
        return Ok(());
    }
    let other = bundle.project.as_deref().unwrap_or_default();
    Err(Error::failed(format!(
        "the bundle `{}` differs from this checkout: it is of the project `{other}`, this is `{}`",
        file.display(),
        project.name
    )))
}
