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

variable "workers" {
  description = "How many workers there are."
  type        = number
  default     = 2
}

module "control_plane" {
  source = "../../modules/machine"
  name   = "k8s-control"
  host   = var.control_plane_host
  cores  = 4
  memory = 8192
}

module "worker" {
  source   = "../../modules/machine"
  for_each = toset([for number in range(var.workers) : "k8s-worker-${number + 1}"])
  name     = each.key
  host     = var.worker_host
}

resource "terraform_data" "cluster" {
  input = {
    name    = "k8s-prod"
    control = module.control_plane.name
    workers = sort([for worker in module.worker : worker.name])
  }
}

output "endpoint" {
  description = "Where the cluster answers."
  value       = "https://${terraform_data.cluster.output.control}.example.test:6443"
}

output "machines" {
  description = "The machines of the cluster."
  value       = concat([terraform_data.cluster.output.control], terraform_data.cluster.output.workers)
}

output "join_token" {
  description = "What a new machine joins with."
  value       = sha256("join-${terraform_data.cluster.id}")
  sensitive   = true
}
