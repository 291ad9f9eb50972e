variable "name" {
  description = "The machine's name."
  type        = string
}

variable "host" {
  description = "The hypervisor it runs on."
  type = object({
    name    = string
    address = string
    bridges = list(string)
  })
}

variable "cores" {
  description = "How many cores it has."
  type        = number
  default     = 2
}

variable "memory" {
  description = "Its memory in MiB."
  type        = number
  default     = 2048
}

resource "terraform_data" "machine" {
  input = {
    name   = var.name
    host   = var.host.name
    bridge = var.host.bridges[0]
    cores  = var.cores
    memory = var.memory
  }
}

output "name" {
  description = "The machine's name, known once it exists."
  value       = terraform_data.machine.output.name
}
