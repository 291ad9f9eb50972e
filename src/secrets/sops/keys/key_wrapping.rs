//! The data key and the key groups that hold it: unwrapped with identities, wrapped for recipients.
//!
//! One group: each of its keys wraps the whole data key. Several: each group wraps a share.

use zeroize::Zeroizing;

use super::data_key::DataKey;
use super::key_group::Group;
use super::shamir;
use super::shamir::Share;
use crate::error::{Error, Result};
use crate::secrets::identities::{Effort, Identities, Recipient};
use crate::secrets::sops::refusal::refused;

/// Finds the data key with the identities at hand.
pub fn unwrap_data_key(groups: &[Group], threshold: usize, identities: &Identities<'_>) -> Result<DataKey> {
    let needed = needed(groups, threshold);
    let mut parts: Vec<Option<Share>> =
        groups.iter().map(|group| open(group, identities, Effort::Silent)).collect();
    // A person is asked only as long as groups are missing.
    for at in 0..parts.len() {
        if parts[at].is_none() && parts.iter().flatten().count() < needed {
            parts[at] = open(&groups[at], identities, Effort::Asking);
        }
    }
    let opened: Vec<Share> = parts.into_iter().flatten().collect();
    if opened.len() < needed {
        return Err(no_key(groups, needed, opened.len(), identities));
    }
    match (groups.len(), opened.as_slice()) {
        (1, [key, ..]) => DataKey::from_bytes(key),
        (_, shares) => DataKey::from_bytes(&shamir::combine(shares)?),
    }
}

/// Which keys of a file are wrapped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Which {
    /// All of them, because what is wrapped is new.
    All,
    /// Those that have nothing yet; the others hold the same data key already.
    New,
}

/// Wraps a data key for the keys of every group; shares are always new for all.
pub fn wrap_data_key(groups: &mut [Group], threshold: usize, key: &DataKey, which: Which) -> Result<()> {
    let (shares, which) = match groups.len() {
        0 => return Err(refused("there is no key group to encrypt for")),
        1 => (vec![Zeroizing::new(key.bytes().to_vec())], which),
        count => (shamir::split(key.bytes(), count, needed(groups, threshold))?, Which::All),
    };
    for (group, share) in groups.iter_mut().zip(shares) {
        if group.is_empty() {
            return Err(refused("a key group would have no key left"));
        }
        if let (Which::All, Some(foreign)) = (which, group.foreign().first()) {
            return Err(foreign_key(foreign));
        }
        for key in group.age.iter_mut().filter(|key| which == Which::All || key.wrapped.is_empty()) {
            key.wrapped = key.recipient.parse::<Recipient>()?.wrap(&share)?;
        }
    }
    Ok(())
}

/// The refusal to wrap for a key that this program cannot use.
pub fn foreign_key(name: &str) -> Error {
    refused(format!("the data key cannot be wrapped for `{name}`"))
        .hint("only age and ssh keys can be used here; do this step with the sops program")
}

/// Returns how many groups are needed; 0 stands for all of them.
pub fn needed(groups: &[Group], threshold: usize) -> usize {
    match (groups.len(), threshold) {
        (1, _) => 1,
        (count, 0) => count,
        (_, threshold) => threshold,
    }
}

fn open(group: &Group, identities: &Identities<'_>, effort: Effort) -> Option<Share> {
    group.age.iter().find_map(|key| identities.unwrap(&key.wrapped, &key.recipient, effort))
}

fn no_key(groups: &[Group], needed: usize, opened: usize, identities: &Identities<'_>) -> Error {
    let message = match groups.len() {
        1 => "no key at hand opens it".to_owned(),
        count => format!("{needed} of its {count} key groups are needed, the keys at hand open {opened}"),
    };
    let recipients = groups.iter().flat_map(Group::recipients).map(str::to_owned);
    let foreign = groups.iter().flat_map(Group::foreign);
    let wanted = recipients.chain(foreign);
    let error = wanted.fold(refused(message), |error, name| error.fact("needs", name));
    let only_foreign = groups.iter().all(|group| group.age.is_empty());
    let hint = if only_foreign {
        "it has no age key; add one with the sops program: `sops rotate --in-place --add-age age1… FILE`"
    } else {
        "put the private key into `SOPS_AGE_KEY`, or its file into `SOPS_AGE_KEY_FILE`"
    };
    identities.tried(error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use age::secrecy::ExposeSecret;

    fn nobody(_: &str) -> Option<Zeroizing<String>> {
        None
    }

    fn keys(count: usize) -> (Vec<String>, Vec<Group>) {
        let made: Vec<_> = (0..count).map(|_| age::x25519::Identity::generate()).collect();
        let private = made.iter().map(|key| key.to_string().expose_secret().to_owned()).collect();
        let groups = made.iter().map(|key| Group::of_recipients(&[key.to_public().to_string()]));
        (private, groups.collect())
    }

    fn holding(private: &[String]) -> Identities<'static> {
        let mut identities = Identities::none(&nobody);
        private.iter().for_each(|key| identities.add("`SOPS_AGE_KEY`", key.as_bytes()));
        identities
    }

    #[test]
    fn two_of_three_groups_open_the_data_key_and_one_does_not() {
        let (private, mut groups) = keys(3);
        let key = DataKey::random().unwrap();
        wrap_data_key(&mut groups, 2, &key, Which::All).unwrap();

        let two = unwrap_data_key(&groups, 2, &holding(&private[1..])).unwrap();
        let one = unwrap_data_key(&groups, 2, &holding(&private[..1])).unwrap_err();

        assert_eq!(two.bytes(), key.bytes());
        assert!(one.message().contains("2 of its 3 key groups are needed, the keys at hand open 1"), "{one}");
    }

    #[test]
    fn without_a_threshold_every_group_is_needed() {
        let (private, mut groups) = keys(2);
        wrap_data_key(&mut groups, 0, &DataKey::random().unwrap(), Which::All).unwrap();

        assert!(unwrap_data_key(&groups, 0, &holding(&private)).is_ok());
        assert!(unwrap_data_key(&groups, 0, &holding(&private[..1])).is_err());
        assert!(unwrap_data_key(&groups, 3, &holding(&private)).is_err());
    }

    #[test]
    fn a_refusal_names_what_is_needed_and_what_was_tried() {
        let ((_, mut groups), (other, strangers)) = (keys(1), keys(1));
        wrap_data_key(&mut groups, 0, &DataKey::random().unwrap(), Which::All).unwrap();

        let text = unwrap_data_key(&groups, 0, &holding(&other)).unwrap_err().to_string();

        assert!(text.contains(&groups[0].age[0].recipient), "{text}");
        assert!(text.contains(&strangers[0].age[0].recipient) && text.contains("SOPS_AGE_KEY"), "{text}");
    }
}
