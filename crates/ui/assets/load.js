// @ts-check
// Load on servers: latencies as they come, and several designs beside one another.

import { address, get, post } from "./api.js";
import { duration, el, rounded, show } from "./dom.js";
import { choice, number } from "./fields.js";
import { factors, figure, linear, logarithmic, shape, steps, text } from "./figure.js";
import { earlier, follow } from "./follow.js";

const DESIGNS = [
  ["iterative", "one connection after the other"], ["fork", "a process for each connection"],
  ["prefork", "a fixed number of processes"], ["thread", "a thread for each connection"],
  ["thread-pool", "a fixed number of threads"], ["epoll", "event loops, on readiness"], ["io-uring", "event loops, on completion"],
];

/** @type {import("./app.js").Page} */
export const load = async (place, query) => {
  const id = query.get("id");
  return id ? result(place, Number(id)) : form(place);
};

/** @param {HTMLElement} place */
const form = async (place) => {
  const list = await earlier("load");
  const state = { what: "servers", designs: new Set(["fork", "epoll"]), kind: "echo", bytes: 1000, url: "", connections: 50, seconds: 5, isOpen: false, rate: 1000, keeps: true };
  const box = el("div", {}), pace = el("span", {}), paceRate = el("span", {});
  const refusal = el("p", { role: "alert", class: "warnings" });
  const start = el("button", { class: "primary" }, "Start");
  const draw = () => {
    start.disabled = state.what === "servers" && state.designs.size === 0;
    show(box, ...(state.what === "servers" ? [
      el("div", { class: "levels-choice", role: "group", "aria-label": "Designs" }, ...DESIGNS.map(([name, about]) => el("label", { class: "chip", title: about },
        el("input", { type: "checkbox", "aria-label": name, checked: state.designs.has(name), onchange: (/** @type {any} */ event) => {
          if (event.target.checked) state.designs.add(name); else state.designs.delete(name);
          start.disabled = state.designs.size === 0;
        } }), el("span", {}, name, el("small", { class: "meta" }, ` ${about}`))))),
      el("p", { class: "fields" }, el("label", {}, "They ", choice("Service", [["echo", "echo messages"], ["http", "serve a file over HTTP"]], state.kind, (it) => { state.kind = it; }), " of "),
        el("label", {}, number("Size, bytes", state.bytes, 1, 10_000_000, (it) => { state.bytes = it; }), " bytes")),
      el("p", { class: "meta" }, "Each server runs on this machine alone, for its load, one after the other."),
    ] : [
      el("p", { class: "fields" }, el("label", {}, "Address ", el("input", { type: "text", size: 40, required: true, maxlength: 300, placeholder: "http://127.0.0.1:8080/", "aria-label": "Address", value: state.url, oninput: (/** @type {any} */ event) => { state.url = event.target.value.trim(); } }))),
      el("p", { class: "meta" }, "http://HOST[:PORT]/PATH or echo://HOST:PORT. Load only servers that are yours."),
    ]));
  };
  const drawRate = () => show(paceRate, state.isOpen && el("span", {}, " ", number("Requests a second", state.rate, 1, 1e6, (it) => { state.rate = it; }), " a second"));
  show(pace, choice("Pace", [["closed", "as fast as answers come"], ["open", "at a constant rate of"]], "closed", (it) => { state.isOpen = it === "open"; drawRate(); }), paceRate);
  draw();
  const begin = async () => {
    start.disabled = true;
    const designs = DESIGNS.map(([name]) => name).filter((name) => state.designs.has(name));
    try {
      const job = await post("/api/jobs", {
        do: "load", on: state.what === "servers" ? { what: "servers", designs, bytes: state.bytes, http: state.kind === "http" } : { what: "url", url: state.url },
        connections: state.connections, seconds: state.seconds, no_keep_alive: !state.keeps, ...(state.isOpen && { rate: state.rate }),
      });
      location.hash = address("/load", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };
  show(place,
    el("header", {}, el("h1", {}, "Servers and load"),
      el("p", { class: "lead" }, "How long answers take while a server works hard: designs of servers under the same load, or a server of yours.")),
    el("form", { class: "ask", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); begin(); } },
      el("p", { class: "sentence" }, "Load ", choice("What is loaded", [["servers", "servers of these designs"], ["url", "the server at an address"]], state.what, (it) => { state.what = it; draw(); })),
      box,
      el("p", { class: "fields" },
        el("label", {}, "Connections ", number("Connections", state.connections, 1, 1000, (it) => { state.connections = it; })),
        el("label", {}, "Duration of each load ", number("Duration, s", state.seconds, 1, 60, (it) => { state.seconds = it; }), " s"),
        el("span", {}, "Requests ", pace),
        el("label", {}, el("input", { type: "checkbox", checked: state.keeps, onchange: (/** @type {any} */ event) => { state.keeps = event.target.checked; } }), " keep connections")),
      el("div", { class: "begin" }, start), refusal),
    list || null);
};

/** @param {HTMLElement} place @param {number} id */
const result = async (place, id) => {
  const job = await get(`/api/jobs/${id}`);
  const progress = el("section", { class: "job" });
  const pictures = el("section", {}), table = el("section", {}), notes = el("ul", { class: "warnings" });
  show(place, el("header", {}, el("h1", {}, "Load")), progress, pictures, table, notes, el("p", {}, el("a", { href: "#/load" }, "Another load")));
  /** @type {any[]} */
  const loads = [];
  const latencies = figure("Latencies of each server as a histogram: the numbers are in the table", (width) => drawLatencies(loads, width));
  const rates = figure("Requests a second of each server over time: the numbers are in the table", (width) => drawRates(loads, width));
  show(pictures, el("h2", {}, "Latency"), latencies.element, el("h2", {}, "Requests a second"), rates.element);
  pictures.hidden = true;
  const draw = () => {
    pictures.hidden = loads.length === 0;
    if (loads.length === 0) return;
    latencies.redraw();
    rates.redraw();
    show(table, tableOf(loads));
  };
  return follow(progress, job, {
    parts: Object.fromEntries(DESIGNS.map(([name, about]) => [name, `${name}: ${about}`])),
    told: (event) => {
      if (event.event === "part") loads.push({ name: event.name, waits: true });
      if (event.event !== "progress" && event.event !== "loaded") return;
      const index = Math.max(0, loads.length - 1);
      loads[index] = { ...event, name: event.name ?? loads[index]?.name ?? event.target };
      for (const warning of event.outcome?.warnings ?? []) notes.append(el("li", {}, `${loads[index].name}: ${warning}`));
      draw();
    },
  });
};

const seen = (/** @type {any[]} */ loads) => loads.filter((it) => !it.waits);

/** Quantiles and answers of a load: while it runs those of the histogram, to 25 %; then exact. @param {any} it */
const numbersOf = ({ outcome, ...it }) => outcome ? { ...outcome.latency, requests: outcome.requests }
  : { p50_ns: it.latency_p50_ns, p90_ns: it.latency_p90_ns, p99_ns: it.latency_p99_ns, max_ns: null, requests: it.requests };
const ROW = 92;

/** A row for each server: bars for the shares of latencies, marks for quantiles. @param {any[]} loads @param {number} width */
const drawLatencies = (loads, width) => {
  const all = seen(loads).flatMap((it) => it.latency_buckets);
  const shapes = [], left = 4, right = width - 12;
  if (all.length === 0) return { height: 20, shapes: [text(0, 14, "No answers yet.")] };
  const ends = all.map(([end]) => end);
  const [least, most] = [Math.min(...ends) / 1.6, Math.max(...ends) * 1.1];
  const x = logarithmic(least, most, left, right);
  for (const [index, it] of seen(loads).entries()) {
    const top = index * ROW, base = top + 82;
    const { p50_ns, p99_ns, requests } = numbersOf(it);
    const largest = Math.max(1, ...it.latency_buckets.map((/** @type {number[]} */ bucket) => bucket[1]));
    const height = linear(0, largest, 0, 44);
    shapes.push(text(left, top + 14, it.name, "start", "strong"),
      text(right, top + 14, `p50 ${time(p50_ns)}, p99 ${time(p99_ns)}, ${requests.toLocaleString("en")} answers`, "end"),
      shape("path", { d: `M${left} ${base}H${right}`, class: "rule" }));
    for (const [place, [end, count]] of it.latency_buckets.entries()) {
      // What cannot be seen is not drawn.
      if (height(count) < 0.5) continue;
      const from = x(place > 0 ? it.latency_buckets[place - 1][0] : end / 1.2);
      shapes.push(shape("rect", { x: from, y: base - height(count), width: Math.max(1, x(end) - from - 0.5), height: height(count), class: "after" }));
    }
    for (const [name, at] of [["50", p50_ns], ["99", p99_ns]]) {
      if (at) shapes.push(shape("path", { d: `M${x(at)} ${base - 50}V${base}`, class: "mark" }), text(x(at), base - 52, `p${name}`, "middle"));
    }
  }
  const bottom = seen(loads).length * ROW;
  shapes.push(...factors(least, most, width < 500 ? 4 : 9).map((value) => text(x(value), bottom + 10, duration(value / 1e9), "middle")));
  return { height: bottom + 18, shapes };
};

/** A line for each server, all from zero to the same rate. @param {any[]} loads @param {number} width */
const drawRates = (loads, width) => {
  /** @type {Node[]} */
  const shapes = [];
  const left = 58, right = width - 24, each = 82;
  const most = Math.max(1, ...seen(loads).flatMap((it) => it.requests_per_second)) * 1.05;
  const count = Math.max(4, ...seen(loads).map((it) => it.requests_per_second.length));
  const step = (seen(loads)[0]?.step_ns ?? 5e8) / 1e9;
  for (const [index, it] of seen(loads).entries()) {
    const top = index * each, base = top + 74;
    const y = linear(0, most, base, top + 20), x = linear(0, count * step, left, right);
    const points = it.requests_per_second.map((/** @type {number} */ value, /** @type {number} */ at) => `${x((at + 1) * step).toFixed(1)} ${y(value).toFixed(1)}`);
    shapes.push(text(left, top + 14, it.name, "start", "strong"),
      ...steps(most, 2).flatMap((value) => [shape("path", { d: `M${left} ${y(value)}H${right}`, class: "rule" }), text(left - 6, y(value) + 4, rounded(value), "end")]),
      shape("path", { d: points.length ? `M${points.join("L")}` : "", class: "line" }));
  }
  const bottom = seen(loads).length * each;
  const x = linear(0, count * step, left, right);
  shapes.push(...steps(count * step, 5).map((value) => text(x(value), bottom + 10, `${rounded(value)} s`, "middle")));
  return { height: bottom + 18, shapes };
};

const time = (/** @type {number | null} */ nanos) => nanos === null || nanos === undefined ? "–" : duration(nanos / 1e9);

/** @param {any[]} loads */
const tableOf = (loads) => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of load" }, el("table", { class: "gains" },
  el("thead", {}, el("tr", {}, ...["server", "requests/s", "answers", "p50", "p90", "p99", "longest", "errors", "connected"].map((name) => el("th", { scope: "col" }, name)))),
  el("tbody", {}, ...seen(loads).map((it) => {
    const whole = it.outcome, { p50_ns, p90_ns, p99_ns, max_ns, requests } = numbersOf(it);
    const per = whole ? whole.requests_per_second : it.requests / (it.sending_ns / 1e9);
    const errors = whole ? Object.entries(whole.errors).map(([kind, count]) => `${count} ${kind}`).join(", ") || "none" : it.has_sent_all && it.waiting > 0 ? `${it.errors}, ${it.waiting} waiting` : it.errors;
    return el("tr", {}, el("th", { scope: "row" }, it.name), el("td", {}, rounded(per)), el("td", {}, requests.toLocaleString("en")),
      el("td", {}, time(p50_ns)), el("td", {}, time(p90_ns)), el("td", {}, time(p99_ns)), el("td", {}, whole ? time(max_ns) : ""), el("td", {}, errors), el("td", {}, it.connected));
  }))));
