// @ts-check
// Several runs in one figure, and the figures of one.

import { address, post } from "./api.js";
import { command, el, picture, show } from "./dom.js";

/** The server refuses more. */
export const MOST_RUNS = 4000;

/** The colours that fit light and dark pages; any other is written as `#rrggbb`. */
const COLOURS = ["blue", "orange", "green", "pink", "ochre", "purple", "black", "grey"];

/** What can be set of a figure: its key in the interface, and its name. @type {[string, string][]} */
const TEXTS = [
  ["title", "Title"], ["x_range", "Range of the x axis"], ["y_range", "Range of the y axis"],
  ["x_label", "Label of the x axis"], ["y_label", "Label of the y axis"],
];

/** A link to a text as a file. @param {string} name @param {string} type @param {string} text */
const download = (name, type, text) => el("a", {
  href: URL.createObjectURL(new Blob([text], { type })), download: name,
}, name);

/** What values are in a figure relative to a run. @param {string} label */
const timesThat = (label) => `times that of ${label}`;

/**
 * What is set of the looks of a figure; `changed` is called when that changes.
 * @param {Record<string, any>} looks @param {() => void} changed
 */
const looksForm = (looks, changed) => {
  /** @param {string} key @param {string} value */
  const set = (key, value) => {
    if (value) looks[key] = value;
    else delete looks[key];
    changed();
  };
  const texts = TEXTS.map(([key, name]) => el("label", {}, name, " ", el("input", {
    value: looks[key] ?? "", maxlength: 200, placeholder: key.endsWith("range") ? "A..B, A.. or ..B" : "",
    onchange: (/** @type {any} */ event) => set(key, event.target.value.trim()),
  })));
  const scales = [["x_scale", "Scale of the x axis"], ["y_scale", "Scale of the y axis"]].map(([key, name]) => {
    const choice = el("select", { onchange: () => set(key, choice.value) },
      ...[["", "by its values"], ["linear", "linear"], ["log", "logarithmic"]].map(([value, words]) => el("option", { value }, words)));
    choice.value = looks[key] ?? "";
    return el("label", {}, name, " ", choice);
  });
  return el("details", { class: "looks", open: Object.keys(looks).length > 0 }, el("summary", {}, "Axes and title"),
    el("p", { class: "meta" }, "Ranges are numbers in the unit of the axis, or with their own: ", el("code", {}, "5 ms..")),
    el("div", { class: "looks-fields" }, ...texts, ...scales));
};

/** @type {import("./app.js").Page} */
export const several = async (place, query) => {
  const read = (/** @type {string} */ key, /** @type {string} */ otherwise) => JSON.parse(query.get(key) ?? otherwise);
  /** @type {string[]} */
  const runs = read("runs", "[]");
  /** @type {string[]} */
  let labels = read("labels", "[]");
  /** @type {Record<string, any>} */
  const looks = read("looks", "{}");
  /** By number of the run. @type {Record<string, string>} */
  const colors = read("colors", "{}");
  let relative = query.get("relative") ?? "";
  const first = await post("/api/figures", { runs, labels });
  const drawn = el("figure", { class: "several" });
  const alert = el("p", { role: "alert", class: "warnings" });
  const choice = el("select", { onchange: () => draw() });
  const list = (/** @type {any[]} */ figures) => {
    const chosen = choice.value || query.get("figure");
    // First those for which every run has values; the order stays among equals.
    const ordered = [...figures].sort((one, other) => one.missing.length - other.missing.length);
    show(choice, ...ordered.map((it) => el("option", { value: it.name }, it.title)));
    if (figures.some((it) => it.name === chosen)) choice.value = chosen;
  };
  list(first.figures);
  const names = runs.map((run, at) => el("input", {
    value: first.labels[at], "aria-label": `Label of ${run}`, onchange: () => {
      labels = names.map((name) => name.value);
      for (const [index, option] of [...reference.options].slice(1).entries()) option.textContent = timesThat(labels[index]);
      draw();
    },
  }));
  const hues = runs.map((run, at) => el("input", {
    value: colors[at + 1] ?? "", list: "colours", size: 9, placeholder: "colour", "aria-label": `Colour of ${run}`,
    onchange: (/** @type {any} */ event) => {
      const value = event.target.value.trim();
      if (value) colors[at + 1] = value;
      else delete colors[at + 1];
      draw();
    },
  }));
  const reference = el("select", { onchange: () => { relative = reference.value; draw(); } },
    el("option", { value: "" }, "as measured"), ...runs.map((_, at) => el("option", { value: String(at + 1) }, timesThat(first.labels[at]))));
  reference.value = relative;
  let turn = 0;
  /** The reference of the list of figures. */
  let listed = "";
  const draw = async () => {
    const own = ++turn;
    alert.textContent = "";
    const wish = { runs, labels, ...relative && { relative_to: relative } };
    try {
      if (relative !== listed) {
        const all = await post("/api/figures", wish);
        if (own !== turn) return;
        listed = relative;
        list(all.figures);
      }
      if (choice.options.length === 0) throw new Error("These runs have no figure in common that can be divided so.");
      const { drawn: { svg, file, csv, notes }, figures, command: typed } =
        await post("/api/figures", { ...wish, ...looks, colors, figure: choice.value });
      // Another figure was chosen since, or another page.
      if (own !== turn || !drawn.isConnected) return;
      const { name, title, missing } = figures.find((/** @type {any} */ it) => it.name === choice.value);
      for (const link of drawn.querySelectorAll("a")) URL.revokeObjectURL(link.href);
      const to = name.replaceAll(/[^\w.=-]+/g, "-");
      show(drawn, picture(svg, title), el("figcaption", {}, el("strong", {}, title),
        missing.length > 0 && ` No values in ${missing.map((/** @type {string} */ it) => `“${it}”`).join(", ")}.`,
        ...notes.map((/** @type {string} */ note) => el("span", { class: "note" }, ` ${note}.`))),
      el("p", {}, download(`${to}.svg`, "image/svg+xml", file), " ", download(`${to}.csv`, "text/csv", csv)),
      command(`${typed} -o ${to}.svg`));
      history.replaceState(null, "", `#${address("/figures", {
        runs: JSON.stringify(runs), labels: JSON.stringify(labels), figure: name, relative, looks: JSON.stringify(looks), colors: JSON.stringify(colors),
      })}`);
    } catch (error) {
      if (own === turn) alert.textContent = /** @type {Error} */ (error).message;
    }
  };
  show(place, el("header", {}, el("h1", {}, runs.length === 1 ? `Figures of ${first.labels[0] || runs[0]}` : `Figures of ${runs.length} runs`)),
    first.figures.length > 0
      ? el("div", { class: "actions" }, el("label", {}, "Figure ", choice), runs.length > 1 && el("label", {}, "Values ", reference))
      : el("p", { class: "lead" }, runs.length > 1 ? "These runs have no figure in common: no two of them measured the same." : "This run has no figures."),
    first.figures.length > 0 && looksForm(looks, () => draw()),
    alert, drawn,
    runs.length > 1 && el("section", {}, el("h2", {}, "Labels and colours"), el("datalist", { id: "colours" }, ...COLOURS.map((value) => el("option", { value }))),
      el("p", { class: "meta" }, "A colour is a name or #rrggbb; without one, each run has its own."),
      el("ul", { class: "labels" }, ...runs.map((run, at) => el("li", {},
        names[at], " ", hues[at], " ", el("a", { href: `#${address("/run", { run })}` }, run))))));
  if (first.figures.length > 0) await draw();
};
