//! What a run is made from: the commit that is checked out, and what the CI system says of it.

use crate::commands::Context;
use crate::forge::Surroundings;
use crate::model::{Project, RunCommand, RunOrigin};
use crate::process::Git;

/// Returns the origin of a run, for those commands whose records are read elsewhere.
pub(super) async fn origin_of(command: RunCommand, project: &Project, context: &Context) -> RunOrigin {
    if !matches!(command, RunCommand::Plan | RunCommand::Drift) {
        return RunOrigin::default();
    }
    let told = Surroundings::read(&context.env);
    let git = Git::around(&project.root, &context.env, &context.interrupts);
    let commits = match git {
        Some(git) => git.commit_with_parents().await.unwrap_or_default(),
        None => Vec::new(),
    };
    let mut commits = commits.into_iter();
    let checkout = commits.next().or_else(|| told.checkout.clone());
    // A workflow may check out something else than what it was started for.
    let is_this = told.checkout.is_none() || told.checkout == checkout || told.head == checkout;
    let head = told.head.clone().filter(|_| is_this || told.number.is_some());
    RunOrigin { head, checkout, parents: commits.collect(), address: told.run_address }
}
