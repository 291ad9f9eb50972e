//! How a plan that was made again differs from the one that was shown.

use schemars::JsonSchema;
use serde::Serialize;

use super::change::Action;
use crate::model::Safe;

/// One resource or output of a plan that is not as it was shown.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PlanDifference {
    /// The address of the resource, or `output.` and the name of an output.
    pub address: Safe,
    /// What happens to it now.
    pub action: Action,
    /// What was shown to happen to it; `None` if nothing was shown.
    pub shown_action: Option<Action>,
    /// The values that were known when it was shown, and are others now.
    pub values: Vec<ValueDifference>,
}

/// One value that is not what was shown; safe to show.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ValueDifference {
    /// Where it stands, such as `disk[0].size`; empty for the whole.
    pub path: Safe,
    /// Whether it is about how it is before the plan is applied, and not after.
    pub before: bool,
    /// What was shown, as JSON or in brackets.
    pub shown: Safe,
    /// What it is now.
    pub now: Safe,
}

impl ValueDifference {
    /// Returns both texts so that each fits, cut where they are alike.
    pub fn excerpts(&self, room: usize) -> (String, String) {
        excerpts(&self.shown, &self.now, room)
    }
}

/// Returns two texts so that each fits, cut where they are alike.
pub fn excerpts(one: &str, other: &str, room: usize) -> (String, String) {
    let longest = one.chars().count().max(other.chars().count());
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let start = if longest <= room { 0 } else { alike.saturating_sub(room / 4) };
    (excerpt(one, start, room), excerpt(other, start, room))
}

/// Returns the part of a text from a character on that has room, with signs where something is left out.
fn excerpt(text: &str, start: usize, room: usize) -> String {
    let rest: Vec<char> = text.chars().skip(start).collect();
    let head = if start > 0 { "…" } else { "" };
    let room = room.saturating_sub(head.chars().count());
    let fits = rest.len() <= room;
    let kept = if fits { rest.len() } else { room.saturating_sub(1) };
    let tail = if fits { "" } else { "…" };
    format!("{head}{}{tail}", rest[..kept].iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_cut() {
        assert_eq!(excerpts("16", "4", 10), ("16".to_owned(), "4".to_owned()));
    }

    #[test]
    fn a_long_text_is_cut_so_that_the_difference_is_seen() {
        let text = |word: &str| format!("{}{word}{}", "a".repeat(50), "z".repeat(50));

        let (shown, now) = excerpts(&text("ONE"), &text("TWO"), 20);

        assert_eq!((shown.as_str(), now.as_str()), ("…aaaaaONEzzzzzzzzzz…", "…aaaaaTWOzzzzzzzzzz…"));
    }

    #[test]
    fn no_room_at_all_is_no_panic() {
        assert_eq!(excerpts("äöü…", "ß", 0).1, "…");
    }
}
