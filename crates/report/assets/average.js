"use strict";
// The graph of throughput of a capture, averaged over a span that the reader chooses.

/** Amounts as written by the report crate: microseconds and bytes, rising. */
function amountsOf(numbers) {
  const at = [], bytes = [];
  for (let i = 0, now = 0; i < numbers.length; i += 2) {
    at.push(now += numbers[i]);
    bytes.push(numbers[i + 1]);
  }
  return { at, bytes };
}

/** Bits per microsecond of the `span` microseconds up to each time at which it changes, as in the plot crate. */
function movingAverage({ at, bytes }, span) {
  const times = [], rates = [];
  let coming = 0, going = 0, inside = 0;
  while (going < at.length) {
    const now = Math.min(at[coming] ?? Infinity, at[going] + span);
    while (at[coming] === now) inside += bytes[coming++];
    while (going < coming && at[going] + span <= now) inside -= bytes[going++];
    times.push(now);
    rates.push((inside * 8) / span);
  }
  return { times, rates };
}

/** Twice what is usual: a burst into an empty queue must not flatten the rest. */
function upperEdge(lines) {
  const rates = lines.flatMap((line) => line.rates).sort((a, b) => a - b);
  if (rates.length === 0) return 1;
  const usual = rates[Math.floor((rates.length * 95) / 100)] * 2;
  return Math.min(rates.at(-1), usual || Infinity) * 1.06 || 1;
}

/** A path of steps on the graph's plane; steps closer than an eighth of a pixel become one stroke. */
function stepsPath({ times, rates }, graph, high) {
  const [columns, rows] = graph.units;
  const column = Math.max(1, Math.round(columns / 8000));
  const x = (micros) => Math.round(((micros / 1e6) / (graph.x[1] - graph.x[0])) * columns); // beyond the edge, too
  const y = (rate) => Math.round((1 - rate / high) * rows);
  let d = "", pen = null;
  const up = (to) => { if (to !== pen.y) d += `v${to - pen.y}`; pen.y = to; };
  for (let i = 0; i < times.length;) {
    const from = x(times[i]);
    let low = Infinity, top = -Infinity, last = 0;
    for (; i < times.length && x(times[i]) - from < column; i++) {
      last = y(rates[i]);
      [low, top] = [Math.min(low, last), Math.max(top, last)];
    }
    if (!pen) { pen = { x: from, y: low }; d = `M${from} ${low}`; }
    else if (from > pen.x) { d += `h${from - pen.x}`; pen.x = from; }
    if (low !== top) for (const to of [low, top]) up(to);
    up(last);
  }
  return d;
}

/** Makes the control of a direction's throughput draw it anew. */
function averageWith(control) {
  const group = groups.get(control.closest(".graphs"));
  const graph = group?.graphs.find((it) => it.figure === control.previousElementSibling);
  if (!graph || !("DecompressionStream" in window)) return;
  const input = control.querySelector("input"), fault = control.querySelector(".fault");
  let amounts = null;
  const draw = async () => {
    const span = input.valueAsNumber;
    fault.textContent = input.checkValidity() ? "" : `Use ${input.min} to ${input.max} seconds.`;
    if (fault.textContent) return;
    amounts ??= unpacked(control.querySelector(".amounts").textContent)
      .then((bytes) => Object.entries(JSON.parse(new TextDecoder().decode(bytes))).map(([name, numbers]) => [name, amountsOf(numbers)]));
    const lines = (await amounts).map(([name, all]) => [name, movingAverage(all, span * 1e6)]);
    if (span !== input.valueAsNumber) return; // typed on meanwhile
    drawAverage(graph, lines, `Throughput, moving average over ${span} s`);
    group.later();
  };
  input.addEventListener("input", draw);
  control.hidden = false;
}

function drawAverage(graph, lines, title) {
  const high = upperEdge(lines.map(([, line]) => line));
  graph.y = [0, high];
  graph.svg.dataset.y = `0 ${high}`;
  graph.chosenY = null;
  const peaks = [];
  for (const [name, line] of lines) {
    const path = graph.plane.querySelector(`path.${name}`);
    if (!path) continue;
    path.setAttribute("d", stepsPath(line, graph, high));
    const peak = line.rates.reduce((most, rate) => Math.max(most, rate), 0);
    const key = graph.figure.querySelector(`[data-layer="${name}"]`);
    const label = key.textContent.replace(/ \(up to .*/, ""), size = `${decimal(peak, peak < 10 ? 2 : peak < 100 ? 1 : 0)} ${graph.unit}`;
    key.textContent = peak > high ? `${label} (up to ${size})` : label;
    peaks.push(`${label} max ${size}`);
  }
  graph.layers = null;
  graph.figure.querySelector(".title").textContent = title;
  graph.svg.setAttribute("aria-label", `${title}: ${peaks.join("; ")}.`);
}
