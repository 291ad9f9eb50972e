//! Text of other programs that may be shown, logged and kept.
//!
//! What a child writes may hold secrets. It becomes [`Safe`] by going through a [`Mask`], and in no
//! other way; what an event tells of a child is of this type, so nothing else can be told.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// What knows the secrets and leaves them out.
pub trait Mask {
    /// Returns the text without any of them.
    fn masked<'a>(&self, text: &'a str) -> Cow<'a, str>;
}

/// Text without secrets; read back from a record, it is what was masked when it was written.
#[derive(Clone, Default, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Safe(String);

impl Safe {
    /// Masks a text.
    pub fn through(mask: &dyn Mask, text: &str) -> Self {
        Self(mask.masked(text).into_owned())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Words of this program itself.
impl From<&'static str> for Safe {
    fn from(words: &'static str) -> Self {
        Self(words.to_owned())
    }
}

impl From<Safe> for String {
    fn from(safe: Safe) -> Self {
        safe.0
    }
}

impl Deref for Safe {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Safe {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// In a schema it is a text like any other.
impl JsonSchema for Safe {
    fn inline_schema() -> bool {
        String::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stars;

    impl Mask for Stars {
        fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
            Cow::Owned(text.replace("s3cret", "***"))
        }
    }

    #[test]
    fn what_went_through_the_mask_is_all_that_can_be_read() {
        let safe = Safe::through(&Stars, "token s3cret");

        assert_eq!(
            (safe.as_str(), format!("{safe}|{safe:?}")),
            ("token ***", "token ***|\"token ***\"".to_owned())
        );
        assert_eq!(serde_json::to_string(&safe).ok().as_deref(), Some("\"token ***\""));
    }
}
