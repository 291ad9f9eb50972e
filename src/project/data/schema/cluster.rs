//! `cluster.yaml` as users write it. Doc comments become the descriptions of the JSON schema,
//! and the rules below are the ones that [`crate::project::data::check`] enforces: the schema is both.
//!
//! Nothing is ever read into these types; keys that are not here belong to the project.

#![expect(dead_code, reason = "the types describe what is written; nothing is read into them")]

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::forms::{Address, Hidden, Host, Network, Tag, Text, Version, Vlan};

const URL: &str = "^https?://";
const URL_WITH_HOST: &str = "^https?://[^/]";

/// The values of a cluster. Every key is optional, and any other key is the project's own.
#[derive(Debug, JsonSchema)]
#[schemars(extend("if" = proxmox_is_enabled(), "then" = proxmox_is_complete()))]
pub struct ClusterData {
    /// The network of the nodes, such as `192.168.10.0/24`.
    pub node_cidr: Option<Network>,
    /// The gateway of the nodes; host 1 of `node_cidr` by default.
    pub node_default_gateway: Option<Address>,
    /// The DNS servers of the nodes, by address.
    pub node_dns_servers: Option<Vec<Address>>,
    /// The time servers of the nodes.
    pub node_ntp_servers: Option<Vec<Host>>,
    /// The VLAN of the nodes, 1 to 4094; a number, or a text of digits.
    pub node_vlan_tag: Option<Vlan>,
    /// The network of pods.
    pub cluster_pod_cidr: Option<Network>,
    /// The network of services.
    pub cluster_svc_cidr: Option<Network>,
    /// The address of the Kubernetes API.
    pub cluster_api_addr: Option<Address>,
    /// The address of the internal gateway.
    pub cluster_gateway_addr: Option<Address>,
    /// The address of the DNS gateway.
    pub cluster_dns_gateway_addr: Option<Address>,
    /// The address of the gateway for the tunnel from outside.
    pub cloudflare_gateway_addr: Option<Address>,
    /// The version of Talos, as `1.12.0`; needed where Proxmox is enabled.
    pub talos_version: Option<Version>,
    /// The version of Kubernetes, as `1.35.0`.
    pub kubernetes_version: Option<Version>,
    /// The address of the Proxmox API; with `proxmox_node` it enables the infrastructure.
    #[schemars(regex(pattern = URL), extend("x-expected" = "a URL that starts with `http://` or `https://`", "x-advised" = {"pattern": URL_WITH_HOST, "x-expected": "a URL with a host"}))]
    pub proxmox_api_url: Option<String>,
    /// The Proxmox node that VMs run on; with `proxmox_api_url` it enables the infrastructure.
    pub proxmox_node: Option<Text>,
    /// Whether the certificate of the Proxmox API goes unchecked.
    #[schemars(extend("default" = false))]
    pub proxmox_insecure: Option<bool>,
    /// The storage for ISO images.
    #[schemars(extend("default" = "local"))]
    pub proxmox_iso_storage: Option<Text>,
    /// The storage for disks.
    #[schemars(extend("default" = "local-lvm"))]
    pub proxmox_disk_storage: Option<Text>,
    /// The name of the API token, as `user@realm!name`; needed where Proxmox is enabled.
    #[schemars(regex(pattern = "^.+@.+!.+$"), extend("x-expected" = "`user@realm!name`"))]
    pub proxmox_api_token_id: Option<String>,
    /// The secret of the API token; needed where Proxmox is enabled.
    pub proxmox_api_token_secret: Option<Hidden>,
    /// What every VM gets that neither its role nor its node says otherwise.
    pub proxmox_vm_defaults: Option<VmDefaults>,
    /// What the VMs of controllers get.
    pub proxmox_vm_controller_defaults: Option<VmDefaults>,
    /// What the VMs of workers get.
    pub proxmox_vm_worker_defaults: Option<VmDefaults>,
    /// How the VMs are built.
    pub proxmox_vm_advanced: Option<VmAdvanced>,
    /// The user of the state server.
    #[schemars(extend("default" = "terraform"))]
    pub tfstate_username: Option<Text>,
    /// The password of the state server.
    pub tfstate_password: Option<Hidden>,
    /// The passphrase that state and plans are encrypted with.
    pub state_encryption_passphrase: Option<Hidden>,
}

/// The size of a VM.
#[derive(Debug, JsonSchema)]
pub struct VmDefaults {
    /// How many cores each socket has.
    #[schemars(range(min = 1, max = 64))]
    pub cores: Option<u32>,
    /// How many sockets there are.
    #[schemars(range(min = 1, max = 4))]
    pub sockets: Option<u32>,
    /// The memory in MiB.
    #[schemars(range(min = 1024, max = 262_144))]
    pub memory: Option<u32>,
    /// The disk in GiB.
    #[schemars(range(min = 32, max = 4096))]
    pub disk_size: Option<u32>,
}

/// How VMs are built.
#[derive(Debug, JsonSchema)]
pub struct VmAdvanced {
    /// The firmware.
    #[schemars(extend("enum" = ["ovmf", "seabios", null], "default" = "ovmf"))]
    pub bios: Option<String>,
    /// The chipset.
    #[schemars(extend("enum" = ["q35", "i440fx", null], "default" = "q35"))]
    pub machine: Option<String>,
    /// The processor that the VM sees.
    #[schemars(extend("default" = "host"))]
    pub cpu_type: Option<Text>,
    /// The disk controller.
    #[schemars(extend("enum" = ["virtio-scsi-pci", "virtio-scsi-single", "lsi", "lsi53c810", "megasas", "pvscsi", null], "default" = "virtio-scsi-pci"))]
    pub scsi_hw: Option<String>,
    /// The memory in MiB that ballooning leaves at least; 0 is no ballooning.
    #[schemars(range(min = 0), extend("default" = 0, "x-advised" = {"maximum": 262_144, "x-expected": "at most 262144 MiB"}))]
    pub balloon: Option<u64>,
    /// Whether NUMA is on.
    #[schemars(extend("default" = true))]
    pub numa: Option<bool>,
    /// Whether the QEMU guest agent is expected.
    #[schemars(extend("default" = true))]
    pub qemu_agent: Option<bool>,
    /// The queues of the network device.
    #[schemars(range(min = 1, max = 16), extend("default" = 4))]
    pub net_queues: Option<u32>,
    /// Whether freed blocks are given back to the storage.
    #[schemars(extend("default" = true))]
    pub disk_discard: Option<bool>,
    /// Whether the disk is shown as an SSD.
    #[schemars(extend("default" = true))]
    pub disk_ssd: Option<bool>,
    /// Whether backup jobs include the disk.
    #[schemars(extend("default" = false))]
    pub disk_backup: Option<bool>,
    /// Whether replication includes the disk.
    #[schemars(extend("default" = false))]
    pub disk_replicate: Option<bool>,
    /// The bridge that VMs are connected to.
    #[schemars(extend("default" = "vmbr0"))]
    pub network_bridge: Option<Text>,
    /// The guest system, in the words of Proxmox.
    #[schemars(extend("default" = "l26"))]
    pub ostype: Option<Text>,
    /// The tags of every VM: lower case, each once.
    #[schemars(extend("x-advised" = {"uniqueItems": true}, "default" = ["kubernetes", "linux", "talos"]))]
    pub tags: Option<Vec<Tag>>,
}

/// What must be there for Proxmox to be enabled.
pub const ENABLING: [&str; 2] = ["proxmox_api_url", "proxmox_node"];
/// What must be there where Proxmox is enabled.
pub const NEEDED: [&str; 3] = ["proxmox_api_token_id", "proxmox_api_token_secret", "talos_version"];

fn proxmox_is_enabled() -> Value {
    texts(&ENABLING)
}

fn proxmox_is_complete() -> Value {
    texts(&NEEDED)
}

/// Returns the schema of a map in which these keys are texts that say something.
fn texts(keys: &[&str]) -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), text.clone())).collect();
    json!({"required": keys, "properties": properties})
}
