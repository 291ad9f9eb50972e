//! Where names, lines and comments end: the steps that tokens and templates share.

/// Whatever is not ASCII may stand in a name: OpenTofu accepts the letters of all languages.
pub(super) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

pub(super) const fn is_in_name(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit() || byte == b'-'
}

pub(super) fn end_while(bytes: &[u8], start: usize, is_in: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| is_in(**byte)).count()
}

/// Returns where the line ends, before its newline.
pub(super) fn line_end(bytes: &[u8], start: usize) -> usize {
    end_while(bytes, start, |byte| byte != b'\n')
}

/// Returns where a comment that begins with a slash ends; a newline behind it is not part of it.
pub(super) fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    if bytes.get(start + 1) == Some(&b'/') {
        return Some(line_end(bytes, start));
    }
    let rest = bytes.get(start + 2..)?;
    let length = rest.windows(2).position(|pair| pair == b"*/")?;
    Some(start + 2 + length + 2)
}
