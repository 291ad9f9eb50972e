//! Rendered secrets become encrypted ones, in memory, by the creation rules above them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::commands::{Context, trust};
use crate::error::{Error, Kind, Result, io};
use crate::model::Project;
use crate::render::{GeneratedFile, Overwrite, is_secret_file};
use crate::report::passphrase_prompt;
use crate::secrets::sops::creation_rules::rule_for;
use crate::secrets::sops::{Format, Input, stores};
use crate::secrets::{KeyPlaces, Keyring, rules_above, seal_output, sops_layout};

/// Encrypts what must not be written in the clear.
pub(super) async fn seal_secrets(
    project: &Project,
    files: &mut [GeneratedFile],
    overwrite: Overwrite,
    context: &Context,
) -> Result<()> {
    if !files.iter().any(|file| is_secret_file(&file.path)) {
        return Ok(());
    }
    let prompt = passphrase_prompt(context.asking());
    let keyring = Keyring::load(key_places(project, context), &prompt).await;
    let rules = rendered_rules(files);
    let sealer = Sealer { project, rules, keyring: &keyring, overwrite, context };
    for file in files.iter_mut().filter(|file| is_secret_file(&file.path)) {
        file.bytes = sealer.seal(file).await?;
    }
    Ok(())
}

struct Sealer<'a> {
    project: &'a Project,
    rules: BTreeMap<PathBuf, Vec<u8>>,
    keyring: &'a Keyring<'a>,
    overwrite: Overwrite,
    context: &'a Context,
}

impl Sealer<'_> {
    async fn seal(&self, file: &mut GeneratedFile) -> Result<Vec<u8>> {
        let plain = Zeroizing::new(std::mem::take(&mut file.bytes));
        let path = self.project.root.join(&file.path);
        let rules = rules_above(&self.project.root, &file.path, &self.rules)?;
        let rule = rule_for(rules.as_ref(), &path, &self.context.env)
            .map_err(|error| error.hint(format!("`{}` is rendered to it", file.origin)))?;
        let format = Format::of_path(&file.path);
        let input = Input {
            name: &file.path.display().to_string(),
            format,
            bytes: &plain,
            layout: sops_layout(&self.project.root, format)?,
        };
        stores::load(input.format, &plain).map_err(|error| {
            Error::invalid(format!("`{}` renders to what cannot be encrypted", file.origin)).detail(format!(
                "`{}`: {}",
                file.path.display(),
                error.message()
            ))
        })?;
        let (existing, now) = (existing(&path)?, self.context.clock.now());
        match seal_output(self.keyring, input, &rule, existing.as_deref(), now).await {
            // Whoever forces it has lost the key, or does not care for what was there.
            Err(error) if error.kind() == Kind::Refused && self.overwrite == Overwrite::Force => {
                seal_output(self.keyring, input, &rule, None, now).await
            }
            sealed => sealed,
        }
    }
}

fn key_places<'a>(project: &'a Project, context: &'a Context) -> KeyPlaces<'a> {
    KeyPlaces {
        env: &context.env,
        dir: &context.cwd,
        project: Some(&project.root),
        settings: &project.secrets,
        vault_ids: &[],
        password_files: &[],
        trust: trust::key_trust(&project.root, &project.secrets, context),
        interrupts: &context.interrupts,
    }
}

/// Returns the creation rules that are rendered in the same run.
fn rendered_rules(files: &[GeneratedFile]) -> BTreeMap<PathBuf, Vec<u8>> {
    let rules = files.iter().filter(|file| file.path.file_name().is_some_and(|name| name == ".sops.yaml"));
    rules.map(|file| (file.path.clone(), file.bytes.clone())).collect()
}

fn existing(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}
