// @ts-check
// The form of an experiment: a question first, and what else can be set in sections that open.

import { get } from "./api.js";
import { keyAt } from "./completion.js";
import { el, show } from "./dom.js";
import { CONGESTIONS, choice, number, written } from "./fields.js";
import { FACTORS, PATTERNS, WORKS, choicesOf, factorsOf, inPhases, levelsOf, scenarioOf, varied } from "./experiment_file.js";
import { pathFields } from "./path_choice.js";

/** @typedef {import("./experiment_file.js").Wanted} Wanted */
/** @typedef {import("./experiment_file.js").Factor} Factor */

/** Options of a socket that one sets most; the scenario's schema says what each takes. */
export const OPTIONS = ["congestion", "nodelay", "quickack", "cork", "rcvbuf", "sndbuf", "notsent_lowat", "window_clamp", "maxseg", "max_pacing_rate"];
const ENDS = ["client", "server"];
const AS_IS = ["", "as it is"];

/** Shows this in a place, unless it is there already: what is shown keeps the focus. @param {HTMLElement} place @param {HTMLElement | null} what */
const put = (place, what) => {
  if (place.firstChild !== what) show(place, what);
};

/**
 * @param {any[]} paths as the server lists them
 * @param {Wanted} wanted what is chosen, which the form changes
 * @param {() => void} changed
 */
export const experimentForm = (paths, wanted, changed) => {
  const path = () => paths.find((it) => it.name === wanted.path.preset);
  const keys = () => new Set(varied(wanted, path()).map((it) => it.key));
  const onPath = pathFields(paths, wanted.path, changed, (key) => !keys().has(`path.${key}`));
  const onEnds = endFields(wanted, changed, keys);
  const besides = moreFactors(wanted, path, changed);

  const compared = choice("What is compared", [], "", (key) => {
    wanted.factor = key;
    wanted.levels = FACTORS.find((it) => it.key === key)?.chosen ?? [];
    wanted.more = wanted.more.filter((it) => it.factor !== key);
    changed();
  });
  const about = el("p", { class: "meta" }), levels = el("div", {}), named = el("b", {});
  const interruptions = el("span", {}, " of ", number("Length of an interruption", wanted.lasting, 1, 10000, (it) => { wanted.lasting = it; changed(); }), " ms every ",
    number("Time from one to the next", wanted.every, 1, 600, (it) => { wanted.every = it; changed(); }), " s");
  const interrupted = el("span", {}), times = el("span", {}), amounts = el("span", {});
  const amountsOf = workFields(wanted, changed);
  let [shownFactors, shownLevels] = ["", ""];
  /** What was chosen decides what else there is to choose. */
  const draw = () => {
    const there = factorsOf(wanted, path());
    if (!there.some((it) => it.key === wanted.factor)) [wanted.factor, wanted.levels] = [FACTORS[0].key, FACTORS[0].chosen];
    wanted.more = wanted.more.filter((it) => it.factor !== wanted.factor && there.some(({ key }) => key === it.factor));
    const factor = FACTORS.find((it) => it.key === wanted.factor) ?? FACTORS[0];
    // As long as there is the same to choose, the elements stay, and one of them the focus.
    const newFactors = [wanted.factor, ...there.map((it) => it.key)].join(), newLevels = [wanted.factor, ...choicesOf(factor, wanted, path())].join();
    if (newFactors !== shownFactors) show(compared, ...there.map(({ key, name }) => el("option", { value: key, selected: key === wanted.factor }, name)));
    if (newLevels !== shownLevels) show(levels, levelChoice("Which are compared", factor, wanted, wanted, path(), changed));
    [shownFactors, shownLevels] = [newFactors, newLevels];
    about.textContent = factor.about;
    named.textContent = wanted.path.preset;
    put(amounts, amountsOf[wanted.work]);
    // What is not shown is not checked.
    put(interrupted, wanted.interrupted ? interruptions : null);
    onPath.draw();
    onEnds.draw();
    besides.draw();
    const { each, phases } = inPhases(wanted);
    times.textContent = !wanted.interrupted ? " times each"
      : each === 1 ? " times each, with interruptions that begin at other moments"
        : ` times each: ${each} at each of ${phases} moments at which interruptions begin${each * phases === wanted.trials ? "" : `, ${each * phases} in all`}`;
  };
  draw();
  const element = el("form", { class: "composer-form", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    el("p", { class: "sentence" }, "Which ", compared, " suits the path ", named, "?"),
    about, levels, onPath.pictures,
    el("p", {}, el("label", { class: "chip" }, el("input", { type: "checkbox", checked: wanted.interrupted, onchange: (/** @type {any} */ event) => { wanted.interrupted = event.target.checked; changed(); } }), "with interruptions"), interrupted),
    el("p", {}, choice("What the applications do", WORKS.map((it) => [it.key, it.name]), wanted.work, (it) => { wanted.work = it; changed(); }),
      amounts, ", ", number("Trials", wanted.trials, 1, 1000, (it) => { wanted.trials = it; changed(); }), times),
    el("div", { class: "sections" }, besides.cases, onPath.sliders, besides.element, onEnds.element, el("details", { open: wanted.flows > 1 || wanted.seed !== "" }, el("summary", {}, "Several at once, and the seed"),
      el("p", { class: "fields" },
        el("label", {}, "Connections at once ", number("Connections at once", wanted.flows, 1, 100, (it) => { wanted.flows = it; changed(); })),
        el("label", {}, "Seed of all chance ", written("Seed", wanted.seed, { pattern: "0|[1-9][0-9]{0,17}", title: "a whole number; empty: 1", placeholder: "1", size: 12 }, (it) => { wanted.seed = it; changed(); }))))));
  return { element, draw, scenario: () => scenarioOf(wanted, path()) };
};

/** How much is transferred, of each kind of work. @param {Wanted} wanted @param {() => void} changed @returns {Record<string, HTMLElement>} */
const workFields = (wanted, changed) => {
  const size = (/** @type {string} */ label, /** @type {"amount" | "count" | "request" | "response" | "pause"} */ key, /** @type {number} */ most) =>
    number(label, wanted[key], 1, most, (it) => { wanted[key] = it; changed(); });
  const bulk = el("span", {}, " of ", size("Amount", "amount", 10000), " MB");
  return {
    download: bulk, upload: bulk,
    requests: el("span", {}, ": ", size("Requests", "count", 10000), " of ", size("Size of a request", "request", 100000), " B, each answered with ", size("Size of a response", "response", 10000), " kB"),
    keystrokes: el("span", {}, ": ", size("Keystrokes", "count", 10000), " keys, each ", size("Pause before a key", "pause", 10000), " ms after the echo of the last"),
  };
};

/**
 * Levels to choose from, and others that are written where a factor takes them.
 * @param {string} label
 * @param {Factor} factor
 * @param {{ levels: string[] }} of what has the chosen ones
 * @param {Wanted} wanted
 * @param {any} path
 * @param {() => void} changed
 */
const levelChoice = (label, factor, of, wanted, path, changed) => {
  const group = el("div", { class: "levels-choice", role: "group", "aria-label": label });
  const chip = (/** @type {string} */ level) => el("label", { class: "chip" },
    el("input", { type: "checkbox", checked: of.levels.includes(level), onchange: (/** @type {any} */ event) => {
      of.levels = event.target.checked ? [...of.levels, level] : of.levels.filter((it) => it !== level);
      changed();
    } }), level);
  const own = factor.other && el("input", { type: "text", size: 10, placeholder: "another", "aria-label": `Another level of ${factor.name}`, ...factor.other, onkeydown: (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  } });
  const add = () => {
    const level = own.value.trim();
    if (!own.reportValidity() || level === "") return;
    own.value = "";
    if (!of.levels.includes(level)) {
      of.levels = [...of.levels, level];
      const there = [...group.querySelectorAll("label")].find((it) => it.textContent === level);
      if (there) there.replaceWith(chip(level));
      else group.insertBefore(chip(level), own.parentElement);
    }
    changed();
  };
  show(group, ...[...new Set([...choicesOf(factor, wanted, path), ...levelsOf(factor, of.levels, wanted, path)])].map(chip), own && el("span", { class: "other-level" }, own, el("button", { type: "button", onclick: add }, "Add")));
  return group;
};

/**
 * What varies besides.
 * @param {Wanted} wanted
 * @param {() => any} path
 * @param {() => void} changed
 */
const moreFactors = (wanted, path, changed) => {
  const rows = el("div", {}), cases = el("p", { class: "meta cases" });
  const next = el("select", { "aria-label": "What varies besides", onchange: () => {
    const factor = FACTORS.find((it) => it.key === next.value);
    if (!factor) return;
    wanted.more.push({ factor: factor.key, levels: factor.chosen });
    changed();
    rows.querySelector("fieldset:last-child input")?.focus();
  } });
  /** @type {Map<string, HTMLElement>} */
  const made = new Map();
  const factorOf = (/** @type {Wanted["more"][number]} */ it) => FACTORS.find(({ key }) => key === it.factor) ?? FACTORS[0];
  const row = (/** @type {Wanted["more"][number]} */ it) => {
    const factor = factorOf(it);
    return el("fieldset", { class: "factor" }, el("legend", {}, factor.name), levelChoice(factor.name, factor, it, wanted, path(), changed),
      el("button", { type: "button", "aria-label": `Remove ${factor.name}`, onclick: () => {
        wanted.more = wanted.more.filter((other) => other !== it);
        changed();
        next.focus();
      } }, "Remove"));
  };
  const draw = () => {
    const there = factorsOf(wanted, path()).filter(({ key }) => key !== wanted.factor && !wanted.more.some((it) => it.factor === key));
    show(next, el("option", { value: "" }, "choose what"), ...there.map(({ key, name }) => el("option", { value: key }, name)));
    next.hidden = there.length === 0;
    const names = wanted.more.map((it) => [it.factor, ...choicesOf(factorOf(it), wanted, path())].join());
    for (const name of made.keys()) if (!names.includes(name)) made.delete(name);
    wanted.more.forEach((it, at) => { if (!made.has(names[at])) made.set(names[at], row(it)); });
    const all = names.map((name) => made.get(name));
    if (all.length !== rows.children.length || all.some((it, at) => it !== rows.children[at])) show(rows, ...all);
    count();
  };
  const count = () => {
    const all = varied(wanted, path()), { each, phases } = inPhases(wanted);
    const parts = [...all.map(({ factor, levels }) => `${levels.length} of ${factor.name}`), ...phases > 1 ? [`${phases} moments of the interruptions`] : []];
    const product = all.reduce((number, { levels }) => number * levels.length, phases);
    cases.textContent = all.length > 1 ? `${parts.join(" × ")}: ${product} cases, ${product * each} trials.` : "";
    cases.hidden = all.length < 2;
  };
  const element = el("details", { open: wanted.more.length > 0 }, el("summary", {}, "Vary something else, too"),
    el("p", { class: "meta" }, "Every combination of the levels is a case. The answer is about the first."), rows, el("p", {}, el("label", {}, "Vary also ", next)));
  return { element, cases, draw };
};

/**
 * Stacks and socket options of both ends, as the schema of scenarios describes them.
 * @param {Wanted} wanted
 * @param {() => void} changed
 * @param {() => Set<string>} keys that vary
 */
const endFields = (wanted, changed, keys) => {
  const box = el("div", { class: "ends" });
  const isSet = ENDS.some((end) => wanted.ends[end].stack || Object.keys(wanted.ends[end].socket).length > 0);
  /** Each field, by its key of the scenario. @type {Map<string, HTMLElement>} */
  const fields = new Map();
  const draw = () => {
    const elsewhere = keys();
    for (const [key, field] of fields) /** @type {any} */ (field.querySelector("input, select")).disabled = elsewhere.has(key);
  };
  const take = (/** @type {Record<string, any>} */ socket, /** @type {string} */ key) => (/** @type {string} */ text, /** @type {any} */ value = text) => {
    if (text === "") delete socket[key];
    else socket[key] = value;
    changed();
  };
  /** @param {any} schema @param {string} end @param {string} key */
  const option = (schema, end, key) => {
    const { about, kinds } = keyAt(schema, [end, "socket", key]), { socket } = wanted.ends[end];
    const label = `${key} of the ${end}`, set = take(socket, key), value = String(socket[key] ?? "");
    const [kind] = kinds;
    const field = key === "congestion" ? choice(label, [AS_IS, ...CONGESTIONS.slice(1)], value, set)
      : kind?.type === "boolean" ? choice(label, [AS_IS, ["true", "on"], ["false", "off"]], value, (it) => set(it, it === "true"))
        : kind?.type === "integer" ? written(label, value, { pattern: "[1-9][0-9]{0,9}", title: `${kind.minimum} to ${kind.maximum}`, placeholder: AS_IS[1], size: 11 }, (it) => set(it, Number(it)),
          (it) => it === "" || (Number(it) >= kind.minimum && Number(it) <= kind.maximum))
          : written(label, value, { ...key === "max_pacing_rate" ? PATTERNS.RATE : PATTERNS.SIZE, placeholder: AS_IS[1], size: 11 }, set);
    const [name, ...words] = about.split(": ");
    return el("label", { title: words.join(": ") }, el("span", {}, name), field);
  };
  const fill = async () => {
    if (box.firstChild) return;
    const schema = await get("/api/schema");
    const stacks = keyAt(schema, ["client", "stack"]).kinds.flatMap((it) => it.enum ?? []);
    show(box, ...ENDS.map((end) => {
      const all = new Map([[`${end}.stack`, el("label", {}, el("span", {}, "TCP stack"),
        choice(`TCP stack of the ${end}`, [["", "Linux"], ...stacks.filter((it) => it !== "linux").map((/** @type {string} */ it) => [it, it])], wanted.ends[end].stack, (it) => { wanted.ends[end].stack = it; changed(); }))],
      ...OPTIONS.map((key) => /** @type {[string, HTMLElement]} */ ([`${end}.socket.${key}`, option(schema, end, key)]))]);
      for (const [key, field] of all) fields.set(key, field);
      return el("fieldset", { class: "end" }, el("legend", {}, end === "client" ? "Client" : "Server"), ...all.values());
    }));
    draw();
  };
  const element = el("details", { open: isSet, ontoggle: () => { if (element.open) fill().catch((error) => { show(box, el("p", { class: "warnings", role: "alert" }, error.message)); }); } },
    el("summary", {}, "Both ends: stacks and socket options"),
    el("p", { class: "meta" }, "What varies is not set here. An option's effect stands where the pointer rests, and under ", el("a", { href: "#/learn" }, "Learn"), "."), box);
  return { element, draw };
};
