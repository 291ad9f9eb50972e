# Built from the data where the data knows it: what an agent reports changes from run to run.

output "vm_ids" {
  description = "The id of each node's machine."
  value       = { for name, machine in proxmox_virtual_environment_vm.talos_node : name => machine.vm_id }
}

output "mac_addresses" {
  description = "The MAC address of each node."
  value = { for name, machine in proxmox_virtual_environment_vm.talos_node :
    name => coalesce(local.nodes[name].mac_addr, machine.network_device[0].mac_address)
  }
}

output "addresses" {
  description = "The address of each node."
  value       = { for name, node in local.nodes : name => node.address }
}

output "controllers" {
  description = "The addresses of the control plane."
  value       = [for node in var.nodes : node.address if node.controller]
}

output "images" {
  description = "The image that each node boots from."
  value       = { for name, node in local.nodes : name => proxmox_download_file.talos_iso[node.image].id }
}
