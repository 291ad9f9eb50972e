//! One form of a secret value, as text that is looked for.

use zeroize::Zeroizing;

/// A form, on its way into the set.
pub(super) type Bytes = Zeroizing<Vec<u8>>;

/// How many forms of a value are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breadth {
    Usual,
    All,
}

/// Which neighbours of a form share bits with the value; only base64 has such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges {
    pub left: bool,
    pub right: bool,
}
