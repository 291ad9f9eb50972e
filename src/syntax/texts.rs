//! What a text says that is written in quotes or as a heredoc, where nothing is filled into it.
//! Follows OpenTofu's own reading of escapes and of indented heredocs.

use std::borrow::Cow;

use super::templates::heredoc_opening;

/// Returns what a label in quotes says.
pub(super) fn label(source: &str) -> Cow<'_, str> {
    quoted(source).unwrap_or_else(|| Cow::Borrowed(source.trim_matches('"')))
}

/// Returns what a text in quotes says; `None` if it contains expressions or cannot be read.
pub(super) fn quoted(source: &str) -> Option<Cow<'_, str>> {
    let inner = source.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains(['\\', '$', '%']) {
        return Some(Cow::Borrowed(inner));
    }
    unescaped(inner, escaped).map(Cow::Owned)
}

/// Returns what a text of the JSON form says, which has no escapes of its own; `None` if it contains
/// expressions.
pub fn template_text(text: &str) -> Option<String> {
    unescaped(text, |_| Some(('\\', 0)))
}

/// Returns what a heredoc says; `None` if it contains expressions.
pub(super) fn heredoc(source: &str) -> Option<String> {
    let (marker, body) = heredoc_opening(source.as_bytes(), 0)?;
    let content = source.get(body..)?.trim_end().strip_suffix(source.get(marker)?)?;
    // The word that ends it may be indented, which is no part of the text.
    let content = content.trim_end_matches([' ', '\t']);
    // A backslash stands for itself there.
    let said = template_text(content)?;
    Some(if source.starts_with("<<-") { without_indent(&said) } else { said })
}

/// Takes as many spaces from every line as the line with the fewest has; blank lines do not count.
fn without_indent(text: &str) -> String {
    let indent = |line: &str| line.chars().take_while(|letter| letter.is_whitespace()).count();
    let is_blank = |line: &str| line.trim().is_empty();
    let lines = || text.split_inclusive('\n');
    let least = lines().filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    let cut = |line: &str| line.chars().skip(least).collect::<String>();
    lines().map(|line| if is_blank(line) { line.to_owned() } else { cut(line) }).collect()
}

/// Returns a text with what stands behind backslashes, and without doubled signs of templates.
fn unescaped(inner: &str, escape: impl Fn(&str) -> Option<(char, usize)>) -> Option<String> {
    let mut said = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("${") || rest.starts_with("%{") {
            return None;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\\' => {
                let (meant, length) = escape(rest)?;
                said.push(meant);
                rest = &rest[length..];
            }
            '$' | '%' if rest.starts_with(letter) && rest[1..].starts_with('{') => {
                said.push_str(&rest[..2]);
                rest = &rest[2..];
            }
            _ => said.push(letter),
        }
    }
    Some(said)
}

/// Returns what stands for a letter behind a backslash, and how long that is.
fn escaped(rest: &str) -> Option<(char, usize)> {
    let code = |length: usize| {
        let digits = rest.get(1..=length)?;
        let meant = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some((meant, length + 1))
    };
    match rest.chars().next()? {
        'n' => Some(('\n', 1)),
        'r' => Some(('\r', 1)),
        't' => Some(('\t', 1)),
        letter @ ('"' | '\\') => Some((letter, 1)),
        'u' => code(4),
        'U' => code(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_what_they_mean() {
        assert_eq!(quoted(r#""a\"\\\n\u00e9\U0001F600""#).as_deref(), Some("a\"\\\né😀"));
        assert_eq!(quoted(r#""$${a} %%{b} $ % $$ 5%""#).as_deref(), Some("${a} %{b} $ % $$ 5%"));
        assert_eq!(quoted(r#""$$${a}""#).as_deref(), Some("$${a}"));
        assert_eq!(quoted(r#""\q""#), None);
        assert_eq!(quoted(r#""a ${b}""#), None);
    }

    #[test]
    fn a_heredoc_says_its_lines() {
        assert_eq!(heredoc("<<EOT\na \\n\n  $${b} \"\nEOT").as_deref(), Some("a \\n\n  ${b} \"\n"));
        assert_eq!(heredoc("<<EOT\n  a\n  EOT").as_deref(), Some("  a\n"));
        assert_eq!(heredoc("<<EOT\nEOT").as_deref(), Some(""));
        assert_eq!(heredoc("<<EOT\n${a}\nEOT"), None);
    }

    #[test]
    fn an_indented_heredoc_loses_the_indent_that_all_lines_have() {
        assert_eq!(heredoc("<<-EOT\n    a\n\n      b\n   \n  EOT").as_deref(), Some("a\n\n  b\n   \n"));
        assert_eq!(heredoc("<<-EOT\n  a\nb\nEOT").as_deref(), Some("  a\nb\n"));
    }
}
