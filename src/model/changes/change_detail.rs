//! What a plan does to one resource or output, attribute by attribute; safe to show.

use super::change::Action;
use crate::model::Safe;

/// What a change is about.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ChangeSubject {
    /// A resource that the plan does something to.
    Resource,
    /// An output of the stack.
    Output,
    /// A resource that somebody changed outside, which the plan starts from.
    Outside,
}

/// What a plan does to one resource or output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangeDetail {
    /// What it is about.
    pub subject: ChangeSubject,
    /// The address of the resource, or `output.` and the name of an output.
    pub address: Safe,
    /// What happens to it.
    pub action: Action,
    /// What else to know: why it is destroyed, from where it is moved or imported.
    pub notes: Vec<Safe>,
    /// The attributes that change, those that force a replacement first.
    pub attributes: Vec<AttributeChange>,
    /// How many attributes stay as they are.
    pub unchanged: usize,
}

/// One attribute that changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttributeChange {
    /// Where it stands, such as `disk[0].size`; empty for the whole.
    pub path: Safe,
    /// What it was, as JSON or in brackets; `None` if there was nothing to compare with.
    pub before: Option<Safe>,
    /// What it will be.
    pub after: Option<Safe>,
    /// Whether it forces a replacement.
    pub forces: bool,
    /// What changes inside of a text of several lines, or a list; then there is nothing before and after.
    pub lines: Vec<ChangedLine>,
}

/// One line of a text, or one item of a list, that comes or goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChangedLine {
    /// Whether it comes.
    pub added: bool,
    /// The line.
    pub text: Safe,
}
