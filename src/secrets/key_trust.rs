//! Which keys and programs may be used to open files of a project.

use super::identities::FoundKeys;

/// What may be used to open files beside what the caller named and the project holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyTrust {
    /// Keys and passwords of the person, outside of the project.
    pub found: FoundKeys,
    /// Whether a program that `infra.yaml` names may run to print a password.
    pub programs: bool,
}

impl KeyTrust {
    /// Everything: the project is trusted.
    pub const ALL: Self = Self { found: FoundKeys::Used, programs: true };
    /// Nothing, until a person consents.
    pub const NONE: Self = Self { found: FoundKeys::Withheld, programs: false };
    /// The person's keys, but no program: what is opened goes to the person alone.
    pub const NO_PROGRAMS: Self = Self { found: FoundKeys::Used, programs: false };
}
