//! The settings by which OpenTofu encrypts states and plans on this side: passphrases and
//! this user's key into values of `TF_ENCRYPTION`.
//!
//! OpenTofu keeps how a key was derived under the name of its provider, and refuses one
//! name for two passphrases (<https://opentofu.org/docs/language/state/encryption/>). So each passphrase gets
//! a name of its own, always the same.
//! Begin at [`StateKey`].

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use aws_lc_rs::pbkdf2::{self, PBKDF2_HMAC_SHA512};
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// The name of the provider and of the method that encrypt plans with this user's key.
pub const PLAN_KEY: &str = "infra_plan";

/// The least length of a passphrase that OpenTofu accepts.
pub const SHORTEST_PASSPHRASE: usize = 16;

/// How often a passphrase is hashed for its name, which is stored in the open.
///
/// A quick hash would let a person who finds a state try passphrases without paying for the slow
/// derivation that protects it.
const NAME_ROUNDS: NonZeroU32 = NonZeroU32::new(210_000).unwrap();

/// Enough to tell generations apart, too little to tell which passphrase it is.
const NAME_BYTES: usize = 2;

/// A passphrase, and the name of the key that OpenTofu derives from it.
#[derive(Clone, Eq, PartialEq)]
pub struct StateKey {
    passphrase: Zeroizing<String>,
    name: String,
}

/// Shows the name only.
impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StateKey").field(&self.name).finish()
    }
}

/// What a state that is being encrypted may be now.
#[derive(Clone, Copy, Debug)]
pub enum StateBefore<'a> {
    /// Not encrypted.
    Plain,
    /// Encrypted with another passphrase.
    Key(&'a StateKey),
}

/// What a plan is, or is to be, encrypted with.
#[derive(Clone, Copy, Debug)]
pub enum PlanPart<'a> {
    /// Nothing that this program says: a stack's own files may say something.
    Unsaid,
    /// The key that this program, called by tofu with these arguments, hands out.
    Command(&'a [&'a str]),
    /// A passphrase.
    Passphrase(&'a StateKey),
}

/// Returns a setting with another part for plans; what it says about states stays.
pub fn with_plan_part(setting: Option<&str>, part: PlanPart<'_>) -> Option<Zeroizing<String>> {
    let mut value = setting.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| json!({}));
    let method = match part {
        PlanPart::Unsaid => {
            value.as_object_mut()?.remove("plan");
            return value.get("state").map(|_| Zeroizing::new(value.to_string()));
        }
        PlanPart::Command(command) => {
            let command: Vec<String> = command.iter().map(|word| literal(word)).collect();
            value["key_provider"]["external"][PLAN_KEY] = json!({"command": command});
            let method = json!({"keys": format!("${{key_provider.external.{PLAN_KEY}}}")});
            value["method"]["aes_gcm"][PLAN_KEY] = method;
            format!("method.aes_gcm.{PLAN_KEY}")
        }
        PlanPart::Passphrase(key) => {
            let (provider, method) = key.blocks();
            value["key_provider"]["pbkdf2"][&key.name] = provider;
            value["method"]["aes_gcm"][&key.name] = method;
            key.method()
        }
    };
    value["plan"] = json!({"method": method, "enforced": true});
    Some(Zeroizing::new(value.to_string()))
}

/// Returns the command by which tofu gets the key of plans; `None` for a path that is no text.
pub fn plan_key_command<'a>(program: &'a Path, key: &'a Path) -> Option<[&'a str; 3]> {
    Some([program.to_str()?, PLAN_KEY_COMMAND, key.to_str()?])
}

/// The hidden command that answers tofu.
pub const PLAN_KEY_COMMAND: &str = "plan-key";

impl StateKey {
    /// Names a passphrase; slow on purpose, so done once for each.
    pub fn new(passphrase: Zeroizing<String>) -> Self {
        let mut digest = [0; NAME_BYTES];
        let secret = passphrase.as_bytes();
        pbkdf2::derive(PBKDF2_HMAC_SHA512, NAME_ROUNDS, b"infra state key name", secret, &mut digest);
        let mut name = "infra_".to_owned();
        for byte in digest {
            // Writing to a text cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        Self { passphrase, name }
    }

    /// Returns the name of its provider and its method.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the passphrase.
    pub fn passphrase(&self) -> &str {
        &self.passphrase
    }

    /// Returns the setting under which everything must be encrypted with this.
    pub fn setting(&self) -> Zeroizing<String> {
        setting(&[self], &json!({"method": self.method(), "enforced": true}), None)
    }

    /// Returns the setting that still opens what was, and writes with this; names must differ.
    pub fn migration(&self, before: StateBefore<'_>) -> Zeroizing<String> {
        match before {
            // Enforcement and a plain fallback exclude each other.
            StateBefore::Plain => {
                let fallback = json!({"method": "method.unencrypted.plain"});
                let state = json!({"method": self.method(), "fallback": fallback});
                setting(&[self], &state, Some(json!({"plain": {}})))
            }
            StateBefore::Key(old) => {
                let fallback = json!({"method": old.method()});
                let state = json!({"method": self.method(), "fallback": fallback, "enforced": true});
                setting(&[self, old], &state, None)
            }
        }
    }

    /// Returns its provider and its method as they stand in a setting.
    fn blocks(&self) -> (Value, Value) {
        let keys = format!("${{key_provider.pbkdf2.{}}}", self.name);
        (json!({"passphrase": literal(&self.passphrase)}), json!({"keys": keys}))
    }

    fn method(&self) -> String {
        format!("method.aes_gcm.{}", self.name)
    }
}

/// Writes a setting; plans are always encrypted with the first key.
fn setting(keys: &[&StateKey], state: &Value, unencrypted: Option<Value>) -> Zeroizing<String> {
    let (mut providers, mut methods) = (json!({}), json!({}));
    for key in keys {
        (providers[&key.name], methods[&key.name]) = key.blocks();
    }
    let mut setting = json!({
        "key_provider": {"pbkdf2": providers},
        "method": {"aes_gcm": methods},
        "state": state,
        "plan": {"method": state["method"], "enforced": true},
    });
    // A kind of method without any is a mistake in tofu's eyes.
    if let Some(unencrypted) = unencrypted {
        setting["method"]["unencrypted"] = unencrypted;
    }
    Zeroizing::new(setting.to_string())
}

/// Keeps template markers in a text from being taken for templates.
fn literal(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(passphrase: &str) -> StateKey {
        StateKey::new(Zeroizing::new(passphrase.to_owned()))
    }

    fn parsed(setting: &str) -> Value {
        serde_json::from_str(setting).expect("JSON")
    }

    #[test]
    fn a_passphrase_with_template_markers_stays_itself() {
        let key = key("a${b}%{c}");

        let setting = parsed(&key.setting());

        assert_eq!(setting["key_provider"]["pbkdf2"][key.name()]["passphrase"], "a$${b}%%{c}");
        assert_eq!(setting["state"]["enforced"], true);
    }

    #[test]
    fn a_passphrase_always_has_the_same_name_and_another_one_has_another() {
        let first = key("the first passphrase");

        assert_eq!(first.name(), key("the first passphrase").name());
        assert_ne!(first.name(), key("the second passphrase").name());
        assert!(!format!("{first:?}").contains("passphrase"));
    }

    #[test]
    fn another_part_for_plans_leaves_what_is_said_about_states() {
        let key = key("the first passphrase");
        let command = ["/bin/${infra}", "plan-key", "/k"];

        let alone = parsed(&with_plan_part(None, PlanPart::Command(&command)).expect("a setting"));
        let beside =
            parsed(&with_plan_part(Some(&key.setting()), PlanPart::Command(&command)).expect("a setting"));
        let unsaid = parsed(&with_plan_part(Some(&key.setting()), PlanPart::Unsaid).expect("a setting"));

        assert_eq!(alone["key_provider"]["external"]["infra_plan"]["command"][0], "/bin/$${infra}");
        assert!(alone.get("state").is_none() && alone["plan"]["enforced"] == true);
        assert_eq!(beside["state"], parsed(&key.setting())["state"]);
        assert_eq!(beside["plan"]["method"], "method.aes_gcm.infra_plan");
        assert!(unsaid.get("plan").is_none() && unsaid["state"] == beside["state"]);
        assert!(with_plan_part(None, PlanPart::Unsaid).is_none());
    }

    #[test]
    fn only_a_migration_from_plain_reads_plain_states_and_no_plan_is_ever_plain() {
        let (old, new) = (key("the first passphrase"), key("the second passphrase"));

        let from_plain = parsed(&new.migration(StateBefore::Plain));
        let from_old = parsed(&new.migration(StateBefore::Key(&old)));

        assert_eq!(from_plain["state"]["fallback"]["method"], "method.unencrypted.plain");
        assert_eq!(from_old["state"]["fallback"]["method"], format!("method.aes_gcm.{}", old.name()));
        assert!(!from_old.to_string().contains("plain"));
        assert!([from_plain, from_old].iter().all(|setting| setting["plan"]["enforced"] == true));
    }
}
