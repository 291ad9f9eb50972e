//! The name of a copied stack's state, made from that of the original: recognisable, and its own.
//! Whether it is unique the whole project decides. Begin at [`renamed`].

use crate::model::StackId;

/// How the parts of a state's name are put together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StateKey {
    /// With slashes, as in a bucket or an address.
    Path,
    /// Without, as a workspace or a secret is named.
    Name,
}

/// Names of files that say nothing about whose state it is.
const ANYONES: [&str; 4] = ["terraform", "tofu", "default", "state"];

/// Returns the name of the copy's state.
pub fn renamed(old: &str, kind: StateKey, from: &StackId, to: &StackId) -> String {
    let (from_id, to_id) = (spelt(from, kind), spelt(to, kind));
    let by_id = replace_word(old, &from_id, &to_id);
    let by_name = || replace_word(old, from.short_name(), to.short_name()).filter(|new| new != old);
    by_id.or_else(by_name).unwrap_or_else(|| replaced_file(old, &to_id, to.short_name()))
}

fn spelt(id: &StackId, kind: StateKey) -> String {
    match kind {
        StateKey::Path => id.state_name().into_owned(),
        StateKey::Name => id.state_name().replace('/', "-"),
    }
}

/// Replaces the last place where a word stands on its own, not as a part of a longer one.
fn replace_word(text: &str, word: &str, new: &str) -> Option<String> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-';
    let start = text.rmatch_indices(word).map(|(start, _)| start).find(|start| {
        let (before, after) = (&text[..*start], &text[start + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })?;
    Some(format!("{}{new}{}", &text[..start], &text[start + word.len()..]))
}

/// Names the file after the copy; one that anyone's could be called is put into a folder of its own.
fn replaced_file(old: &str, id: &str, short: &str) -> String {
    let (folder, file) = old.rsplit_once('/').map_or(("", old), |(folder, file)| (folder, file));
    let (stem, ending) = file.split_once('.').map_or((file, ""), |(stem, ending)| (stem, ending));
    let ending = if ending.is_empty() { String::new() } else { format!(".{ending}") };
    if ANYONES.contains(&stem) {
        return format!("{id}/{file}");
    }
    // The same short name would be the same state.
    let name = if short == stem { id.replace('/', "-") } else { short.to_owned() };
    if folder.is_empty() { format!("{name}{ending}") } else { format!("{folder}/{name}{ending}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(old: &str, from: &str, to: &str) -> String {
        renamed(old, StateKey::Path, &StackId::new(from), &StackId::new(to))
    }

    #[test]
    fn the_id_or_the_name_of_the_original_gives_way() {
        assert_eq!(path("lab/01-x/a/terraform.tfstate", "01-x/a", "01-x/b"), "lab/01-x/b/terraform.tfstate");
        assert_eq!(path("lab/net.tfstate", "01-x/net", "01-x/dns"), "lab/dns.tfstate");
        assert_eq!(path("net/net.tfstate", "net", "dns"), "net/dns.tfstate");
    }

    #[test]
    fn a_key_that_names_something_else_is_named_after_the_copy() {
        assert_eq!(
            path("onprem/server_A.tfstate", "onprem/server_A_gpu", "onprem/server_C"),
            "onprem/server_C.tfstate"
        );
        assert_eq!(path("terraform.tfstate", "a", "x/b"), "x/b/terraform.tfstate");
        assert_eq!(path("https://x.test/states/main", "tofu", "second"), "https://x.test/states/second");
    }

    #[test]
    fn the_same_last_part_is_still_another_state() {
        assert_eq!(path("net.tfstate", "dev/net", "prod/net"), "prod-net.tfstate");
        assert_eq!(path("infra-net", "dev/net", "prod/net"), "net");
        assert_ne!(path("net", "dev/net", "prod/net"), "net");
    }
}
