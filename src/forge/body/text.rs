//! Text of others in Markdown: between backticks, in fences, in HTML; nowhere does it mean anything.

use crate::model::turns_text;

/// Returns a line as it may stand in a fence: no sign that moves the cursor, or turns others.
pub fn plain(line: &str) -> String {
    let seen = |sign: char| match sign {
        '\t' => '\t',
        sign if sign.is_control() || turns_text(sign) => '\u{fffd}',
        sign => sign,
    };
    line.chars().map(seen).collect()
}

/// Returns a name between backticks.
pub fn code(text: &str) -> String {
    let text = plain(text).replace(['\t', '\u{2028}', '\u{2029}'], " ");
    let ticks = "`".repeat(longest_run(&text) + 1);
    let needs_room = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty();
    let room = if needs_room { " " } else { "" };
    format!("{ticks}{room}{text}{room}{ticks}")
}

/// Returns a name between backticks in a cell of a table.
pub fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Returns lines in a fence that none of them can close.
pub fn fence(language: &str, lines: &[impl AsRef<str>]) -> String {
    let longest = lines.iter().map(|line| longest_run(line.as_ref())).max().unwrap_or(0);
    let ticks = "`".repeat(longest.max(2) + 1);
    let mut text = format!("{ticks}{language}\n");
    for line in lines {
        text.push_str(&plain(line.as_ref()));
        text.push('\n');
    }
    text.push_str(&ticks);
    text.push('\n');
    text
}

/// Returns a part that a reader unfolds; the title is HTML.
pub fn fold(title: &str, inside: &str) -> String {
    // Without the empty line what is inside is not read as Markdown.
    format!("<details><summary>{title}</summary>\n\n{inside}\n</details>\n")
}

/// Returns a name as HTML; some forges look for names and numbers before they look for HTML.
pub fn html_code(text: &str) -> String {
    let mut html = String::new();
    for sign in plain(text).chars() {
        match sign {
            '&' | '<' | '>' | '"' | '@' | '#' | '`' => html.push_str(&format!("&#{};", u32::from(sign))),
            sign => html.push(sign),
        }
    }
    format!("<code>{html}</code>")
}

/// Returns the lines of a text.
pub fn lines_of(text: &str) -> Vec<&str> {
    text.split(['\n', '\r']).filter(|line| !line.is_empty()).collect()
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for sign in text.chars() {
        run = if sign == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fence("", &["a ```` b"]), "`````\na ```` b\n`````\n");
        assert_eq!(fence("diff", &["x"]), "```diff\nx\n```\n");
    }

    #[test]
    fn a_name_stays_between_its_backticks_and_in_its_cell() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(cell("a|b\n| c"), "`a\\|b\u{fffd}\\| c`");
        assert_eq!(code(""), "`  `");
    }

    #[test]
    fn a_title_closes_nothing() {
        assert_eq!(html_code("</details>@a #1"), "<code>&#60;/details&#62;&#64;a &#35;1</code>");
    }

    #[test]
    fn no_line_turns_what_follows() {
        assert_eq!(plain("a\u{202e}b\u{1b}[31m\tc"), "a\u{fffd}b\u{fffd}[31m\tc");
    }
}
