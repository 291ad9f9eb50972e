terraform {
  backend "http" {}
}

module "host" {
  source  = "../../modules/hypervisor"
  name    = "pve2"
  address = "192.0.2.12"
  bridges = ["vmbr0"]
}

output "node" {
  description = "What a platform needs to know to run here."
  value       = module.host.node
}
