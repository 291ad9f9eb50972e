//! Amazon: instances of EC2 and of Lightsail.

use serde_json::Value;

use super::{Reader, runs, says};
use crate::inventory::addresses::{Addresses, address_of};
use crate::inventory::lookup::texts_at;
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    match kind {
        "aws_instance" => Some(instance),
        "aws_spot_instance_request" => Some(spot_instance),
        "aws_lightsail_instance" => Some(lightsail),
        _ => None,
    }
}

/// The tag `Name` is what people call it.
fn instance(attributes: &Value) -> Option<Machine> {
    if says(attributes, "instance_state", &["terminated"]) {
        return None;
    }
    // `tags_all` has what the provider adds to every resource.
    let machine = Machine::named(attributes, &["tags.Name", "tags_all.Name", "id"])
        .anchored("aws", attributes, "id")
        .public(attributes, &["public_ip"])
        .private(attributes, &["private_ip"])
        .labelled(attributes, "tags_all")
        .labelled(attributes, "tags")
        .fact("zone", attributes, "availability_zone")
        .fact("size", attributes, "instance_type")
        .fact("image", attributes, "ami")
        .running(runs(attributes, "instance_state", &["running", "pending"]));
    Some(with_ipv6(machine, attributes))
}

/// The address of the instance that a request was answered with.
fn spot_instance(attributes: &Value) -> Option<Machine> {
    let closed = says(attributes, "spot_request_state", &["closed", "cancelled", "failed"]);
    let machine = instance(attributes)?.anchored("aws", attributes, "spot_instance_id");
    (!closed).then_some(machine)
}

fn lightsail(attributes: &Value) -> Option<Machine> {
    let machine = Machine::named(attributes, &["name", "id"])
        .public(attributes, &["public_ip_address"])
        .private(attributes, &["private_ip_address"])
        .labelled(attributes, "tags_all")
        .labelled(attributes, "tags")
        .fact("zone", attributes, "availability_zone")
        .fact("size", attributes, "bundle_id")
        .fact("image", attributes, "blueprint_id");
    let user = texts_at(attributes, "username").into_iter().next();
    Some(Machine { user, ..with_ipv6(machine, attributes) })
}

/// Every address of IPv6 is a public one there, whether a gateway leads to it or not.
fn with_ipv6(mut machine: Machine, attributes: &Value) -> Machine {
    let addresses: &mut Addresses = &mut machine.addresses;
    let found = texts_at(attributes, "ipv6_addresses").into_iter().filter(|text| address_of(text).is_some());
    found.for_each(|text| addresses.add_public(&text));
    machine
}
