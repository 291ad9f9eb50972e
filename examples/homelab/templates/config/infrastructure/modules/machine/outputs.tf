output "name" {
  description = "The machine's name, known once it exists."
  value       = terraform_data.machine.output.name
}
