#!/usr/bin/env bash
# Draws docs/report.png, the picture in README, with Chromium: of the report of one trial in virtual
# time, which always leaves the same packets, the sequence graph, its close-ups and the last episode.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cargo run --quiet -p tcplab -- run interruption --world sim --case reno_550ms --trial 1 --runs "$folder"
page=$(ls "$folder"/interruption/*/report.html)
cat >> "$page" << 'END'
<script>
const all = selector => [...document.querySelectorAll(selector)];
const closeUps = all(".close-up")[0].parentElement;
const parts = [all(".trial figure")[0], closeUps, all(".episode").at(-1)];
document.documentElement.dataset.theme = "light";
document.body.replaceChildren(...parts);
document.body.style.cssText = "padding: 0 2rem; max-width: none";
</script>
END
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1480 \
    --virtual-time-budget=5000 --screenshot=docs/report.png "file://$page"
