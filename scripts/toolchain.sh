#!/usr/bin/env bash
# Makes sure that Rust programs can be built here, or says what is missing and how to get it.
set -euo pipefail
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

fail() {
  printf 'tcplab cannot be built here: %s\n' "$1" >&2
  printf '  remedy: %s\n' "${@:2}" >&2
  exit 1
}

from_rustup="install Rust with rustup (package rustup of newer distributions, or https://rustup.rs),
          open a new shell and call make again"

for program in cargo rustc; do
  command -v "$program" > /dev/null || fail "there is no $program" "$from_rustup"
  if ! said=$("$program" --version 2>&1); then
    fail "$program does not work:
  $said" "rustup toolchain install (in this folder; it reads rust-toolchain.toml)"
  fi
done

version=$(rustc --version | sed 's/^rustc \([0-9.]*\).*/\1/')
if [[ $(printf '%s\n' "$oldest" "$version" | sort --version-sort | head -1) != "$oldest" ]]; then
  fail "rustc is $version, $oldest or later is needed" "$from_rustup"
fi

if ! command -v cc > /dev/null; then
  scripts/system-package.sh cc "gcc libc6-dev" "linking; Rust calls it \`cc\`" || true
  command -v cc > /dev/null || fail "there is no C compiler to link with (\`cc\`)" \
    "install gcc and the headers of the C library by your system's package manager"
fi
