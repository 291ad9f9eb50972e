terraform {
  # Empty on purpose: `infra` serves the state, or hands over the address of the server
  # that `state.url` names, with its credentials.
  backend "http" {}
}
