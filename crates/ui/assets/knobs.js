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
  { key: "drop", name: "Drop the next", value: 1, least: 1, most: 1000, unit: "data segments" },
];

/** @param {string[]} ends */
const directions = ([one, other]) => [["both", "both directions"], ["forward", `${one} to ${other}`], ["reverse", `${other} to ${one}`]];

/** An event in words. @param {any} event @param {string[]} ends */
export const inWords = (event, ends) => `${event.at}: ${CHANGES.filter((it) => event[it.key] !== undefined)
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
      const input = el("input", { type: "number", value: it.value, min: it.least, max: it.most, step: "any", "aria-label": `${it.name}, ${it.unit}` });
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
  const job = jobs.find((/** @type {any} */ it) => it.run === name.run && it.is_running);
  const isNow = Boolean(job) && run.glance.world === "kernel";
  /** @type {any[]} */
  let events = [];
  const list = el("ol", { class: "live-events" });
  const told = el("p", { class: "meta", role: "status" });
  const file = el("div", {});
  const again = el("button", { type: "button", class: "primary", disabled: true, onclick: () => runAgain() }, "Run this trial again with these changes");

  const draw = async () => {
    show(list, ...events.map((event) => el("li", {},
      inWords(event, ENDS),
      !isNow && el("button", { type: "button", onclick: () => { events = events.filter((it) => it !== event); draw(); } }, "Remove"))));
    again.disabled = events.length === 0;
    show(file);
    if (events.length === 0) return;
    try {
      const { toml } = await post("/api/events", { toml: run.scenario, events });
      show(file, el("details", {}, el("summary", {}, "The scenario with these events"), el("pre", { tabindex: 0 }, toml)));
    } catch (error) {
      told.textContent = /** @type {Error} */ (error).message;
    }
  };

  /** @param {any} wanted */
  const change = async (wanted) => {
    try {
      if (isNow) {
        await post(`/api/jobs/${job.id}/change`, wanted);
        return;
      }
      events = [...events, { at: `${Math.max(0, now()).toFixed(3)} s`, ...wanted }];
      events.sort((a, b) => Number.parseFloat(a.at) - Number.parseFloat(b.at));
      told.textContent = "";
      say("Added");
      await draw();
    } catch (error) {
      told.textContent = /** @type {Error} */ (error).message;
    }
  };

  const runAgain = async () => {
    again.disabled = true;
    told.textContent = "Running the trial again …";
    try {
      const { toml } = await post("/api/events", { toml: run.scenario, events });
      const world = run.glance.world === "sim" ? "sim" : "auto";
      const changed = `${run.glance.name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 70)}-changed`;
      const begun = await post("/api/jobs", { do: "run", toml, name: changed, world, case: name.case, trial: name.trial });
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
      });
      let found = "";
      const lead = (/** @type {string} */ to) => {
        source.close();
        // What the last change did is there to see.
        const at = Number.parseFloat(events[events.length - 1].at) + 0.5;
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
      : "Hold the trial at a moment, change the path there, and run it again: until then it is the same."),
    changes(isNow ? "Now" : "Here", ENDS, change),
    told, list, !isNow && again, file));
  if (!isNow) return;
  const source = listen(`/api/jobs/${job.id}/events`, {
    told: (event) => {
      if (event.event === "path-changed") {
        events = [...events, ...event.events];
        told.textContent = "Changed.";
        draw();
      } else if (event.event === "path-refused") told.textContent = `Not changed: ${event.what}`;
      else if (event.event === "started") {
        // The next trial has a path of its own.
        events = [];
        draw();
      }
    },
    ended: () => source.close(),
  });
  addEventListener("hashchange", () => source.close(), { once: true });
};
