//! Comments and issues on GitHub, GitLab, Gitea and Forgejo: what they say, and how they get there.
//!
//! What is said is made from the records of runs alone, by pure functions: [`PlanComment`] and
//! [`DriftIssue`]. Where it belongs to is told by the CI system, see [`Surroundings`], and by flags:
//! [`Target`]. [`CommentThread`] keeps one comment up to date, [`IssueTracker`] one issue.

mod api;
mod body;
mod comments;
mod dialect;
mod event;
mod gitea;
mod github;
mod gitlab;
mod issues;
mod listing;
mod marker;
mod surroundings;
mod target;

pub use body::{Body, DriftIssue, DriftedStack, PlanComment, PlannedStack, PlanningRun};
pub use comments::CommentThread;
pub use dialect::ForgeKind;
pub use issues::{IssueTracker, Outcome as IssueOutcome};
pub use surroundings::Surroundings;
pub use target::{Given, Target};
