//! Who can open a file: changed with a new data key, or by the creation rule with the old one.

use jiff::Timestamp;

use super::{Input, SopsFile, join, split};
use crate::error::Result;
use crate::secrets::identities::Identities;
use crate::secrets::sops::cipher::{Cipher, Ivs};
use crate::secrets::sops::creation_rules::{CreationRule, GroupRule};
use crate::secrets::sops::keys::{
    AgeKey, DataKey, Group, Which, foreign_key, needed, unwrap_data_key, wrap_data_key,
};
use crate::secrets::sops::metadata::Metadata;
use crate::secrets::sops::refusal::{about_file, refused};
use crate::secrets::sops::seal::{Memory, seal};

/// Recipients to add and to remove.
#[derive(Clone, Debug, Default)]
pub struct RecipientChange {
    /// Join the first key group.
    pub add: Vec<String>,
    /// Leave every key group.
    pub remove: Vec<String>,
}

impl SopsFile {
    /// Encrypts everything with a new data key; recipients stay but for the change.
    pub fn rotated(&self, change: &RecipientChange, now: Timestamp) -> Result<Vec<u8>> {
        self.rotate(change, now).map_err(|error| about_file("rotate", &self.name, &error))
    }

    fn rotate(&self, change: &RecipientChange, now: Timestamp) -> Result<Vec<u8>> {
        let (mut metadata, mut documents) = (self.metadata.clone(), self.documents.clone());
        let mut groups = metadata.groups.clone();
        apply(&mut groups, change)?;
        let key = DataKey::random()?;
        wrap_data_key(&mut groups, metadata.threshold, &key, Which::All)?;
        metadata.set_groups(groups, metadata.threshold);
        let cipher = Cipher::new(&key);
        let computed = seal(&mut documents, &cipher, &metadata.scheme, &Memory::default())?;
        metadata.set_mac(&computed, now, |mac, time| cipher.seal(mac, time, &mut Ivs::default()))?;
        join(self.format, self.layout, documents, &metadata)
    }
}

fn apply(groups: &mut [Group], change: &RecipientChange) -> Result<()> {
    for recipient in &change.remove {
        if !groups.iter().any(|group| group.recipients().contains(&recipient.as_str())) {
            return Err(refused(format!("`{recipient}` is no recipient of the file")));
        }
        groups.iter_mut().for_each(|group| group.age.retain(|key| key.recipient != *recipient));
    }
    for recipient in &change.add {
        if let Some(first) = groups.first_mut()
            && !first.recipients().contains(&recipient.as_str())
        {
            first.age.push(AgeKey { recipient: recipient.clone(), wrapped: String::new() });
        }
    }
    Ok(())
}

/// Gives a file the recipients of its rule; data key, values and MAC stay. None where it has them.
pub fn updated_keys(
    input: Input<'_>,
    rule: &CreationRule,
    identities: &Identities<'_>,
) -> Result<Option<Vec<u8>>> {
    let updated = update(input, rule, identities);
    updated.map_err(|error| about_file("update the keys of", input.name, &error))
}

fn update(input: Input<'_>, rule: &CreationRule, identities: &Identities<'_>) -> Result<Option<Vec<u8>>> {
    let (documents, mut metadata) = split(input)?;
    let threshold = new_threshold(&metadata, rule);
    if is_up_to_date(&metadata, rule, threshold) {
        return Ok(None);
    }
    let key = unwrap_data_key(&metadata.groups, metadata.threshold, identities)?;
    let old = if rule.groups.len() == metadata.groups.len() { metadata.groups.clone() } else { Vec::new() };
    let old = old.into_iter().chain(std::iter::repeat_with(Group::default));
    let groups = rule.groups.iter().zip(old).map(|(rule, group)| follow(group, rule));
    let mut groups = groups.collect::<Result<Vec<Group>>>()?;
    wrap_data_key(&mut groups, threshold, &key, Which::New)?;
    metadata.set_groups(groups, threshold);
    join(input.format, input.layout, documents, &metadata).map(Some)
}

/// Returns the threshold of the rule, or else that of the file as far as the groups reach.
fn new_threshold(metadata: &Metadata, rule: &CreationRule) -> usize {
    match (rule.groups.len(), metadata.groups.len()) {
        (1, 1) => metadata.threshold,
        (1, _) => 0,
        (count, _) => match (rule.threshold, metadata.threshold) {
            (0, 0) => count,
            (0, old) => old.min(count),
            (new, _) => new,
        },
    }
}

fn is_up_to_date(metadata: &Metadata, rule: &CreationRule, threshold: usize) -> bool {
    let groups = &metadata.groups;
    let same_groups = groups.len() == rule.groups.len()
        && groups.iter().zip(&rule.groups).all(|(group, rule)| {
            same(&group.recipients(), &rule.recipients) && same(&group.foreign(), &rule.foreign)
        });
    same_groups && needed(groups, metadata.threshold) == needed(groups, threshold)
}

/// Tells whether two lists hold the same names, in whatever order.
fn same(old: &[impl AsRef<str>], new: &[String]) -> bool {
    old.iter().all(|name| new.iter().any(|other| other == name.as_ref()))
        && new.iter().all(|name| old.iter().any(|other| other.as_ref() == name))
}

/// Makes a group what its rule says, keeping what is wrapped already.
fn follow(mut group: Group, rule: &GroupRule) -> Result<Group> {
    let known = group.foreign();
    if let Some(missing) = rule.foreign.iter().find(|name| !known.contains(name)) {
        return Err(foreign_key(missing));
    }
    group.keep_foreign(&rule.foreign);
    let wrapped = |recipient: &String| group.age.iter().find(|key| key.recipient == *recipient).cloned();
    let key = |recipient: &String| {
        wrapped(recipient).unwrap_or_else(|| AgeKey { recipient: recipient.clone(), wrapped: String::new() })
    };
    group.age = rule.recipients.iter().map(key).collect();
    Ok(group)
}
