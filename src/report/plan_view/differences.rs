//! What of a plan is not as it was shown, line by line.
//!
//! Each line can be read without colour. A value that does not fit beside its name stands
//! below it, cut where both are alike.

use crate::model::{Action, PlanDifference, ValueDifference};
use crate::report::screen::{Terminal, Tone, text_width};

/// How wide lines are where there is no screen.
const USUAL_COLUMNS: usize = 100;

/// How many values of one resource are listed.
const LISTED: usize = 20;

/// Returns the lines about one resource or output.
pub fn difference_lines(terminal: &Terminal, difference: &PlanDifference) -> Vec<String> {
    let PlanDifference { address, action, shown_action, values } = difference;
    let was = match shown_action {
        None => "  (not shown before)".to_owned(),
        Some(shown) if shown == action => String::new(),
        Some(shown) => format!("  (shown as {})", shown.sign()),
    };
    let mut lines = vec![format!("{} {address}{was}", signed(terminal, *action))];
    let columns = terminal.out_columns().or_else(|| terminal.columns()).unwrap_or(USUAL_COLUMNS);
    lines.extend(values.iter().take(LISTED).flat_map(|value| value_lines(value, columns)));
    if values.len() > LISTED {
        lines.push(format!("      … and {} more", values.len() - LISTED));
    }
    lines
}

/// Returns the sign of an action, as wide as all others.
pub fn signed(terminal: &Terminal, action: Action) -> String {
    let tone = match action {
        Action::Create | Action::Import => Tone::Good,
        Action::Delete | Action::Replace => Tone::Bad,
        Action::Update | Action::Move => Tone::Warn,
        Action::Forget | Action::Read => Tone::Dim,
    };
    terminal.paint_data(tone, &format!("{:>3}", action.sign()))
}

fn value_lines(value: &ValueDifference, columns: usize) -> Vec<String> {
    let path = if value.path.is_empty() { "value" } else { &value.path };
    let name = if value.before { format!("{path} (as it is)") } else { path.to_owned() };
    // Both are hidden then.
    if value.shown == value.now {
        return vec![format!("      {name}: another {}", value.now)];
    }
    let line = format!("      {name}: shown {}, now {}", value.shown, value.now);
    if text_width(&line) < columns {
        return vec![line];
    }
    let (shown, now) = value.excerpts(columns.saturating_sub(16).max(20));
    vec![format!("      {name}:"), format!("        shown {shown}"), format!("        now   {now}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(shown: &str, now: &str) -> ValueDifference {
        let (path, before) = ("memory".into(), false);
        let safe = |text: &str| serde_json::from_value(text.into()).expect("a text");
        ValueDifference { path, before, shown: safe(shown), now: safe(now) }
    }

    #[test]
    fn a_short_difference_is_one_line() {
        assert_eq!(value_lines(&value("16384", "4096"), 80), ["      memory: shown 16384, now 4096"]);
    }

    #[test]
    fn what_must_not_be_shown_is_said_to_be_another() {
        assert_eq!(
            value_lines(&value("(sensitive)", "(sensitive)"), 80),
            ["      memory: another (sensitive)"]
        );
    }

    #[test]
    fn long_values_stand_below_each_other_and_fit() {
        let text = |end: &str| format!("{}{end}", "x".repeat(300));

        let lines = value_lines(&value(&text("one"), &text("two")), 80);

        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| text_width(line) < 80), "{lines:?}");
        assert!(lines[1].ends_with("one") && lines[2].ends_with("two"), "{lines:?}");
    }
}
