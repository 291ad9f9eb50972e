terraform {
  backend "http" {}
}

variable "host" {
  description = "The hypervisor it runs on."
  type = object({
    name    = string
    address = string
    bridges = list(string)
  })
}

module "machine" {
  source = "../../modules/machine"
  name   = "truenas"
  host   = var.host
  memory = 16384
}

output "machine" {
  description = "The machine that serves the disks."
  value       = module.machine.name
}
