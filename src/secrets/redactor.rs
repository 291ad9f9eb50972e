//! Masks secret values in text: raw, escaped as JSON, HCL or Go does, URL-encoded, or inside base64.
//!
//! The values become one Aho-Corasick automaton; every match counts, overlapping ones too, and
//! what they cover together is replaced by [`MASK`]. So two secrets that overlap in the text, or
//! one inside the other, leave nothing of either. The values themselves are zeroised once the
//! automaton is built; the automaton holds them as transitions and cannot be zeroised, for its
//! crate gives no access. [`Redactor::line`] is for whole lines, [`Stream`] for cut text.

mod base64_forms;
mod escapes;
mod form;
mod forms;
mod json;
mod matcher;
mod scan;
mod stream;
mod url_forms;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use self::forms::Forms;
use self::matcher::Matcher;
use self::scan::Scan;
pub use stream::Stream;

use crate::error::Result;
use crate::model::Mask;

/// What stands in place of a secret.
pub const MASK: &str = "(redacted)";

/// How many characters a value or a line of it must have to be masked; shorter ones are everywhere.
pub const SHORTEST: usize = 4;

/// Masks a set of secret values; clones share it.
#[derive(Clone, Default)]
pub struct Redactor {
    /// `None` without values, which then costs nothing.
    matcher: Option<Arc<Matcher>>,
    values: usize,
}

impl Redactor {
    /// Makes a redactor of these values; those shorter than [`SHORTEST`] characters are left out.
    pub fn new<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Result<Self> {
        let mut forms = Forms::default();
        let values = values.into_iter().filter(|value| forms.add(value.as_ref())).count();
        let matcher = (values > 0).then(|| Matcher::new(&forms)).transpose()?.map(Arc::new);
        Ok(Self { matcher, values })
    }

    /// Makes a redactor that looks for each value as a whole only: a line of it may stand elsewhere by chance.
    pub fn of_whole<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Result<Self> {
        let mut forms = Forms::default();
        let values = values.into_iter().filter(|value| forms.add_whole(value.as_ref())).count();
        let matcher = (values > 0).then(|| Matcher::new(&forms)).transpose()?.map(Arc::new);
        Ok(Self { matcher, values })
    }

    /// Returns whether there is nothing to mask.
    pub const fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Returns a line, or any text that is there as a whole, with every secret masked.
    ///
    /// Lines of a secret that are shorter than [`SHORTEST`] are masked only together with their
    /// neighbours, which takes a [`Stream`].
    pub fn line<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(matcher) = &self.matcher else { return Cow::Borrowed(text) };
        let mut scan = Scan::new(matcher);
        scan.feed(matcher, text.as_bytes(), 0);
        if scan.marks.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(masked(text, &scan.marks))
    }

    /// Returns a stream that masks text however it is cut.
    pub fn stream(&self) -> Stream {
        Stream::new(self.matcher.clone())
    }
}

/// The one mask: what children write becomes text that may be shown by it.
impl Mask for Redactor {
    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.line(text)
    }
}

/// Shows how many values there are, and none of them.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} values)", self.values)
    }
}

/// Replaces the marked bytes; a secret of loose bytes takes the characters it touches along.
fn masked(text: &str, marks: &[Range<usize>]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for (at, mark) in marks.iter().enumerate() {
        let start = text.floor_char_boundary(mark.start);
        // Two marks may touch the same character; they then share a mask.
        if at == 0 || start > done {
            shown.push_str(&text[done..start]);
            shown.push_str(MASK);
        }
        done = text.ceil_char_boundary(mark.end);
    }
    shown.push_str(&text[done..]);
    shown
}

#[cfg(test)]
mod tests;
