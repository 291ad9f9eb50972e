//! The inventory as Ansible's INI.
//!
//! Each host stands once with its variables, before the groups. Ansible splits a line as a shell does and
//! then reads each value as a literal of Python, so a text that looks like a number keeps its quotes.

use serde_json::Value;

use super::literal::{Dialect, literal};
use crate::inventory::{Host, Inventory};

/// Returns the inventory as INI.
pub fn ini(inventory: &Inventory) -> String {
    let mut text = String::new();
    for host in &inventory.hosts {
        text.push_str(&line(host));
    }
    for (group, hosts) in inventory.groups() {
        text.push_str(&format!("\n[{group}]\n"));
        hosts.iter().for_each(|host| text.push_str(&format!("{}\n", word(&host.name))));
    }
    text
}

fn line(host: &Host) -> String {
    let variables = host.variables.iter().map(|(name, value)| format!(" {name}={}", written(value)));
    format!("{}{}\n", word(&host.name), variables.collect::<String>())
}

/// Returns a value; a text that cannot be taken for anything else stands as it is.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        value => format!("'{}'", literal(value, Dialect::Python)),
    }
}

/// Returns whether a text is no literal of Python and has nothing that ends a word.
fn is_plain(text: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"-_.:/@".contains(&sign);
    let is_word = ["True", "False", "None"].contains(&text);
    let is_address = text.parse::<std::net::IpAddr>().is_ok();
    let begins = text.starts_with(|sign: char| sign.is_ascii_alphabetic());
    (begins || is_address) && !is_word && text.bytes().all(is_sign)
}

/// Returns a name as one word of a shell.
fn word(name: &str) -> String {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"-_.".contains(&sign);
    match name.bytes().all(is_sign) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r#"'"'"'"#)),
    }
}
