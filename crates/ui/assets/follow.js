// @ts-check
// A job that is no run of a scenario: how far it is, what went wrong, how to stop it.

import { address, get, listen, post } from "./api.js";
import { command, duration, el, say, show } from "./dom.js";

/** Pages of jobs that are no run, by the command. */
const PAGES = /** @type {Record<string, string>} */ ({ advise: "/advice", rfc6349: "/rfc6349", load: "/load", latency: "/latency" });

/** Where a job is shown. @param {{ id: number, kind: string }} job */
export const jobPage = (job) => address(PAGES[job.kind] ?? "/job", { id: job.id });

/** Links to the jobs of a kind, the newest first. @param {string} kind */
export const earlier = async (kind) => {
  const { jobs } = await get("/api/jobs");
  const own = jobs.filter((/** @type {any} */ job) => job.kind === kind).slice(0, 12);
  return own.length > 0 && el("section", {}, el("h2", {}, "Since this server started"),
    el("ul", { class: "earlier" }, ...own.map((/** @type {any} */ job) => el("li", {},
      el("a", { href: `#${jobPage(job)}` }, job.command), job.is_running ? " (running)" : job.is_finished ? "" : " (not finished)"))));
};

/**
 * @param {HTMLElement} place
 * @param {any} job as the server tells it
 * @param {object} options
 * @param {Record<string, string>} options.parts names of the parts, for people
 * @param {(event: any) => void} options.told
 * @param {(end: any) => void} [options.ended]
 * @returns {() => void} ends listening
 */
export const follow = (place, job, { parts, told, ended }) => {
  const now = el("p", { class: "lead" }, "Starting …");
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const left = el("p", { class: "meta" });
  const faults = el("ul", { class: "warnings" });
  const said = el("div", {});
  const stop = el("button", { type: "button", onclick: () => post(`/api/jobs/${job.id}/stop`, {}) }, "Stop");
  show(place, now, bar, left, el("div", { class: "actions" }, stop), faults, said, command(job.command));
  let part = "", index = 1, total = 1, trial = "";
  const steps = /** @type {Record<string, (event: any) => void>} */ ({
    part: (event) => {
      part = parts[event.name] ?? event.name;
      [index, total] = [event.index, event.total ?? event.index];
      now.textContent = event.total ? `${part} (${index} of ${total})` : part;
      bar.value = (index - 1) / total;
      left.textContent = "";
    },
    // It has no known end.
    progress: (event) => { if (event.left_seconds === undefined) bar.removeAttribute("value"); },
    begun: (event) => { for (const warning of event.warnings ?? []) faults.append(el("li", {}, warning)); },
    started: (event) => { trial = `trial ${event.index} of ${event.total}`; left.textContent = `${event.case}, ${trial}`; },
    failed: (event) => { faults.append(el("li", {}, `${trial}: ${event.reason}${event.again ? "; it is run again" : ""}`)); },
    flawed: (event) => { faults.append(el("li", {}, `${trial}: ${event.flaws.join("; ")}${event.again ? "; it is run again" : "; it is kept with a flag"}`)); },
  });
  let began = performance.now();
  const source = listen(`/api/jobs/${job.id}/events`, {
    told: (event) => {
      if (event.event === "part") began = performance.now();
      steps[event.event]?.(event);
      if (event.left_seconds !== undefined) {
        const passed = (performance.now() - began) / 1e3;
        bar.value = Math.max(bar.value, (index - 1 + passed / (passed + event.left_seconds + 1e-3)) / total);
        const rest = event.has_sent_all ? `sending has ended; waits for ${event.waiting} ${event.waiting === 1 ? "answer" : "answers"}, at most ${duration(event.left_seconds)}`
          : `about ${duration(event.left_seconds)} left of this part`;
        left.textContent = [trial, rest].filter(Boolean).join(", ");
        left.hidden = false;
      }
      told(event);
    },
    ended: (end) => {
      source.close();
      stop.hidden = bar.hidden = left.hidden = true;
      now.textContent = end.is_finished ? "Done." : "Ended before it was finished.";
      say(now.textContent);
      if (!end.is_finished && end.said) show(said, el("pre", { role: "alert", tabindex: 0 }, end.said));
      ended?.(end);
    },
    lost: () => { left.textContent = "No connection to the server. It is looked for."; },
    // The server was started again.
    refused: (what) => {
      source.close();
      stop.hidden = bar.hidden = left.hidden = true;
      now.textContent = "Ended before it was finished.";
      show(said, el("p", { role: "alert" }, what));
    },
  });
  return () => source.close();
};
