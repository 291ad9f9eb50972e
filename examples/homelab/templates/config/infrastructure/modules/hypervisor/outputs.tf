output "node" {
  description = "The host as platforms see it."
  value = {
    name    = var.name
    address = var.address
    bridges = sort([for bridge in terraform_data.bridge : bridge.output.name])
  }
}
