//! Names of hosts that every form of an inventory can carry, each once.
//!
//! A machine keeps its own name wherever that means the same to Ansible in all forms. What would not is
//! replaced by `_`: ends of lines, which begin a new host; a colon, behind which Ansible looks for a port;
//! brackets, in which it looks for a range; what begins a template, which it would run.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

/// Names that mean something else to Ansible wherever they stand.
const RESERVED: &[&str] = &["all", "ungrouped"];

/// Returns a name as every form can carry it; nothing if there is nothing in it.
pub(super) fn carried(name: &str) -> Option<String> {
    let name = name.trim();
    let colon = if name.parse::<Ipv6Addr>().is_ok() { ':' } else { '_' };
    let next = name.chars().skip(1).map(Some).chain([None]);
    let signs = name.chars().zip(next).map(|(sign, next)| match sign {
        ':' => colon,
        '[' | ']' => '_',
        '{' if matches!(next, Some('{' | '%' | '#')) => '_',
        sign if sign.is_control() || is_line_end(sign) => '_',
        sign => sign,
    });
    let name: String = signs.collect();
    match name.as_str() {
        "" => None,
        // To Ansible's reader of INI it is a sign of the other form.
        "---" => Some("___".to_owned()),
        _ => Some(name),
    }
}

/// Returns whether a sign ends a line for those who read Unicode's rules, as Python does.
const fn is_line_end(sign: char) -> bool {
    matches!(sign, '\u{2028}' | '\u{2029}')
}

/// Returns whether Ansible would take a text for a template.
pub(super) fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|start| text.contains(start))
}

/// Gives each host a name of its own.
#[derive(Debug)]
pub(super) struct Names<'a> {
    /// The names of groups, which Ansible would take for those.
    groups: &'a BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl<'a> Names<'a> {
    pub const fn beside(groups: &'a BTreeSet<String>) -> Self {
        Self { groups, taken: BTreeSet::new() }
    }

    /// Returns the name, with something added if it is taken, or means something else.
    pub fn take(&mut self, name: &str) -> String {
        let is_foreign = |name: &str| RESERVED.contains(&name) || self.groups.contains(name);
        let name = if is_foreign(name) { format!("{name}-host") } else { name.to_owned() };
        let numbered = (2_u64..).map(|number| format!("{name}-{number}"));
        let free = |name: &String| !self.taken.contains(name) && !is_foreign(name);
        let name = std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name);
        self.taken.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_what_every_form_can_carry() {
        for name in
            ["web-1", "Web Server 1", "büro", "a=b", "it's", "\"q\"", "#x", "{a}", "2001:db8::1", "_meta"]
        {
            assert_eq!(carried(name).as_deref(), Some(name));
        }
        assert_eq!(carried("a\nb\u{2028}c\u{85}").as_deref(), Some("a_b_c"));
        assert_eq!(carried("h[1:3]:22").as_deref(), Some("h_1_3__22"));
        assert_eq!(carried("{{ x }}{%").as_deref(), Some("_{ x }}_%"));
        assert_eq!(carried(" \n"), None);
    }

    #[test]
    fn a_name_that_is_taken_gets_something_added() {
        let groups = BTreeSet::from(["stack_a".to_owned()]);
        let mut names = Names::beside(&groups);

        let given = ["web", "web-2", "web", "web", "all", "all", "stack_a"].map(|name| names.take(name));

        assert_eq!(given, ["web", "web-2", "web-3", "web-4", "all-host", "all-host-2", "stack_a-host"]);
    }
}
