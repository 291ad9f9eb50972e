variable "proxmox_api_url" {
  description = "Where the Proxmox API answers."
  type        = string
}

variable "proxmox_insecure" {
  description = "Whether a certificate that nobody signed is accepted."
  type        = bool
}

variable "proxmox_api_token_id" {
  description = "The API token's id: user@realm!name."
  type        = string
  sensitive   = true
}

variable "proxmox_api_token_secret" {
  description = "The API token's secret."
  type        = string
  sensitive   = true
}

variable "proxmox_iso_storage" {
  description = "The storage that holds the boot images."
  type        = string
}

variable "proxmox_disk_storage" {
  description = "The storage that holds the machines' disks."
  type        = string
}

variable "talos_version" {
  description = "The version of Talos that the machines boot, without a leading v."
  type        = string

  validation {
    condition     = can(regex("^[0-9]+\\.[0-9]+\\.[0-9]+", var.talos_version))
    error_message = "The version has the form x.y.z, without a leading v."
  }
}

variable "node_vlan_tag" {
  description = "The VLAN of the machines; null for none."
  type        = number
  default     = null
}

variable "vm_advanced" {
  description = "What is the same for every machine."
  type = object({
    bios           = string
    machine        = string
    cpu_type       = string
    ostype         = string
    scsi_hw        = string
    balloon        = number
    numa           = bool
    qemu_agent     = bool
    network_bridge = string
    net_queues     = number
    disk_discard   = bool
    disk_ssd       = bool
    disk_backup    = bool
    disk_replicate = bool
  })
}

variable "nodes" {
  description = "The nodes of the cluster, a machine each."
  type = list(object({
    name              = string
    address           = string
    mac_addr          = optional(string)
    controller        = bool
    proxmox_node      = string
    schematic_id      = string
    secureboot        = optional(bool, false)
    mtu               = optional(number)
    tags              = optional(list(string), [])
    vm_id             = optional(number)
    vm_cores          = number
    vm_sockets        = number
    vm_memory         = number
    vm_disk_size      = number
    vm_startup_order  = number
    vm_startup_delay  = number
    vm_shutdown_delay = number
  }))

  validation {
    condition     = length(distinct([for node in var.nodes : node.name])) == length(var.nodes)
    error_message = "Every node needs a name of its own."
  }

  validation {
    condition     = alltrue([for node in var.nodes : !node.secureboot || var.vm_advanced.bios == "ovmf"])
    error_message = "Secure boot needs the bios \"ovmf\"."
  }
}
