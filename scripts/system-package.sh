#!/usr/bin/env bash
# system-package.sh <program> <packages> <purpose>: makes sure that <program> (or a file) is there.
#
# Installs the Debian <packages> where it may (as root, or where sudo asks no password, unless
# INSTALL=no). Else says what to type, and succeeds: what needs the program says so itself.
set -euo pipefail

program=$1 packages=$2 purpose=$3
if command -v "$program" > /dev/null || [[ -e $program ]]; then
  exit 0
fi

if ! command -v apt-get > /dev/null; then
  printf 'missing: %s, for %s\n  remedy: install it by your package manager\n' \
    "$program" "$purpose" >&2
  exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
  as_root=(sudo -n)
fi
if [[ ${INSTALL:-yes} == no ]] || ! "${as_root[@]}" true 2> /dev/null; then
  printf 'missing: %s, for %s\n  remedy: sudo apt-get install %s\n' \
    "$program" "$purpose" "$packages" >&2
  exit 0
fi

install() {
  # shellcheck disable=SC2086 # several packages
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --quiet --no-install-recommends $packages < /dev/null
}

echo "installing $packages, for $purpose"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The lists may be missing or old; fetching them takes longer than trying.
if ! { install || { "${as_root[@]}" apt-get update --quiet && install; }; } > "$log" 2>&1; then
  tail -5 "$log" >&2
  printf 'missing: %s, for %s\n  remedy: sudo apt-get install %s (it has just failed, see above)\n' \
    "$program" "$purpose" "$packages" >&2
fi
