// @ts-check
// Connections whose states one follows: real trials, played slowly.

import { address, get } from "./api.js";
import { el, say, show } from "./dom.js";
import { ladder } from "./ladder.js";
import { done, keep, runner } from "./learner.js";
import { stateDiagram } from "./states.js";

/** @param {HTMLElement} place @param {string} wanted the case, if one was chosen */
export const walk = async (place, wanted) => {
  const { walks } = await get("/api/lessons");
  const it = walks.find((/** @type {any} */ one) => one.case === wanted);
  const stage = el("div", {});
  show(place,
    el("header", {}, el("p", { class: "meta" }, el("a", { href: "#/learn" }, "Learn")), el("h1", {}, "TCP's states, walked by packets"),
      el("p", { class: "lead" }, "Choose how a connection ends. A trial is run in virtual time; then play it slowly, or go from one transition to the next, and see the packet that causes it.")),
    el("ul", { class: "walks" }, ...walks.map((/** @type {any} */ one) => el("li", {},
      el("a", { href: `#${address("/learn", { states: one.case })}`, "aria-current": one === it ? "true" : null }, one.title)))),
    stage);
  if (!it) return;
  const key = `walk ${it.scenario}`, works = runner(it.scenario, (job) => keep(key, { job }));
  let isGone = false;
  /** @type {(() => void) | null} */
  let left = null;
  /** By a job that runs already, also where it was left, else by a new one. */
  const made = async () => {
    stage.append(works.element);
    const { job } = done(key);
    return (job && await works.resume(job)) || works.start();
  };
  const work = async () => {
    const heading = el("h2", {}, it.title);
    show(stage, heading, el("p", {}, it.says));
    const run = await known(key, it.scenario) ?? await made();
    keep(key, { run });
    if (isGone) return;
    const player = el("div", {});
    show(stage, heading, el("p", {}, it.says), player);
    left = play(player, { run, case: it.case, trial: 1 });
  };
  work().catch((error) => {
    if (isGone) return;
    keep(key, {});
    show(stage, el("p", { class: "warnings", role: "alert" }, error.message), el("p", {}, el("button", { type: "button", onclick: () => dispatchEvent(new HashChangeEvent("hashchange")) }, "Try again")));
  });
  return () => {
    isGone = true;
    works.leave();
    left?.();
  };
};

/** A run of this experiment as it is now, if this browser started one that is still there. @param {string} key @param {string} scenario */
const known = async (key, scenario) => {
  const { run } = done(key);
  if (!run) return null;
  try {
    const [it, { toml }] = await Promise.all([get("/api/run", { run }), get("/api/scenario", { name: scenario })]);
    return it.glance.is_finished && it.scenario === toml ? run : null;
  } catch {
    return null;
  }
};

/** Plays a trial slowly. @param {HTMLElement} place @param {{ run: string, case: string, trial: number }} name */
const play = (place, name) => {
  let now = 0, end = 0, isPlaying = false, isGone = false, before = performance.now();
  const button = el("button", { type: "button", onclick: () => {
    isPlaying = !isPlaying;
    if (isPlaying && now >= end) now = 0;
    named();
    say(isPlaying ? "Plays" : "Paused");
  } }, "Play");
  const named = () => { button.textContent = isPlaying ? "Pause" : "Play"; };
  const slider = el("input", { type: "range", min: 0, max: 1, step: 0.001, value: 0, "aria-label": "Time", oninput: () => {
    isPlaying = false;
    now = Number(slider.value) * end;
    named();
  } });
  const clock = el("output", { class: "clock" });
  const lasting = el("select", { "aria-label": "How long the play takes" },
    ...[["10", "in 10 s"], ["20", "in 20 s"], ["60", "in 60 s"]].map(([value, text]) => el("option", { value, selected: value === "20" }, text)));
  const diagram = el("div", {}), packets = el("div", {});
  show(place,
    el("div", { class: "live-controls", role: "group", "aria-label": "What is shown" }, button, slider, clock, lasting),
    diagram, el("section", {}, el("h3", {}, "Packets until then"), packets),
    el("p", { class: "walk-more" }, el("a", { href: `#${address("/live", name)}` }, "All of this trial")));
  const hold = (/** @type {number} */ time) => {
    isPlaying = false;
    now = time;
    named();
  };
  const walked = stateDiagram(diagram, name, hold);
  const rungs = ladder(packets, async (wanted) => (await get("/api/live/packets", { ...name, ...wanted })).packets, ["client", "server"], hold);
  walked.ready.then((transitions) => {
    const last = transitions.at(-1)?.time ?? 0;
    // A little of the last state is seen.
    end = last * 1.05 + 1e-3;
  });
  let readAt = 0;
  const frame = (/** @type {number} */ moment) => {
    if (isGone) return;
    const passed = (moment - before) / 1e3;
    before = moment;
    if (isPlaying) {
      now = Math.min(end, now + passed * end / Number(lasting.value));
      if (now >= end) {
        isPlaying = false;
        named();
      }
    }
    walked.at(now, []);
    if (moment - readAt > 200) {
      readAt = moment;
      if (isPlaying || document.activeElement !== slider) slider.value = String(end ? now / end : 0);
      clock.textContent = `${now.toFixed(4)} s of ${end.toFixed(4)} s`;
      if (end) rungs.at(Math.min(now, end));
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  return () => { isGone = true; };
};
