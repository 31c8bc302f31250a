// @ts-check
// A test of a path by RFC 6349: what the path is, and TCP's throughput over a sweep of windows.

import { address, get, post } from "./api.js";
import { bytes, duration, el, rate, rounded, show } from "./dom.js";
import { CONGESTIONS, WORLDS, choice, number } from "./fields.js";
import { factors, figure, linear, logarithmic, shape, steps, text } from "./figure.js";
import { earlier, follow } from "./follow.js";
import { pathChoice } from "./path_choice.js";

const PARTS = {
  "rfc6349-baseline": "Path MTU, round trip and bottleneck", baseline: "Path MTU, round trip and bottleneck",
  "rfc6349-windows": "One connection, over a sweep of windows", "rfc6349-connections": "Several connections",
};

/** @type {import("./app.js").Page} */
export const rfc6349 = async (place, query) => {
  const id = query.get("id");
  return id ? result(place, Number(id)) : form(place);
};

/** @param {HTMLElement} place */
const form = async (place) => {
  const [{ paths }, list] = await Promise.all([get("/api/paths"), earlier("rfc6349")]);
  const state = {
    what: "path", path: { preset: "dsl-25", set: {} }, target: "", direction: "upload",
    seconds: 10, connections: 4, trials: 1, congestion: "", world: "sim",
  };
  const box = el("div", {});
  const where = el("span", {});
  const refusal = el("p", { role: "alert", class: "warnings" });
  const start = el("button", { class: "primary" }, "Test");
  const draw = () => {
    const isPath = state.what === "path";
    show(box, isPath ? pathChoice(paths, state.path)
      : el("div", {}, el("p", { class: "fields" }, el("label", {}, "Address and port of a discard server ",
        el("input", { type: "text", required: true, placeholder: "192.0.2.7:5001", value: state.target, maxlength: 60, "aria-label": "Address and port", oninput: (/** @type {any} */ event) => { state.target = event.target.value.trim(); } }))),
      el("p", { class: "meta" }, "Some ten transfers go to that host, and nothing else. Start ", el("code", {}, "tcplab server --service discard --address … --port …"), " there.")));
    show(where, ...(isPath ? [
      choice("Direction", [["upload", "from client to server"], ["download", "from server to client"]], state.direction, (it) => { state.direction = it; }), " ",
      choice("Where it is tested", WORLDS, state.world, (it) => { state.world = it; })] : []));
  };
  draw();
  const begin = async () => {
    start.disabled = true;
    const { seconds, trials, connections, congestion, world } = state;
    const isPath = state.what === "path";
    try {
      const job = await post("/api/jobs", {
        do: "rfc6349", of: isPath ? { what: "path", ...state.path } : { what: "target", address: state.target },
        seconds, trials, connections, ...(congestion && { congestion }),
        ...(isPath && { world, download: state.direction === "download" }),
      });
      location.hash = address("/rfc6349", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };
  show(place,
    el("header", {}, el("h1", {}, "Test a path by RFC 6349"),
      el("p", { class: "lead" }, "What a path can carry, and what TCP makes of it: with one connection over a sweep of windows, and with several.")),
    el("form", { class: "ask", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); begin(); } },
      el("p", { class: "sentence" }, "Test ", choice("What is tested", [["path", "a path with a name"], ["target", "the path to another host"]], state.what, (it) => { state.what = it; draw(); })),
      box,
      el("p", { class: "fields" },
        el("label", {}, "Duration of a transfer ", number("Duration, s", state.seconds, 0.5, 600, (it) => { state.seconds = it; }, "any"), " s"),
        el("label", {}, "Connections at most ", number("Connections", state.connections, 1, 64, (it) => { state.connections = it; })),
        el("label", {}, "Trials of each ", number("Trials", state.trials, 1, 99, (it) => { state.trials = it; })),
        el("label", {}, "Congestion control ", choice("Congestion control", [["", "the system's own"], ...CONGESTIONS.slice(1)], state.congestion, (it) => { state.congestion = it; }))),
      el("div", { class: "begin" }, start, where), refusal),
    list || null);
};

/** @param {HTMLElement} place @param {number} id */
const result = async (place, id) => {
  const job = await get(`/api/jobs/${id}`);
  const progress = el("section", { class: "job" });
  const first = el("section", {}), sweep = el("section", {}), runs = el("section", {});
  show(place, el("header", {}, el("h1", {}, "Test by RFC 6349")), progress, first, sweep, runs, el("p", {}, el("a", { href: "#/rfc6349" }, "Another test")));
  /** @type {any} */
  let known;
  /** @type {any[]} */
  let rows = [];
  /** @type {string[]} */
  const made = [];
  return follow(progress, job, {
    parts: PARTS,
    told: (event) => {
      if (event.event === "begun") made.push(event.run);
      if (event.event === "baseline") {
        known = event;
        show(first, ...baseline(event));
      }
      if (event.event === "measured") {
        rows = [...rows, ...event.rows];
        show(sweep, ...measured(known, rows, []));
      }
      if (event.event === "finished") {
        rows = event.result.rows;
        show(sweep, ...measured(known, rows, event.result.summary));
        if (made.length) show(runs, el("h2", {}, "Runs"), el("ul", { class: "earlier" }, ...made.map((run) => el("li", {}, el("a", { href: `#${address("/run", { run })}` }, run)))));
      }
    },
  });
};

/** What the first steps found, each with what it means. @param {any} it */
const baseline = ({ of, baseline: seen, bdp_bytes: bdp, best_bits_per_second: best }) => {
  const { asked } = seen;
  const steps = [
    ["Path MTU", `${seen.mtu_bytes} B`, asked && `${asked.mtu_bytes} B`, "The largest packet that passes whole."],
    ["Baseline RTT", duration(seen.rtt_ns / 1e9), asked && `${duration(asked.rtt_ns / 1e9)} in the mean`, `The least round trip of a full segment while nothing waits in a queue; the mean was ${duration(seen.rtt_mean_ns / 1e9)}.`],
    ["Bottleneck", rate(seen.rate_bits_per_second), asked?.rate_bits_per_second && rate(asked.rate_bits_per_second), seen.peak_rate_bits_per_second ? `The mean rate of the slowest link, with headers; at most ${rate(seen.peak_rate_bits_per_second)}.` : "The rate of the slowest link, with headers: nothing on this path is faster."],
    ["Bandwidth-delay product", bytes(bdp), null, "What is under way when the path is full. Windows and buffers need this much at least."],
    ["Ideal goodput", rate(best), null, `What is left for data: segments of ${seen.segment_bytes} B, without headers.`],
  ];
  return [el("h2", {}, of), el("dl", { class: "meanings" }, ...steps.map(([name, value, configured, meaning]) => el("div", {},
    el("dt", {}, name), el("dd", {}, el("b", {}, value), configured && el("span", { class: "meta" }, ` configured: ${configured}`), el("p", {}, meaning)))))];
};

/** @param {any} known @param {any[]} rows @param {string[]} summary */
const measured = (known, rows, summary) => [
  el("h2", {}, "Throughput against window"),
  ...summary.map((sentence) => el("p", { class: "answer" }, sentence)),
  el("p", { class: "explain", "aria-hidden": "true" },
    el("span", { class: "key" }, el("i", { class: "dot data" }), "one connection"), " ", el("span", { class: "key" }, el("i", { class: "dot ring" }), "several"), " ",
    el("span", { class: "key" }, el("i", { class: "plot-muted" }), "ideal for this window")),
  sweepFigure(known, rows),
  el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of throughput" }, el("table", { class: "gains" },
    el("thead", {}, el("tr", {}, ...["connections", "window of each", "offered each", "ideal", "measured", "transfer time ratio", "efficiency", "buffer delay"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.connections), el("td", {}, bytes(row.window_bytes)),
      el("td", {}, row.offered_window_bytes ? bytes(row.offered_window_bytes) : "–"), el("td", {}, rate(row.ideal_bits_per_second)), el("td", {}, rate(row.goodput_mbit_per_second * 1e6)), el("td", {}, row.transfer_time_ratio.toFixed(2)),
      el("td", {}, `${row.efficiency_percent.toFixed(2)} %`), el("td", {}, `${row.buffer_delay_percent.toFixed(0)} %`)))))),
  el("dl", { class: "meanings" }, ...[
    ["TCP transfer time ratio", "The time a transfer takes over the time it would take at the ideal goodput of the path: 1 is best, 2 is twice as long (section 4.1)."],
    ["TCP efficiency", "The share of bytes that were not retransmitted: below 100 % the path loses packets (section 4.2)."],
    ["Buffer delay", "How much longer than the baseline a round trip is during the transfer: 100 % is twice as long. It is time in queues, where the delay of the path is steady (section 4.3)."],
  ].map(([name, meaning]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("p", {}, meaning))))),
];

/** @param {any} known @param {any[]} rows */
const sweepFigure = (known, rows) => {
  // What was offered may be used: the ideal goodput is that of these windows.
  const each = (/** @type {any} */ row) => row.offered_window_bytes ?? row.window_bytes;
  const total = (/** @type {any} */ row) => row.connections * each(row);
  const label = `Goodput against window: ${rows.map((row) => `${row.connections} × ${bytes(each(row))} ${rounded(row.goodput_mbit_per_second)} of ${rounded(row.ideal_bits_per_second / 1e6)} Mbit/s`).join("; ")}`;
  return figure(label, (width) => {
    const height = 300, left = 46, right = 12, top = 26, bottom = 42;
    const windows = [...rows.map(total), known.bdp_bytes];
    const [least, most] = [Math.min(...windows) / 1.3, Math.max(...windows) * 1.3];
    const high = Math.max(known.best_bits_per_second / 1e6, ...rows.map((row) => row.goodput_mbit_per_second)) * 1.08;
    const x = logarithmic(least, most, left, width - right), y = linear(0, high, height - bottom, top);
    const best = known.best_bits_per_second / 1e6;
    const corner = known.best_bits_per_second * known.baseline.rtt_ns / 8e9;
    const curve = Array.from({ length: 60 }, (_, index) => least * (most / least) ** (index / 59));
    const ideal = [...curve, corner].sort((one, other) => one - other).filter((it) => it >= least && it <= most).map((bytesInFlight) => `${x(bytesInFlight).toFixed(1)} ${y(Math.min(best, best * bytesInFlight / corner)).toFixed(1)}`);
    return { height, shapes: [
      ...steps(high, 5).flatMap((value) => [shape("path", { d: `M${left} ${y(value)}H${width - right}`, class: "rule" }), text(left - 6, y(value) + 4, rounded(value), "end")]),
      text(0, 12, "goodput, Mbit/s"), text(width - right, height - 4, "windows offered, of all connections", "end"),
      ...factors(least, most, width < 500 ? 4 : 9).map((value) => text(x(value), height - bottom + 17, bytes(value), "middle")),
      shape("path", { d: `M${x(known.bdp_bytes)} ${top}V${height - bottom}`, class: "mark" }), text(x(known.bdp_bytes) + 5, top - 2, "bandwidth-delay product", x(known.bdp_bytes) > width * 0.6 ? "end" : "start"),
      shape("path", { d: `M${ideal.join("L")}`, class: "ideal" }),
      ...rows.map((row) => shape("circle", { cx: x(total(row)), cy: y(row.goodput_mbit_per_second), r: 5, class: row.connections > 1 ? "ring" : "dot" })),
    ] };
  }).element;
};
