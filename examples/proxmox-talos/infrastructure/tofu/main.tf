locals {
  nodes = { for node in var.nodes : node.name => merge(node, {
    image = join("-", compact([node.proxmox_node, node.schematic_id, node.secureboot ? "secureboot" : ""]))
  }) }

  # One image for each host, schematic and kind of boot: a storage may be the host's own.
  images = { for node in local.nodes : node.image => {
    host         = node.proxmox_node
    schematic_id = node.schematic_id
    variant      = node.secureboot ? "nocloud-amd64-secureboot" : "nocloud-amd64"
  }... }
}

resource "proxmox_download_file" "talos_iso" {
  for_each = { for key, same in local.images : key => same[0] }

  content_type = "iso"
  datastore_id = var.proxmox_iso_storage
  node_name    = each.value.host
  file_name    = "talos-v${var.talos_version}-${substr(each.value.schematic_id, 0, 16)}-${each.value.variant}.iso"
  url          = "https://factory.talos.dev/image/${each.value.schematic_id}/v${var.talos_version}/${each.value.variant}.iso"

  # Asking the image factory at every plan is of no use: an image never changes. One that
  # lies there already is taken over.
  overwrite           = false
  overwrite_unmanaged = true

  lifecycle {
    # The machines are given the new image before the old one goes.
    create_before_destroy = true
  }
}

resource "proxmox_virtual_environment_vm" "talos_node" {
  for_each = local.nodes

  name        = each.value.name
  description = "Talos ${each.value.controller ? "control plane" : "worker"}, managed by OpenTofu"
  node_name   = each.value.proxmox_node
  vm_id       = each.value.vm_id

  # Proxmox keeps tags in lower case, sorted and once each; written otherwise, every plan
  # would want to change them.
  tags = sort(distinct([for tag in each.value.tags : lower(tag)]))

  bios          = var.vm_advanced.bios
  machine       = var.vm_advanced.machine
  scsi_hardware = var.vm_advanced.scsi_hw
  boot_order    = ["scsi0", "ide2"]
  on_boot       = true

  # A machine that moved to another host stays; one that ignores a shutdown is stopped;
  # and no change here restarts a node of a running cluster behind its back.
  migrate             = true
  stop_on_destroy     = true
  reboot_after_update = false

  agent {
    enabled = var.vm_advanced.qemu_agent
    timeout = "30s"

    # In maintenance mode no agent answers yet, and the addresses are known beforehand.
    wait_for_ip {
      disabled = true
    }
  }

  cpu {
    cores   = each.value.vm_cores
    sockets = each.value.vm_sockets
    type    = var.vm_advanced.cpu_type
    numa    = var.vm_advanced.numa
  }

  memory {
    dedicated = each.value.vm_memory
    floating  = var.vm_advanced.balloon
  }

  dynamic "efi_disk" {
    for_each = var.vm_advanced.bios == "ovmf" ? [true] : []

    content {
      datastore_id = var.proxmox_disk_storage
      type         = "4m"

      # Talos brings signing keys of its own.
      pre_enrolled_keys = false
    }
  }

  dynamic "tpm_state" {
    for_each = each.value.secureboot ? [true] : []

    content {
      datastore_id = var.proxmox_disk_storage
      version      = "v2.0"
    }
  }

  cdrom {
    file_id   = proxmox_download_file.talos_iso[each.value.image].id
    interface = "ide2"
  }

  disk {
    interface    = "scsi0"
    datastore_id = var.proxmox_disk_storage
    size         = each.value.vm_disk_size
    backup       = var.vm_advanced.disk_backup
    replicate    = var.vm_advanced.disk_replicate
    ssd          = var.vm_advanced.disk_ssd
    discard      = var.vm_advanced.disk_discard ? "on" : "ignore"
    iothread     = var.vm_advanced.scsi_hw == "virtio-scsi-single"
  }

  network_device {
    bridge      = var.vm_advanced.network_bridge
    model       = "virtio"
    mac_address = each.value.mac_addr
    queues      = var.vm_advanced.net_queues
    vlan_id     = var.node_vlan_tag
    mtu         = each.value.mtu
  }

  operating_system {
    type = var.vm_advanced.ostype
  }

  startup {
    order      = each.value.vm_startup_order
    up_delay   = each.value.vm_startup_delay
    down_delay = each.value.vm_shutdown_delay
  }
}
