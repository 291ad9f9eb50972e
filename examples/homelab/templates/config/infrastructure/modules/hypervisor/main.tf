resource "terraform_data" "bridge" {
  for_each = toset(var.bridges)

  input = {
    host = var.name
    name = each.key
  }
}
