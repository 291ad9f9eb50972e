//! The stacks of a command, said as shortly as possible without choosing any other stack.

use std::collections::BTreeSet;

use super::scope::Scope;
use crate::model::{StackId, StackReport, quoted};

/// How wide a line may be; wider ones break in a usual terminal.
const WIDTH: usize = 80;

/// Stacks that a command is to be about.
pub struct StackChoice {
    /// Those that the command must be about.
    pub targets: BTreeSet<StackId>,
    /// Those that may be chosen too, without anything happening to them.
    pub besides: BTreeSet<StackId>,
    /// Those of the run.
    pub chosen: BTreeSet<StackId>,
    /// In which words stacks can be said.
    pub scope: Scope,
}

impl StackChoice {
    /// Returns a step whose line is not broken, if the stacks can be said so shortly.
    pub fn step(&self, words: &str, command: &str) -> String {
        self.step_with(words, command, None)
    }

    /// Returns such a step with further flags.
    pub fn step_with(&self, words: &str, command: &str, flags: Option<&str>) -> String {
        let flags = flags.map(|flags| format!(" {flags}")).unwrap_or_default();
        let step = |choice: &str| format!("{words}`infra {command} {choice}{flags}`");
        let fits = |step: &String| "  next: ".len() + step.chars().count() < WIDTH;
        let ways = [Some(self.names()), self.as_typed(), self.all(), self.layers()];
        ways.into_iter().flatten().map(|way| step(&way)).find(fits).unwrap_or_else(|| step(&self.names()))
    }

    /// Returns the stacks by their names.
    pub fn names(&self) -> String {
        self.targets.iter().map(|id| argument(id.as_str())).collect::<Vec<_>>().join(" ")
    }

    fn as_typed(&self) -> Option<String> {
        self.scope.typed.clone().filter(|_| self.chosen.iter().all(|id| self.may_hold(id)))
    }

    fn all(&self) -> Option<String> {
        let all = !self.scope.stacks.is_empty() && self.scope.stacks.iter().all(|id| self.may_hold(id));
        all.then(|| "--all".to_owned())
    }

    /// Returns whole layers that hold all of the stacks and no others.
    fn layers(&self) -> Option<String> {
        let layers: BTreeSet<u32> = self.targets.iter().map(StackId::layer).collect::<Option<_>>()?;
        let is_in = |id: &&StackId| id.layer().is_some_and(|layer| layers.contains(&layer));
        let whole = self.scope.stacks.iter().filter(is_in).all(|id| self.may_hold(id));
        let flags = layers.iter().map(|layer| format!("--layer {layer}")).collect::<Vec<_>>();
        (whole && !self.scope.stacks.is_empty()).then(|| flags.join(" "))
    }

    fn may_hold(&self, id: &StackId) -> bool {
        self.targets.contains(id) || self.besides.contains(id)
    }
}

/// Returns the ids of stacks.
pub fn ids(stacks: &[&StackReport]) -> BTreeSet<StackId> {
    stacks.iter().map(|stack| stack.id.clone()).collect()
}

/// Returns a stack as an argument; one that begins like a flag has to be told from it.
pub fn argument(name: &str) -> String {
    if name.starts_with('-') { format!("--stack={}", quoted(name)) } else { quoted(name) }
}
