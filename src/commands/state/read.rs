//! Commands that look into states: what is in them, how they were, how versions differ.

mod diff;
mod history;
mod list;
mod pull;
mod show;

pub(super) use diff::{DiffArgs, run as diff};
pub(super) use history::{HistoryArgs, run as history};
pub(super) use list::{ListArgs, run as list};
pub(super) use pull::{PullArgs, run as pull};
pub(super) use show::{ShowArgs, run as show};
