//! How texts are quoted by what prints them: JSON in three dialects, HCL, and Go's `%q`.

use zeroize::Zeroizing;

/// A way of quoting; the quotes themselves are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// JSON with as few escapes as it allows.
    Json,
    /// JSON as Go writes it, fit to stand in HTML.
    GoJson,
    /// JSON as Python writes it, in ASCII.
    AsciiJson,
    /// A quoted string of HCL.
    Hcl,
    /// An HCL heredoc, in which only `${` and `%{` are escaped.
    Heredoc,
    /// Go's `%q`, which tofu shows plain values with.
    GoQuote,
}

impl Escape {
    pub const ALL: [Self; 6] =
        [Self::Json, Self::GoJson, Self::AsciiJson, Self::Hcl, Self::Heredoc, Self::GoQuote];

    const fn is_template(self) -> bool {
        matches!(self, Self::Hcl | Self::Heredoc)
    }
}

/// Returns the text as it stands between quotes.
pub(super) fn escaped(text: &str, escape: Escape) -> Zeroizing<String> {
    // The longest escape makes six bytes of one, so the buffer never moves and leaves no copy.
    let mut out = Zeroizing::new(String::with_capacity(text.len() * 6));
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '$' | '%' if escape.is_template() && chars.peek() == Some(&'{') => out.extend([char, char]),
            _ if escape == Escape::Heredoc => out.push(char),
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if escape == Escape::GoJson => unicode(char, &mut out),
            '\0'..' ' | '\x7f' => control(char, escape, &mut out),
            _ if escape == Escape::AsciiJson && !char.is_ascii() => unicode(char, &mut out),
            _ => out.push(char),
        }
    }
    out
}

fn control(char: char, escape: Escape, out: &mut String) {
    match (escape, char) {
        (Escape::GoQuote, '\x07') => out.push_str("\\a"),
        (Escape::GoQuote, '\x0b') => out.push_str("\\v"),
        (Escape::Json | Escape::GoJson | Escape::AsciiJson | Escape::GoQuote, '\x08') => out.push_str("\\b"),
        (Escape::Json | Escape::GoJson | Escape::AsciiJson | Escape::GoQuote, '\x0c') => out.push_str("\\f"),
        (Escape::GoQuote, _) => *out += &format!("\\x{:02x}", u32::from(char)),
        (Escape::Json | Escape::GoJson | Escape::AsciiJson, '\x7f') => out.push(char),
        (Escape::Json | Escape::GoJson | Escape::AsciiJson | Escape::Hcl | Escape::Heredoc, _) => {
            unicode(char, out);
        }
    }
}

fn unicode(char: char, out: &mut String) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        *out += &format!("\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_quotes_in_its_own_way() {
        let text = "a\"\\\n<${é\x01";

        let forms = Escape::ALL.map(|escape| escaped(text, escape).to_string());

        assert_eq!(forms[0], r#"a\"\\\n<${é\u0001"#);
        assert_eq!(forms[1], r#"a\"\\\n\u003c${é\u0001"#);
        assert_eq!(forms[2], r#"a\"\\\n<${\u00e9\u0001"#);
        assert_eq!(forms[3], r#"a\"\\\n<$${é\u0001"#);
        assert_eq!(forms[4], "a\"\\\n<$${é\x01");
        assert_eq!(forms[5], r#"a\"\\\n<${é\x01"#);
    }

    #[test]
    fn json_is_escaped_as_serde_does() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();

        let expected = serde_json::to_string(&text).expect("a text is JSON");

        assert_eq!(*escaped(&text, Escape::Json), expected[1..expected.len() - 1]);
    }
}
