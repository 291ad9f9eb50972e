//! Text that fits: padded to a width, shortened in the middle, broken at spaces.
//!
//! Widths are those of a screen, where some letters take two places and colours none.
//! Pure; whether there is a screen is known to `terminal`. Begin at [`wrap`].

use console::measure_text_width;

/// Returns how many places a text takes on a screen.
pub fn text_width(text: &str) -> usize {
    measure_text_width(text)
}

/// Fills a text with spaces up to a width.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text_width(text))))
}

/// Shortens a plain text in the middle, since ids differ at their ends.
pub fn shortened(text: &str, width: usize) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let head = taken(text.chars(), room / 2);
    let tail = taken(text.chars().rev(), room - room / 2);
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

/// Returns as many of the letters as have room.
fn taken(letters: impl Iterator<Item = char>, room: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for letter in letters {
        used += text_width(letter.encode_utf8(&mut [0; 4]));
        if used > room {
            break;
        }
        text.push(letter);
    }
    text
}

/// Breaks a line at spaces so that none is wider than the screen; what follows the first is indented.
///
/// What stands in back-ticks is never broken, so that a command can be copied.
pub fn wrap(line: &str, columns: usize, indent: usize) -> String {
    // The last column stays free: some terminals break the line there.
    let room = columns.saturating_sub(1);
    if text_width(line) <= room {
        return line.to_owned();
    }
    let body = line.trim_start_matches(' ');
    // Where the longest word has no room below the column, little is gained by it.
    let longest = words(body).iter().map(|(_, word)| text_width(word)).max().unwrap_or(0);
    let is_narrow = indent > room * 3 / 4 || indent + longest > room;
    let indent = if is_narrow { indent.min(4) } else { indent };
    let mut lines = vec![" ".repeat(line.len() - body.len())];
    let mut used = line.len() - body.len();
    for (gap, word) in words(body) {
        let width = text_width(word);
        let last = lines.len() - 1;
        if used + gap + width <= room || lines[last].trim().is_empty() {
            lines[last].push_str(&format!("{}{word}", " ".repeat(gap)));
            used += gap + width;
        } else {
            lines.push(format!("{}{word}", " ".repeat(indent)));
            used = indent + width;
        }
    }
    lines.join("\n")
}

/// Returns the words with the number of spaces before each; back-ticks hold words together.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let (mut words, mut gap, mut start, mut quoted) = (Vec::new(), 0, None, false);
    for (at, char) in text.char_indices() {
        quoted ^= char == '`' && is_paired;
        match (char == ' ' && !quoted, start) {
            (true, Some(begun)) => {
                words.push((gap, &text[begun..at]));
                (gap, start) = (1, None);
            }
            (true, None) => gap += 1,
            (false, None) => start = Some(at),
            (false, Some(_)) => {}
        }
    }
    words.extend(start.map(|begun| (gap, &text[begun..])));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_id_keeps_its_beginning_and_its_end() {
        assert_eq!(shortened("01-hypervisors/02-very-long", 11), "01-hy…-long");
        assert_eq!(shortened("short", 11), "short");
        assert!(text_width(&shortened("語語語語語語", 7)) <= 7);
    }

    #[test]
    fn a_line_is_broken_at_spaces_and_hangs() {
        let wrapped = wrap("  warning: one two three four", 16, 4);

        assert_eq!(wrapped, "  warning: one\n    two three\n    four");
    }

    #[test]
    fn a_command_is_never_broken() {
        let wrapped = wrap("hint: run `infra apply --all --yes` now", 20, 2);

        assert_eq!(wrapped, "hint: run\n  `infra apply --all --yes`\n  now");
    }

    #[test]
    fn colours_take_no_room_and_gaps_between_columns_stay() {
        let line = "\u{1b}[33mwarning\u{1b}[0m: a   b";

        assert_eq!(wrap(line, 15, 2), line);
        assert_eq!(wrap(line, 14, 2), "\u{1b}[33mwarning\u{1b}[0m: a\n  b");
    }

    #[test]
    fn no_width_and_no_text_makes_it_panic() {
        for columns in [0, 1, 2, 5] {
            for text in ["", " ", "語", "a b c", "` `", "`open"] {
                let letters = wrap(text, columns, 4).replace(['\n', ' '], "");
                assert_eq!(letters, text.replace(' ', ""));
            }
        }
    }
}
