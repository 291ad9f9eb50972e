//! The file that a command works on: read once, shown as it was named, written whole.
//!
//! Its path is absolute with every link of its folder resolved, because creation rules are
//! matched against it; messages show what was typed.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{FileArgs, KeyArgs, refused, with_keyring};
use crate::atomic_file;
use crate::commands::Context;
use crate::commands::generated_files::warn_of_edit_anywhere;
use crate::error::{Error, Result, io};
use crate::secrets::sops::creation_rules::{CreationRule, CreationRules, rule_for};
use crate::secrets::sops::stores::Layout;
use crate::secrets::sops::tree::Document;
use crate::secrets::sops::{Format, Input, SopsFile, is_encrypted, stores};
use crate::secrets::vault::is_vault;
use crate::secrets::{OpenedFile, sops_layout};

/// A file and its bytes, encrypted or plain.
pub(super) struct SecretFile {
    name: String,
    path: PathBuf,
    format: Format,
    layout: Layout,
    bytes: Zeroizing<Vec<u8>>,
}

impl SecretFile {
    /// Reads the file.
    pub fn read(args: &FileArgs, context: &Context) -> Result<Self> {
        let path = context.cwd.join(&args.file);
        let bytes = std::fs::read(&path).map_err(io("read", &args.file))?;
        Self::of_bytes(args, context, bytes)
    }

    /// Reads the file; one that is not there is empty.
    pub fn read_or_new(args: &FileArgs, context: &Context) -> Result<Self> {
        match std::fs::exists(context.cwd.join(&args.file)) {
            Ok(false) => Self::of_bytes(args, context, Vec::new()),
            Ok(true) | Err(_) => Self::read(args, context),
        }
    }

    fn of_bytes(args: &FileArgs, context: &Context, bytes: Vec<u8>) -> Result<Self> {
        let format = args.keys.format().unwrap_or_else(|| Format::of_path(&args.file));
        Ok(Self {
            name: args.file.display().to_string(),
            path: resolve(&context.cwd.join(&args.file)),
            format,
            // A vault has no layout of ours, so a broken `.sops.yaml` does not concern it.
            layout: if is_vault(&bytes) { Layout::default() } else { sops_layout(&context.cwd, format)? },
            bytes: Zeroizing::new(bytes),
        })
    }

    /// Returns the path as it was typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what lies on the disk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether it is there at all.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Returns whether it is encrypted, in either way.
    pub fn is_sealed(&self) -> bool {
        is_vault(&self.bytes) || is_encrypted(self.input())
    }

    /// Returns it as SOPS takes it.
    pub fn input(&self) -> Input<'_> {
        self.input_with(&self.bytes)
    }

    /// Returns other bytes under its name.
    pub fn input_with<'a>(&'a self, bytes: &'a [u8]) -> Input<'a> {
        Input { name: &self.name, format: self.format, bytes, layout: self.layout }
    }

    /// Returns for whom it is encrypted by the rules above the working folder.
    pub fn creation_rule(&self, context: &Context) -> Result<CreationRule> {
        let rules = CreationRules::find(&context.cwd)?;
        rule_for(rules.as_ref(), &self.path, &context.env)
    }

    /// Opens it, whatever it is.
    pub async fn open(&self, keys: &KeyArgs, context: &Context) -> Result<OpenedFile> {
        let (name, format) = (Path::new(&self.name), Some(self.format));
        with_keyring(keys, context, async |keyring| keyring.open_bytes(name, &self.bytes, format).await).await
    }

    /// Opens it for something that only SOPS files can do.
    pub async fn open_sops(&self, keys: &KeyArgs, context: &Context) -> Result<SopsFile> {
        self.refuse_vault()?;
        match self.open(keys, context).await? {
            OpenedFile::Sops(file) => Ok(*file),
            OpenedFile::Vault(_) => Err(self.no_sops()),
        }
    }

    /// Refuses an Ansible Vault, before anybody is asked for its password.
    pub fn refuse_vault(&self) -> Result<()> {
        if is_vault(&self.bytes) { Err(self.no_sops()) } else { Ok(()) }
    }

    fn no_sops(&self) -> Error {
        refused(format!("`{}` is an Ansible Vault, which has neither paths nor recipients", self.name))
            .hint(format!("change it as a whole: `infra secrets edit {}`", self.name))
    }

    /// Returns what it says as documents.
    pub fn documents(&self, opened: &OpenedFile) -> Result<Vec<Document>> {
        match opened {
            OpenedFile::Sops(file) => Ok(file.documents().to_vec()),
            OpenedFile::Vault(opened) => stores::load(self.format, opened.plaintext()).map_err(|error| {
                let format = self.format.name();
                refused(format!("the content of `{}` is no {format}", self.name))
                    .detail(error.message())
                    .hint("name its format: `--input-type`")
            }),
        }
    }

    /// Puts new bytes with another content in its place; a template that makes the file is named.
    pub fn write_edit(&self, bytes: &[u8], context: &Context) -> Result<()> {
        self.write(bytes)?;
        warn_of_edit_anywhere(&self.path, context);
        Ok(())
    }

    /// Puts new bytes with the same content in its place.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        atomic_file::replace(&self.path, bytes)
    }
}

/// Resolves the links of a file's folder; the file itself may be a link or not be there.
fn resolve(path: &Path) -> PathBuf {
    let dir = path.parent().and_then(|dir| std::fs::canonicalize(dir).ok());
    match (dir, path.file_name()) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => path.to_owned(),
    }
}
