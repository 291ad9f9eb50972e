//! From states to hosts: finds the machines, attaches addresses, names them, hides what must not be told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::attached::{Attached, attach, attached_by};
use super::confidential::{Hidden, is_telling_name};
use super::groups::{groups_of_stack, groups_of_tags};
use super::host::{Host, Inventory, StateOfStack};
use super::machine::Machine;
use super::mapping::mapped;
use super::names::{Names, carried, is_template};
use super::readers::reader_of;
use super::resources::{Resource, resources_in};
use crate::model::InventoryRule;
use crate::model::{Mask, Stack};

/// A machine with where it comes from.
struct Found<'a> {
    stack: &'a Stack,
    resource: &'a Resource,
    machine: Machine,
}

impl Inventory {
    /// Returns the machines in these states, by the readers and by these rules; nothing that `mask` hides
    /// is told.
    pub fn of(
        sources: &[StateOfStack<'_>],
        rules: &BTreeMap<String, InventoryRule>,
        mask: &dyn Mask,
    ) -> Self {
        let read = sources.iter().map(|source| (source.stack, resources_in(source.state)));
        let read: Vec<(&Stack, Vec<Resource>)> = read.collect();
        let resources = || read.iter().flat_map(|(_, resources)| resources);
        let cut = resources().flat_map(|resource| &resource.secrets);
        let hidden = Hidden::new(sources.iter().map(|source| source.state), cut, mask);
        let attached: Vec<Attached> = resources().flat_map(attached_by).collect();
        let mut notes = Vec::new();
        let mut found = Vec::new();
        for (stack, resources) in &read {
            for resource in resources {
                let machine = machine_of(resource, rules, &mut notes);
                found.extend(machine.map(|machine| Found { stack, resource, machine }));
            }
        }
        for one in &mut found {
            attach(&mut one.machine, &attached);
            hide(one, &hidden, &mut notes);
        }
        Self { hosts: hosts(&found), notes }
    }
}

fn machine_of(
    resource: &Resource,
    rules: &BTreeMap<String, InventoryRule>,
    notes: &mut Vec<String>,
) -> Option<Machine> {
    let reader = reader_of(&resource.kind);
    let read = reader.map(|reader| reader(&resource.attributes));
    let rule = rules.get(&resource.kind);
    let mut nowhere = Vec::new();
    let machine = match (rule, read) {
        // What a reader knows to be no machine, a rule makes none either.
        (_, Some(None)) => None,
        (None, read) => read.flatten(),
        (Some(_), None) if resource.attributes["template"] == true => None,
        (Some(rule), read) => Some(mapped(rule, &resource.attributes, read.flatten(), &mut nowhere)),
    };
    notes.extend(nowhere.iter().map(|path| {
        format!(
            "`{path}`, which infra.yaml names for `{}`, leads nowhere in `{}`",
            resource.kind, resource.address
        )
    }));
    machine
}

/// Takes out of a machine what must not be told.
fn hide(found: &mut Found<'_>, hidden: &Hidden<'_>, notes: &mut Vec<String>) {
    let Found { resource, machine, .. } = found;
    let own = &resource.secrets;
    let is_told = |text: &String| hidden.is_told_by(text, own);
    machine.names.retain(|name| !is_told(name));
    machine.user = machine.user.take().filter(|user| !is_told(user) && is_user(user));
    let is_telling_tag = |tag: &String| {
        let name = tag.split(['=', ':']).next().unwrap_or_default();
        name != tag && is_telling_name(name)
    };
    machine.tags.retain(|tag| !is_told(tag) && !is_telling_tag(tag));
    machine.labels.retain(|(key, value)| !is_telling_name(key) && !is_told(key) && !is_told(value));
    machine.facts.retain(|(_, value)| !value.as_str().is_some_and(|text| is_told(&text.to_owned())));
    // A provider tells addresses of its own; only what an encrypted file holds is none to tell.
    let addresses = &mut machine.addresses;
    let before = addresses.public.len() + addresses.private.len();
    addresses.public.retain(|address| !hidden.is_masked(&address.to_string()));
    addresses.private.retain(|address| !hidden.is_masked(&address.to_string()));
    addresses.name = addresses.name.take().filter(|name| !is_told(name));
    if before > addresses.public.len() + addresses.private.len() {
        notes.push(format!("an address of `{}` is left out: an encrypted file holds it", resource.address));
    }
}

/// Returns whether a text can be a user; what it holds goes to ssh.
fn is_user(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_alphanumeric() || "._-@+\\$".contains(sign);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(is_sign)
}

fn hosts(found: &[Found<'_>]) -> Vec<Host> {
    let groups: Vec<BTreeSet<String>> = found
        .iter()
        .map(|one| groups_of_stack(one.stack).into_iter().chain(groups_of_tags(&one.machine)).collect())
        .collect();
    let all = groups.iter().flatten().cloned().collect();
    let mut names = Names::beside(&all);
    let hosts = found.iter().zip(groups);
    hosts.map(|(one, groups)| host(one, groups.into_iter().collect(), &mut names)).collect()
}

fn host(found: &Found<'_>, groups: Vec<String>, names: &mut Names<'_>) -> Host {
    let Found { stack, resource, machine } = found;
    let address = machine.addresses.best();
    let mut own = machine.names.iter().chain([&resource.address]);
    let own = own.find_map(|own| Some((own, carried(own)?)));
    let is_suspect = own.as_ref().is_some_and(|(own, _)| own.trim().contains(char::is_control));
    let name = own.map_or_else(|| "host".to_owned(), |(_, name)| name);
    // Without an address it is what ssh is given, which would take it for an option.
    let name = match name.strip_prefix('-').filter(|_| address.is_none()) {
        Some(rest) => format!("_{rest}"),
        None => name,
    };
    Host {
        name: names.take(&name),
        address: address.clone(),
        user: machine.user.clone(),
        stack: stack.id.clone(),
        resource: resource.address.clone(),
        groups,
        is_suspect,
        variables: variables(found, address),
    }
}

fn variables(found: &Found<'_>, address: Option<String>) -> BTreeMap<String, Value> {
    let Found { stack, resource, machine } = found;
    let texts = |list: &[std::net::IpAddr]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let labels = machine.labels.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    let all = [
        ("ansible_host", address.map(Value::from)),
        ("ansible_user", machine.user.clone().map(Value::from)),
        ("infra_stack", Some(stack.id.as_str().into())),
        ("infra_resource", Some(resource.address.as_str().into())),
        ("infra_type", Some(resource.kind.as_str().into())),
        ("infra_public_addresses", Some(texts(&machine.addresses.public).into())),
        ("infra_private_addresses", Some(texts(&machine.addresses.private).into())),
        ("infra_tags", Some(machine.tags.clone().into())),
        ("infra_labels", Some(Value::Object(labels.collect()))),
    ];
    let all = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let facts = machine.facts.iter().map(|(name, value)| (format!("infra_{name}"), value.clone()));
    let kept = all.chain(facts).filter_map(|(name, value)| Some((name, without_templates(value)?)));
    kept.filter(|(_, value)| !is_empty(value)).collect()
}

/// Returns a value without the texts that Ansible would run as templates.
fn without_templates(value: Value) -> Option<Value> {
    match value {
        Value::String(text) if is_template(&text) => None,
        Value::Array(list) => Some(list.into_iter().filter_map(without_templates).collect()),
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(key, _)| !is_template(key));
            Some(Value::Object(
                kept.filter_map(|(key, value)| Some((key, without_templates(value)?))).collect(),
            ))
        }
        value => Some(value),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
