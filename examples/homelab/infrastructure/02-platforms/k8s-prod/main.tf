terraform {
  backend "http" {}
}

variable "control_plane_host" {
  description = "The hypervisor of the control plane."
  type = object({
    name    = string
    address = string
    bridges = list(string)
  })
}

variable "worker_host" {
  description = "The hypervisor of the workers."
  type = object({
    name    = string
    address = string
    bridges = list(string)
  })
}

locals {
  controllers = [
    {
      name   = "k8s-control"
      cores  = 4
      memory = 8192
    },
  ]

  workers = [
    {
      name   = "k8s-worker-1"
      cores  = 2
      memory = 2048
    },
    {
      name   = "k8s-worker-2"
      cores  = 2
      memory = 2048
    },
  ]
}

module "control_plane" {
  source   = "../../modules/machine"
  for_each = { for controller in local.controllers : controller.name => controller }
  name     = each.key
  host     = var.control_plane_host
  cores    = each.value.cores
  memory   = each.value.memory
}

module "worker" {
  source   = "../../modules/machine"
  for_each = { for worker in local.workers : worker.name => worker }
  name     = each.key
  host     = var.worker_host
  cores    = each.value.cores
  memory   = each.value.memory
}

resource "terraform_data" "cluster" {
  input = {
    name    = "k8s-prod"
    control = [for controller in local.controllers : module.control_plane[controller.name].name]
    workers = sort([for worker in module.worker : worker.name])
  }
}

output "endpoint" {
  description = "Where the cluster answers."
  value       = "https://${terraform_data.cluster.output.control[0]}.example.test:6443"
}

output "machines" {
  description = "The machines of the cluster."
  value       = concat(terraform_data.cluster.output.control, terraform_data.cluster.output.workers)
}

output "join_token" {
  description = "What a new machine joins with."
  value       = sha256("join-${terraform_data.cluster.id}")
  sensitive   = true
}
