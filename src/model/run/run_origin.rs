//! What a run was made from, for those who read its record elsewhere.

use serde::{Deserialize, Serialize};

/// The commit and the job that a run belongs to.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct RunOrigin {
    /// The commit that people know: the head of the pull request, where the run is one of its job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The commit that was checked out; a merge of the head, on some forges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkout: Option<String>,
    /// What that commit was made from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// Where people see the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl RunOrigin {
    /// Returns whether a commit is the one that was planned, or was merged into it.
    pub fn is_of(&self, commit: &str) -> bool {
        let merged = self.parents.iter().skip(1);
        self.head.iter().chain(&self.checkout).chain(merged).any(|known| known == commit)
    }

    /// Returns the commit to name, as far as the run itself knows it.
    pub fn commit(&self) -> Option<&str> {
        self.head.as_deref().or(self.checkout.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_is_of_the_head_and_not_of_the_base() {
        let parents = vec!["base".to_owned(), "head".to_owned()];
        let origin = RunOrigin { checkout: Some("merge".to_owned()), parents, ..RunOrigin::default() };

        assert!(origin.is_of("head") && origin.is_of("merge") && !origin.is_of("base"));
    }
}
