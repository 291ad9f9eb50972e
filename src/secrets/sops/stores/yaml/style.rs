//! Chooses how a text is written in YAML: plainly, in quotes or as a block, as Go's yaml.v3 does.

use std::sync::LazyLock;

use regex::Regex;

use super::resolve;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Returns the style of a text.
pub(super) fn style_of(text: &str) -> Style {
    let traits = Traits::of(text);
    if text.contains('\n') {
        // sops loses a block that starts with a tab, since yaml.v3 cannot read it again.
        let readable = traits.block_allowed() && !text.starts_with('\t');
        return if readable { Style::Literal } else { Style::Double };
    }
    if !resolve::is_text(text) || is_old_bool(text) || is_base_60(text) {
        return Style::Double;
    }
    if traits.plain_allowed() {
        Style::Plain
    } else if traits.single_allowed() {
        Style::Single
    } else {
        Style::Double
    }
}

/// Says whether a character ends a line in YAML 1.1.
pub(super) const fn is_break(sign: char) -> bool {
    matches!(sign, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Says whether yaml.v3 writes a character as it is; it escapes all outside the basic plane.
pub(super) const fn is_printable(sign: char) -> bool {
    matches!(sign, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Writes a character as it stands in double quotes.
pub(super) fn escaped(sign: char) -> String {
    let short = match sign {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            return match u32::from(sign) {
                code @ ..=0xff => format!("\\x{code:02X}"),
                code @ ..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}

/// Words that YAML 1.1 takes for true and false.
fn is_old_bool(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off")
        && !text.chars().skip(1).any(|sign| sign.is_ascii_uppercase() != text.ends_with(char::is_uppercase))
}

/// Numbers such as `12:30` that YAML 1.1 reads in base 60.
fn is_base_60(text: &str) -> bool {
    static BASE_60: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$").ok());
    BASE_60.as_ref().is_some_and(|base_60| base_60.is_match(text))
}

/// What is in a text that some style cannot hold.
#[derive(Default)]
struct Traits {
    indicator: bool,
    line_break: bool,
    special: bool,
    tab: bool,
    edge_space: bool,
    edge_break: bool,
    last_space: bool,
    break_space: bool,
    space_break: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let signs: Vec<char> = text.chars().collect();
        let at = |index: usize| signs.get(index).copied();
        let (first, last) = (at(0), signs.last().copied());
        let pairs = || signs.windows(2).map(|pair| (pair[0], pair[1]));
        Self {
            indicator: has_indicator(&signs),
            line_break: signs.iter().any(|sign| is_break(*sign)),
            special: signs.iter().any(|sign| *sign != '\t' && !is_printable(*sign)),
            tab: signs.contains(&'\t'),
            edge_space: first == Some(' ') || last == Some(' '),
            edge_break: first.is_some_and(is_break) || last.is_some_and(is_break),
            last_space: last == Some(' '),
            break_space: pairs().any(|(left, right)| is_break(left) && right == ' '),
            space_break: pairs().any(|(left, right)| left == ' ' && is_break(right)),
        }
    }

    const fn plain_allowed(&self) -> bool {
        self.single_allowed() && !(self.indicator || self.line_break || self.edge_space || self.edge_break)
    }

    const fn single_allowed(&self) -> bool {
        !(self.special || self.tab || self.break_space || self.space_break)
    }

    const fn block_allowed(&self) -> bool {
        !(self.special || self.space_break || self.last_space)
    }
}

/// Says whether something in the text means more than itself in a block.
fn has_indicator(signs: &[char]) -> bool {
    if signs.starts_with(&['-', '-', '-']) || signs.starts_with(&['.', '.', '.']) {
        return true;
    }
    signs.iter().enumerate().any(|(at, sign)| {
        let before = at.checked_sub(1).and_then(|before| signs.get(before)).copied();
        let ends_word = signs.get(at + 1).is_none_or(|next| matches!(next, ' ' | '\t'));
        match sign {
            ':' => ends_word,
            '?' | '-' if at == 0 => ends_word,
            '#' => before.is_none_or(|before| matches!(before, ' ' | '\t' | '\0') || is_break(before)),
            _ => at == 0 && ",[]{}&*!|>'\"%@`".contains(*sign),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_plainly_unless_it_would_read_as_something_else() {
        let cases = [
            ("plain words", Style::Plain),
            ("a:b", Style::Plain),
            ("a#b", Style::Plain),
            ("-x", Style::Plain),
            ("", Style::Double),
            ("true", Style::Double),
            ("Yes", Style::Double),
            ("yEs", Style::Plain),
            ("12:30", Style::Double),
            ("2024-01-31", Style::Double),
            ("a: b", Style::Single),
            ("a #b", Style::Single),
            ("- x", Style::Single),
            (" x", Style::Single),
            ("---", Style::Single),
            ("it's \"q\"", Style::Plain),
            ("a\tb", Style::Double),
            ("🔐", Style::Double),
            ("a\nb", Style::Literal),
            ("a \nb", Style::Double),
        ];
        for (text, style) in cases {
            assert_eq!(style_of(text), style, "{text:?}");
        }
    }
}
