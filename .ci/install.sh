#!/bin/sh
# Installs infra for this user: fetches the archive for this machine, compares it with the list of SHA-256
# digests beside it, and puts the program into its place in one step. Needs no root and changes nothing else.
#
#   sh install.sh [--from URL] [--version V] [--to FOLDER]
#
#   --from URL      where releases are: https://…/releases, or file:///… (INFRA_INSTALL_FROM)
#   --version V     this version instead of the newest (INFRA_INSTALL_VERSION)
#   --to FOLDER     where the program goes; ~/.local/bin without it (INFRA_INSTALL_TO)
set -eu

# A release writes its own address here.
releases='@RELEASES@'

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for hint in "$@"; do printf 'hint: %s\n' "$hint" >&2; done
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

target() {
  system=$(uname -s) machine=$(uname -m)
  case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no infra for the processor '$machine'" "build it: cargo install --path ." ;;
  esac
  case $system in
    Linux)
      if ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
        fail 'this system has no glibc, which the released program needs' 'build it: cargo install --path .'
      fi
      echo "$machine-unknown-linux-gnu" ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) fail "there is no infra for the system '$system'" "build it: cargo install --path ." ;;
  esac
}

fetch() { # URL FILE
  case $1 in
    file://*) cp "${1#file://}" "$2" ;;
    https://* | http://*)
      if has curl; then
        curl --fail --silent --show-error --location --retry 2 --connect-timeout 20 --output "$2" "$1"
      elif has wget; then
        wget -q -O "$2" "$1"
      else
        fail 'neither curl nor wget is installed'
      fi ;;
    *) fail "'$1' is no address" 'name one that begins with https:// or file://' ;;
  esac
}

digest() { # FILE
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    openssl dgst -sha256 "$1" | sed 's/^.*= *//'
  fi
}

verify() { # FOLDER NAME
  expected=$(awk -v name="$2" '$2 == name || $2 == "*" name { print $1; exit }' "$1/SHA256SUMS")
  [ -n "$expected" ] || fail "the list of digests does not name '$2'" 'this release is not made for your machine'
  found=$(digest "$1/$2")
  [ "$found" = "$expected" ] ||
    fail "'$2' is not the file that was released: expected $expected, found $found" 'nothing was installed; try again'
}

main() {
  from=${INFRA_INSTALL_FROM:-$releases} version=${INFRA_INSTALL_VERSION:-} to=${INFRA_INSTALL_TO:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --from | --version | --to) [ $# -gt 1 ] || fail "'$1' needs a value" ;;
      *) fail "'$1' is unknown" 'sh install.sh [--from URL] [--version V] [--to FOLDER]' ;;
    esac
    case $1 in
      --from) from=$2 ;;
      --version) version=$2 ;;
      --to) to=$2 ;;
    esac
    shift 2
  done
  case $from in @*) fail 'this script does not know where releases are' 'name the place: --from https://…/releases' ;; esac
  [ -n "$to" ] || to=${HOME:?}/.local/bin

  name=infra-$(target).tar.gz
  case $version in
    '') place=${from%/}/latest/download ;;
    *) place=${from%/}/download/v${version#v} ;;
  esac
  mkdir -p "$to" || fail "cannot make the folder '$to'" 'name another one: --to FOLDER'
  # Beside its place, so that the last step is a rename.
  work=$(mktemp -d "$to/.infra-install.XXXXXX") || fail "cannot write into '$to'" 'name another one: --to FOLDER'
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' HUP INT TERM
  fetch "$place/SHA256SUMS" "$work/SHA256SUMS" || fail "cannot fetch '$place/SHA256SUMS'"
  fetch "$place/$name" "$work/$name" || fail "cannot fetch '$place/$name'"
  verify "$work" "$name"
  tar -xzf "$work/$name" -C "$work" "${name%.tar.gz}/infra" || fail "'$name' does not hold what it should"
  program=$work/${name%.tar.gz}/infra
  said=$("$program" --version) || fail 'the program does not run on this machine' 'build it: cargo install --path .'
  mv -f "$program" "$to/infra"
  printf '%s is installed: %s\n' "$said" "$to/infra"
  # shellcheck disable=SC2016 # the name itself, for whoever pastes it
  path='$PATH'
  case :$PATH: in
    *:"$to":*) ;;
    *) printf 'hint: add it to your PATH: export PATH="%s:%s"\n' "$to" "$path" >&2 ;;
  esac
}

# Below everything else: a script that was cut on its way does nothing.
main "$@"
