//! An inventory: the hosts, their groups, their variables.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{Stack, StackId};

/// A stack with its state, which has machines or not.
#[derive(Clone, Copy, Debug)]
pub struct StateOfStack<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// Its state, opened.
    pub state: &'a Value,
}

/// One machine as a host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name, which no other host has.
    pub name: String,
    /// By what it is reached, where that is known.
    pub address: Option<String>,
    /// Who logs in, where that is known.
    pub user: Option<String>,
    /// The stack that made it.
    pub stack: StackId,
    /// The address of the resource.
    pub resource: String,
    /// The groups it is in, sorted.
    pub groups: Vec<String>,
    /// Whether the machine's own name has the end of a line in it, or another sign of control: nobody calls
    /// a machine so who means well.
    pub is_suspect: bool,
    /// What Ansible is told of it; `ansible_host` and `ansible_user` are among them.
    pub variables: BTreeMap<String, Value>,
}

/// All machines of the states that were read.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// The hosts, by stack.
    pub hosts: Vec<Host>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Inventory {
    /// Returns the host of this name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Returns the groups with the hosts in each.
    pub(super) fn groups(&self) -> BTreeMap<&str, Vec<&Host>> {
        let mut groups: BTreeMap<&str, Vec<&Host>> = BTreeMap::new();
        for host in &self.hosts {
            for group in &host.groups {
                groups.entry(group).or_default().push(host);
            }
        }
        groups
    }
}
