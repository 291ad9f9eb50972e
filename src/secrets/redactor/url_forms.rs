//! How values are percent-encoded: which characters stay is different in every library.

use super::form::{Breadth, Bytes};

/// One way of percent-encoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variety {
    /// What stays as it is, besides letters, digits and `-._`.
    stays: &'static [u8],
    space: &'static str,
    digits: &'static [u8; 16],
}

/// The two that nearly everything uses: paths and forms.
const USUAL: [(&[u8], &str); 2] = [(b"~", "%20"), (b"~", "+")];

/// Others: forms of browsers, URI components, segments of paths, user names, paths, whole URIs.
const RARE: [(&[u8], &str); 7] = [
    (b"*", "+"),
    (b"~!'()*", "%20"),
    (b"~$&+=:@", "%20"),
    (b"~$&+,;=", "%20"),
    (b"~$&+,/:;=@", "%20"),
    (b"~/", "%20"),
    (b"~;,/?:@&=+$!*'()#", "%20"),
];

const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

impl Variety {
    /// Returns the ways that count.
    pub fn of(breadth: Breadth) -> impl Iterator<Item = Self> {
        let rare = RARE.into_iter().filter(move |_| breadth == Breadth::All);
        USUAL.into_iter().chain(rare).flat_map(|(stays, space)| {
            [UPPER, LOWER].into_iter().map(move |digits| Self { stays, space, digits })
        })
    }
}

/// Returns bytes as they stand in a URL.
pub(super) fn url_encoded(bytes: &[u8], variety: Variety) -> Bytes {
    let mut out = Bytes::new(Vec::with_capacity(bytes.len() * 3));
    for byte in bytes {
        match byte {
            b' ' => out.extend_from_slice(variety.space.as_bytes()),
            b'-' | b'.' | b'_' => out.push(*byte),
            _ if byte.is_ascii_alphanumeric() || variety.stays.contains(byte) => out.push(*byte),
            _ => {
                let digit = |nibble: u8| variety.digits[usize::from(nibble)];
                out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_and_rare_varieties_differ_in_what_stays() {
        let forms: Vec<String> = Variety::of(Breadth::All)
            .map(|variety| String::from_utf8_lossy(&url_encoded("a é/~@".as_bytes(), variety)).into_owned())
            .collect();

        assert_eq!(forms.len(), 18);
        assert_eq!(forms[..3], ["a%20%C3%A9%2F~%40", "a%20%c3%a9%2f~%40", "a+%C3%A9%2F~%40"]);
        assert!(forms.contains(&"a+%C3%A9%2F%7E%40".to_owned()));
        assert!(forms.contains(&"a%20%C3%A9/~@".to_owned()));
        assert_eq!(Variety::of(Breadth::Usual).count(), 4);
    }
}
