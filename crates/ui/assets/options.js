// @ts-check
// What each socket option does, and the experiments that show it.

import { address, get } from "./api.js";
import { command, el, show } from "./dom.js";
import { begin } from "./learner.js";

const link = (/** @type {string} */ name) => el("a", { href: `#${address("/learn", { option: name })}` }, name);

/** @param {HTMLElement} place @param {string} wanted the option; all if none */
export const options = async (place, wanted) => {
  const all = (await get("/api/options")).options;
  if (wanted) {
    const it = all.find((/** @type {any} */ one) => one.name === wanted);
    if (!it) throw new Error(`There is no option ${wanted}.`);
    one(place, it);
    return;
  }
  const levels = [...new Set(all.map((/** @type {any} */ it) => it.level))];
  const word = el("input", { type: "search", placeholder: "Filter by name or effect", "aria-label": "Filter options", oninput: () => draw() });
  const level = el("select", { "aria-label": "Level", onchange: () => draw() }, el("option", { value: "" }, "all levels"), ...levels.map((it) => el("option", { value: it }, it)));
  const shown = el("input", { type: "checkbox", onchange: () => draw() });
  const body = el("tbody", {}), count = el("p", { class: "meta", role: "status" });
  const draw = () => {
    const text = word.value.toLowerCase();
    const fit = all.filter((/** @type {any} */ it) => (!level.value || it.level === level.value) && (!shown.checked || it.experiment)
      && [it.name, it.key, it.effect].some((part) => part?.toLowerCase().includes(text)));
    count.textContent = `${fit.length} of ${all.length} options`;
    show(body, ...fit.map(row));
  };
  show(place,
    el("header", {}, el("p", { class: "meta" }, el("a", { href: "#/learn" }, "Learn")), el("h1", {}, "What each socket option does"),
      el("p", { class: "lead" }, "Defaults are those of a new TCP socket on this machine; limits and defaults come from its sysctls.")),
    el("div", { class: "actions" }, word, level, el("label", { class: "chip" }, shown, "with an experiment")), count,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Socket options" }, el("table", { class: "options" },
      el("thead", {}, el("tr", {}, ...["option", "effect", "default", "range", "sysctl", "experiment"].map((it) => el("th", { scope: "col" }, it)))), body)));
  draw();
};

/** @param {any} it */
const row = (it) => el("tr", {},
  el("th", { scope: "row" }, link(it.name)), el("td", {}, it.effect), el("td", {}, value(it.tcp, it.unit)), el("td", {}, range(it)),
  el("td", {}, ...it.sysctls.map((/** @type {any} */ of) => el("div", {}, of.name))),
  el("td", {}, it.experiment && el("a", { href: `#${address("/learn", { option: it.name })}` }, "see it")));

/** A value that was read. @param {any} it @param {string} unit */
const value = (it, unit) => {
  if (!it) return "";
  if (it.absent) return "absent here";
  if (it.set_only) return "set only";
  if (it.error) return `not readable (${it.error})`;
  if (it.bytes !== undefined) return `${it.bytes} bytes`;
  if (it.value === true) return "on";
  if (it.value === false) return "off";
  if (it.value === null) return "none";
  return typeof it.value === "number" ? `${it.value.toLocaleString("en")} ${unit}` : String(it.value);
};

const range = (/** @type {any} */ it) => it.access === "read" ? "read only" : it.range;

/** @param {HTMLElement} place @param {any} it */
const one = (place, it) => {
  const alert = el("p", { class: "warnings", role: "alert" });
  /** @type {[string, any][]} */
  const facts = [
    ["Level", `${it.level}, ${it.manual}`], ["Default", value(it.tcp, it.unit)], it.udp && ["Default of UDP", value(it.udp, it.unit)], ["Range", range(it)],
    ["Unit", it.unit], ["Needs", it.privilege], ["Adjusted", it.adjusted], ["Later", it.later], ["Doubled", it.doubled && "Linux doubles the requested value, for its bookkeeping"],
    ...it.sysctls.map((/** @type {any} */ of) => [of.role === "limit" ? "Limited by" : "Default from", `${of.name} = ${of.value ?? "not readable here"}${of.of_the_machine ? " (machine-wide)" : ""}`]),
    ["In scenarios", it.key && (it.sockets.length ? `${it.key}, of: ${it.sockets.join(", ")}` : it.key)],
  ].filter((fact) => fact && fact[1]);
  show(place,
    el("header", {}, el("p", { class: "meta" }, el("a", { href: "#/learn" }, "Learn"), " / ", el("a", { href: "#/learn?option=" }, "Socket options")), el("h1", {}, it.name), el("p", { class: "lead" }, `${it.effect}.`)),
    el("dl", { class: "facts-of-option" }, ...facts.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]).flat()),
    it.experiment && el("section", {}, el("h2", {}, "See it"), el("p", {}, it.experiment.shows),
      el("div", { class: "begin" }, el("button", { type: "button", class: "primary", onclick: () => begin(it.experiment.scenario, "sim").catch((error) => { alert.textContent = error.message; }) }, "Run the experiment"),
        el("a", { href: `#${address("/new", { scenario: it.experiment.scenario })}` }, "Read or change it")),
      alert, command(`tcplab run ${it.experiment.scenario} --world sim`)),
    command(`tcplab sockopts ${it.name}`));
};
