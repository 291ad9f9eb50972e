"""What a makejinja plugin of a project gives: the derived values, and the functions."""

import ipaddress
import re
from pathlib import Path

GLOBAL = {"cores": 4, "sockets": 1, "memory": 8192, "disk_size": 128}
CONTROLLER = GLOBAL | {"disk_size": 64}
WORKER = {"cores": 8, "sockets": 1, "memory": 16384, "disk_size": 256}
ADVANCED = {
    "bios": "ovmf", "machine": "q35", "cpu_type": "host", "scsi_hw": "virtio-scsi-pci", "balloon": 0,
    "numa": True, "qemu_agent": True, "net_queues": 4, "disk_discard": True, "disk_ssd": True,
    "tags": ["kubernetes", "linux", "talos"], "network_bridge": "vmbr0", "ostype": "l26",
    "disk_backup": False, "disk_replicate": False,
}


def tags(given):
    return sorted({tag.lower() for tag in given})


def machine(index, node, data):
    controller = node.get("controller", False)
    role = "controller" if controller else "worker"
    sizes = data[f"proxmox_vm_{role}_defaults"]
    host = node.get("proxmox_node") or data["proxmox_node"]
    secure = node.get("secureboot", False)
    vm = {"name": node["name"], "address": node["address"], "controller": controller, "role": role}
    for key in ("mac_addr", "disk", "mtu", "vm_id"):
        vm[key] = node.get(key)
    for key in ("cores", "sockets", "memory", "disk_size"):
        vm[f"vm_{key}"] = node.get(f"vm_{key}", sizes[key])
    vm["vm_startup_order"] = node.get("vm_startup_order", index + 4)
    vm["vm_startup_delay"] = node.get("vm_startup_delay", 15)
    vm["vm_shutdown_delay"] = node.get("vm_shutdown_delay", 60)
    vm["schematic_id"] = node["schematic_id"]
    vm["secureboot"] = secure
    vm["proxmox_node"] = host
    vm["tags"] = tags(data["proxmox_vm_advanced"]["tags"] + node.get("vm_tags", []))
    vm["iso_key"] = "-".join([host, node["schematic_id"]] + (["secureboot"] if secure else []))
    return vm


class Plugin:
    def __init__(self, data):
        self.given = data

    def data(self):
        data = dict(self.given)
        enabled = bool(data.get("proxmox_api_url")) and bool(data.get("proxmox_node"))
        data["infrastructure_enabled"] = enabled
        if data.get("node_cidr"):
            network = ipaddress.ip_network(data["node_cidr"], strict=False)
            data.setdefault("node_default_gateway", str(network[1]))
        if enabled:
            self.enable(data)
        return data

    def enable(self, data):
        data.setdefault("tfstate_username", "terraform")
        data.setdefault("proxmox_iso_storage", "local")
        data.setdefault("proxmox_disk_storage", "local-lvm")
        own = data.get("proxmox_vm_defaults", {})
        for role, sizes in (("controller", CONTROLLER), ("worker", WORKER)):
            key = f"proxmox_vm_{role}_defaults"
            data[key] = sizes | own | data.get(key, {})
        data["proxmox_vm_defaults"] = GLOBAL | own
        advanced = ADVANCED | data.get("proxmox_vm_advanced", {})
        data["proxmox_vm_advanced"] = advanced | {"tags": tags(advanced["tags"])}
        data["proxmox_vms"] = [machine(index, node, data) for index, node in enumerate(data.get("nodes", []))]

    def functions(self):
        return [age_key]


def age_key(kind, file_path="age.key"):
    pattern = r"# public key: (age1\w+)" if kind == "public" else r"(AGE-SECRET-KEY-\w+)"
    return re.search(pattern, Path(file_path).read_text()).group(1)
