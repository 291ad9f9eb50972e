//! For whom a bundle is encrypted: what the job says, the project, the rules for secrets, or the keys
//! at hand.

use std::path::{Path, PathBuf};

use super::with_keys;
use crate::commands::Context;
use crate::error::{Error, Kind, Result};
use crate::model::{Environment, Project, quoted};
use crate::secrets::identities::Recipient;
use crate::secrets::sops::creation_rules::{CreationRules, rule_for};

const OURS: &str = "INFRA_BUNDLE_RECIPIENTS";
const OF_SOPS: &str = "SOPS_AGE_RECIPIENTS";

/// The name of a new secrets file, whose rule counts where none is for the bundle itself.
const SECRETS_FILE: &str = "secrets.sops.yaml";

/// Returns for whom a bundle is encrypted; each of them alone opens it.
pub(super) async fn recipients_for(
    file: &Path,
    project: &Project,
    context: &Context,
) -> Result<Vec<Recipient>> {
    let said = |name: &str| listed(context.env.get(name).unwrap_or_default());
    let in_settings = project.bundle_recipients.iter().flat_map(|text| listed(text)).collect();
    for (place, found) in [(OURS, said(OURS)), ("infra.yaml", in_settings), (OF_SOPS, said(OF_SOPS))] {
        if !found.is_empty() {
            return parsed(&found, place);
        }
    }
    let ruled = by_rule(file, project)?;
    if !ruled.is_empty() {
        return parsed(&ruled, ".sops.yaml");
    }
    let own: Vec<String> = with_keys(project, context, |keyring| {
        Ok(keyring.identities().recipients().into_iter().map(str::to_owned).collect())
    })
    .await?;
    if own.is_empty() { Err(nobody(&context.env)) } else { parsed(&own, "the keys at hand") }
}

fn listed(text: &str) -> Vec<String> {
    let parts = text.split([',', '\n']).map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn parsed(texts: &[String], place: &str) -> Result<Vec<Recipient>> {
    let mut seen: Vec<&String> = Vec::new();
    texts.iter().for_each(|text| {
        if !seen.contains(&text) {
            seen.push(text);
        }
    });
    seen.into_iter().map(|text| text.parse::<Recipient>().map_err(|error| error.at(place))).collect()
}

/// Returns the age recipients of the rule for the bundle, else of that for a new secrets file.
fn by_rule(file: &Path, project: &Project) -> Result<Vec<String>> {
    let Some(rules) = CreationRules::find(&project.root)? else { return Ok(Vec::new()) };
    let folders = ["", "infrastructure"].map(|folder| project.root.join(folder).join(SECRETS_FILE));
    let named = project.secrets.files.iter().map(|file| project.root.join(file));
    let candidates: Vec<PathBuf> = std::iter::once(file.to_owned()).chain(named).chain(folders).collect();
    for candidate in candidates {
        // What has no rule is no matter of this file; a rule that cannot be read is told by the last of them.
        let Ok(rule) = rule_for(Some(&rules), &candidate, &Environment::default()) else { continue };
        let recipients: Vec<String> = rule.groups.into_iter().flat_map(|group| group.recipients).collect();
        if !recipients.is_empty() {
            return Ok(recipients);
        }
    }
    Ok(Vec::new())
}

fn nobody(env: &Environment) -> Error {
    let config = env.path("XDG_CONFIG_HOME").or_else(|| env.path("HOME").map(|home| home.join(".config")));
    let keys = config.map(|config| config.join("sops/age/keys.txt")).filter(|keys| !keys.exists());
    let make = keys.map(|keys| {
        format!(
            "or make a key for this machine: `infra secrets keygen --output {}`",
            quoted(&keys.display().to_string())
        )
    });
    Error::new(Kind::Refused, "nothing says for whom the bundle is to be encrypted")
        .detail(format!(
            "looked at: {OURS}, `bundle.recipients` in infra.yaml, {OF_SOPS}, `.sops.yaml`, the keys here"
        ))
        .hint(format!("name the public key of whoever applies it: `{OURS}=age1…`"))
        .hint_if(make)
}
