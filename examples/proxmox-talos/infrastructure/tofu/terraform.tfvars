proxmox_api_url      = "https://pve.example.test:8006/api2/json"
proxmox_insecure     = true
proxmox_iso_storage  = "local"
proxmox_disk_storage = "local-lvm"
talos_version        = "1.11.5"
node_vlan_tag        = null

vm_advanced = {
  bios           = "ovmf"
  machine        = "q35"
  cpu_type       = "host"
  ostype         = "l26"
  scsi_hw        = "virtio-scsi-single"
  balloon        = 0
  numa           = true
  qemu_agent     = true
  network_bridge = "vmbr0"
  net_queues     = 4
  disk_discard   = true
  disk_ssd       = true
  disk_backup    = false
  disk_replicate = false
}

nodes = [
  {
    name              = "k8s-0"
    address           = "192.0.2.21"
    mac_addr          = "bc:24:11:00:00:21"
    controller        = true
    proxmox_node      = "pve"
    schematic_id      = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    secureboot        = false
    mtu               = null
    tags              = ["kubernetes", "linux", "talos"]
    vm_id             = 121
    vm_cores          = 4
    vm_sockets        = 1
    vm_memory         = 8192
    vm_disk_size      = 64
    vm_startup_order  = 1
    vm_startup_delay  = 15
    vm_shutdown_delay = 60
  },
  {
    name              = "k8s-1"
    address           = "192.0.2.22"
    mac_addr          = "bc:24:11:00:00:22"
    controller        = true
    proxmox_node      = "pve"
    schematic_id      = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    secureboot        = false
    mtu               = null
    tags              = ["kubernetes", "linux", "talos"]
    vm_id             = 122
    vm_cores          = 4
    vm_sockets        = 1
    vm_memory         = 8192
    vm_disk_size      = 64
    vm_startup_order  = 2
    vm_startup_delay  = 15
    vm_shutdown_delay = 60
  },
  {
    name              = "k8s-2"
    address           = "192.0.2.23"
    mac_addr          = "bc:24:11:00:00:23"
    controller        = true
    proxmox_node      = "pve"
    schematic_id      = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    secureboot        = false
    mtu               = null
    tags              = ["kubernetes", "linux", "talos"]
    vm_id             = 123
    vm_cores          = 4
    vm_sockets        = 1
    vm_memory         = 8192
    vm_disk_size      = 64
    vm_startup_order  = 2
    vm_startup_delay  = 15
    vm_shutdown_delay = 60
  },
  {
    name              = "k8s-3"
    address           = "192.0.2.24"
    mac_addr          = "bc:24:11:00:00:24"
    controller        = false
    proxmox_node      = "pve"
    schematic_id      = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
    secureboot        = false
    mtu               = null
    tags              = ["gpu", "kubernetes", "linux", "talos"]
    vm_id             = 124
    vm_cores          = 8
    vm_sockets        = 1
    vm_memory         = 32768
    vm_disk_size      = 256
    vm_startup_order  = 3
    vm_startup_delay  = 30
    vm_shutdown_delay = 60
  },
]
