//! `nodes.yaml` as users write it: the machines of the cluster. Doc comments become the
//! descriptions of the JSON schema, which is also what [`crate::project::data::check`] enforces.
//!
//! Nothing is ever read into these types; keys that are not here belong to the project.

#![expect(dead_code, reason = "the types describe what is written; nothing is read into them")]

use schemars::JsonSchema;

use super::forms::{Address, Tag, Text, Word};

/// A label of the domain name system in lower case.
const NAME: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";
/// A MAC address in lower case.
const MAC: &str = "^[0-9a-f]{2}(:[0-9a-f]{2}){5}$";
/// A MAC address of one machine: the lowest bit of the first byte is 0.
const UNICAST: &str = "^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$";

/// The machines of a cluster.
#[derive(Debug, JsonSchema)]
pub struct NodesData {
    /// The machines, in the order in which they start.
    pub nodes: Option<Vec<NodeData>>,
}

/// One machine. Keys that are not here belong to the project.
#[derive(Debug, JsonSchema)]
pub struct NodeData {
    /// The host name, unique; also the name of the VM.
    #[schemars(regex(pattern = NAME), extend("not" = {"enum": ["global", "controller", "worker"]}, "x-expected" = "a host name of lower-case letters, digits and `-`, other than `global`, `controller` and `worker`"))]
    pub name: String,
    /// The address, unique and inside `node_cidr`.
    pub address: Address,
    /// Whether it runs the control plane; a worker by default.
    #[schemars(extend("default" = false))]
    pub controller: Option<bool>,
    /// The disk that Talos is installed on, such as `/dev/sda` or a serial number.
    pub disk: Option<Word>,
    /// The MAC address, unique: lower case, with colons; of a single machine.
    #[schemars(regex(pattern = MAC), extend("x-expected" = "a MAC address in lower case such as `bc:24:11:00:00:01`", "x-advised" = {"pattern": UNICAST, "not": {"enum": ["00:00:00:00:00:00"]}, "x-expected": "the MAC address of a single machine such as `bc:24:11:00:00:01`"}))]
    pub mac_addr: Option<String>,
    /// The schematic of the Talos image factory; needed where Proxmox is enabled.
    #[schemars(regex(pattern = "^[a-z0-9]{64}$"), extend("x-expected" = "64 lower-case letters and digits"))]
    pub schematic_id: Option<String>,
    /// The MTU of the network device.
    #[schemars(range(min = 1450, max = 9000), extend("x-expected" = "a whole number from 1450 to 9000", "x-advised" = {"type": "integer", "x-expected": "a whole number"}))]
    pub mtu: Option<f64>,
    /// Whether the machine boots with secure boot.
    #[schemars(extend("default" = false))]
    pub secureboot: Option<bool>,
    /// Whether Talos encrypts the disk.
    #[schemars(extend("default" = false))]
    pub encrypt_disk: Option<bool>,
    /// Kernel modules that Talos loads.
    pub kernel_modules: Option<Vec<Word>>,
    /// The Proxmox node that the VM runs on; the cluster's by default.
    pub proxmox_node: Option<Text>,
    /// The number of the VM, unique; Proxmox chooses one by default.
    #[schemars(range(min = 100, max = 999_999_999))]
    pub vm_id: Option<u32>,
    /// How many cores each socket has.
    #[schemars(range(min = 1, max = 64))]
    pub vm_cores: Option<u32>,
    /// How many sockets there are.
    #[schemars(range(min = 1, max = 4))]
    pub vm_sockets: Option<u32>,
    /// The memory in MiB.
    #[schemars(range(min = 1024, max = 262_144))]
    pub vm_memory: Option<u32>,
    /// The disk in GiB.
    #[schemars(range(min = 32, max = 4096))]
    pub vm_disk_size: Option<u32>,
    /// When it starts among the VMs of its Proxmox node; its place in the list plus 3 by default.
    #[schemars(range(min = 1, max = 100))]
    pub vm_startup_order: Option<u32>,
    /// The seconds until the next VM starts.
    #[schemars(range(min = 0, max = 300), extend("default" = 15))]
    pub vm_startup_delay: Option<u32>,
    /// The seconds until the next VM is shut down.
    #[schemars(range(min = 0, max = 600), extend("default" = 60))]
    pub vm_shutdown_delay: Option<u32>,
    /// Tags beside those of every VM: lower case, each once.
    #[schemars(extend("x-advised" = {"uniqueItems": true}))]
    pub vm_tags: Option<Vec<Tag>>,
}
