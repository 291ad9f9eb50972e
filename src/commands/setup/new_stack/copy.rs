//! The files of a stack on their way to a copy: read, changed where the copy must differ, written.
//! Begin at [`load`].

use std::fs::Metadata;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::model::{Backend, is_tofu_file};
use crate::stacks;
use crate::stacks::Relocation;

/// A file of the new stack.
#[derive(Debug)]
pub struct CopiedFile {
    path: PathBuf,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Bytes { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
}

impl CopiedFile {
    /// Makes a file of a text.
    pub fn text(path: &str, text: &str) -> Self {
        Self { path: path.into(), content: Content::Bytes { bytes: text.into(), mode: 0o644 } }
    }
}

/// Returns the files of a copy.
pub fn load(root: &Path, relocation: Relocation<'_>) -> Result<Vec<CopiedFile>> {
    let folder = root.join(&relocation.from.path);
    let mut files = Vec::new();
    read(&folder, Path::new(""), &mut files)?;
    for file in &mut files {
        adapt(file, relocation)?;
    }
    Ok(files)
}

fn read(dir: &Path, below: &Path, files: &mut Vec<CopiedFile>) -> Result<()> {
    let entries = std::fs::read_dir(dir).map_err(io("read", dir))?;
    for entry in entries {
        let entry = entry.map_err(io("read", dir))?;
        let (path, name) = (entry.path(), entry.file_name());
        if belongs_to_the_original(&name.to_string_lossy()) {
            continue;
        }
        let found = path.symlink_metadata().map_err(io("read", &path))?;
        if found.is_dir() {
            read(&path, &below.join(name), files)?;
        } else {
            files.extend(
                content(&path, &found)?.map(|content| CopiedFile { path: below.join(name), content }),
            );
        }
    }
    Ok(())
}

/// Returns what a file holds; what is neither a file nor a link is left out.
fn content(path: &Path, found: &Metadata) -> Result<Option<Content>> {
    if found.is_symlink() {
        return std::fs::read_link(path).map(|link| Some(Content::Link(link))).map_err(io("read", path));
    }
    if !found.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(io("read", path))?;
    Ok(Some(Content::Bytes { bytes, mode: found.permissions().mode() & 0o777 }))
}

/// Returns whether a file or folder is about the original's own life: its working folder, plans,
/// states and locks. The lock of provider versions is not.
fn belongs_to_the_original(name: &str) -> bool {
    let is_plan = name == "tfplan" || name == "plan" || name.ends_with(".tfplan") || name.ends_with(".plan");
    let is_state = name.ends_with(".tfstate") || name.contains(".tfstate.");
    is_plan
        || is_state
        || matches!(
            name,
            ".terraform" | ".infra" | ".git" | "crash.log" | ".terragrunt-cache" | "terraform.tfstate.d"
        )
}

/// Gives a file of the copy the copy's own state and its way to modules.
fn adapt(file: &mut CopiedFile, relocation: Relocation<'_>) -> Result<()> {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_own = file.path.parent() == Some(Path::new(""));
    let Content::Bytes { bytes, .. } = &mut file.content else { return Ok(()) };
    if !is_own || !is_tofu_file(&name) {
        return Ok(());
    }
    let shown = relocation.from.path.join(&file.path);
    let text = std::str::from_utf8(bytes);
    let text =
        text.map_err(|error| Error::invalid(format!("`{}` is no text", shown.display())).because(error))?;
    if name.ends_with(".json") {
        return check_json(text, &shown, relocation);
    }
    *bytes = stacks::relocate(text, &shown, relocation)?.into_bytes();
    Ok(())
}

/// A backend in JSON is not changed here; to copy it would share the state.
fn check_json(text: &str, shown: &Path, relocation: Relocation<'_>) -> Result<()> {
    let has_backend =
        matches!(relocation.from.backend, Backend::Configured { .. }) && text.contains("\"backend\"");
    if !has_backend {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{}` names the state in JSON, which is not changed for a copy",
        shown.display()
    ))
    .hint("write the backend block in a `.tf` file, or copy the folder and change it by hand"))
}

/// Writes the files into a folder.
pub fn write(folder: &Path, files: &[CopiedFile]) -> Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(io("create", parent))?;
        let written = match &file.content {
            Content::Link(target) => std::os::unix::fs::symlink(target, &path),
            Content::Bytes { bytes, mode } => std::fs::write(&path, bytes)
                .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(*mode))),
        };
        written.map_err(io("write", &path))?;
    }
    Ok(())
}
