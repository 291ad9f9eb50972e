//! The groups that a host is in: its stack, its layer, its tags.

use super::machine::Machine;
use crate::model::Stack;

/// Returns the names of the groups of a stack's hosts.
pub(super) fn groups_of_stack(stack: &Stack) -> Vec<String> {
    let base = stack.base_id();
    let mut groups = vec![group("stack", stack.id.as_str())];
    // A stack that is its own root has no path that names a layer.
    let layer = base.as_str().split('/').next().filter(|segment| *segment != ".");
    groups.extend(layer.map(|layer| group("layer", layer)));
    groups.extend(stack.tags.iter().map(|tag| group("tag", tag)));
    groups
}

/// Returns the names of the groups of a machine's own tags.
pub(super) fn groups_of_tags(machine: &Machine) -> Vec<String> {
    let words = machine.tags.iter().map(|tag| group("tag", tag));
    words.chain(machine.labels.iter().map(|(key, value)| group("tag", &format!("{key}_{value}")))).collect()
}

/// Returns a name that Ansible takes without a warning, and that patterns can use.
fn group(prefix: &str, name: &str) -> String {
    let sign = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '_' };
    format!("{prefix}_{}", name.chars().map(sign).collect::<String>())
}
