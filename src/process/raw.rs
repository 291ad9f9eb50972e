//! What a child wrote, as it wrote it: it may hold secrets and cannot be shown.
//!
//! [`Raw::safe`] is the door: text comes out masked. Whoever interprets the bytes (a state, a
//! password, an answer in JSON) asks for them [`Raw::unmasked`], and answers for what becomes of
//! them; `tests/architecture.rs` lists who does.

use std::fmt;

use zeroize::Zeroizing;

use crate::model::{Mask, Safe};

/// Bytes of a child; zeroised on drop.
#[derive(Clone, Default)]
pub struct Raw(Zeroizing<Vec<u8>>);

impl Raw {
    /// Takes what a child wrote.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Zeroizing::new(bytes.into()))
    }

    /// Returns it as one text that may be shown.
    pub fn safe(&self, mask: &dyn Mask) -> Safe {
        Safe::through(mask, &String::from_utf8_lossy(&self.0))
    }

    /// Returns its lines, each of which may be shown.
    pub fn safe_lines(&self, mask: &dyn Mask) -> Vec<Safe> {
        String::from_utf8_lossy(&self.0).lines().map(|line| Safe::through(mask, line)).collect()
    }

    /// Returns whether it begins like an object in JSON.
    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    /// Returns whether it contains these words.
    pub fn mentions(&self, words: &str) -> bool {
        String::from_utf8_lossy(&self.0).contains(words)
    }

    /// Returns the bytes, for those who interpret them.
    pub fn unmasked(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes, for those who keep them where secrets may be.
    pub fn into_unmasked(self) -> Zeroizing<Vec<u8>> {
        self.0
    }
}

/// Shows how much there is, and nothing of it.
impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    struct Stars;

    impl Mask for Stars {
        fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
            Cow::Owned(text.replace("s3cret", "***"))
        }
    }

    #[test]
    fn text_comes_out_masked_and_debugging_shows_nothing() {
        let raw = Raw::new(b"one s3cret\ntwo\xff".to_vec());

        assert_eq!(raw.safe(&Stars).as_str(), "one ***\ntwo\u{fffd}");
        assert_eq!(raw.safe_lines(&Stars).len(), 2);
        assert!(raw.mentions("s3cret") && !raw.mentions("***"));
        assert_eq!(format!("{raw:?}"), "Raw(15 bytes)");
    }
}
