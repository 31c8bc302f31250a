#!/usr/bin/env bash
# skipped.sh <junit.xml>: lists the tests that could not run here, each with its reason.
#
# Such a test prints a line `skipped: <reason>` and passes, so the runner counts it as passed.
set -euo pipefail

# Nothing has run if the tests did not build.
[[ -e $1 ]] || exit 0

awk '
  /<testcase / { name = $0; sub(/.*<testcase name="/, "", name); sub(/".*/, "", name) }
  /skipped: /  { reason = $0; sub(/.*skipped: /, "", reason); sub(/<.*/, "", reason)
                 if (name != told) print "skipped: " name ": " reason
                 told = name }
' "$1"
