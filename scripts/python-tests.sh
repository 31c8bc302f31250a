#!/usr/bin/env bash
# Checks and tests the Python package with the tools in the environment named by the argument.
set -euo pipefail
tools=$1/bin
export PYTHONPATH=$PWD/python TCPLAB=${CARGO_TARGET_DIR:-$PWD/target}/debug/tcplab
# A test writes nothing into the sources: what Python compiles, it compiles once and keeps elsewhere.
export PYTHONPYCACHEPREFIX=${PYTHONPYCACHEPREFIX:-$PWD/target/tools/compiled} RAY_USAGE_STATS_ENABLED=0
unset PYTHONDONTWRITEBYTECODE
status=0

echo "Python: style and types"
"$tools/ruff" check --quiet python || status=1
"$tools/ruff" format --quiet --check python || status=1
"$tools/mypy" --strict python/tcplab || status=1
"$tools/pyright" --pythonpath "$tools/python" python/tcplab || status=1

echo "Python: tests, doctests and notebooks"
"$tools/python" -m pytest -q -rs --color no -p no:cacheprovider --doctest-modules \
  --ignore python/build --ignore python/benches python "${@:2}" || status=1
exit $status
