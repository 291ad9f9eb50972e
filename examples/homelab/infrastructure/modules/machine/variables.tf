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
