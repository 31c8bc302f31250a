// @ts-check
// Settings for a path, a capture or a run: recommended, tried, and the gain as it was measured.

import { address, get, post } from "./api.js";
import { bytes, command, duration, el, rate, rounded, show } from "./dom.js";
import { CONGESTIONS, WORLDS, choice, number } from "./fields.js";
import { figure, linear, shape, text } from "./figure.js";
import { earlier, follow } from "./follow.js";
import { pathChoice } from "./path_choice.js";

const KINDS = [["path", "a path with a name"], ["figures", "a path by its numbers"], ["capture", "a capture"], ["run", "a run"]];
const PARTS = {
  "advise-transfer": "A transfer, before and with the settings",
  "advise-queue": "A transfer, with the usual and with a managed queue",
  "advise-requests": "Requests, before and with the settings",
  "advise-buffers": "The fewest buffers",
};
const VERDICTS = /** @type {Record<string, string>} */ ({
  better: "Recommended: it is better.", worse: "Not recommended: it is worse here.",
  mixed: "A trade-off: one value becomes better, the other worse.", open: "No significant difference; more trials may show one.",
});
const METRICS = /** @type {Record<string, string>} */ ({ "rtt.mean": "RTT, mean", median_response: "response time, median", p99_response: "response time, p99" });

/** @type {import("./app.js").Page} */
export const advice = async (place, query) => {
  const id = query.get("id");
  return id ? result(place, Number(id)) : form(place, query);
};

/** @param {HTMLElement} place @param {URLSearchParams} query */
const form = async (place, query) => {
  const [{ paths }, { captures }, { runs }, list] = await Promise.all([
    get("/api/paths"), get("/api/captures"), get("/api/runs"), earlier("advise")]);
  const finished = runs.filter((/** @type {any} */ it) => it.is_finished);
  const state = {
    kind: query.get("capture") ? "capture" : query.get("run") ? "run" : "path",
    path: { preset: "lte", set: {} },
    rtt: 40, rate: 50, loss: 0, queue: 40,
    capture: query.get("capture") ?? captures[0]?.id ?? "", file: "",
    run: query.get("run") ?? finished[0]?.run ?? "",
    goal: "both", stack: "", trials: 10, payload: 0, congestion: "", world: "sim",
  };
  const source = () => /** @type {Record<string, () => unknown>} */ ({
    path: () => ({ of: "path", ...state.path }),
    figures: () => ({ of: "figures", rtt: `${state.rtt} ms`, rate: `${state.rate} Mbit/s`, queue: `${state.queue} ms`, ...(state.loss > 0 && { loss: `${state.loss} %` }) }),
    capture: () => ({ of: "capture", id: state.capture, ...(state.file && { file: state.file }) }),
    run: () => ({ of: "run", run: state.run }),
  })[state.kind]?.();
  const box = el("div", {});
  const refusal = el("p", { role: "alert", class: "warnings" });
  const start = el("button", { class: "primary" }, "Advise");
  const drawSource = () => {
    start.disabled = (state.kind === "capture" && !state.capture) || (state.kind === "run" && !state.run);
    if (state.kind === "path") show(box, pathChoice(paths, state.path));
    if (state.kind === "figures") show(box, el("p", { class: "fields" },
      el("label", {}, "Round trip ", number("Round trip, ms", state.rtt, 0.001, 60000, (it) => { state.rtt = it; }, "any"), " ms"),
      el("label", {}, "Bottleneck ", number("Bottleneck, Mbit/s", state.rate, 0.001, 100000, (it) => { state.rate = it; }, "any"), " Mbit/s"),
      el("label", {}, "Random loss ", number("Random loss, %", state.loss, 0, 100, (it) => { state.loss = it; }, "any"), " %"),
      el("label", {}, "Delay of the full queue ", number("Delay of the full queue, ms", state.queue, 0, 60000, (it) => { state.queue = it; }, "any"), " ms")));
    if (state.kind === "capture") show(box, ...captureChoice());
    if (state.kind === "run") show(box, finished.length
      ? el("p", {}, choice("Run", finished.map((/** @type {any} */ it) => [it.run, `${it.title ?? it.name}, ${new Date(it.started).toLocaleString()}`]), state.run, (it) => { state.run = it; }))
      : el("p", { class: "meta" }, "No run is finished yet."));
  };
  const captureChoice = () => {
    const file = el("span", {});
    const drawFiles = () => {
      const files = captures.find((/** @type {any} */ it) => it.id === state.capture)?.files ?? [];
      state.file = files.length > 1 ? files[0].name : "";
      show(file, files.length > 1 && choice("File", files.map((/** @type {any} */ it) => [it.name, it.name]), state.file, (it) => { state.file = it; }));
    };
    drawFiles();
    return [captures.length
      ? el("p", {}, choice("Capture", captures.map((/** @type {any} */ it) => [it.id, it.files.map((/** @type {any} */ of) => of.name).join(" + ")]), state.capture, (it) => { state.capture = it; drawFiles(); }), file)
      : el("p", { class: "meta" }, "No capture yet: ", el("a", { href: "#/capture" }, "bring one"), "."),
    el("p", { class: "meta" }, "The connection with most data is improved.")];
  };
  drawSource();
  const trials = number("Trials", state.trials, 0, 999, (it) => { state.trials = it; });
  trials.addEventListener("input", () => trials.setCustomValidity(trials.value === "1" ? "0, or 2 to 999: one trial shows no spread" : ""));
  const begin = async () => {
    start.disabled = true;
    try {
      const job = await post("/api/jobs", {
        do: "advise", from: source(), goal: state.goal, trials: state.trials, world: state.world,
        ...(state.stack && { stack: state.stack }), ...(state.congestion && { congestion: state.congestion }),
        ...(state.payload > 0 && { payload: `${state.payload} MB` }),
      });
      location.hash = address("/advice", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };
  show(place,
    el("header", {}, el("h1", {}, "Advice"),
      el("p", { class: "lead" }, "Which settings suit a path, why, and what they gain: the same transfers are made before and with them.")),
    el("form", { class: "ask", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); begin(); } },
      el("p", { class: "sentence" }, "Settings for ", choice("What advice is for", KINDS, state.kind, (it) => { state.kind = it; drawSource(); }),
        ", for ", choice("Goal", [["both", "goodput and short response times"], ["throughput", "high goodput"], ["latency", "short response times"]], state.goal, (it) => { state.goal = it; })),
      box,
      el("p", { class: "fields" },
        el("label", {}, "Trials before and with them ", trials),
        el("label", {}, "Congestion control today ", choice("Congestion control today", CONGESTIONS, state.congestion, (it) => { state.congestion = it; })),
        el("label", {}, "Stack ", choice("Stack", [["", "Linux"], ["netburner", "NetBurner, which counts buffers"]], state.stack, (it) => { state.stack = it; })),
        el("label", {}, "Payload of a transfer ", number("Payload, MB", state.payload, 0, 10000, (it) => { state.payload = it; }, "any"), " MB (0: as suits the path)")),
      el("div", { class: "begin" }, start, choice("Where it is tried", WORLDS, state.world, (it) => { state.world = it; })),
      el("p", { class: "meta" }, "Without trials (0) only the formulas are applied."),
      el("p", { class: "meta" }, "For a device whose TCP counts buffers, choose the stack NetBurner: how many it needs, tried in its model. What its vendor's guide says is measured in ",
        el("a", { href: `#${address("/learn", { lesson: "buffers-in-segments" })}` }, "a lesson"), "; its experiments are ",
        el("a", { href: "#/learn" }, "under Learn"), "."), refusal),
    list || null);
};

/** @param {HTMLElement} place @param {number} id */
const result = async (place, id) => {
  const job = await get(`/api/jobs/${id}`);
  const progress = el("section", { class: "job" });
  const found = el("section", {});
  const gains = el("section", { "aria-live": "polite" });
  show(place, el("header", {}, el("h1", {}, "Advice")), progress, found, gains, el("p", {}, el("a", { href: "#/advice" }, "Other advice")));
  let count = 0;
  /** @type {any[]} */
  let all = [];
  return follow(progress, job, {
    parts: PARTS,
    told: (event) => {
      if (event.event === "recommended") {
        all = event.advice;
        show(found, ...recommended(event));
      }
      if (event.event !== "tried") return;
      count += 1;
      if (count === 1) gains.append(el("h2", {}, "What they gain"));
      gains.append(tried(event, all));
    },
    ended: (end) => {
      if (end.is_finished && count === 0) show(gains, el("p", { class: "meta" }, "Nothing was tried: no trials were asked for, or none of these settings can be tried."));
    },
  });
};

/** @param {any} it */
const recommended = (it) => {
  const { situation } = it;
  const facts = [
    ["Round trip", duration(situation.rtt_ns / 1e9)],
    ["Bottleneck", situation.rate_bits_per_second && rate(situation.rate_bits_per_second)],
    ["Loss", `${rounded(situation.loss_ratio * 100)} %`],
    ["Full queue", situation.queue_ns !== null && duration(situation.queue_ns / 1e9)],
    ["Bandwidth-delay product", it.bdp_bytes !== null && bytes(it.bdp_bytes)],
    ["Ideal goodput", it.ideal_goodput_bits_per_second !== null && rate(it.ideal_goodput_bits_per_second)],
    ["Congestion control", `${situation.congestion.name ?? "unknown"} (${situation.congestion.basis})`],
  ];
  return [
    el("h2", {}, `For ${it.of}`),
    el("dl", { class: "numbers" }, ...facts.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    ...it.choices.map((/** @type {any} */ one) => el("p", { class: "answer" },
      `${one.levels.length ? one.levels.map((/** @type {string[]} */ pair) => pair.join(" = ")).join(", ") : one.best}: best ${named(one.metric)}, median ${rounded(one.median)} ${one.unit}.`,
      one.as_good.length > 0 && ` No significant difference to ${one.as_good.join(", ")}.`)),
    it.incomparable.length > 0 && el("p", { class: "meta" }, `Not compared, as no other does the same over the same path: ${it.incomparable.join(", ")}.`),
    it.unknown && el("p", {}, it.unknown),
    !it.unknown && it.advice.length === 0 && el("p", {}, `No recommendations${situation.congestion.name ? ": the settings are as good as the formulas allow" : ""}.`),
    el("ol", { class: "advice" }, ...it.advice.map((/** @type {any} */ one) => el("li", {},
      el("h3", {}, one.what), el("p", {}, one.why),
      ...one.how.map(typed),
      one.expected && el("p", { class: "meta" }, `Expected: ${named(one.expected.metric)} ${rounded(one.expected.before)} → ${rounded(one.expected.after)} ${one.expected.unit}.`),
      el("p", { class: "meta" }, `Basis: ${one.basis}.`)))),
  ];
};

/** A setting as it is typed, or words about it. @param {string} line */
const typed = (line) => /^(sysctl|tc|ip|setsockopt|echo|ethtool|SO_|TCP_|net\.)/.test(line) ? command(line) : el("p", { class: "meta" }, line);
const named = (/** @type {string} */ metric) => METRICS[metric] ?? metric.replace(/[_.]/g, " ");
const factor = (/** @type {number} */ it) => `× ${it.toFixed(Math.abs(it - 1) < 0.1 ? 3 : 2)}`;

/** @param {any} it @param {any[]} all the advice */
const tried = (it, all) => el("article", { class: "gain" },
  ...it.tries.map((/** @type {string} */ id) => el("h3", {}, all.find((one) => one.id === id)?.what ?? id)),
  el("p", { class: "answer" }, VERDICTS[it.verdict]),
  gainFigure(it.gains),
  el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of gain" }, el("table", { class: "gains" },
    el("thead", {}, el("tr", {}, ...["value", "before", "with it", "times as good", "95 % interval", "95 % of single pairs", "pairs"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...it.gains.map((/** @type {any} */ gain) => el("tr", {},
      el("th", { scope: "row" }, named(gain.metric)),
      el("td", {}, `${rounded(gain.before)} ${gain.unit}`), el("td", {}, `${rounded(gain.after)} ${gain.unit}`),
      el("td", {}, factor(gain.factor)), el("td", {}, gain.interval ? gain.interval.map(factor).join(" to ") : "one pair"),
      el("td", {}, gain.single ? gain.single.map(factor).join(" to ") : "one pair"), el("td", {}, gain.pairs)))))),
  el("p", { class: "meta" }, `${it.trials} trials each, ${it.world === "sim" ? "in virtual time" : "on this machine's kernel"}, under the same impairments${it.flawed ? `; ${it.flawed} with warnings` : ""}. `,
    el("a", { href: `#${address("/run", { run: it.run })}` }, "The run with all packets")),
  it.by_hand && el("details", {}, el("summary", {}, "Try it by hand"), ...it.by_hand.map(command)));

/** Where the value with the settings lies, by the gain's interval. @param {any} gain */
const interval = (gain) => {
  if (!gain.interval) return null;
  const [low, high] = gain.interval;
  // A gain is the factor by which a value became better: larger, or smaller.
  const grew = Math.abs(gain.after / gain.before - gain.factor) <= Math.abs(gain.before / gain.after - gain.factor);
  return grew ? [gain.before * low, gain.before * high] : [gain.before / high, gain.before / low];
};

/** Two bars for each value, from zero; a line shows the interval. @param {any[]} gains */
const gainFigure = (gains) => {
  const label = gains.map((it) => `${named(it.metric)} ${rounded(it.before)} before, ${rounded(it.after)} ${it.unit} with it`).join("; ");
  return figure(label, (width) => {
    const room = 112, left = 54, shapes = [], each = 74;
    for (const [index, gain] of gains.entries()) {
      const top = index * each, ends = interval(gain);
      const x = linear(0, Math.max(gain.before, gain.after, ends?.[1] ?? 0), left, width - room);
      shapes.push(text(0, top + 13, named(gain.metric), "start", "strong"));
      for (const [row, [name, value]] of [["before", gain.before], ["with it", gain.after]].entries()) {
        const y = top + 22 + row * 22;
        shapes.push(text(left - 6, y + 13, String(name), "end"),
          shape("rect", { x: left, y, width: Math.max(1, x(Number(value)) - left), height: 16, class: row ? "after" : "before" }),
          text(Math.max(x(Number(value)), row && ends ? x(ends[1]) : 0) + 8, y + 13, `${rounded(Number(value))} ${gain.unit}`));
      }
      if (ends) {
        const [from, until] = ends.map(x), y = top + 52;
        shapes.push(shape("path", { d: `M${from} ${y - 4}v8M${from} ${y}H${until}M${until} ${y - 4}v8`, class: "whisker" }));
      }
    }
    return { height: gains.length * each, shapes };
  }).element;
};
