#!/usr/bin/env bash
# skipped.sh <junit.xml>: lists the tests that could not run here, each with its reason.
#
# Such a test prints a line `skipped: <reason>` (or `SKIPPED: `) and passes, so the runner counts it as passed.
set -euo pipefail

# Nothing has run if the tests did not build.
[[ -e $1 ]] || exit 0

awk '
  /<testcase / {
    test = $0; sub(/.*<testcase name="/, "", test); sub(/".*/, "", test)
    binary = $0; sub(/.* classname="/, "", binary); sub(/".*/, "", binary)
    told = 0
  }
  /(skipped|SKIPPED): / && !told {
    reason = $0; sub(/.*(skipped|SKIPPED): /, "", reason); sub(/<.*/, "", reason)
    gsub(/&lt;/, "<", reason); gsub(/&gt;/, ">", reason); gsub(/&quot;/, "\"", reason)
    gsub(/&amp;/, "\\&", reason)
    print "skipped: " binary " " test ": " reason
    told = 1
  }
' "$1"
