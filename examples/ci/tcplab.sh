#!/bin/sh
# Runs an experiment in virtual time, checks its claims, and compares it with a baseline.
#
#   tcplab.sh SCENARIO.toml BASELINE.json [RESULTS]
#
# The first run, on your machine, writes the baseline if all claims pass: commit that file. Exit
# codes are tcplab's: 0 passed, 1 a claim failed or a metric is worse, 2 something did not work, or
# a service (CI is set) has no baseline. RESULTS has what this build made, no more.
set -u
scenario=$1 baseline=$2 results=${3:-tcplab-results}
annotate=${GITHUB_ACTIONS:+--annotate=github}
mkdir -p "$results"
code=0

# What an earlier build left is no result of this one, which may end early.
rm -f "$results/run.json" "$results/claims.xml" "$results/compare.xml" "$results/compare.md"
tcplab clean "$results/runs" --runs --yes >/dev/null 2>&1 || true

tcplab run "$scenario" --world sim --kernel model --runs "$results/runs" \
    --require-decision $annotate --json="$results/run.json" \
    --junit "$results/claims.xml" --quiet || code=$?
[ "$code" -le 1 ] || exit "$code"

if [ -e "$baseline" ]; then
    compared=0
    tcplab compare "$baseline" "$results/run.json" $annotate \
        --junit "$results/compare.xml" --markdown "$results/compare.md" || compared=$?
    [ "$compared" -le "$code" ] || code=$compared
else
    # A service throws the new file away, so that no build would ever compare: there it is an error.
    echo "${GITHUB_ACTIONS:+::error::}tcplab.sh: there is no $baseline: nothing was compared" >&2
    if [ "$code" -eq 0 ]; then
        mkdir -p "$(dirname "$baseline")"
        cp "$results/run.json" "$baseline"
        echo "tcplab.sh: this run is the baseline from now on: commit $baseline" >&2
    fi
    [ -z "${CI:-}" ] || code=2
fi

tcplab clean "$results/runs" --captures --yes >/dev/null || code=2
exit "$code"
