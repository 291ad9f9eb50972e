variable "name" {
  description = "The host's name."
  type        = string
}

variable "address" {
  description = "The host's address."
  type        = string
}

variable "bridges" {
  description = "The bridges that machines can be attached to."
  type        = list(string)
}

resource "terraform_data" "bridge" {
  for_each = toset(var.bridges)

  input = {
    host = var.name
    name = each.key
  }
}

output "node" {
  description = "The host as platforms see it."
  value = {
    name    = var.name
    address = var.address
    bridges = sort([for bridge in terraform_data.bridge : bridge.output.name])
  }
}
