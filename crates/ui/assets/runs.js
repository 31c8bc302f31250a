// @ts-check
// The runs that there are, one of them, and one that is being made.

import { address, get, listen, post, remove } from "./api.js";
import { bytes, command, duration, el, say, show } from "./dom.js";
import { composer } from "./experiment.js";
import { jobPage } from "./follow.js";
import { moreMoments, needsCases } from "./moments.js";
import { MOST_RUNS } from "./several.js";
import { framed } from "./theme.js";

const link = (/** @type {string} */ page, /** @type {any} */ query, /** @type {any[]} */ ...children) =>
  el("a", { href: `#${address(page, query)}` }, ...children);

/** @param {any} it */
const claims = (it) => {
  const parts = [];
  if (it.claims_failed) parts.push(`${it.claims_failed} failed`);
  if (it.claims_passed) parts.push(`${it.claims_passed} passed`);
  if (it.claims_not_judged) parts.push(`${it.claims_not_judged} not judged`);
  return parts.length ? `Claims: ${parts.join(", ")}.` : "";
};

const when = (/** @type {string} */ started) => new Date(started).toLocaleString();

/** @param {any} it @param {string} heading */
const card = (it, heading) => el("li", { class: "run-card" },
  el(heading, {}, link("/run", { run: it.run }, it.title ?? it.name)),
  it.question && el("p", { class: "meta" }, it.question),
  it.answer && el("p", { class: "answer" }, it.answer),
  el("p", { class: "meta" }, [
    it.is_finished ? "" : "Not finished.",
    claims(it), `${it.cases} ${it.cases === 1 ? "case" : "cases"}, ${it.world_in_words}, ${when(it.started)}.`,
  ].filter(Boolean).join(" ")));

/** Runs on the first page. */
const LATEST = 6;

/** The jobs that run. @param {any[]} jobs */
const running = (jobs) => jobs.filter((job) => job.is_running).map((job) => el("p", { class: "running" },
  el("strong", {}, "Running: "), el("a", { href: `#${jobPage(job)}` }, job.command)));

/** The newest runs with what they answered. @returns {Promise<any[]>} */
const latest = async () => {
  for (;;) {
    const { runs: all, unread } = await get("/api/runs", { most: LATEST + 1 });
    if (!unread) return all;
  }
};

/** @type {import("./app.js").Page} */
export const home = async (place) => {
  const [all, { jobs }] = await Promise.all([latest(), get("/api/jobs")]);
  const ask = el("section", { class: "ask" });
  show(place,
    el("header", {}, el("h1", {}, "What do you want to know?"),
      el("p", { class: "lead" }, "Choose a path, choose what to compare. tcplab transfers data through it, explains every packet, and answers with statistics.")),
    ...running(jobs), ask,
    el("section", {}, el("h2", {}, "Latest runs"),
      all.length ? el("ul", { class: "run-cards" }, ...all.slice(0, LATEST).map((/** @type {any} */ it) => card(it, "h3"))) : el("p", { class: "meta" }, "None yet."),
      all.length > LATEST && el("p", {}, el("a", { href: "#/runs" }, "All runs"))));
  return composer(ask, { isOpen: false });
};

/** Runs that are shown at once, and added at once. */
const PORTION = 60;
/** So long nobody types before it is looked for, ms. */
const PAUSE = 250;

/** @type {import("./app.js").Page} */
export const runs = async (place) => {
  const list = el("ul", { class: "run-cards" });
  const filter = el("input", { type: "search", placeholder: "Filter by name, title or answer", "aria-label": "Filter runs" });
  const compareButton = el("button", { type: "button", disabled: true }, "Compare the two chosen");
  const drawButton = el("button", { type: "button", disabled: true }, "Figures with all chosen");
  const moreButton = el("button", { type: "button", hidden: true }, "Show more");
  const shown = el("p", { class: "meta", role: "status" });
  const heading = el("p", { class: "meta" });
  const alert = el("p", { role: "alert", class: "warnings" });
  /** @type {string[]} */
  let chosen = [];
  /** What each of the list is called, and when it was started. @type {Map<string, any>} */
  const known = new Map();
  const buttons = () => {
    compareButton.disabled = chosen.length !== 2;
    drawButton.disabled = chosen.length < 1;
  };
  /** @param {any} it */
  const item = (it) => {
    known.set(it.run, it);
    const made = card(it, "h2");
    made.dataset.run = it.run;
    made.dataset.title = it.title ?? "";
    if (it.is_finished) made.prepend(el("label", { class: "choose" }, el("input", {
      type: "checkbox", checked: chosen.includes(it.run), "data-run": it.run,
      onchange: () => {
        chosen = chosen.includes(it.run) ? chosen.filter((other) => other !== it.run) : [...chosen, it.run].slice(-MOST_RUNS);
        for (const box of list.querySelectorAll("input")) box.checked = chosen.includes(box.dataset.run ?? "");
        buttons();
      },
    }), " choose"));
    return made;
  };
  /** Shows these from a place of the list on; those that stay keep the focus. @param {any[]} portion @param {number} from */
  const put = (portion, from) => {
    portion.forEach((it, index) => {
      const at = /** @type {HTMLElement | undefined} */ (list.children[from + index]);
      if (!at || at.dataset.run !== it.run) {
        list.insertBefore(item(it), at ?? null);
      } else if (at.dataset.title !== (it.title ?? "")) {
        // What it answered was read meanwhile.
        const made = item(it), has = at.contains(document.activeElement);
        at.replaceWith(made);
        if (has) made.querySelector("input, a").focus();
      }
    });
    while (list.children.length > from + portion.length) list.lastElementChild?.remove();
  };
  let asked = 0;
  /** Shows the first portion of those that fit, or adds the next one. @param {boolean} isMore */
  const look = async (isMore) => {
    const own = ++asked, word = filter.value.trim(), from = isMore ? list.children.length : 0;
    list.setAttribute("aria-busy", "true");
    moreButton.disabled = true;
    try {
      for (let unread = 1; unread > 0;) {
        const part = await get("/api/runs", { word, from, most: PORTION });
        // Something else was asked for meanwhile.
        if (own !== asked) return;
        unread = part.unread;
        put(part.runs, from);
        const all = list.children.length, { count, found } = part;
        heading.textContent = `${count} in all, the newest first.`;
        shown.textContent = unread ? word ? `Looking: ${count - unread} of ${count} runs are read, ${found} fit.` : `Reading what ${unread} more answered …`
          : !found && word ? "No run has this in its name, title, question or answer."
            : found > all || word ? `${all} of ${found}${word ? " that fit" : ""} are shown.` : "";
        moreButton.hidden = all >= found;
        alert.textContent = "";
      }
      if (isMore) /** @type {HTMLElement | null | undefined} */ (list.children[from]?.querySelector("input, a"))?.focus();
    } catch (error) {
      if (own === asked) alert.textContent = /** @type {Error} */ (error).message;
    } finally {
      if (own === asked) {
        list.removeAttribute("aria-busy");
        moreButton.disabled = false;
      }
    }
  };
  const compared = el("div", {});
  let leave = () => {};
  compareButton.addEventListener("click", () => {
    compareButton.disabled = true;
    leave();
    // The older one is the baseline, whichever was chosen first.
    const [a, b] = chosen.map((it) => known.get(it)).sort((one, other) => one.started.localeCompare(other.started));
    leave = comparing(compared, [a, b], buttons);
  });
  drawButton.addEventListener("click", () => {
    location.hash = address("/figures", { runs: JSON.stringify(chosen) });
  });
  moreButton.addEventListener("click", () => look(true));
  let pause = 0;
  filter.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => look(false), PAUSE);
  });
  look(false);
  show(place, el("header", {}, el("h1", {}, "Runs"), heading),
    el("div", { class: "actions" }, filter, compareButton, drawButton), alert, compared, shown, list,
    el("div", { class: "actions" }, moreButton));
  return () => {
    clearTimeout(pause);
    asked += 1;
    leave();
  };
};

/**
 * Has two runs compared and shows the answer in `place`; returns what leaves the comparison, which
 * then ends.
 * @param {Element} place
 * @param {any[]} runs the baseline first, as the list has them
 * @param {() => void} over called when it has ended, or was stopped
 * @returns {() => void}
 */
const comparing = (place, [first, second], over) => {
  const pair = { a: first.run, b: second.run };
  const called = (/** @type {any} */ it) => `${it.title ?? it.name}, ${when(it.started)}`;
  const sides = () => el("p", { class: "meta" }, `A, the baseline: ${called(first)}. B: ${called(second)}.`);
  const left = new AbortController();
  const began = performance.now();
  const passed = el("span", {});
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  let part = "";
  const tick = () => {
    const seconds = Math.round((performance.now() - began) / 1e3);
    passed.textContent = seconds > 1 ? `Comparing for ${seconds} s … ${part}` : "Comparing … ";
  };
  const look = () => get("/api/compare", pair).then(({ progress }) => {
    const { name, done, total } = progress ?? {};
    if (!name || left.signal.aborted) return;
    part = total ? `${name}: ${done} of ${total} (${Math.floor(done / total * 100)} %) ` : `${name} `;
    bar.value = total ? done / total : 0;
  }).catch(() => { /* it is asked again */ });
  const stop = () => {
    left.abort();
    show(place);
    over();
  };
  tick();
  const ticks = setInterval(tick, 300), looks = setInterval(look, 500);
  show(place, bar, el("p", { class: "meta" }, passed, el("button", { type: "button", onclick: stop }, "Stop")));
  post("/api/compare", pair, left.signal).then(({ report: page, command: typed }) => {
    show(place, sides(), command(typed), framed(page, "Comparison"));
    say("The comparison is ready");
  }).catch((error) => {
    if (!left.signal.aborted) show(place, sides(), el("p", { role: "alert", class: "said" }, error.message));
  }).finally(() => {
    clearInterval(ticks);
    clearInterval(looks);
    if (!left.signal.aborted) over();
  });
  return () => left.abort();
};

const STATE = /** @type {Record<string, string>} */ ({ missing: "not begun", begun: "begun", whole: "done", failed: "failed" });

/** @type {import("./app.js").Page} */
export const run = async (place, query) => {
  const name = query.get("run") ?? "";
  const [it, { jobs }] = await Promise.all([get("/api/run", { run: name }), get("/api/jobs")]);
  const isMade = jobs.filter((/** @type {any} */ job) => job.is_running && (job.run === name || job.trial?.run === name));
  const done = it.trials.filter((/** @type {any} */ trial) => trial.state === "whole").length;
  const begin = async (/** @type {any} */ wish) => {
    const job = await post("/api/jobs", wish);
    location.hash = address("/job", { id: job.id });
  };
  const alert = el("p", { role: "alert", class: "warnings" });
  const act = (/** @type {string} */ label, /** @type {() => Promise<unknown>} */ work) => el("button", {
    type: "button",
    onclick: () => work().catch((error) => { alert.textContent = error.message; }),
  }, label);
  const there = Math.max(1, ...it.trials.filter((/** @type {any} */ trial) => trial.state === "whole").map((/** @type {any} */ trial) => trial.number));
  const more = el("input", { type: "number", min: there, max: 99999, required: true, value: it.glance.trials_of_case * 2, "aria-label": "Trials of each case" });
  // Where cases are the pairs, more trials of them do not decide.
  const isUndecided = needsCases(it.told?.answer ?? ""), further = isUndecided ? moreMoments(it.scenario) : null;
  /** @type {Map<string, any[]>} */
  const cases = new Map();
  for (const trial of it.trials) cases.set(trial.case, [...(cases.get(trial.case) ?? []), trial]);
  show(place,
    el("header", {}, el("h1", {}, it.told?.title ?? it.glance.name),
      it.told?.question && el("p", { class: "meta" }, it.told.question),
      it.told?.answer && el("p", { class: "lead answer" }, it.told.answer),
      el("p", { class: "outcome" }, claims(it.told ?? {})),
      el("p", { class: "meta" }, `${done} of ${it.trials.length} trials, ${bytes(it.bytes)} in ${it.files} files, ${when(it.glance.started)}.`)),
    alert,
    ...running(isMade),
    el("div", { class: "actions" },
      !it.glance.is_finished && !isMade.length && act("Resume", () => begin({ do: "resume", run: name })),
      it.glance.is_finished && el("label", {}, "Trials of each case ", more),
      it.glance.is_finished && act("Extend", async () => more.reportValidity() && begin({ do: "extend", run: name, trials: Number(more.value) })),
      further && act(`Interrupt at ${further.moments} moments`, () => begin({
        do: "extend", run: name, trials: it.glance.trials_of_case, toml: further.toml, name: it.glance.name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 80),
      })),
      link("/new", { run: name }, "Change and run again"),
      it.glance.is_finished && link("/advice", { run: name }, "Advice"),
      !isMade.length && act("Delete", async () => {
        if (!confirm(`Delete the run ${name} for good?`)) return;
        await remove("/api/run", { run: name });
        location.hash = "/runs";
      })),
    isUndecided && el("p", { class: "meta" }, "More trials of these cases do not decide it; more cases do: ",
      further ? "interruptions at other moments. The trials that are there are kept."
        : ["more levels of a condition. Add them to the file, then: ", el("code", {}, `tcplab run FILE --extend ${name}`)]),
    it.report
      ? el("section", {}, el("h2", {}, "Report"), el("p", {}, el("a", { href: it.report, target: "_blank", rel: "noreferrer" }, "Open the report by itself")),
        framed(it.report, "Report"))
      : null,
    el("section", {}, el("h2", {}, "Watch a trial"),
      el("p", { class: "meta" }, "Each trial whose packets are kept can be played again, packet by packet. ",
        link("/trials", { run: name }, "Trials side by side")),
      el("div", { class: "scroll" }, el("table", { class: "watch" }, el("tbody", {}, ...[...cases].map(([of, trials]) => el("tr", {},
        el("th", { scope: "row" }, of),
        el("td", {}, ...trials.map((trial) => [
          trial.state === "begun" || (trial.state === "whole" && trial.keeps_packets)
            ? link("/live", { run: name, case: trial.case, trial: trial.number }, String(trial.number))
            : el("span", { class: "meta", title: STATE[trial.state] }, String(trial.number)), " ",
        ]).flat()))))))),
    el("section", {}, el("h2", {}, "As commands"),
      ...it.commands.map(command),
      el("details", {}, el("summary", {}, "The scenario"), el("pre", {}, it.scenario))));
};

/** A run that is being made. @type {import("./app.js").Page} */
export const job = async (place, query) => {
  const id = query.get("id") ?? "";
  const state = await get(`/api/jobs/${encodeURIComponent(id)}`);
  if (state.kind !== "run") {
    location.replace(`#${jobPage(state)}`);
    return;
  }
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const now = el("p", { class: "lead" }, "Starting …");
  const left = el("p", { class: "meta" });
  const watch = el("p", {});
  const faults = el("ul", { class: "warnings" });
  const outcome = el("div", {});
  const stop = el("button", { type: "button", onclick: () => post(`/api/jobs/${id}/stop`, {}) }, "Stop");
  const series = el("section", { hidden: true });
  const title = el("h1", {}, "Running an experiment");
  const ended = (/** @type {boolean} */ isFinished) => {
    stop.hidden = bar.hidden = left.hidden = true;
    title.textContent = isFinished ? "An experiment that is done" : "An experiment that is not finished";
    document.title = `${title.textContent} · tcplab`;
  };
  show(place, el("header", {}, title), now, bar, left,
    el("div", { class: "actions" }, stop), watch, faults, outcome, series, command(state.command));
  let total = 0, failures = 0, index = 0, run = "", current = { case: "", trial: 0 };
  const heading = el("h2", {}), parts = el("ol", { class: "earlier" });
  show(series, heading, parts);
  /** @type {HTMLElement | null} of a series, the one that runs */
  let part = null;
  let began = performance.now();
  /** @type {Record<string, (event: any) => void>} */
  const told = {
    part: (event) => {
      series.hidden = false;
      heading.textContent = `Experiment ${event.index} of ${event.total}: ${event.name}`;
      part = el("li", {}, event.name);
      parts.append(part);
      bar.value = 0;
      began = performance.now();
    },
    "part-finished": ({ claims: { passed, failed, not_judged: open } }) => {
      if (part) show(part, link("/run", { run }, part.textContent), ` ${claims({ claims_passed: passed, claims_failed: failed, claims_not_judged: open })}`);
    },
    begun: (event) => {
      total = event.trials;
      run = event.run;
      for (const warning of event.warnings) faults.append(el("li", {}, warning));
    },
    calibrating: (event) => { now.textContent = `Verifying the path: step ${event.step} of ${event.total}`; },
    "warming-up": (event) => { now.textContent = `Warm-up trial ${event.index} of ${event.total}, which is not counted`; },
    started: (event) => {
      index = event.index;
      total = event.total;
      current = { case: event.case, trial: event.trial };
      now.textContent = `Trial ${index} of ${total}: ${event.case}, number ${event.trial}`;
      if (run) show(watch, link("/live", { run, ...current }, "Watch this trial"), " · ", link("/trials", { run }, "Trials side by side"));
    },
    progress: (event) => {
      now.textContent = `Trial ${index} of ${total}: ${current.case}, ${bytes(event.received_bytes)} after ${duration(event.at_ns / 1e9)}`;
    },
    failed: (event) => {
      failures += event.again ? 0 : 1;
      faults.append(el("li", {}, `${current.case}, trial ${current.trial}: ${event.reason}${event.again ? "; it is run again" : ""}`));
    },
    flawed: (event) => { faults.append(el("li", {}, `${current.case}, trial ${current.trial}: ${event.flaws.join("; ")}${event.again ? "; it is run again" : "; it is kept with a flag"}`)); },
    analysing: (event) => { now.textContent = `Analysing trial ${event.done} of ${event.total}`; },
    reporting: () => { now.textContent = "Writing the report"; },
  };
  const source = listen(`/api/jobs/${id}/events`, {
    told: (event) => {
      told[event.event]?.(event);
      if (event.left_seconds !== undefined) {
        const passed = (performance.now() - began) / 1e3;
        bar.value = Math.max(bar.value, passed / (passed + event.left_seconds + 1e-3));
        left.textContent = `about ${duration(event.left_seconds)} left${part ? " of this experiment" : ""}`;
      }
    },
    ended: (end) => {
      source.close();
      ended(end.is_finished);
      if (!part && end.run && end.exit_code !== null && end.exit_code < 2 && end.is_finished) {
        say("The run is finished.");
        location.replace(`#${address("/run", { run: end.run })}`);
        return;
      }
      now.textContent = !end.is_finished ? "Ended before it was finished."
        : part && end.exit_code === 0 ? "Done." : part ? "Done; not all is as expected."
          : failures < total ? "Done; some trials failed." : total === 1 ? "The trial failed." : `All ${total} trials failed.`;
      heading.textContent = "Experiments";
      if (part) say(now.textContent);
      show(outcome, end.said && el("pre", { role: "alert" }, end.said),
        end.run && !part && el("p", {}, link("/run", { run: end.run }, "Open the run")));
    },
    lost: () => { left.textContent = "No connection to the server. It is looked for."; },
    // The server was started again: it has the run, and not the job.
    refused: (what) => {
      source.close();
      if (run) {
        location.replace(`#${address("/run", { run })}`);
        return;
      }
      ended(false);
      now.textContent = "Ended before it was finished.";
      show(outcome, el("p", { role: "alert" }, what));
    },
  });
  return () => source.close();
};
