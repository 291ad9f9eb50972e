//! What identifies a state: its lineage and its serial, which even an encrypted one tells.

use serde_json::Value;

/// What identifies the content of a state.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StateFacts {
    /// Grows with every change.
    pub serial: u64,
    /// The same for all versions of one state.
    pub lineage: String,
    /// How many resources it has.
    pub resources: usize,
}

impl StateFacts {
    /// Reads them from a state; `None` if there is none, which tofu writes as one without a lineage.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Self::read(bytes).filter(|facts| !facts.lineage.is_empty())
    }

    /// Reads them from a state that may never have been stored: it has no lineage yet.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let state: Value = serde_json::from_slice(bytes).ok()?;
        let lineage = state.get("lineage")?.as_str()?.to_owned();
        let resources = state.get("resources").and_then(Value::as_array).map_or(0, Vec::len);
        let serial = state.get("serial").and_then(Value::as_u64)?;
        Some(Self { serial, lineage, resources })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_state_has_no_facts() {
        assert_eq!(StateFacts::of(b""), None);
        assert_eq!(StateFacts::of(br#"{"version":4,"serial":0,"lineage":""}"#), None);
    }

    #[test]
    fn an_encrypted_state_tells_its_lineage() {
        let sealed =
            br#"{"serial":4,"lineage":"l","meta":{},"encrypted_data":"c2VhbGVk","encryption_version":"v0"}"#;

        assert_eq!(StateFacts::of(sealed).map(|facts| (facts.serial, facts.lineage)), Some((4, "l".into())));
    }
}
