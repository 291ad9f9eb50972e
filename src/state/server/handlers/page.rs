//! The page at `/`: the states that a caller may see, their sizes, versions and locks.
//!
//! Plain HTML without scripts. Everything that comes from outside is escaped.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::model::human_duration;
use crate::state::store::StateSummary;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
<meta name=\"viewport\" content=\"width=device-width\">\n<title>States</title>\n<style>\n\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; \
color: #1c2430; background: #fff }\n\
table { border-collapse: collapse; width: 100% }\n\
th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #d8dde5; vertical-align: top }\n\
td.number, th.number { text-align: right }\n.held { color: #9a3412; font-weight: 600 }\n\
.free, .gone { color: #5b6675 }\n\
@media (prefers-color-scheme: dark) { body { color: #e6e9ee; background: #14181f } \
th, td { border-color: #333b47 } .held { color: #fdba74 } .free, .gone { color: #98a2b3 } }\n</style>\n";

/// Returns the page for a caller.
pub(super) fn render(user: &str, states: &[StateSummary], now: Timestamp) -> String {
    let mut page = String::from(HEAD);
    let locked = states.iter().filter(|state| state.lock.is_some()).count();
    let _ = write!(
        page,
        "<h1>States</h1>\n<p>{} state{}, {locked} locked; seen as {}.</p>\n",
        states.len(),
        if states.len() == 1 { "" } else { "s" },
        escaped(user)
    );
    page.push_str(
        "<table>\n<thead><tr><th>State<th class=\"number\">Size<th class=\"number\">Versions<th>Written\
         <th>Lock</tr></thead>\n<tbody>\n",
    );
    for state in states {
        if let Some(error) = &state.error {
            let (name, error) = (escaped(state.name.as_str()), escaped(&error.replace('\n', "; ")));
            let _ = writeln!(
                page,
                "<tr><td>{name}<td colspan=\"4\"><span class=\"held\">damaged</span>: {error}</tr>"
            );
            continue;
        }
        let _ = writeln!(
            page,
            "<tr><td>{}<td class=\"number\">{}<td class=\"number\">{}<td>{}<td>{}</tr>",
            escaped(state.name.as_str()),
            state.size.map_or_else(|| "<span class=\"gone\">deleted</span>".to_owned(), human_size),
            state.versions,
            state
                .written
                .map_or_else(|| "–".to_owned(), |at| escaped(&at.strftime("%Y-%m-%d %H:%M UTC").to_string())),
            lock_cell(state, now),
        );
    }
    page.push_str("</tbody>\n</table>\n");
    page
}

fn lock_cell(state: &StateSummary, now: Timestamp) -> String {
    if let Some(moved) = &state.moved {
        return format!("<span class=\"gone\">moved to</span> {}", escaped(&moved.to));
    }
    let Some(lock) = &state.lock else { return "<span class=\"free\">free</span>".to_owned() };
    let lock = lock.to_state_lock();
    let info = &lock.info;
    let age = info.created_at().and_then(|at| i32::try_from(now.duration_since(at).as_secs().max(0)).ok());
    let age = age.map_or_else(String::new, |seconds| format!(", for {}", human_duration(seconds.into())));
    let process = lock
        .holder
        .map_or_else(String::new, |holder| format!(" (process {} on {})", holder.pid, holder.host));
    let words = format!("{} · {}{age}{process}", info.who, info.operation_word());
    format!("<span class=\"held\">held</span> by {}<br><code>{}</code>", escaped(&words), escaped(&info.id))
}

fn human_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            character if character.is_control() => out.push('\u{fffd}'),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{HeldLock, Moved, StateName};

    #[test]
    fn a_moved_state_is_shown_with_its_new_place_and_not_as_locked() {
        let moved = Moved { to: "https://h/<states>".to_owned(), at: Timestamp::UNIX_EPOCH };
        let state = StateSummary {
            name: StateName::parse("a").expect("a name"),
            size: Some(1),
            written: None,
            versions: 1,
            lock: None,
            moved: Some(moved),
            project: None,
            left_behind: false,
            error: None,
        };

        let page = render("dana", &[state], Timestamp::UNIX_EPOCH);

        assert!(page.contains("moved to</span> https://h/&lt;states&gt;<"), "{page}");
        assert!(page.contains("1 state, 0 locked") && !page.contains("held</span>"), "{page}");
    }

    #[test]
    fn what_comes_from_outside_cannot_become_markup() {
        let info =
            br#"{"ID":"<img src=x>","Who":"<script>alert(1)</script>","Operation":"OperationTypeApply"}"#;
        let lock = HeldLock::from_client(info, None).expect("a lock");
        let name = StateName::parse("a\"><b>/x").expect("a name");
        let state = StateSummary {
            name,
            size: Some(2048),
            written: None,
            versions: 3,
            lock: Some(lock),
            moved: None,
            project: None,
            left_behind: false,
            error: None,
        };

        let page = render("<dana>", &[state], Timestamp::UNIX_EPOCH);

        assert!(!page.contains("<script>") && !page.contains("<img") && !page.contains("<b>"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; · apply"), "{page}");
        assert!(
            page.contains("2.0 KiB") && page.contains("1 state, 1 locked; seen as &lt;dana&gt;"),
            "{page}"
        );
    }
}
