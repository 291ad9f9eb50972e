//! The serial of a state, changed in its text: everything else stays byte for byte, numbers
//! of any length included, which a parser would round.

use std::ops::Range;

use crate::error::{Error, Result};

/// Returns a state with another serial.
pub fn with_serial(state: &[u8], serial: u64) -> Result<Vec<u8>> {
    let Some(span) = serial_span(state) else {
        return Err(Error::invalid("the state has no serial at its top"));
    };
    let (head, tail) = (&state[..span.start], &state[span.end..]);
    Ok([head, serial.to_string().as_bytes(), tail].concat())
}

/// Finds the digits behind `"serial":` in the outermost object.
fn serial_span(state: &[u8]) -> Option<Range<usize>> {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(byte) = state.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = end_of_text(state, at)?;
                let value = after_colon(state, end);
                if let (1, b"\"serial\"", Some(start)) = (depth, &state[at..end], value) {
                    let digits = state[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    return (digits > 0).then_some(start..start + digits);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the position behind the closing quote of a text that begins here.
fn end_of_text(state: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match state.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Returns where the value of a key begins; `None` for a text that is no key.
fn after_colon(state: &[u8], end: usize) -> Option<usize> {
    let skip =
        |from: usize| Some(from + state.get(from..)?.iter().position(|byte| !byte.is_ascii_whitespace())?);
    let colon = skip(end)?;
    (state[colon] == b':').then(|| skip(colon + 1)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_the_outermost_serial_changes() {
        let state = br#"{"a": {"serial": 1, "n": 123456789012345678901234567}, "t": "serial\": 5, \"",
  "serial" : 41, "x": [0.1234567890123456789012, "serial"]}"#;

        let changed = with_serial(state, 1000).expect("a serial");

        let expected = String::from_utf8_lossy(state).replace("\"serial\" : 41", "\"serial\" : 1000");
        assert_eq!(String::from_utf8_lossy(&changed), expected);
    }

    #[test]
    fn what_has_no_serial_is_refused() {
        for text in ["", "[]", "{}", "{\"serial\":\"x\"}", "{\"serial\"", "\"serial\": 3", "{\"a\\", "]]"] {
            assert!(with_serial(text.as_bytes(), 1).is_err(), "{text}");
        }
    }
}
