#!/usr/bin/env bash
# Builds the wheel with the tools in the environment named by the argument. Linked with zig, it runs
# on any Linux with glibc 2.17 or later. Another processor or system is named by TARGET, and needs
# that target's standard library of Rust: `TARGET=aarch64-unknown-linux-gnu`,
# `TARGET=aarch64-apple-darwin`, or `TARGET=x86_64-pc-windows-gnu`, which MinGW links.
set -euo pipefail
tools=$1/bin
target=${TARGET:-x86_64-unknown-linux-gnu}
data=target/wheel-data/tcplab.data
scripts=$data/scripts
linked=()

# What another target has left there is not for this one.
rm -rf "$data"
mkdir -p "$scripts"
case $target in
*-linux-*)
  flags=(--zig --compatibility manylinux2014)
  # The command: a program of its own, since trials on kernels start it.
  "$tools/maturin" build --quiet --release --locked --strip "${flags[@]}" \
    --target "$target" --manifest-path crates/cli/Cargo.toml --bindings bin --out target/wheel-command
  rm -rf target/wheel-command/unpacked
  "$tools/python" -m zipfile -e "$(ls -t target/wheel-command/*.whl | head -1)" target/wheel-command/unpacked
  install -m 755 target/wheel-command/unpacked/*.data/scripts/tcplab "$scripts/tcplab"
  ;;
# Elsewhere there is no command (docs/systems.md).
*-apple-*)
  flags=(--zig)
  # zig has no frameworks; this names the one that is linked, and its functions.
  linked=(-- -C "link-arg=-F$PWD/scripts/macos")
  ;;
*) flags=() ;;
esac
"$tools/maturin" build --quiet --release "${flags[@]}" --target "$target" --out target/wheels "${linked[@]}"
ls -l target/wheels
