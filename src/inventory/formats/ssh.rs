//! The inventory as a configuration of ssh.
//!
//! A line of it can run programs, so nothing of a state gets there that is more than one word: names of
//! hosts keep letters, digits, `.`, `_` and `-`, and a name that had the end of a line in it is left out.

use std::collections::BTreeSet;

use crate::inventory::{Host, Inventory};

/// A text, and what is not in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Written {
    /// The text.
    pub text: String,
    /// What was left out or written otherwise, and why.
    pub notes: Vec<String>,
}

/// Returns the hosts with an address as sections of `~/.ssh/config`.
pub fn ssh_config(inventory: &Inventory) -> Written {
    let (mut text, mut notes, mut taken) = (String::new(), Vec::new(), BTreeSet::new());
    for host in &inventory.hosts {
        let Some(address) = &host.address else {
            notes.push(format!("`{}` is left out: it has no address", host.name));
            continue;
        };
        if host.is_suspect {
            notes.push(format!(
                "`{}` is left out: the machine's own name has the end of a line in it",
                host.name
            ));
            continue;
        }
        let alias = free(alias(&host.name), &taken);
        if alias != host.name {
            notes.push(format!("`{}` is `{alias}` for ssh", host.name));
        }
        text.push_str(&section(&alias, address, host));
        taken.insert(alias);
    }
    Written { text, notes }
}

fn section(alias: &str, address: &str, host: &Host) -> String {
    let user = host.user.as_ref().map(|user| format!("  User {user}\n")).unwrap_or_default();
    format!("Host {alias}\n  HostName {address}\n{user}\n")
}

/// Returns a name that is one word for ssh and no pattern.
fn alias(name: &str) -> String {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '_' | '-');
    let alias: String = name.chars().map(|sign| if is_sign(sign) { sign } else { '_' }).collect();
    match alias.strip_prefix('-') {
        Some(rest) => format!("_{rest}"),
        None => alias,
    }
}

fn free(alias: String, taken: &BTreeSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{alias}-{number}"));
    let found = std::iter::once(alias.clone()).chain(numbered).find(|alias| !taken.contains(alias));
    found.unwrap_or(alias)
}
