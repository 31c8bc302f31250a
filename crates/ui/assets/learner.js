// @ts-check
// What a learner did, in this browser; and experiments that are started where one learns.

import { address, get, listen, post, Refused } from "./api.js";
import { bytes, duration, el, show } from "./dom.js";
import { jobPage } from "./follow.js";

const KEY = "tcplab-learner";

/** @typedef {{ predicted?: number, run?: string, job?: number, isDone?: boolean, isRight?: boolean }} Done */

/** @returns {Record<string, Done>} */
const all = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
};

/** What was done of this. @param {string} what @returns {Done} */
export const done = (what) => ({ ...all()[what] });

/** @param {string} what @param {Done} it */
export const keep = (what, it) => {
  try { localStorage.setItem(KEY, JSON.stringify({ ...all(), [what]: it })); } catch { /* then it is not remembered */ }
};

/** The name under which a built-in experiment is run here. @param {string} scenario */
const nameOf = (scenario) => `learn-${scenario.replaceAll("/", "-")}`;

/**
 * Runs a built-in experiment in virtual time, and shows how far it is.
 * @param {string} scenario
 * @param {(job: number) => void} [begun]
 */
export const runner = (scenario, begun) => {
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const now = el("p", { class: "meta", role: "status" }, "Starting …");
  let id = 0, isGone = false;
  /** @type {{ close: () => void } | null} */
  let source = null;
  const stop = el("button", { type: "button", onclick: () => id && post(`/api/jobs/${id}/stop`, {}).catch(() => {}) }, "Stop");
  const element = el("div", { class: "runner" }, bar, now, stop);

  /** Waits for a job; its run. @param {number} job @returns {Promise<string>} */
  const follow = (job) => new Promise((resolve, reject) => {
    id = job;
    const began = performance.now();
    let index = 0, total = 0, of = "";
    source = listen(`/api/jobs/${job}/events`, {
      told: (event) => {
        if (event.event === "begun") total = event.trials;
        if (event.event === "started") [index, total, of] = [event.index, event.total, event.case];
        if (event.event === "reporting") now.textContent = "Writing the report";
        else if (index) now.textContent = `Trial ${index} of ${total}: ${of}${event.event === "progress" ? `, ${bytes(event.received_bytes)} after ${duration(event.at_ns / 1e9)}` : ""}`;
        if (event.left_seconds !== undefined) {
          const passed = (performance.now() - began) / 1e3;
          bar.value = Math.max(bar.value, passed / (passed + event.left_seconds + 1e-3));
        }
      },
      ended: (end) => {
        source?.close();
        if (end.is_finished && end.run) resolve(end.run);
        else reject(new Refused(end.said || "It was stopped before its end."));
      },
      lost: () => { if (!isGone) now.textContent = "No connection to the server. It is looked for."; },
    });
  });
  /** Waits for the end of another experiment, beside which none may run. @param {any} job @returns {Promise<void>} */
  const endOf = (job) => new Promise((resolve) => {
    stop.hidden = true;
    show(now, "Waits for another experiment: ", el("a", { href: `#${jobPage(job)}` }, job.command));
    const over = () => {
      source?.close();
      stop.hidden = false;
      now.textContent = "Starting …";
      resolve();
    };
    source = listen(`/api/jobs/${job.id}/events`, { ended: over, refused: over });
  });
  /** @returns {Promise<string>} */
  const start = async () => {
    const { toml } = await get("/api/scenario", { name: scenario });
    for (;;) {
      const job = await post("/api/jobs", { do: "run", toml, name: nameOf(scenario), world: "sim" }).catch((error) => {
        if (error.status !== 409 || isGone) throw error;
        return null;
      });
      if (job) {
        begun?.(job.id);
        return follow(job.id);
      }
      const other = (await get("/api/jobs")).jobs.find((/** @type {any} */ it) => it.is_running && it.kind !== "latency");
      if (other && isOwn(other)) return follow(other.id);
      if (other) await endOf(other);
      // A measurement of latency with load.
      else await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  };
  const isOwn = (/** @type {any} */ job) => job?.command.includes(`/${nameOf(scenario)}.toml`);
  /** Goes on waiting for a job of before, if it is still that one; none if not. @param {number} job */
  const resume = async (job) => {
    const state = await get(`/api/jobs/${job}`).catch(() => null);
    return isOwn(state) ? follow(job) : null;
  };
  return { element, start, resume, leave: () => { isGone = true; source?.close(); } };
};

/** Starts an experiment and goes to the page of its progress. @param {string} scenario @param {string} world */
export const begin = async (scenario, world) => {
  const { toml } = await get("/api/scenario", { name: scenario });
  const job = await post("/api/jobs", { do: "run", toml, name: nameOf(scenario), world });
  location.hash = address("/job", { id: job.id });
};
