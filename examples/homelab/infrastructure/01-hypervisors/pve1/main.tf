terraform {
  backend "http" {}
}

module "host" {
  source  = "../../modules/hypervisor"
  name    = "pve1"
  address = "192.0.2.11"
  bridges = ["vmbr0", "vmbr1"]
}

output "node" {
  description = "What a platform needs to know to run here."
  value       = module.host.node
}
