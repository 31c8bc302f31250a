#!/usr/bin/env bash
# page-tests.sh <program> [bench]: the types of the page's scripts, and the page in a browser; or what
# watching costs a trial (ROUNDS=5, ONLY=real or virtual).
#
# Without node, npm or chromium it says so and tests nothing.
set -euo pipefail

program=$(realpath "$1")
tests=$(cd "$(dirname "$0")/../crates/ui/tests-in-browser" && pwd)
tools=$(cd "$(dirname "$0")/.." && pwd)/target/tools/page

for needed in node npm chromium; do
  if ! command -v "$needed" > /dev/null; then
    echo "SKIPPED: the page's tests: there is no $needed"
    exit 0
  fi
done
if ! cmp -s "$tests/package.json" "$tools/package.json"; then
  if [[ ${INSTALL:-yes} == no ]]; then
    echo "SKIPPED: the page's tests: their tools are not installed (INSTALL=no)"
    exit 0
  fi
  echo "installing the tools of the page's tests, once"
  rm -rf "$tools"
  mkdir -p "$tools"
  cp "$tests/package.json" "$tools/package.new"
  (cd "$tools" && cp package.new package.json && npm install --silent --no-package-lock --no-audit --no-fund) \
    || { rm -rf "$tools"; echo "SKIPPED: the page's tests: their tools cannot be installed"; exit 0; }
fi

node "$tools/node_modules/typescript/bin/tsc" --project "$tests/tsconfig.json"
# Modules are found from where the tests are.
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
cp "$tests"/*.mjs "$run"
ln -s "$tools/node_modules" "$run/node_modules"
if [[ ${2:-} == bench ]]; then
  TCPLAB=$program node "$run/bench.mjs"
  exit
fi
TCPLAB=$program node --test --test-concurrency=1 "$run"/*.test.mjs
