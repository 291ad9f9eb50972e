//! Which files of a folder OpenTofu reads, and in which order. Names only; nothing is opened.

use std::collections::BTreeSet;

use crate::model::{TOFU_ENDINGS, is_tofu_file};

/// Returns the names that OpenTofu reads, overrides last, each group by name.
pub fn in_reading_order(names: &BTreeSet<String>) -> Vec<String> {
    let read = |name: &&String| is_tofu_file(name) && !is_hidden_by_sibling(name, names);
    let (overrides, plain): (Vec<_>, Vec<_>) =
        names.iter().filter(read).cloned().partition(|name| is_override(name));
    plain.into_iter().chain(overrides).collect()
}

/// Returns whether `x.tofu` stands beside `x.tf`, or `x.tofu.json` beside `x.tf.json`.
fn is_hidden_by_sibling(name: &str, names: &BTreeSet<String>) -> bool {
    let sibling = match (name.strip_suffix(".tf"), name.strip_suffix(".tf.json")) {
        (Some(stem), _) => format!("{stem}.tofu"),
        (None, Some(stem)) => format!("{stem}.tofu.json"),
        (None, None) => return false,
    };
    names.contains(&sibling)
}

/// Returns whether the file is merged over the others: `override.*` or `*_override.*`.
pub fn is_override(name: &str) -> bool {
    let stem = TOFU_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    stem == "override" || stem.ends_with("_override")
}

/// Returns whether the file is written in JSON.
pub fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &[&str]) -> Vec<String> {
        in_reading_order(&names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn a_tofu_file_hides_the_tf_file_of_the_same_name_and_form() {
        let files = order(&["a.tf", "a.tofu", "b.tf", "b.tofu.json", "c.tf.json", "c.tofu.json"]);

        assert_eq!(files, ["a.tofu", "b.tf", "b.tofu.json", "c.tofu.json"]);
    }

    #[test]
    fn overrides_come_last() {
        let files = order(&["a_override.tf", "override.tf.json", "z.tf", ".x.tf", "y.tf~", "notes.md"]);

        assert_eq!(files, ["z.tf", "a_override.tf", "override.tf.json"]);
    }
}
