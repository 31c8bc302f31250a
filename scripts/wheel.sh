#!/usr/bin/env bash
# Builds the wheel with the tools in the environment named by the argument. Linked with zig, it runs
# on any Linux with glibc 2.17 or later. Another processor, such as aarch64, is named by TARGET
# (`TARGET=aarch64-unknown-linux-gnu`) and needs that target's standard library of Rust
# (`rustup target add`).
set -euo pipefail
tools=$PWD/$1/bin
[[ $1 = /* ]] && tools=$1/bin
target=${TARGET:-x86_64-unknown-linux-gnu}
glibc=2.17
data=target/wheel-data/tcplab.data
export PATH=$tools:$PATH

# The command: a program of its own, since trials on kernels start it.
cargo zigbuild --quiet --locked --release --target "$target.$glibc" --package tcplab
rm -rf "$data"
mkdir -p "$data/scripts"
install -m 755 "${CARGO_TARGET_DIR:-target}/$target/release/tcplab" "$data/scripts/tcplab"
# Without what only a debugger reads; a `strip` for another processor may be missing.
strip --strip-debug "$data/scripts/tcplab" 2> /dev/null || true
"$tools/maturin" build --quiet --release --zig --compatibility manylinux2014 --target "$target" \
  --out target/wheels
ls -l target/wheels
