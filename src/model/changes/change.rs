//! What a plan would do: actions on resources, and their counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Safe;

/// What a plan does to one resource.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Destroyed.
    Delete,
    /// Destroyed and created again.
    Replace,
    /// Changed in place.
    Update,
    /// Created.
    Create,
    /// Taken under management.
    Import,
    /// Moved to another address.
    Move,
    /// No longer managed, but left alive.
    Forget,
    /// Read during apply.
    Read,
}

impl Action {
    /// Returns the sign that stands beside an address.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Delete => "-",
            Self::Replace => "-/+",
            Self::Update => "~",
            Self::Create => "+",
            Self::Import => "&",
            Self::Move => ">",
            Self::Forget => ".",
            Self::Read => "<=",
        }
    }

    /// Returns the words that `tofu show -json` has for it.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Delete => &["delete"],
            Self::Replace => &["delete", "create"],
            Self::Update => &["update"],
            Self::Create => &["create"],
            Self::Import | Self::Move => &["no-op"],
            Self::Forget => &["forget"],
            Self::Read => &["read"],
        }
    }

    /// Returns whether something that exists goes away.
    pub const fn is_destructive(self) -> bool {
        matches!(self, Self::Delete | Self::Replace)
    }
}

/// One resource in a plan.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResourceChange {
    /// The address, such as `module.vm.proxmox_vm.node["a"]`.
    pub address: Safe,
    /// What happens to it.
    pub action: Action,
    /// The words of `tofu show -json` for it, where they are others than usual: what is created
    /// before the old one is destroyed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// The attributes that force a replacement, such as `disk[0].size`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replace_because: Vec<Safe>,
}

impl ResourceChange {
    /// Makes a change of which no more is known.
    pub const fn new(address: Safe, action: Action) -> Self {
        Self { address, action, actions: Vec::new(), replace_because: Vec::new() }
    }
}

/// One resource in a plan, as the report of a run has it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ReportedChange {
    /// The address, such as `module.vm.proxmox_vm.node["a"]`.
    pub address: Safe,
    /// What happens to it, in the words of `tofu show -json`: `["create"]`, `["delete", "create"]`.
    pub actions: Vec<String>,
    /// The attributes that force a replacement, such as `disk[0].size` or `tags["a b"]`.
    pub replace_because: Vec<Safe>,
}

impl From<&ResourceChange> for ReportedChange {
    fn from(change: &ResourceChange) -> Self {
        let ResourceChange { address, action, actions, replace_because } = change.clone();
        let usual = || action.words().iter().map(|word| (*word).to_owned()).collect();
        let actions = if actions.is_empty() { usual() } else { actions };
        Self { address, actions, replace_because }
    }
}

/// How many resources a plan touches, by what happens to them.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ChangeCounts {
    /// Created; a replaced one is not counted here.
    pub add: u32,
    /// Changed in place.
    pub change: u32,
    /// Destroyed; a replaced one is not counted here.
    pub destroy: u32,
    /// Destroyed and created again.
    pub replace: u32,
    /// Taken under management.
    pub import: u32,
}

impl ChangeCounts {
    /// Counts the changes of a plan.
    pub fn of(changes: &[ResourceChange]) -> Self {
        let mut counts = Self::default();
        for change in changes {
            match change.action {
                Action::Create => counts.add += 1,
                Action::Update => counts.change += 1,
                Action::Delete => counts.destroy += 1,
                Action::Replace => counts.replace += 1,
                Action::Import => counts.import += 1,
                Action::Move | Action::Forget | Action::Read => {}
            }
        }
        counts
    }

    /// Returns the sum of two counts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            add: self.add + other.add,
            change: self.change + other.change,
            destroy: self.destroy + other.destroy,
            replace: self.replace + other.replace,
            import: self.import + other.import,
        }
    }
}

impl std::fmt::Display for ChangeCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "+{} ~{} -{}", self.add, self.change, self.destroy)?;
        if self.replace > 0 {
            write!(f, " -/+{}", self.replace)?;
        }
        if self.import > 0 {
            write!(f, " &{}", self.import)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_is_counted_once_and_shown_apart() {
        let change = |action| ResourceChange::new("a.b".into(), action);

        let counts =
            ChangeCounts::of(&[change(Action::Create), change(Action::Replace), change(Action::Read)]);

        assert_eq!(counts.to_string(), "+1 ~0 -0 -/+1");
    }
}
