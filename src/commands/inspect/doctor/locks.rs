//! What `doctor` says about the locks of states, and about states that cannot be read for them.

use super::finding::Finding;
use super::states;
use super::states::SharedProblem;
use super::trusted::Trusted;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine::{StackLock, StackLocks};
use crate::error::Kind;
use crate::model::{StackId, few};

pub async fn lock_findings(loaded: &LoadedProject, trust: &Trusted, context: &Context) -> Vec<Finding> {
    // Reading a lock may need credentials that only those open.
    if !trust.with_states() {
        let message = "not looked at: the project is not trusted with your keys";
        return vec![Finding::warn("locks", message, "`infra trust`")];
    }
    let all: Vec<StackId> = loaded.stacks.iter().map(|stack| stack.id.clone()).collect();
    match loaded.locks_of(&all, context).await {
        Err(error) => vec![Finding::fail("locks", &error)],
        Ok(StackLocks { locks, failed }) => {
            // A state that went elsewhere is told as one; its lock is the mark of that.
            let held = locks.iter().filter(|lock| lock.lock.info.moved_to().is_none());
            let failed = failed.iter().filter(|(_, error)| !states::is_misplaced(error));
            let unread = states::together(failed.map(|(stack, error)| (stack, error)));
            let findings: Vec<Finding> =
                held.map(lock_finding).chain(unread.iter().map(unreadable_states)).collect();
            if findings.is_empty() { vec![Finding::pass("locks", "none held")] } else { findings }
        }
    }
}

/// Tells states whose lock cannot be read: their newest entry is damaged, or out of reach.
fn unreadable_states(states: &SharedProblem<'_>) -> Finding {
    let error = states.error;
    let finding = Finding::fail("state", error);
    let fix = match error.hints() {
        [] if error.kind() == Kind::Unavailable => {
            Some("check its address, the network and a VPN, then `infra doctor`".to_owned())
        }
        [] => None,
        hints => Some(hints.join("; ")),
    };
    let names = few(&states.stacks, states::NAMED).replace('`', "");
    Finding { message: format!("{names}: {}", finding.message), fix, ..finding }
}

fn lock_finding(lock: &StackLock) -> Finding {
    let StackLock { stack, lock: held, life, .. } = lock;
    match life.is_alive() {
        Some(false) => Finding::warn(
            "locks",
            format!("{stack} is locked by {}, whose process is gone", held.info.who),
            format!("`infra force-unlock {stack}`"),
        ),
        Some(true) | None => Finding::pass("locks", format!("{stack} is locked by {}", held.info.who)),
    }
}
