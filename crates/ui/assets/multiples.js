// @ts-check
// Several trials side by side: the same quantity of each, over the same time, on the same scale.

import { address, get, listen } from "./api.js";
import { Chart, Pace, Stretch } from "./chart.js";
import { bytes, duration, el, rate, show } from "./dom.js";
import { Trial } from "./live.js";

/** As many as the server tells in one stream. */
const MOST = 12;
/** How often a run that goes on is asked which trials have begun, milliseconds. */
const ASKED_EVERY = 1000;

/** What can be shown of each. @type {Record<string, { name: string, words: (it: number) => string, of: (trial: Trial) => import("./chart.js").Series[] }>} */
const QUANTITIES = {
  throughput: { name: "Throughput", words: rate, of: (trial) => trial.main ? [trial.main.goodput] : [] },
  windows: {
    name: "In flight and windows", words: bytes,
    of: (trial) => {
      const sender = trial.main && trial.socketOf(trial.main);
      return trial.main ? [trial.main.flight, ...(sender ? [sender.cwnd, sender.ssthresh] : [])] : [];
    },
  },
  rtt: { name: "Round trip", words: duration, of: (trial) => trial.main ? [trial.socketOf(trial.main)?.rtt ?? trial.main.rtt] : [] },
  bytes: { name: "Bytes of the stream", words: bytes, of: (trial) => trial.main ? [trial.main.sent, trial.main.acknowledged] : [] },
  queue: {
    name: "Time in the queue; drops", words: duration,
    of: ({ path: { forward, reverse } }) => [forward.waited, reverse.waited, forward.drops, reverse.drops],
  },
};

/** The cases of trials, by their level of the first factor. @param {any[]} trials @returns {string[][]} */
const levelsOf = (trials) => {
  /** @type {Map<string | null, Set<string>>} */
  const levels = new Map();
  for (const { level, case: name } of trials) levels.set(level, (levels.get(level) ?? new Set()).add(name));
  return [...levels.values()].map((names) => [...names]);
};

/** At most so many, evenly from the first on. @template T @param {T[]} all @param {number} most */
const evenly = (all, most) => all.length <= most ? all : Array.from({ length: most }, (_, at) => all[Math.floor(at * all.length / most)]);

/** At most so many cases, as many of each level. @param {string[][]} levels @param {number} most */
export const spread = (levels, most) => {
  if (levels.flat().length <= most) return levels.flat();
  const shown = evenly(levels, most);
  return shown.flatMap((cases) => evenly(cases, Math.floor(most / shown.length)));
};

/** @type {import("./app.js").Page} */
export const multiples = async (place, query) => {
  const run = query.get("run") ?? "";
  /** @type {string[]} */
  const asked = JSON.parse(query.get("trials") ?? "[]").map((/** @type {[string, number]} */ one) => JSON.stringify(one));
  const key = (/** @type {any} */ trial) => JSON.stringify([trial.case, trial.number]);
  /** Those that can be watched. @type {any[]} */
  let seen = [];
  /** @type {string[]} */
  let chosen = [];
  // Until the reader chooses, the first one of each case, also of those that begin later.
  let isChosen = asked.length > 0;
  /** Cases that are watched until the reader chooses, of so many. */
  let [ofEach, ofAll] = [/** @type {string[]} */ ([]), 0];
  /** Asks which trials there are; whether there may be more later. */
  const look = async () => {
    const it = await get("/api/run", { run });
    const cases = levelsOf(it.trials.filter((/** @type {any} */ trial) => trial.state !== "failed" && trial.keeps_packets));
    [ofEach, ofAll] = [spread(cases, MOST), cases.flat().length];
    seen = it.trials.filter((/** @type {any} */ trial) => trial.state === "begun" || (trial.state === "whole" && trial.keeps_packets));
    return !it.glance.is_finished;
  };
  const firsts = () => {
    /** @type {Map<string, string>} */
    const first = new Map();
    for (const trial of seen) if (!first.has(trial.case) || chosen.includes(key(trial))) first.set(trial.case, key(trial));
    return ofEach.flatMap((name) => first.get(name) ?? []);
  };
  const stretch = new Stretch();
  const charts = el("div", { class: "multiples" });
  const told = el("p", { class: "meta", role: "status" }), part = el("p", { class: "meta" });
  const quantity = el("select", { "aria-label": "What is shown", onchange: () => build() },
    ...Object.entries(QUANTITIES).map(([value, { name }]) => el("option", { value }, name)));
  const whole = el("button", { type: "button", onclick: () => { isWhole = true; } }, "Whole");
  /** @type {Map<string, Trial>} */
  let trials = new Map();
  /** @type {{ close: () => void } | undefined} */
  let source;
  let isWhole = true, isGone = false;

  const build = () => {
    const { words, of } = QUANTITIES[quantity.value];
    stretch.charts = [];
    const figures = [...trials].map(([of_, trial]) => {
      const [name, number] = JSON.parse(of_);
      const chart = new Chart(stretch, `${name}, trial ${number}`, words, of(trial), { height: 150, most: () => highest(of) });
      chart.element.querySelector("figcaption")?.append(
        el("a", { href: `#${address("/live", { run, case: name, trial: number })}`, "aria-label": `Watch ${name}, trial ${number}` }, "Watch"));
      return chart.element;
    });
    show(charts, ...figures);
    stretch.draw();
  };
  /** The highest value that any of them has in what is shown: one scale for all. @param {(trial: Trial) => import("./chart.js").Series[]} of */
  const highest = (of) => Math.max(0, ...[...trials.values()].flatMap(of).map((one) => one.most(stretch.from, stretch.until)));

  const watch = () => {
    source?.close();
    trials = new Map(chosen.map((one) => [one, new Trial(["client", "server"])]));
    build();
    if (isChosen) history.replaceState(null, "", `#${address("/trials", { run, trials: `[${chosen.join(",")}]` })}`);
    if (chosen.length === 0) {
      told.textContent = "Choose trials below. Those whose packets are kept can be watched.";
      return;
    }
    told.textContent = "";
    source = listen(address("/api/live/several", { run, trials: `[${chosen.join(",")}]` }), {
      history: (event) => {
        const trial = trials.get(JSON.stringify([event.of.case, event.of.trial]));
        if (!trial) return;
        const before = trial.main;
        trial.take(event);
        if (trial.main !== before) build();
        stretch.draw();
      },
      over: ({ is_run_again: isAgain }) => {
        source?.close();
        if (isAgain) watch();
      },
      refused: (what) => { told.textContent = what; },
      lost: () => { told.textContent = "No connection to the server. It is looked for."; },
      found: () => { told.textContent = ""; },
    });
  };
  place.addEventListener("zoomed", () => { isWhole = false; });

  const pace = new Pace();
  const frame = (/** @type {number} */ moment) => {
    if (isGone) return;
    if (!pace.isDue(moment)) {
      requestAnimationFrame(frame);
      return;
    }
    if (isWhole) {
      const latest = Math.max(0.01, ...[...trials.values()].map((trial) => trial.latest));
      if (stretch.until !== latest || stretch.from !== 0) stretch.show(0, latest);
    }
    for (const chart of stretch.charts) chart.draw();
    requestAnimationFrame(frame);
  };

  const chips = el("div", { class: "levels-choice" });
  /** @param {any} trial */
  const chip = (trial) => el("label", { class: "chip" },
    el("input", {
      type: "checkbox", value: key(trial), checked: chosen.includes(key(trial)),
      onchange: (/** @type {any} */ event) => {
        const others = chosen.filter((one) => one !== key(trial));
        chosen = event.target.checked ? [...others, key(trial)] : others;
        event.target.checked = chosen.length <= MOST && event.target.checked;
        chosen = chosen.slice(0, MOST);
        isChosen = true;
        part.textContent = "";
        watch();
      },
    }), `${trial.case}, ${trial.number}`);
  /** Offers what there is. Those that were offered stay, and with them what has the focus. */
  const offer = () => {
    part.textContent = isChosen || ofEach.length === ofAll ? "" : `${ofEach.length} of ${ofAll} cases; choose others below.`;
    const there = new Map([...chips.querySelectorAll("input")].map((input) => [input.value, input]));
    seen.forEach((trial, at) => {
      const input = there.get(key(trial));
      if (input) input.checked = chosen.includes(key(trial));
      else chips.insertBefore(chip(trial), chips.children[at] ?? null);
    });
  };
  /** While the run goes on. */
  const again = async () => {
    if (isGone) return;
    let goesOn = true;
    try {
      goesOn = await look();
    } catch {
      // The server may come back.
    }
    if (isGone) return;
    const before = chosen.join();
    if (!isChosen) chosen = firsts();
    if (chosen.join() !== before) watch();
    offer();
    if (goesOn) setTimeout(again, ASKED_EVERY);
  };

  const goesOn = await look();
  chosen = isChosen ? seen.map(key).filter((one) => asked.includes(one)).slice(0, MOST) : firsts();
  show(place,
    el("header", {}, el("h1", {}, "Trials side by side"),
      el("p", { class: "meta" }, el("a", { href: `#${address("/run", { run })}` }, run))),
    el("div", { class: "live-controls", role: "group", "aria-label": "What is shown" }, quantity, whole),
    told, part, charts,
    el("section", {}, el("h2", {}, "Which trials"), el("p", { class: "meta" }, `Up to ${MOST}.`),
      chips));
  offer();
  watch();
  if (goesOn) setTimeout(again, ASKED_EVERY);
  requestAnimationFrame(frame);
  return () => {
    isGone = true;
    source?.close();
  };
};
