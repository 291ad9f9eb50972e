//! `infra secrets edit`.

use clap::Args;
use zeroize::Zeroizing;

use super::secret_file::SecretFile;
use super::{FileArgs, agrees, editor, refused, warn};
use crate::commands::Context;
use crate::error::{Error, Exit, Result};
use crate::report::{Asking, show_error};
use crate::secrets::editing::{EditFolder, EditPlace as Place, left_over};
use crate::secrets::sops::creation_rules::CreationRule;
use crate::secrets::sops::encrypt_new;
use crate::secrets::{OpenedFile, not_sealed};

/// Edit the plaintext of a file in memory, and encrypt it again
///
/// Opens `$SOPS_EDITOR`, `$VISUAL` or `$EDITOR` (else vi) on a copy in memory that is shredded
/// afterwards. Nothing changed: the file is not touched. A file that is not there is made, if a
/// creation rule says for whom.
///
/// Examples:
///   infra secrets edit secrets.sops.yaml
///   EDITOR='code --wait' infra secrets edit prod.env
///   infra secrets edit group_vars/all/vault.yml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct EditArgs {
    #[command(flatten)]
    file: FileArgs,
}

/// What becomes of the edited text.
enum EditGoal {
    /// It goes back into the file that it came from.
    Existing(OpenedFile),
    /// It becomes a new file.
    New(CreationRule),
}

/// Runs the command.
pub(super) async fn run(args: &EditArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read_or_new(&args.file, context)?;
    let goal = EditGoal::of(&file, args, context).await?;
    let folder = match resumed(&file, context).await? {
        Some(folder) => folder,
        None => begin(&file, &goal, context)?,
    };
    let edited = edit_until_it_fits(&folder, &file, &goal, context).await;
    match edited.and_then(|sealed| put_back(sealed, &file, context)) {
        Ok(()) => folder.discard().map(|()| Exit::OK),
        Err(error) => Err(with_the_text_kept(folder, error, &goal, context)),
    }
}

impl EditGoal {
    async fn of(file: &SecretFile, args: &EditArgs, context: &Context) -> Result<Self> {
        if !file.exists() {
            return file.creation_rule(context).map(Self::New);
        }
        if !file.is_sealed() {
            // Opening says best what is wrong with a file that lost only a part.
            let opened = file.open(&args.file.keys, context).await;
            return opened.and(Err(not_sealed(file.path())));
        }
        file.open(&args.file.keys, context).await.map(Self::Existing)
    }

    /// Returns the text to begin with.
    fn text(&self) -> Result<Zeroizing<Vec<u8>>> {
        match self {
            Self::Existing(opened) => opened.plaintext(),
            Self::New(_) => Ok(Zeroizing::default()),
        }
    }

    /// Encrypts what was edited; none where nothing changed.
    fn sealed(&self, text: &[u8], file: &SecretFile, context: &Context) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Existing(OpenedFile::Sops(opened)) => opened.edited(text, context.clock.now()),
            Self::Existing(OpenedFile::Vault(opened)) if opened.plaintext() == text => Ok(None),
            Self::Existing(OpenedFile::Vault(opened)) => opened.seal(text).map(Some),
            Self::New(_) if text.is_empty() => Ok(None),
            Self::New(rule) => encrypt_new(file.input_with(text), rule, context.clock.now()).map(Some),
        }
    }
}

fn begin(file: &SecretFile, goal: &EditGoal, context: &Context) -> Result<EditFolder> {
    let place = Place::find(&context.env)?;
    if let Some(warning) = place.warning() {
        warn(context, warning);
    }
    EditFolder::create(&place, file.path(), file.bytes(), &goal.text()?)
}

/// Takes over an edit of this file whose process died, if the person wants it.
async fn resumed(file: &SecretFile, context: &Context) -> Result<Option<EditFolder>> {
    for found in left_over(&context.env).into_iter().filter(|found| found.original() == file.path()) {
        let (name, dir) = (file.name(), found.dir().display().to_string());
        if context.asking() == Asking::Nobody {
            warn(context, &format!("an earlier edit of `{name}` lies in `{dir}`; a terminal can resume it"));
            continue;
        }
        if agrees(&format!("An edit of `{name}` did not end. Resume it?"), context).await? {
            return resume(found.resume()?, file, context).await;
        }
        if agrees("Shred it?", context).await? {
            found.discard()?;
        }
    }
    Ok(None)
}

/// Makes sure that an old text does not silently undo what others did since.
async fn resume(folder: EditFolder, file: &SecretFile, context: &Context) -> Result<Option<EditFolder>> {
    if folder.began_with(file.bytes()) {
        return Ok(Some(folder));
    }
    let question = format!("`{}` has changed since. Go on with the old text nevertheless?", file.name());
    match agrees(&question, context).await {
        Ok(true) => Ok(Some(folder)),
        Ok(false) => {
            folder.keep();
            Ok(None)
        }
        Err(error) => {
            folder.keep();
            Err(error)
        }
    }
}

/// Opens the editor again as long as the text does not fit and the person wants to mend it.
async fn edit_until_it_fits(
    folder: &EditFolder,
    file: &SecretFile,
    goal: &EditGoal,
    context: &Context,
) -> Result<Option<Vec<u8>>> {
    loop {
        editor::edit(&folder.path(), context).await?;
        match goal.sealed(&folder.read()?, file, context) {
            Ok(sealed) => return Ok(sealed),
            Err(error) if context.asking() == Asking::Nobody => return Err(error),
            Err(error) => {
                show_error(&context.terminal, &error);
                if !agrees("Edit it again?", context).await? {
                    return Err(error);
                }
            }
        }
    }
}

fn put_back(sealed: Option<Vec<u8>>, file: &SecretFile, context: &Context) -> Result<()> {
    let name = file.name();
    let Some(sealed) = sealed else {
        context.terminal.note(&format!("nothing changed; `{name}` was not touched"));
        return Ok(());
    };
    let now = if file.exists() { std::fs::read(file.path()).ok() } else { Some(Vec::new()) };
    if now.as_deref() != Some(file.bytes()) {
        return Err(refused(format!("`{name}` was changed by somebody else meanwhile"))
            .hint(format!("look at it, then edit again: `infra secrets edit {name}`")));
    }
    file.write_edit(&sealed, context)
}

/// Keeps a text that was changed in vain for the person; where there is none, it is shredded.
fn with_the_text_kept(folder: EditFolder, error: Error, goal: &EditGoal, context: &Context) -> Error {
    let untouched = matches!((folder.read(), goal.text()), (Ok(now), Ok(before)) if now == before);
    if context.asking() == Asking::Nobody || untouched {
        return error;
    }
    let name = folder.original().display().to_string();
    let dir = folder.keep();
    error
        .fact("your text", format!("is kept in memory, in `{}`", dir.display()))
        .hint(format!("resume or shred it: `infra secrets edit {name}`"))
}
