#!/usr/bin/env bash
# Builds the wheel with the tools in the environment named by the argument. Linked with zig, it runs
# on any Linux with glibc 2.17 or later. Another processor, such as aarch64, is named by TARGET
# (`TARGET=aarch64-unknown-linux-gnu`) and needs that target's standard library of Rust.
set -euo pipefail
tools=$1/bin
target=${TARGET:-x86_64-unknown-linux-gnu}
scripts=target/wheel-data/tcplab.data/scripts

mkdir -p "$scripts"
# The command: a program of its own, since trials on kernels start it.
"$tools/maturin" build --quiet --release --locked --strip --zig --compatibility manylinux2014 \
  --target "$target" --manifest-path crates/cli/Cargo.toml --bindings bin --out target/wheel-command
rm -rf target/wheel-command/unpacked
"$tools/python" -m zipfile -e "$(ls -t target/wheel-command/*.whl | head -1)" target/wheel-command/unpacked
install -m 755 target/wheel-command/unpacked/*.data/scripts/tcplab "$scripts/tcplab"
"$tools/maturin" build --quiet --release --zig --compatibility manylinux2014 --target "$target" \
  --out target/wheels
ls -l target/wheels
