//! The forms that several keys share, as parts of the JSON schema: addresses, networks, tags.
//!
//! `x-expected` says in a person's words what is expected; `x-form` names what a pattern alone
//! cannot decide and [`crate::project::data::check`] decides by parsing. `x-advised` is what a value should be
//! beyond that: data that the schemas of the cluster templates accept is never refused here, for
//! such data belongs to clusters that already work with it.

#![expect(dead_code, reason = "the types describe what is written; nothing is read into them")]

use schemars::JsonSchema;

const ADDRESS: &str = concat!(
    r"^(((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
    r"|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$"
);
const NETWORK: &str = concat!(
    r"^(((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
    r"/(3[0-2]|[12]?[0-9])|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$"
);
const VERSION: &str = r"^[0-9]+\.[0-9]+\.[0-9]+$";
const SEMANTIC_VERSION: &str = r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$";
const VLAN: &str = "^([1-9]|[1-9][0-9]{1,2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-4])$";

/// An address.
#[derive(Debug, JsonSchema)]
#[schemars(extend("pattern" = ADDRESS, "x-expected" = "an IP address", "x-form" = "address"))]
pub struct Address(pub String);

/// A network: an address, a slash and the length of its prefix.
#[derive(Debug, JsonSchema)]
#[schemars(extend("pattern" = NETWORK, "x-expected" = "a network such as `192.168.10.0/24`", "x-form" = "network"))]
pub struct Network(pub String);

/// A host by address or name.
#[derive(Debug, JsonSchema)]
#[schemars(extend("minLength" = 1, "x-expected" = "an address or a host name"))]
pub struct Host(pub String);

/// A version of three numbers.
#[derive(Debug, JsonSchema)]
#[schemars(extend("pattern" = VERSION, "x-expected" = "a version such as `1.12.0`, without `v`", "x-advised" = {"pattern": SEMANTIC_VERSION, "x-expected": "a version whose numbers do not begin with 0"}))]
pub struct Version(pub String);

/// A tag as Proxmox keeps it: it lower-cases, sorts and deduplicates, so anything else never settles.
#[derive(Debug, JsonSchema)]
#[schemars(extend("x-expected" = "a text", "x-advised" = {"pattern": "^[a-z0-9_][a-z0-9_+.-]*$", "x-expected": "a tag of lower-case letters, digits and `_+.-`"}))]
pub struct Tag(pub String);

/// A text that should not be empty.
#[derive(Debug, JsonSchema)]
#[schemars(extend("x-expected" = "a text", "x-advised" = {"minLength": 1, "x-expected": "a text that is not empty"}))]
pub struct Word(pub String);

/// A text that is not empty.
#[derive(Debug, JsonSchema)]
#[schemars(extend("minLength" = 1))]
pub struct Text(pub String);

/// A text that is not empty and never shown.
#[derive(Debug, JsonSchema)]
#[schemars(extend("minLength" = 1, "writeOnly" = true))]
pub struct Hidden(pub String);

/// A VLAN: a number, or a text of digits.
#[derive(Debug, JsonSchema)]
#[schemars(extend("type" = ["integer", "string"], "minimum" = 1, "maximum" = 4094, "minLength" = 1, "x-expected" = "a VLAN from 1 to 4094", "x-advised" = {"pattern": VLAN, "x-expected": "a VLAN from 1 to 4094"}))]
pub struct Vlan(pub u16);
