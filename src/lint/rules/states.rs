//! `state-identity-unique` and `state-lock-missing`: every stack has a state of its own, and `infra.lock`
//! knows it.

use crate::lint::finding::{Finding, FindingPlace};
use crate::model::{LintRule, Stack, StackId, quoted};
use crate::stacks;

/// The file that knows the states.
const INFRA_LOCK: &str = "infra.lock";

/// Finds the stacks that write a state which another writes too. `place_in` completes file and line, or
/// names the first file of a stack without a backend block.
pub fn shared_states(
    all: &[Stack],
    place_in: impl Fn(&Stack, Option<(&str, usize)>) -> FindingPlace,
) -> Vec<Finding> {
    let mut found = Vec::new();
    for shared in stacks::shared_states(all) {
        for stack in all.iter().filter(|stack| shared.stacks.contains(&stack.id)) {
            let place = place_in(stack, stack.backend_place.as_deref().and_then(file_and_line));
            let message = format!(
                "{}: give `{}` a backend key, path or address of its own",
                shared.error.message(),
                stack.id
            );
            let subject = format!("backend.{}", stack.id);
            found.push(Finding::new(LintRule::StateIdentityUnique, place, subject, message));
        }
    }
    found
}

fn file_and_line(place: &str) -> Option<(&str, usize)> {
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// Tells the stacks whose states have no entry.
pub fn unlocked_states(stacks: &[StackId]) -> Vec<Finding> {
    let finding = |id: &StackId| {
        let message = format!(
            "`{INFRA_LOCK}` does not know the state of `{id}`, so no other checkout would miss it: \
             `infra init {}`, then commit `{INFRA_LOCK}`",
            quoted(id.as_str())
        );
        let place = FindingPlace::start_of(INFRA_LOCK);
        Finding::new(LintRule::StateLockMissing, place, format!("state.{id}"), message)
    };
    stacks.iter().map(finding).collect()
}
