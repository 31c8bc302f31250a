#!/usr/bin/env bash
# Builds the wheel with the tools in the environment named by the argument. Linked with zig, it runs
# on any Linux with glibc 2.17 or later. Another processor or system is named by TARGET, and needs
# that target's standard library of Rust (`rustup target add`): `TARGET=aarch64-unknown-linux-gnu`,
# `TARGET=aarch64-apple-darwin`, or `TARGET=x86_64-pc-windows-gnu`, which MinGW links.
set -euo pipefail
tools=$PWD/$1/bin
[[ $1 = /* ]] && tools=$1/bin
export PATH=$tools:$PATH
target=${TARGET:-x86_64-unknown-linux-gnu}
data=target/wheel-data/tcplab.data
linked=()

# What another target has left there is not for this one.
rm -rf "$data"
mkdir -p "$data/scripts"
case $target in
*-linux-*)
  flags=(--zig --compatibility manylinux2014)
  # The command: a program of its own, since trials on kernels start it.
  cargo zigbuild --quiet --locked --release --target "$target.2.17" --package tcplab
  install -m 755 "${CARGO_TARGET_DIR:-target}/$target/release/tcplab" "$data/scripts/tcplab"
  # Without what only a debugger reads; a `strip` for another processor may be missing.
  strip --strip-debug "$data/scripts/tcplab" 2> /dev/null || true
  ;;
# Elsewhere there is no command (docs/systems.md).
*-apple-*)
  flags=(--zig)
  # zig has no frameworks; this names the one that is linked, and its functions.
  linked=(-- -C "link-arg=-F$PWD/scripts/macos")
  ;;
*) flags=() ;;
esac
maturin build --quiet --release "${flags[@]}" --target "$target" --out target/wheels "${linked[@]}"
ls -l target/wheels
