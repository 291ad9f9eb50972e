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
