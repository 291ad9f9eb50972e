//! Parts of a comment that are shown as far as there is room: whole ones first, and what is missing
//! is named.

use super::text::code;

/// How much room the notice of a cut takes at most.
pub const NOTICE_ROOM: usize = 900;

/// How many names of what is missing are told.
const NAMED: usize = 8;

/// A part that may be left out.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is about, for the notice of a cut.
    pub name: String,
    /// All of it.
    pub whole: String,
    /// The lines of a long one, of which the first can stand for all; with its title.
    pub lines: Option<(String, Vec<String>)>,
}

/// Puts as many parts as there is room for behind a text; returns the names of what is missing.
pub fn fill(text: &mut String, parts: &[Part], most: usize) -> Vec<String> {
    let needed: usize = parts.iter().map(|part| part.whole.len() + 1).sum();
    // The notice takes no room where nothing is cut.
    let room = if text.len() + needed <= most { most } else { most.saturating_sub(NOTICE_ROOM) };
    let mut missing = Vec::new();
    let mut shown = 0;
    for part in parts {
        if text.len() + part.whole.len() < room {
            text.push('\n');
            text.push_str(&part.whole);
            shown += 1;
        } else {
            missing.push(part);
        }
    }
    // A beginning is better than nothing; beside whole ones it would only take their room.
    if let (0, Some(part)) = (shown, missing.first())
        && let Some(beginning) = part.beginning(room.saturating_sub(text.len()))
    {
        text.push('\n');
        text.push_str(&beginning);
    }
    missing.into_iter().map(|part| part.name.clone()).collect()
}

impl Part {
    fn beginning(&self, room: usize) -> Option<String> {
        let (title, lines) = self.lines.as_ref()?;
        // A fence may double its ticks, and a title is in it twice at most.
        let mut left = room.checked_sub(title.len() + 400)?;
        let fits = |line: &&String| {
            let cost = line.len() + 3;
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        };
        let beginning: Vec<&String> = lines.iter().take_while(fits).collect();
        let rest = lines.len() - beginning.len();
        let inside = super::text::fence("", &beginning);
        let whole = super::text::fold(title, &format!("{inside}\ncut here: {rest} more lines\n"));
        (!beginning.is_empty() && whole.len() <= room).then_some(whole)
    }
}

/// Says what is missing, and where it is.
pub fn notice(missing: &[String]) -> String {
    let named = missing.iter().filter(|name| name.len() < 60).take(NAMED);
    let named: Vec<String> = named.map(|name| code(name)).collect();
    let more = missing.len() - named.len();
    let rest = match (named.is_empty(), more) {
        (_, 0) => String::new(),
        (true, more) => format!("{more} parts"),
        (false, more) => format!(" and {more} more"),
    };
    format!(
        "\n**This comment is cut**: it has no room for all of {}{rest}. \
         The full plan of every stack is in the folder that `infra comment --out-dir` wrote, and in the log of the run.\n",
        named.join(", "),
    )
}
