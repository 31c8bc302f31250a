// @ts-check
// Several runs in one figure.

import { address, post } from "./api.js";
import { command, el, picture, show } from "./dom.js";

/** More runs are not told apart in a figure: the server refuses them. */
export const MOST_RUNS = 12;

/** A link to a text as a file. @param {string} name @param {string} type @param {string} text */
const download = (name, type, text) => el("a", {
  href: URL.createObjectURL(new Blob([text], { type })), download: name,
}, name);

/** @type {import("./app.js").Page} */
export const several = async (place, query) => {
  /** @type {string[]} */
  const runs = JSON.parse(query.get("runs") ?? "[]");
  /** @type {string[]} */
  let labels = JSON.parse(query.get("labels") ?? "[]");
  const first = await post("/api/figures", { runs, labels });
  const drawn = el("figure", { class: "several" });
  const alert = el("p", { role: "alert", class: "warnings" });
  const choice = el("select", { onchange: () => draw() },
    ...first.figures.map((/** @type {any} */ it) => el("option", { value: it.name }, it.title)));
  if (query.get("figure")) choice.value = query.get("figure");
  const names = runs.map((run, at) => el("input", {
    value: first.labels[at], "aria-label": `Label of ${run}`, onchange: () => {
      labels = names.map((name) => name.value);
      draw();
    },
  }));
  let turn = 0;
  const draw = async () => {
    const own = ++turn;
    alert.textContent = "";
    try {
      const { drawn: { svg, file, csv }, figures, command: typed } = await post("/api/figures", { runs, labels, figure: choice.value });
      // Another figure was chosen since, or another page.
      if (own !== turn || !drawn.isConnected) return;
      const { name, title, missing } = figures.find((/** @type {any} */ it) => it.name === choice.value);
      for (const link of drawn.querySelectorAll("a")) URL.revokeObjectURL(link.href);
      const to = name.replaceAll(/[^\w.=-]+/g, "-");
      show(drawn, picture(svg, title), el("figcaption", {}, el("strong", {}, title),
        missing.length > 0 && ` No values in ${missing.map((/** @type {string} */ it) => `“${it}”`).join(", ")}.`),
      el("p", {}, download(`${to}.svg`, "image/svg+xml", file), " ", download(`${to}.csv`, "text/csv", csv)),
      command(`${typed} -o ${to}.svg`));
      history.replaceState(null, "", `#${address("/figures", { runs: JSON.stringify(runs), labels: JSON.stringify(labels), figure: name })}`);
    } catch (error) {
      if (own === turn) alert.textContent = /** @type {Error} */ (error).message;
    }
  };
  show(place, el("header", {}, el("h1", {}, `Figures of ${runs.length} runs`)),
    first.figures.length > 0
      ? el("div", { class: "actions" }, el("label", {}, "Figure ", choice))
      : el("p", { class: "lead" }, "These runs have no figure in common: no two of them measured the same."),
    alert, drawn,
    el("section", {}, el("h2", {}, "Labels"), el("ul", { class: "labels" }, ...runs.map((run, at) => el("li", {},
      el("label", {}, names[at], " ", el("a", { href: `#${address("/run", { run })}` }, run)))))));
  if (first.figures.length > 0) await draw();
};
