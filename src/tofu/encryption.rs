//! The setting by which OpenTofu encrypts states and plans on this side.

use serde_json::json;

/// Returns the value of `TF_ENCRYPTION` for a passphrase.
pub fn tf_encryption(passphrase: &str) -> String {
    json!({
        "key_provider": {"pbkdf2": {"infra_v1": {"passphrase": literal(passphrase)}}},
        "method": {"aes_gcm": {"infra_v1": {"keys": "${key_provider.pbkdf2.infra_v1}"}}},
        "state": {"method": "method.aes_gcm.infra_v1", "enforced": true},
        "plan": {"method": "method.aes_gcm.infra_v1", "enforced": true},
    })
    .to_string()
}

/// Keeps template markers in a text from being taken for templates.
fn literal(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_with_template_markers_stays_itself() {
        let setting: serde_json::Value = serde_json::from_str(&tf_encryption("a${b}%{c}")).expect("JSON");

        assert_eq!(setting["key_provider"]["pbkdf2"]["infra_v1"]["passphrase"], "a$${b}%%{c}");
        assert_eq!(setting["state"]["enforced"], true);
    }
}
