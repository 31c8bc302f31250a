// @ts-check
// Changing the path of a trial: at once while it runs in real time; else the trial is run again,
// the same until then, with the changes as events of its scenario.

import { address, get, listen, post } from "./api.js";
import { el, say, show } from "./dom.js";

/** What can be changed: the key of an event, how it is asked for, and how it is written. */
const CHANGES = [
  { key: "rate", name: "Rate", value: 5, least: 0.01, most: 100000, unit: "Mbit/s" },
  { key: "delay", name: "One-way delay", value: 100, least: 0, most: 60000, unit: "ms" },
  { key: "loss", name: "Random loss", value: 2, least: 0, most: 100, unit: "%" },
  { key: "interrupt", name: "Interrupt for", value: 200, least: 1, most: 60000, unit: "ms" },
  { key: "drop", name: "Drop the next", value: 1, least: 1, most: 1000, step: 1, unit: "data segments" },
];

/** @param {string[]} ends */
const directions = ([one, other]) => [["both", "both directions"], ["forward", `${one} to ${other}`], ["reverse", `${other} to ${one}`]];

/** The units that times of events are written in, seconds. @type {Record<string, number>} */
const UNITS = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };

/** The seconds of a time such as `500 ms`. @param {string} time */
const seconds = (time) => Number.parseFloat(time) * UNITS[time.split(" ")[1]];

/** An event in words. @param {any} event @param {string[]} ends */
export const inWords = (event, ends) => `${seconds(event.at).toFixed(3)} s: ${CHANGES.filter((it) => event[it.key] !== undefined)
  .map((it) => `${it.name.toLowerCase()} ${event[it.key]}`).join(", ")}, ${directions(ends).find(([key]) => key === (event.direction ?? "both"))?.[1]} `;

/**
 * Asks for changes: an element with a form for each.
 * @param {string} word on their buttons
 * @param {string[]} ends what both are called
 * @param {(wanted: any) => void} change makes one
 */
export const changes = (word, ends, change) => {
  const direction = el("select", { "aria-label": "Direction" }, ...directions(ends).map(([value, text]) => el("option", { value }, text)));
  /** @param {any} it @param {HTMLInputElement} input */
  const wish = (it, input) => {
    if (!input.checkValidity()) { input.reportValidity(); return; }
    const value = it.key === "drop" ? Number(input.value) : `${Number(input.value)} ${it.unit}`;
    change({ direction: direction.value, [it.key]: value });
  };
  return el("div", {}, el("p", {}, direction),
    el("div", { class: "changes" }, ...CHANGES.map((it) => {
      const input = el("input", { type: "number", value: it.value, min: it.least, max: it.most, step: it.step ?? "any", "aria-label": `${it.name}, ${it.unit}` });
      return el("form", { class: "change", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); wish(it, input); } },
        el("span", {}, it.name), input, el("span", {}, it.unit), el("button", {}, word));
    })));
};

const ENDS = ["client", "server"];

/**
 * @param {HTMLElement} place
 * @param {any} run as the server tells it
 * @param {{ run: string, case: string, trial: number }} name
 * @param {() => number} now seconds
 */
export const knobs = async (place, run, name, now) => {
  const { jobs } = await get("/api/jobs");
  const isThis = (/** @type {any} */ it) => it?.run === name.run && it.case === name.case && it.trial === name.trial;
  const job = jobs.find((/** @type {any} */ it) => isThis(it.trial));
  const isNow = Boolean(job) && run.glance.world === "kernel";
  /** Those of a trial that ran in real time come first. @type {any[]} */
  let events = [];
  const list = el("ol", { class: "live-events" });
  const told = el("p", { class: "meta", role: "status" });
  const file = el("div", {});
  const again = el("button", { type: "button", class: "primary", disabled: true, onclick: () => runAgain() }, "Run this trial again with these changes");

  /** Shows these events; whether the path can have them. Those that it cannot have are left out, unless they happened. @param {any[]} next @param {boolean} happened */
  const take = async (next, happened) => {
    let text = "", fault = "";
    try {
      if (next.length > 0) {
        text = (await post("/api/events", { toml: run.scenario, events: next })).toml;
        fault = (await post("/api/check", { toml: text })).mistakes[0]?.what ?? "";
      }
    } catch (error) {
      fault = /** @type {Error} */ (error).message;
    }
    told.textContent = fault;
    if (fault && !happened) return false;
    events = next;
    show(list, ...events.map((event) => el("li", {},
      inWords(event, ENDS),
      !isNow && el("button", { type: "button", onclick: () => draw((all) => all.filter((it) => it !== event)) }, "Remove"))));
    again.disabled = events.length === 0;
    show(file, text && el("details", {}, el("summary", {}, "The scenario with these events"), el("pre", { tabindex: 0 }, text)));
    return !fault;
  };

  let last = Promise.resolve(true);
  /** Changes the events, one change after the other. @param {(all: any[]) => any[]} next @param {boolean} happened */
  const draw = (next, happened = false) => last = last.then(() => take(next(events), happened));

  /** @param {any} wanted */
  const change = async (wanted) => {
    if (isNow) {
      await post(address(`/api/jobs/${job.id}/change`, name), wanted).catch((error) => { told.textContent = error.message; });
      return;
    }
    const event = { at: `${Math.max(0, now()).toFixed(3)} s`, ...wanted };
    if (await draw((all) => [...all, event].sort((a, b) => seconds(a.at) - seconds(b.at)))) say("Added");
  };

  const runAgain = async () => {
    again.disabled = true;
    told.textContent = "Running the trial again …";
    try {
      const { toml } = await post("/api/events", { toml: run.scenario, events });
      const world = run.glance.world === "sim" ? "sim" : "auto";
      const changed = `${run.glance.name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 70)}-changed`;
      const begun = await post("/api/jobs", { do: "run", toml, name: changed, world, case: name.case, trial: name.trial, seed: run.seed, ...run.kernel && { kernel: run.kernel } });
      const source = listen(`/api/jobs/${begun.id}/events`, {
        told: (event) => {
          // In real time it is watched from its start.
          if (event.event === "started" && world !== "sim") lead(event.run ?? found);
          if (event.event === "begun") found = event.run;
        },
        ended: (end) => {
          source.close();
          if (end.is_finished) lead(end.run);
          else told.textContent = end.said || "The trial could not be run.";
          again.disabled = false;
        },
        refused: (what) => {
          source.close();
          told.textContent = what;
          again.disabled = false;
        },
      });
      let found = "";
      const lead = (/** @type {string} */ to) => {
        source.close();
        // What the last change did is there to see.
        const at = seconds(events[events.length - 1].at) + 0.5;
        location.hash = address("/live", { ...name, run: to, ...(world === "sim" && { at: at.toFixed(3) }) });
      };
    } catch (error) {
      told.textContent = /** @type {Error} */ (error).message;
      again.disabled = false;
    }
  };

  show(place, el("section", { class: "steering" }, el("h2", {}, "Change the path"),
    el("p", { class: "meta" }, isNow
      ? "The trial runs in real time: a change holds at once."
      : `Hold the trial at a moment, change the path there, and run it again: until then ${run.glance.world === "sim" ? "it is the same" : "the path does the same"}.`),
    changes(isNow ? "Now" : "Here", ENDS, change),
    told, list, !isNow && again, file));
  if (!isNow) {
    await draw(() => run.path_events, true);
    return;
  }
  let of = { run: "", case: "", trial: 0 };
  let isOver = false;
  /** It does not run any more: its path is changed as that of any trial that is over. */
  const over = () => {
    if (isOver) return;
    isOver = true;
    leave();
    last.then(() => get("/api/run", name)).then((it) => knobs(place, it, name, now))
      .catch((error) => { told.textContent = error.message; });
  };
  const source = listen(`/api/jobs/${job.id}/events`, {
    told: (event) => {
      if (event.event === "begun") of = { run: event.run, case: "", trial: 0 };
      else if (event.event === "started") {
        if (isThis(of)) return over();
        of = { run: of.run, case: event.case, trial: event.trial };
      } else if (!isThis(of)) return undefined;
      else if (event.event === "path-changed") {
        draw((all) => [...all, ...event.events], true).then((isWell) => { if (isWell) told.textContent = "Changed."; });
      } else if (event.event === "path-refused") told.textContent = `Not changed: ${event.what}`;
      else if (event.event === "failed" || event.event === "flawed") draw(() => [], true);
      else if (event.event === "stored") return over();
      return undefined;
    },
    ended: over,
    refused: over,
  });
  const leave = () => {
    source.close();
    removeEventListener("hashchange", leave);
  };
  addEventListener("hashchange", leave);
};
