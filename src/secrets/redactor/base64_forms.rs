//! What of a value is certain to be seen when it stands somewhere inside base64.
//!
//! Base64 makes four characters of three bytes, so a value inside a longer text has one of three
//! alignments. For each, the characters that hold only bits of the value are its core; the one
//! before and the one after may hold bits of the value and of its neighbours, which [`Edges`] tell.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};

use super::SHORTEST;
use super::form::{Bytes, Edges};

/// Returns the cores in both alphabets and all alignments.
pub(super) fn cores(value: &[u8]) -> impl Iterator<Item = (Bytes, Edges)> {
    let alphabets = [STANDARD_NO_PAD, URL_SAFE_NO_PAD];
    let all = alphabets.into_iter().flat_map(|alphabet| [0, 1, 2].map(|before| (alphabet.clone(), before)));
    all.filter_map(move |(alphabet, before)| {
        let mut bytes = Bytes::new(vec![0; before]);
        bytes.reserve_exact(value.len());
        bytes.extend_from_slice(value);
        let text = Bytes::new(alphabet.encode(&*bytes).into_bytes());
        let bits = 8 * bytes.len();
        let core = text.get((8 * before).div_ceil(6)..bits / 6)?;
        let edges = Edges { left: before > 0, right: !bits.is_multiple_of(6) };
        (core.len() >= SHORTEST).then(|| (Bytes::new(core.to_vec()), edges))
    })
}

/// Returns a value that is encoded by itself, with its padding.
pub(super) fn padded(value: &[u8]) -> impl Iterator<Item = Bytes> {
    [STANDARD, URL_SAFE].into_iter().map(move |alphabet| Bytes::new(alphabet.encode(value).into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_found_at_every_alignment() {
        let cores: Vec<_> = cores("secret~?value".as_bytes()).take(3).collect();

        for before in ["", "a", "ab", "abc", "abcd"] {
            for after in ["", "x", "xy"] {
                let text = STANDARD.encode(format!("{before}secret~?value{after}"));
                let found = cores.iter().filter(|(core, _)| text.contains(&*String::from_utf8_lossy(core)));
                assert_eq!(found.count(), 1, "{text}");
            }
        }
    }

    #[test]
    fn the_shortest_value_still_has_a_core_of_four_characters() {
        let lengths: Vec<usize> = cores(b"abcd").map(|(core, _)| core.len()).collect();

        assert_eq!(lengths, [5, 4, 5, 5, 4, 5]);
    }
}
