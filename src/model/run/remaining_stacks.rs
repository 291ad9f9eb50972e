//! What stays where other stacks are destroyed below it.

use crate::model::StackId;

/// Stacks with resources that lose what is below them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RemainingStacks {
    /// Those that depend on what goes.
    pub dependents: Vec<StackId>,
    /// Those of higher layers without an edge.
    pub higher: Vec<StackId>,
}

impl RemainingStacks {
    /// Returns a sentence for each sort.
    pub fn sentences(&self) -> Vec<String> {
        let sorts = [(&self.dependents, "depend on it"), (&self.higher, "stand on higher layers")];
        let some = sorts.into_iter().filter(|(stacks, _)| !stacks.is_empty());
        some.map(|(stacks, where_)| format!("these {where_} and stay: {}", few(stacks, 5))).collect()
    }
}

/// Names stacks, but only a few of many.
pub fn few(stacks: &[StackId], most: usize) -> String {
    let names: Vec<String> = stacks.iter().take(most).map(|id| format!("`{id}`")).collect();
    match stacks.len().saturating_sub(most) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stacks_are_a_few_names_and_a_number() {
        let stacks: Vec<StackId> = (1..=17).map(|number| StackId::new(format!("s{number}"))).collect();
        let remaining = RemainingStacks { dependents: vec![StackId::new("a")], higher: stacks };

        assert_eq!(
            remaining.sentences(),
            [
                "these depend on it and stay: `a`",
                "these stand on higher layers and stay: `s1`, `s2`, `s3`, `s4`, `s5` and 12 more",
            ]
        );
        assert_eq!(RemainingStacks::default().sentences(), [""; 0]);
    }
}
