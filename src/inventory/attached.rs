//! Addresses that a resource of their own gives to a machine: a floating address, a network interface.
//!
//! The attributes of the machine learn of them at the next refresh only, or never.

use serde_json::Value;

use super::lookup::texts_at;
use super::machine::{Machine, anchor};
use super::resources::Resource;

/// An address that belongs to the machine that goes by this.
#[derive(Debug)]
pub(super) struct Attached {
    anchor: String,
    address: String,
    is_public: bool,
}

/// How a type gives an address to a machine: its family, where the machine stands, where the address stands.
struct Way {
    kind: &'static str,
    family: &'static str,
    machine: &'static str,
    address: &'static str,
    is_public: bool,
}

const fn public(
    kind: &'static str,
    family: &'static str,
    machine: &'static str,
    address: &'static str,
) -> Way {
    Way { kind, family, machine, address, is_public: true }
}

const fn private(
    kind: &'static str,
    family: &'static str,
    machine: &'static str,
    address: &'static str,
) -> Way {
    Way { kind, family, machine, address, is_public: false }
}

const WAYS: &[Way] = &[
    public("aws_eip", "aws", "instance", "public_ip"),
    public("aws_eip_association", "aws", "instance_id", "public_ip"),
    private("hcloud_server_network", "hcloud", "server_id", "ip"),
    public("openstack_compute_floatingip_associate_v2", "openstack", "instance_id", "floating_ip"),
    public("openstack_networking_floatingip_associate_v2", "openstack-port", "port_id", "floating_ip"),
    public("openstack_networking_floatingip_v2", "openstack-port", "port_id", "address"),
    public("outscale_public_ip_link", "outscale", "vm_id", "public_ip"),
    public("scaleway_instance_ip", "scaleway", "server_id", "address"),
    private("scaleway_instance_private_nic", "scaleway", "server_id", "private_ips.address"),
];

/// Returns the addresses that a resource gives to machines.
pub(super) fn attached_by(resource: &Resource) -> Vec<Attached> {
    let ways = WAYS.iter().filter(|way| way.kind == resource.kind);
    ways.flat_map(|way| attached(way, &resource.attributes)).collect()
}

fn attached(way: &Way, attributes: &Value) -> Vec<Attached> {
    let machines = texts_at(attributes, way.machine);
    let addresses = texts_at(attributes, way.address);
    let pairs = machines.iter().flat_map(|id| addresses.iter().map(move |address| (id, address)));
    pairs
        .map(|(id, address)| Attached {
            anchor: anchor(way.family, id),
            address: address.clone(),
            is_public: way.is_public,
        })
        .collect()
}

/// Gives a machine the addresses that belong to it; a public one comes before those that it had.
pub(super) fn attach(machine: &mut Machine, all: &[Attached]) {
    let mine = all.iter().filter(|attached| machine.anchors.contains(&attached.anchor));
    let (public, private): (Vec<&Attached>, Vec<&Attached>) = mine.partition(|attached| attached.is_public);
    let before = std::mem::take(&mut machine.addresses.public);
    public.iter().for_each(|attached| machine.addresses.add_public(&attached.address));
    before.iter().for_each(|address| machine.addresses.add_public(&address.to_string()));
    private.iter().for_each(|attached| machine.addresses.add_private(&attached.address));
}
