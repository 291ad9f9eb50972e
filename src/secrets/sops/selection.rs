//! Which values of a document are encrypted: at most one of six rules decides.

use regex::Regex;
use zeroize::Zeroizing;

use super::go_regex;
use super::refusal::refused;
use crate::error::Result;

/// The names of the rules, in metadata and in `.sops.yaml`.
pub(super) const NAMES: [&str; 6] = [
    "unencrypted_suffix",
    "encrypted_suffix",
    "unencrypted_regex",
    "encrypted_regex",
    "unencrypted_comment_regex",
    "encrypted_comment_regex",
];

/// What sops uses where nothing is said.
const DEFAULT_SUFFIX: &str = "_unencrypted";

/// A rule and the text it was made of.
#[derive(Clone, Debug)]
pub struct Selection {
    name: &'static str,
    text: String,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Everything,
    UnencryptedSuffix,
    EncryptedSuffix,
    UnencryptedRegex(Regex),
    EncryptedRegex(Regex),
    UnencryptedCommentRegex(Regex),
    EncryptedCommentRegex(Regex),
}

/// Where a leaf stands: the names above it, and the comments that are active at each level.
#[derive(Debug, Default)]
pub(super) struct LeafPlace {
    /// The names of the maps above, its own last.
    pub path: Vec<String>,
    /// Comments since the last value, by level.
    pub comments: Vec<Vec<Zeroizing<String>>>,
}

/// What stands at a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Leaf {
    Value,
    Comment,
}

impl LeafPlace {
    /// Returns the additional data that binds a ciphertext to this place.
    pub fn aad(&self) -> String {
        self.path.join(":") + ":"
    }
}

impl Selection {
    /// Makes a rule of the settings that are given; `read` returns the text of a setting.
    pub fn from_settings(read: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let given =
            NAMES.iter().filter_map(|name| Some((*name, read(name).filter(|text| !text.is_empty())?)));
        let given: Vec<(&'static str, String)> = given.collect();
        match given.as_slice() {
            [] => Self::new(NAMES[0], DEFAULT_SUFFIX.to_owned()),
            [(name, text)] => Self::new(name, text.clone()),
            [(first, _), (second, _), ..] => Err(refused(format!(
                "`{first}` and `{second}` are both set, expected at most one of the two"
            ))),
        }
    }

    fn new(name: &'static str, text: String) -> Result<Self> {
        let regex = || go_regex::compile(name, &text);
        let rule = match name {
            "encrypted_suffix" => Rule::EncryptedSuffix,
            "unencrypted_regex" => Rule::UnencryptedRegex(regex()?),
            "encrypted_regex" => Rule::EncryptedRegex(regex()?),
            "unencrypted_comment_regex" => Rule::UnencryptedCommentRegex(regex()?),
            "encrypted_comment_regex" => Rule::EncryptedCommentRegex(regex()?),
            _ => Rule::UnencryptedSuffix,
        };
        Ok(Self { name, text, rule })
    }

    /// Makes the rule of a file that is one single value: all is encrypted, and nothing is written.
    pub(super) fn everything() -> Self {
        Self { name: "", text: String::new(), rule: Rule::Everything }
    }

    /// Returns the name and text for the metadata, where there is something to say.
    pub(super) fn setting(&self) -> Option<(&'static str, &str)> {
        (!self.name.is_empty()).then_some((self.name, self.text.as_str()))
    }

    /// Tells whether what stands at a place is encrypted.
    pub(super) fn picks(&self, place: &LeafPlace, leaf: Leaf) -> bool {
        let any_name = |test: &dyn Fn(&str) -> bool| place.path.iter().any(|name| test(name));
        match &self.rule {
            Rule::Everything => true,
            Rule::UnencryptedSuffix => !any_name(&|name| name.ends_with(&self.text)),
            Rule::EncryptedSuffix => any_name(&|name| name.ends_with(&self.text)),
            Rule::UnencryptedRegex(regex) => !any_name(&|name| regex.is_match(name)),
            Rule::EncryptedRegex(regex) => any_name(&|name| regex.is_match(name)),
            Rule::UnencryptedCommentRegex(regex) => {
                !place.comments.iter().flatten().any(|comment| regex.is_match(comment))
            }
            Rule::EncryptedCommentRegex(regex) => {
                earlier_comments(place, leaf).any(|text| regex.is_match(text))
            }
        }
    }
}

/// Returns the active comments without the one that stands at the place itself: a comment that
/// asks for encryption stays readable.
fn earlier_comments(place: &LeafPlace, leaf: Leaf) -> impl Iterator<Item = &str> {
    let all = place.comments.iter().map(Vec::len).sum::<usize>();
    let own =
        usize::from(leaf == Leaf::Comment && place.comments.last().is_some_and(|level| !level.is_empty()));
    place.comments.iter().flatten().take(all - own).map(|text| text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(name: &str, text: &str) -> Selection {
        Selection::from_settings(|asked| (asked == name).then(|| text.to_owned())).unwrap()
    }

    fn at(path: &[&str]) -> LeafPlace {
        LeafPlace { path: path.iter().map(|name| (*name).to_owned()).collect(), comments: vec![vec![]] }
    }

    fn commented(comments: &[&str]) -> LeafPlace {
        let level = comments.iter().map(|text| Zeroizing::new((*text).to_owned())).collect();
        LeafPlace { path: vec!["a".to_owned()], comments: vec![level] }
    }

    #[test]
    fn any_name_of_the_path_decides() {
        let suffix = selection("", "");
        let regex = selection("encrypted_regex", "^data$");

        assert!(suffix.picks(&at(&["a", "b"]), Leaf::Value));
        assert!(!suffix.picks(&at(&["a_unencrypted", "b"]), Leaf::Value));
        assert!(regex.picks(&at(&["data", "password"]), Leaf::Value));
        assert!(!regex.picks(&at(&["metadata", "name"]), Leaf::Value));
        assert!(!selection("encrypted_suffix", "_s").picks(&at(&["a"]), Leaf::Value));
        assert!(!selection("unencrypted_regex", "^a").picks(&at(&["ab"]), Leaf::Value));
    }

    #[test]
    fn a_comment_that_asks_for_encryption_stays_readable() {
        let rule = selection("encrypted_comment_regex", "secret");

        assert!(!rule.picks(&commented(&["secret"]), Leaf::Comment));
        assert!(rule.picks(&commented(&["secret"]), Leaf::Value));
        assert!(rule.picks(&commented(&["secret", "more"]), Leaf::Comment));
        assert!(!selection("unencrypted_comment_regex", "open").picks(&commented(&["open"]), Leaf::Value));
    }

    #[test]
    fn two_rules_at_once_are_refused_by_name() {
        let error = Selection::from_settings(|name| name.starts_with("encrypted_").then(|| "x".to_owned()));

        let error = error.unwrap_err();

        assert!(error.message().contains("`encrypted_suffix` and `encrypted_regex`"), "{error}");
    }
}
