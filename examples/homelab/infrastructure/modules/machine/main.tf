resource "terraform_data" "machine" {
  input = {
    name   = var.name
    host   = var.host.name
    bridge = var.host.bridges[0]
    cores  = var.cores
    memory = var.memory
  }
}
