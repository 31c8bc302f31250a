// @ts-check
// Built-in experiments, by what one learns from them.

import { address, get } from "./api.js";
import { el, show } from "./dom.js";

/** The folders of the catalogue. */
const TOPICS = /** @type {Record<string, string>} */ ({
  "": "The paper on interruptions",
  "interruption-figures": "Figures of the paper on interruptions",
  "flows": "Several transfers at once",
  "socket-options": "What socket options do",
  "sockets-course": "A course on sockets, measured",
  "haiku-tcp": "A stack developer's report",
  "tuning": "An embedded vendor's tuning guide",
  "kernels": "Versions of Linux beside each other",
});

/** @type {import("./app.js").Page} */
export const learn = async (place) => {
  const { scenarios } = await get("/api/scenarios");
  /** @type {Map<string, any[]>} */
  const topics = new Map();
  for (const scenario of scenarios) {
    const folder = scenario.name.includes("/") ? scenario.name.split("/")[0] : "";
    topics.set(folder, [...(topics.get(folder) ?? []), scenario]);
  }
  show(place,
    el("header", {}, el("h1", {}, "Learn by running"),
      el("p", { class: "lead" }, "Each of these is an experiment that you can read, change and start.")),
    ...[...topics].map(([folder, list]) => el("section", {},
      el("h2", {}, TOPICS[folder] ?? folder),
      el("ul", { class: "run-cards" }, ...list.map((it) => el("li", { class: "run-card" },
        el("h3", {}, el("a", { href: `#${address("/new", { scenario: it.name })}` }, it.title ?? it.name)),
        el("p", { class: "meta" }, it.about)))))));
};
