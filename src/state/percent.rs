//! Percent-encoding of state names in URLs and keys, and back.
//!
//! Decoding is strict: a broken escape, or bytes that are not UTF-8, is `None` rather
//! than a guess, since a guess could turn a refused name into an accepted one.

/// Returns the text with every character escaped that the predicate does not keep.
pub(super) fn encode(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if keep(character) {
            out.push(character);
        } else {
            escape(character, &mut out);
        }
    }
    out
}

/// Returns the text with its escapes resolved.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'%' { 16 * digit(bytes.next()?)? + digit(bytes.next()?)? } else { byte });
    }
    String::from_utf8(out).ok()
}

/// Returns whether a URL carries the character as it is.
pub(super) fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~')
}

fn escape(character: char, out: &mut String) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        out.push('%');
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_decodes_to_the_same_text() {
        for text in ["plain", "two words", "größe/東京", "100%", "\u{1f}"] {
            assert_eq!(decode(&encode(text, is_unreserved)).as_deref(), Some(text));
        }
        assert_eq!(encode("a ü/", is_unreserved), "a%20%C3%BC%2F");
    }

    #[test]
    fn a_broken_escape_is_refused_instead_of_guessed() {
        for text in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
