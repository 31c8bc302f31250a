// @ts-check
// What one can learn here: lessons, states, options, programs, and all built-in experiments.

import { address, get, post } from "./api.js";
import { el, show } from "./dom.js";
import { jobPage } from "./follow.js";
import { done } from "./learner.js";
import { lesson } from "./lesson.js";
import { options } from "./options.js";
import { program, programCard } from "./programs.js";
import { walk } from "./walk.js";

/** The folders of the catalogue. */
const TOPICS = /** @type {Record<string, string>} */ ({
  "": "The paper on interruptions",
  "interruption-figures": "Figures of the paper on interruptions",
  "fidelity": "Models beside the kernel",
  "flows": "Several transfers at once",
  "socket-options": "What socket options do",
  "sockets-course": "A course on sockets, measured",
  "haiku-tcp": "A stack developer's report",
  "throughput-vs-response": "An embedded vendor's guide: throughput and response",
  "tuning": "What to tune on which path",
  "kernels": "Versions of Linux beside each other",
});

/** @type {import("./app.js").Page} */
export const learn = async (place, query) => {
  if (query.has("lesson")) return lesson(place, query.get("lesson") ?? "");
  if (query.has("states")) return walk(place, query.get("states") ?? "");
  if (query.has("option")) return options(place, query.get("option") ?? "");
  if (query.has("program")) return program(place, query.get("program") ?? "");
  return overview(place);
};

/** @param {HTMLElement} place */
const overview = async (place) => {
  const [{ lessons, walks }, { programs }, { scenarios }] = await Promise.all([get("/api/lessons"), get("/api/programs"), get("/api/scenarios")]);
  const isExample = (/** @type {any} */ it) => it.example !== null;
  show(place,
    el("header", {}, el("h1", {}, "Learn by running"),
      el("p", { class: "lead" }, "Predict, run, compare. Every answer here is measured on your machine, in virtual time.")),
    el("section", {}, el("h2", {}, "Lessons"),
      el("p", { class: "meta" }, "One for each document that tcplab repeats. What you have done is kept in this browser only."),
      el("ul", { class: "run-cards" }, ...lessons.map(lessonCard))),
    el("section", {}, el("h2", {}, "The state diagram"),
      el("p", { class: "meta" }, "Real connections, played slowly: each transition with its packet."),
      el("ul", { class: "walks" }, ...walks.map((/** @type {any} */ it) => el("li", {}, el("a", { href: `#${address("/learn", { states: it.case })}` }, it.title))))),
    el("section", {}, el("h2", {}, "Socket options"),
      el("p", {}, el("a", { href: "#/learn?option=" }, "What each socket option does"), ": default, range, effect, the sysctl behind it, and the experiment that shows it.")),
    el("section", {}, el("h2", {}, "The nine programs of the sockets course"),
      el("ul", { class: "run-cards" }, ...programs.filter(isExample).map(programCard)),
      el("h3", {}, "Experiments beside them"),
      el("ul", { class: "run-cards" }, ...programs.filter((/** @type {any} */ it) => !isExample(it)).map(programCard))),
    experiments(scenarios));
};

/** @param {any} it */
const lessonCard = (it) => {
  const { isDone, isRight } = done(`lesson ${it.id}`);
  return el("li", { class: "run-card" },
    el("h3", {}, el("a", { href: `#${address("/learn", { lesson: it.id })}` }, it.title)),
    el("p", {}, it.question),
    el("p", { class: "meta" }, it.document_title, isDone && el("strong", { class: "done" }, isRight ? " ✓ done, predicted right" : " ✓ done")));
};

/** @param {any[]} scenarios */
const experiments = (scenarios) => {
  /** @type {Map<string, any[]>} */
  const topics = new Map();
  for (const scenario of scenarios) {
    const folder = scenario.name.includes("/") ? scenario.name.split("/")[0] : "";
    topics.set(folder, [...(topics.get(folder) ?? []), scenario]);
  }
  return el("section", {}, el("h2", {}, "All built-in experiments"),
    el("p", { class: "meta" }, "Each can be read, changed and started."),
    ...[...topics].map(([folder, list]) => el("details", {}, el("summary", {}, el("h3", {}, TOPICS[folder] ?? folder), el("span", { class: "meta" }, ` ${list.length}`)),
      folder && series(folder, list.length),
      el("ul", { class: "run-cards" }, ...list.map((it) => el("li", { class: "run-card" },
        el("h4", {}, el("a", { href: `#${address("/new", { scenario: it.name })}` }, it.title ?? it.name)),
        el("p", { class: "meta" }, it.about)))))));
};

/** Starts all experiments of a folder, one after the other. @param {string} folder @param {number} count */
const series = (folder, count) => {
  const refusal = el("p", { class: "warnings", role: "alert" });
  const begin = async () => {
    try {
      location.hash = jobPage(await post("/api/jobs", { do: "series", folder, world: "auto", quick: quick.checked }));
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
    }
  };
  const quick = el("input", { type: "checkbox", checked: true });
  return el("div", {}, el("div", { class: "actions" }, el("button", { type: "button", onclick: begin }, `Run all ${count}`),
    el("label", { class: "chip" }, quick, "quickly: few trials of each")), refusal);
};
