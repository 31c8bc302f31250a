// @ts-check
// An experiment is composed: a form on one side, the scenario file that it makes on the other.

import { address, get, post } from "./api.js";
import { command, el, picture, say, show } from "./dom.js";
import { editor } from "./editor.js";
import { KNOBS, choice, number, slider } from "./fields.js";

/** Who sends the data, and who receives them. @typedef {{ sender: string, receiver: string }} Ends */

/** What can be compared: a name, choices, those that are chosen first, and the key of the scenario. */
const FACTORS = [
  { key: "congestion", name: "congestion control", choices: ["reno", "cubic", "bbr", "vegas", "westwood"], chosen: ["reno", "cubic", "bbr"],
    about: "How the sender finds its rate.", sets: (/** @type {Ends} */ { sender }) => `${sender}.socket.congestion` },
  { key: "queue", name: "queue of the bottleneck", choices: ["32 packets", "128 packets", "512 packets", "1 bdp"], chosen: ["32 packets", "512 packets"],
    about: "How much may wait in front of the slowest link.", sets: () => "path.queue" },
  { key: "buffer", name: "receive buffer", choices: ["16 KiB", "64 KiB", "256 KiB", "1 MiB"], chosen: ["16 KiB", "64 KiB", "256 KiB"],
    about: "SO_RCVBUF of the receiver: it bounds the window.", sets: (/** @type {Ends} */ { receiver }) => `${receiver}.socket.rcvbuf` },
  { key: "loss", name: "random loss", choices: ["0 %", "0.1 %", "1 %", "3 %"], chosen: ["0 %", "0.1 %", "1 %"],
    about: "What the line loses at random, in both directions.", sets: () => "path.loss" },
  { key: "stack", name: "TCP stack of the sender", choices: ["model:linux-6.18", "model:windows-7", "model:osx-10.7", "model:haiku"], chosen: ["model:linux-6.18", "model:windows-7"],
    about: "Models of whole stacks, in virtual time.", sets: (/** @type {Ends} */ { sender }) => `${sender}.stack` },
];

/** The most moments at which interruptions begin. */
const PHASES = 20;

const list = (/** @type {string[]} */ words) => `[${words.map((it) => JSON.stringify(it)).join(", ")}]`;

/**
 * The composer, in this place.
 * @param {HTMLElement} place
 * @param {{ isOpen: boolean, toml?: string, name?: string }} options
 */
export const composer = async (place, options) => {
  const [{ paths }, about] = await Promise.all([get("/api/paths"), get("/api/about")]);
  const state = {
    path: "lte", factor: FACTORS[0], levels: new Set(FACTORS[0].chosen), trials: 10,
    direction: "download", amount: 10, interrupted: true, every: 5, lasting: 200,
    /** @type {Record<string, string>} */ knobs: {},
    world: "sim", name: options.name ?? "", isByHand: Boolean(options.toml),
  };
  const scenario = () => {
    const { path, factor, levels, trials, direction, amount, interrupted, every, lasting } = state;
    const chosen = factor.choices.filter((it) => levels.has(it));
    const ends = direction === "upload" ? { sender: "client", receiver: "server" } : { sender: "server", receiver: "client" };
    const set = KNOBS.filter(({ key }) => state.knobs[key] && key !== factor.key).map(({ key }) => `${key} = ${JSON.stringify(state.knobs[key])}`);
    // Which interruption meets which part of a transfer decides much: each of some phases is a case.
    const phases = interrupted ? Math.min(trials, PHASES) : 1;
    const offsets = Array.from({ length: phases }, (_, at) => `${Math.round((every * 1000 * (2 * at + 1)) / (2 * phases))} ms`);
    if (interrupted) set.push(`interruption = { every = "${every} s", lasting = "${lasting} ms", offset = ${JSON.stringify(offsets[0])} }`);
    return [
      `title = ${JSON.stringify(`Which ${factor.name} suits the path ${path}${interrupted ? ", with interruptions" : ""}?`)}`, "",
      "[path]", `preset = ${JSON.stringify(path)}`, ...set, "",
      "[workload]", `${direction} = "${amount} MB"`, "",
      "[matrix]", `"${factor.sets(ends)}" = ${list(chosen)}`,
      ...phases > 1 ? [`"path.interruption.offset" = ${list(offsets)}`] : [], "",
      "[repeat]", `trials = ${Math.ceil(trials / phases)}`, "",
      "# Headers, of each packet.", "[recording]", 'snaplen = "96 B"', "",
    ].join("\n");
  };
  const calledByForm = () => `${state.factor.key}-${state.path}`.replace(/[^A-Za-z0-9_-]/g, "-");
  state.name ||= calledByForm();
  const outlook = el("div", { class: "outlook" });
  const mistakes = el("ul", { class: "mistakes", "aria-live": "polite" });
  const estimate = el("p", { class: "meta estimate", role: "status" });
  const typed = el("div", {});
  const refusal = el("p", { class: "warnings", role: "alert" });
  const start = el("button", { type: "button", class: "primary", onclick: () => begin() }, "Start");
  const back = el("button", { type: "button", hidden: true, onclick: () => { state.isByHand = false; refresh(); } }, "Back to the form");
  const text = editor(options.toml ?? scenario(), () => { state.isByHand = true; look(); });

  let turn = 0, waiting = 0, isNamed = Boolean(options.name);
  /** The first field that counts, and whose value cannot be taken. @returns {HTMLInputElement | undefined} */
  const wrong = () => [...state.isByHand ? [] : form.querySelectorAll("input"), name].find((field) => !field.checkValidity());
  /** Looks at the text once it rests. */
  const look = () => {
    back.hidden = !state.isByHand || Boolean(options.toml);
    form.inert = state.isByHand;
    form.classList.toggle("unused", state.isByHand);
    clearTimeout(waiting);
    const field = wrong();
    if (field) {
      turn += 1;
      start.disabled = true;
      estimate.textContent = `${field.getAttribute("aria-label")}: ${field.validationMessage} ${field.title}`;
      return;
    }
    waiting = setTimeout(async () => {
      const own = ++turn, toml = text.value();
      try {
        const checked = await post("/api/check", { toml, name: state.name });
        if (own !== turn) return;
        text.mark(checked.mistakes);
        show(mistakes, ...checked.mistakes.map((/** @type {any} */ it) => el("li", {},
          el("button", { type: "button", onclick: () => text.select(it.from, it.until) }, `line ${it.line}`), ` ${it.what}`,
          it.remedy && el("pre", { class: "meta" }, it.remedy))));
        start.disabled = checked.mistakes.length > 0;
        if (checked.mistakes.length > 0) { estimate.textContent = ""; return; }
        const [seen, cost] = await Promise.all([
          post("/api/outlook", { toml, name: state.name }),
          post("/api/estimate", { toml, name: state.name, world: state.world }),
        ]);
        if (own !== turn) return;
        show(outlook, picture(seen.picture, "What the path will do: rate, delay and losses over time"));
        show(estimate, cost.in_words, ...cost.estimate.warnings.map((/** @type {string} */ it) => el("span", { class: "warnings" }, `. ${it}`)));
        refusal.textContent = "";
      } catch (error) {
        if (own === turn) estimate.textContent = /** @type {Error} */ (error).message;
      }
    }, 150);
  };
  const refresh = () => {
    if (!state.isByHand) {
      text.set(scenario());
      if (!isNamed) {
        state.name = name.value = calledByForm();
        typedCommand();
      }
    }
    look();
  };
  const begin = async () => {
    start.disabled = true;
    try {
      const job = await post("/api/jobs", { do: "run", toml: text.value(), name: state.name, world: state.world });
      say("Started");
      location.hash = address("/job", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };

  const form = el("form", { class: "composer-form", oninput: () => look(), onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
  const build = () => {
    const path = paths.find((/** @type {any} */ it) => it.name === state.path);
    const levels = el("div", { class: "levels-choice", role: "group", "aria-label": "Which are compared" }, ...state.factor.choices.map((choice) =>
      el("label", { class: "chip" }, el("input", { type: "checkbox", checked: state.levels.has(choice), onchange: (/** @type {any} */ event) => {
        if (event.target.checked) state.levels.add(choice); else state.levels.delete(choice);
        refresh();
      } }), choice)));
    show(form,
      el("p", { class: "sentence" }, "Which ",
        choice("What is compared", FACTORS.map((it) => [it.key, it.name]), state.factor.key, (key) => {
          state.factor = FACTORS.find((it) => it.key === key) ?? FACTORS[0];
          state.levels = new Set(state.factor.chosen);
          build(); refresh();
        }), " suits ",
        choice("Path", paths.map((/** @type {any} */ it) => [it.name, `${it.name}: ${it.title}`]), state.path, (name) => { state.path = name; state.knobs = {}; build(); refresh(); }), "?"),
      el("p", { class: "meta" }, state.factor.about), levels,
      el("p", {}, el("label", { class: "chip" }, el("input", { type: "checkbox", checked: state.interrupted, onchange: (/** @type {any} */ event) => { state.interrupted = event.target.checked; build(); refresh(); } }), "with interruptions"),
        state.interrupted && el("span", {}, " of ", number("Length of an interruption", state.lasting, 1, 10000, (it) => { state.lasting = it; refresh(); }), " ms every ", number("Time from one to the next", state.every, 1, 600, (it) => { state.every = it; refresh(); }), " s")),
      el("p", {}, "A ", choice("Direction", [["download", "download"], ["upload", "upload"]], state.direction, (it) => { state.direction = it; refresh(); }), " of ",
        number("Amount", state.amount, 1, 10000, (it) => { state.amount = it; refresh(); }), " MB, ",
        number("Trials", state.trials, 1, 1000, (it) => { state.trials = it; refresh(); }),
        state.interrupted ? " times each, with interruptions that begin at other moments" : " times each"),
      el("details", {}, el("summary", {}, "Change the path"),
        el("p", { class: "meta" }, path?.reference ?? ""),
        ...KNOBS.filter((knob) => knob.key !== state.factor.key).map((knob) => slider(knob, state.knobs, refresh))));
  };
  const worlds = choice("Where it runs", [["sim", "in virtual time: seconds, exactly repeatable"], ["kernel", "on this machine's TCP: real time"], ["auto", "where its stacks are"]], state.world, (it) => { state.world = it; look(); });
  const name = el("input", { type: "text", value: state.name, "aria-label": "Name of the experiment", required: true, pattern: "[A-Za-z0-9_\\-]{1,80}", title: "letters, digits, - and _, at most 80", oninput: () => {
    if (name.reportValidity()) {
      state.name = name.value;
      isNamed = true;
      typedCommand();
    }
    look();
  } });
  const typedCommand = () => show(typed, command(`tcplab run ${state.name}.toml --world ${state.world}`));
  build();
  typedCommand();
  show(place,
    !options.toml && form,
    outlook,
    el("div", { class: "begin" }, start, worlds, el("label", {}, "called ", name), back),
    !about.has_kernel && el("p", { class: "meta" }, `This machine's TCP cannot be used: ${about.why_no_kernel}`),
    estimate, refusal, mistakes,
    el("details", { open: options.isOpen, class: "file" }, el("summary", {}, "The file"),
      el("p", { class: "meta" }, "The whole experiment is this file: change it here, or keep it and run it with the command below."), text.element, typed));
  refresh();
};

/** @type {import("./app.js").Page} */
export const experiment = async (place, query) => {
  const from = query.get("scenario"), run = query.get("run");
  let toml, name = "experiment", heading = "New experiment";
  if (from) ({ toml, name } = await get("/api/scenario", { name: from }));
  if (run) {
    const it = await get("/api/run", { run });
    [toml, name] = [it.scenario, it.glance.name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 80)];
  }
  if (toml) heading = `Experiment ${name}`;
  const box = el("div", {});
  show(place, el("header", {}, el("h1", {}, heading)), box);
  await composer(box, { isOpen: true, toml, name });
};
