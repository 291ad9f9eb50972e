//! `infra plan-key KEY`: by this command tofu gets the key of saved plans. Not for people.
//!
//! It speaks the protocol of tofu's key provider `external`
//! (<https://opentofu.org/docs/language/state/encryption/>): a heading, then what tofu knows
//! of the plan on stdin, then the keys. It runs with every call of tofu that writes or reads
//! a plan, so it starts nothing else of this program.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::error::{Error, Exit, Kind, Result, io};
use crate::secrets::harden_process;
use crate::tofu::PLAN_KEY_COMMAND;
use crate::trust::UserKey;

/// More than tofu ever says.
const LONGEST_INPUT: u64 = 1 << 20;

const HEADING: &str = "{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}\n";

/// Returns whether the program was started for this.
pub fn is_meant(args: &[OsString]) -> bool {
    args.get(1).is_some_and(|arg| arg == PLAN_KEY_COMMAND)
}

/// Runs the command.
pub fn run(args: &[OsString]) -> Result<Exit> {
    // A refusal of the system leaves the process as all others are.
    let _ = harden_process();
    let [_, _, path] = args else { return Err(not_for_people()) };
    let mut out = std::io::stdout();
    if out.is_terminal() {
        return Err(not_for_people());
    }
    let failed = io("write to", Path::new("tofu"));
    out.write_all(HEADING.as_bytes()).and_then(|()| out.flush()).map_err(&failed)?;
    let mut input = Vec::new();
    std::io::stdin()
        .take(LONGEST_INPUT)
        .read_to_end(&mut input)
        .map_err(io("read from", Path::new("tofu")))?;
    let answer = answer(&input, &UserKey::at(Path::new(path))?)?;
    out.write_all(answer.as_bytes()).and_then(|()| out.flush()).map_err(&failed)?;
    Ok(Exit::OK)
}

fn not_for_people() -> Error {
    Error::usage(format!("`{PLAN_KEY_COMMAND}` is called by tofu, not by people"))
}

/// Returns the keys; the one that decrypts only for a plan that was encrypted with it.
fn answer(input: &[u8], key: &UserKey) -> Result<Zeroizing<String>> {
    let input: Value = serde_json::from_slice(input).map_err(|error| {
        Error::invalid("tofu asks in a way that this program does not know").because(error)
    })?;
    let mark = key.plan_mark();
    let text = Zeroizing::new(STANDARD.encode(key.plan_key().as_slice()));
    let decryption = match input.pointer("/external_data") {
        // 1.12 says `null` for a plan that is new, 1.11 says that there is no data.
        None | Some(Value::Null) => Zeroizing::default(),
        Some(data) if data["key"] == mark.as_str() => {
            Zeroizing::new(format!(",\"decryption_key\":\"{}\"", *text))
        }
        Some(_) => {
            return Err(Error::new(Kind::Refused, "the plan is encrypted with the key of somebody else")
                .hint("plan again: `infra plan`"));
        }
    };
    Ok(Zeroizing::new(format!(
        "{{\"keys\":{{\"encryption_key\":\"{}\"{}}},\"meta\":{{\"external_data\":{{\"key\":\"{mark}\"}}}}}}\n",
        *text, *decryption
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Environment;

    fn key(dir: &tempfile::TempDir) -> UserKey {
        UserKey::load(&Environment::default().with("XDG_STATE_HOME", dir.path())).expect("a key")
    }

    fn answered(input: &str, key: &UserKey) -> Value {
        serde_json::from_str(&answer(input.as_bytes(), key).expect("an answer")).expect("JSON")
    }

    #[test]
    fn a_new_plan_is_asked_for_in_two_ways_and_an_old_one_by_its_mark() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let key = key(&dir);

        let new = answered("null", &key);
        let old = answered(&new["meta"].to_string(), &key);

        assert_eq!(answered(r#"{"external_data":null}"#, &key), new);
        assert!(new["keys"].get("decryption_key").is_none());
        assert_eq!(old["keys"]["decryption_key"], new["keys"]["encryption_key"]);
    }

    #[test]
    fn a_plan_of_another_key_and_nonsense_are_refused() {
        let (dir, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let foreign = answered("null", &key(&other))["meta"].to_string();

        assert_eq!(answer(foreign.as_bytes(), &key(&dir)).expect_err("foreign").kind(), Kind::Refused);
        for nonsense in ["", "{", "\u{0}"] {
            assert!(answer(nonsense.as_bytes(), &key(&dir)).is_err(), "{nonsense}");
        }
        assert!(answer(br#"{"external_data":[]}"#, &key(&dir)).is_err());
    }
}
