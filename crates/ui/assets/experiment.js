// @ts-check
// An experiment is composed: a form on one side, the scenario file that it makes on the other.

import { Refused, address, get, post } from "./api.js";
import { command, el, picture, say, show } from "./dom.js";
import { keep, kept } from "./draft.js";
import { editor } from "./editor.js";
import { KNOBS, choice, number, slider } from "./fields.js";

/** Who sends the data, and who receives them. @typedef {{ sender: string, receiver: string }} Ends */

const CONTROLS = ["reno", "cubic", "bbr", "vegas", "westwood"];

/** What can be compared: a name, choices, those that are chosen first, and the key of the scenario. */
const FACTORS = [
  { key: "congestion", name: "congestion control", choices: CONTROLS, chosen: ["reno", "cubic", "bbr"],
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

/** Trials at each of some moments, together as many as are asked for, or a few more. @param {number} trials */
export const inPhases = (trials) => {
  const each = Math.ceil(trials / PHASES);
  return { each, phases: Math.ceil(trials / each) };
};

const list = (/** @type {string[]} */ words) => `[${words.map((it) => JSON.stringify(it)).join(", ")}]`;

/** What a run had otherwise than its file: empty where it had nothing. */
const ASKED = [
  { key: "trials", name: "trials of each case", pattern: "[1-9][0-9]{0,4}", title: "a number up to 99999; empty: as the file says" },
  { key: "seed", name: "seed", pattern: "[0-9]{1,20}", title: "a whole number of up to 64 bits; empty: as the file says" },
  { key: "kernel", name: "kernel of the stack linux in virtual time", pattern: "[A-Za-z0-9][A-Za-z0-9._+\\-]{0,63}", title: "the name of a kernel that was built, or model; empty: the newest" },
];

/**
 * The composer, in this place.
 * @param {HTMLElement} place
 * @param {{ isOpen: boolean, toml?: string, name?: string, again?: { world: string, asked: Record<string, string> } }} options
 * `again`: where a run ran, and what it had otherwise than its file
 */
export const composer = async (place, options) => {
  const [{ paths }, machine] = await Promise.all([get("/api/paths"), get("/api/about")]);
  const before = kept();
  // Of another text it is no draft.
  const draft = before?.of === (options.toml ?? "") ? before : null;
  const state = {
    path: "lte", factor: FACTORS[0].key, levels: FACTORS[0].chosen, trials: 10,
    direction: "download", amount: 10, interrupted: true, every: 5, lasting: 200,
    /** @type {Record<string, string>} */ knobs: {},
    world: options.again?.world ?? "sim", isWorldChosen: Boolean(options.again), asked: options.again?.asked ?? {}, name: options.name ?? "", isNamed: Boolean(options.name), isByHand: Boolean(options.toml),
    ...draft?.state,
  };
  const factorOf = () => FACTORS.find((it) => it.key === state.factor) ?? FACTORS[0];
  const scenario = () => {
    const { path, levels, trials, direction, amount, interrupted, every, lasting } = state;
    const factor = factorOf(), chosen = factor.choices.filter((it) => levels.includes(it));
    const ends = direction === "upload" ? { sender: "client", receiver: "server" } : { sender: "server", receiver: "client" };
    const set = KNOBS.filter(({ key }) => state.knobs[key] && key !== factor.key).map(({ key }) => `${key} = ${JSON.stringify(state.knobs[key])}`);
    // Which interruption meets which part of a transfer decides much: each of some phases is a case.
    const { each, phases } = interrupted ? inPhases(trials) : { each: trials, phases: 1 };
    const offsets = Array.from({ length: phases }, (_, at) => `${Math.round((every * 1000 * (2 * at + 1)) / (2 * phases))} ms`);
    if (interrupted) set.push(`interruption = { every = "${every} s", lasting = "${lasting} ms", offset = ${JSON.stringify(offsets[0])} }`);
    return [
      `title = ${JSON.stringify(`Which ${factor.name} suits the path ${path}${interrupted ? ", with interruptions" : ""}?`)}`, "",
      "[path]", `preset = ${JSON.stringify(path)}`, ...set, "",
      "[workload]", `${direction} = "${amount} MB"`, "",
      "[matrix]", `"${factor.sets(ends)}" = ${list(chosen)}`,
      ...phases > 1 ? [`"path.interruption.offset" = ${list(offsets)}`] : [], "",
      "[repeat]", `trials = ${each}`, "",
      "# Headers, of each packet.", "[recording]", 'snaplen = "96 B"', "",
    ].join("\n");
  };
  const calledByForm = () => `${state.factor}-${state.path}`.replace(/[^A-Za-z0-9_-]/g, "-");
  state.name ||= calledByForm();
  const outlook = el("div", { class: "outlook" });
  const mistakes = el("ul", { class: "mistakes", "aria-live": "polite" });
  const estimate = el("p", { class: "meta estimate", role: "status" });
  const typed = el("div", {});
  const refusal = el("p", { class: "warnings", role: "alert" });
  const start = el("button", { type: "button", class: "primary", onclick: () => begin() }, "Start");
  const back = el("button", { type: "button", hidden: true, onclick: () => toForm() }, "Back to the form");
  const text = editor((state.isByHand && draft?.toml) || (options.toml ?? scenario()), { preset: paths.map((/** @type {any} */ it) => it.name), congestion: CONTROLS }, () => { state.isByHand = true; look(); });
  const toForm = () => {
    if (text.value() !== scenario() && !confirm("Give up what you wrote in the file?")) return;
    state.isByHand = false;
    refresh();
  };

  let turn = 0, waiting = 0;
  /** The first field that counts, and whose value cannot be taken. @returns {HTMLInputElement | undefined} */
  const wrong = () => [...state.isByHand ? [] : form.querySelectorAll("input"), name, ...asked.querySelectorAll("input")].find((field) => !field.checkValidity());
  /** Looks at the text once it rests. */
  const look = () => {
    back.hidden = !state.isByHand || Boolean(options.toml);
    form.inert = state.isByHand;
    form.classList.toggle("unused", state.isByHand);
    clearTimeout(waiting);
    keep({ of: options.toml ?? "", state, toml: text.value() });
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
          el("button", { type: "button", onclick: () => { file.open = true; text.select(it.from, it.until); } }, `line ${it.line}`), ` ${it.what}`,
          it.remedy && el("pre", { class: "meta" }, it.remedy))),
        (checked.more > 0 || checked.are_all === false) && el("li", { class: "meta" },
          [checked.more > 0 && `and ${checked.more} more`, checked.are_all === false && "and perhaps more"].filter(Boolean).join(", ")));
        if (checked.mistakes.length > 0) {
          start.disabled = true;
          estimate.textContent = "";
          return;
        }
        const seen = post("/api/outlook", { toml, name: state.name })
          .then((it) => picture(it.picture, "What the path will do: rate, delay and losses over time"), () => null);
        // What cannot run has an outlook, too.
        seen.then((it) => { if (own === turn) show(outlook, it); });
        const cost = await estimated(toml, () => own === turn);
        if (own !== turn) return;
        show(estimate, cost.in_words, ...cost.estimate.warnings.map((/** @type {string} */ it) => el("span", { class: "warnings" }, `. ${it}`)));
        start.disabled = false;
        refusal.textContent = "";
        await seen;
      } catch (error) {
        if (own === turn) refuse(error);
      }
    }, 150);
  };
  /** The time and the room of a run: where the stacks of a file are, unless a world was chosen. @param {string} toml @param {() => boolean} isWanted */
  const estimated = async (toml, isWanted) => {
    const ask = () => {
      const { trials, kernel } = wish();
      return post("/api/estimate", { toml, name: state.name, world: state.world, trials, kernel });
    };
    try {
      return await ask();
    } catch (error) {
      if (state.isWorldChosen || state.world === "auto" || !isWanted() || !(error instanceof Refused && error.status > 0)) throw error;
      state.world = worlds.value = "auto";
      typedCommand();
      return ask();
    }
  };
  /** What is asked for otherwise than the file says. @returns {{ trials?: number, seed?: string, kernel?: string }} */
  const wish = () => {
    const { trials, seed, kernel } = state.asked;
    return { trials: trials ? Number(trials) : undefined, seed: seed || undefined, kernel: (state.world === "sim" && kernel) || undefined };
  };
  /** Says why it cannot run. @param {any} error */
  const refuse = (error) => {
    show(estimate, error.message, error.remedy && el("span", {}, `. Try this: ${error.remedy}.`));
    // A server that does not answer may be there again.
    start.disabled = error instanceof Refused && error.status > 0;
  };
  const refresh = () => {
    inWords();
    if (!state.isByHand) {
      text.set(scenario());
      if (!state.isNamed) {
        state.name = name.value = calledByForm();
        typedCommand();
      }
    }
    look();
  };
  const begin = async () => {
    start.disabled = true;
    try {
      const job = await post("/api/jobs", { do: "run", toml: text.value(), name: state.name, world: state.world, ...wish() });
      keep(null);
      say("Started");
      location.hash = address("/job", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };

  const about = el("p", { class: "meta" }), levels = el("div", { class: "levels-choice", role: "group", "aria-label": "Which are compared" });
  const interruptions = el("span", {}, " of ", number("Length of an interruption", state.lasting, 1, 10000, (it) => { state.lasting = it; refresh(); }), " ms every ",
    number("Time from one to the next", state.every, 1, 600, (it) => { state.every = it; refresh(); }), " s");
  const times = el("span", {}), reference = el("p", { class: "meta" }), sliders = el("div", {});
  /** Draws what depends on the choices: what has the focus stays. */
  const draw = () => {
    const factor = factorOf();
    about.textContent = factor.about;
    show(levels, ...factor.choices.map((choice) => el("label", { class: "chip" },
      el("input", { type: "checkbox", checked: state.levels.includes(choice), onchange: (/** @type {any} */ event) => {
        state.levels = event.target.checked ? [...state.levels, choice] : state.levels.filter((/** @type {string} */ it) => it !== choice);
        refresh();
      } }), choice)));
    reference.textContent = paths.find((/** @type {any} */ it) => it.name === state.path)?.reference ?? "";
    show(sliders, ...KNOBS.filter((knob) => knob.key !== state.factor).map((knob) => slider(knob, state.knobs, refresh)));
  };
  const inWords = () => {
    const { each, phases } = inPhases(state.trials);
    // What is not shown is not checked; what is shown already keeps the focus.
    if (state.interrupted !== interrupted.contains(interruptions)) show(interrupted, state.interrupted && interruptions);
    times.textContent = !state.interrupted ? " times each"
      : each === 1 ? " times each, with interruptions that begin at other moments"
        : ` times each: ${each} at each of ${phases} moments at which interruptions begin${each * phases === state.trials ? "" : `, ${each * phases} in all`}`;
  };
  const interrupted = el("span", {});
  const form = el("form", { class: "composer-form", oninput: () => look(), onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    el("p", { class: "sentence" }, "Which ",
      choice("What is compared", FACTORS.map((it) => [it.key, it.name]), state.factor, (key) => {
        state.factor = key;
        state.levels = factorOf().chosen;
        draw(); refresh();
      }), " suits ",
      choice("Path", paths.map((/** @type {any} */ it) => [it.name, `${it.name}: ${it.title}`]), state.path, (name) => { state.path = name; state.knobs = {}; draw(); refresh(); }), "?"),
    about, levels,
    el("p", {}, el("label", { class: "chip" }, el("input", { type: "checkbox", checked: state.interrupted, onchange: (/** @type {any} */ event) => { state.interrupted = event.target.checked; refresh(); } }), "with interruptions"), interrupted),
    el("p", {}, "A ", choice("Direction", [["download", "download"], ["upload", "upload"]], state.direction, (it) => { state.direction = it; refresh(); }), " of ",
      number("Amount", state.amount, 1, 10000, (it) => { state.amount = it; refresh(); }), " MB, ",
      number("Trials", state.trials, 1, 1000, (it) => { state.trials = it; refresh(); }), times),
    el("details", {}, el("summary", {}, "Change the path"), reference, sliders));
  const worlds = choice("Where it runs", [["sim", "in virtual time: seconds, exactly repeatable"], ["kernel", "on this machine's TCP: real time"], ["auto", "where its stacks are"]], state.world, (it) => { state.world = it; state.isWorldChosen = true; typedCommand(); look(); });
  const name = el("input", { type: "text", value: state.name, "aria-label": "Name of the experiment", required: true, pattern: "[A-Za-z0-9_\\-]{1,80}", title: "letters, digits, - and _, at most 80", oninput: () => {
    if (name.reportValidity()) {
      state.name = name.value;
      state.isNamed = true;
      typedCommand();
    }
    look();
  } });
  const asked = el("span", {}, ...ASKED.filter(({ key }) => options.again && (key !== "kernel" || state.asked.kernel)).map(({ key, name: label, ...rules }) => el("label", {}, ` ${label} `,
    el("input", { type: "text", value: state.asked[key] ?? "", placeholder: "as the file says", "aria-label": label, size: 12, ...rules, oninput: (/** @type {any} */ event) => {
      if (event.target.reportValidity()) {
        state.asked[key] = event.target.value;
        typedCommand();
      }
      look();
    } }))));
  const typedCommand = () => {
    const flags = Object.entries(wish()).map(([flag, value]) => value ? ` --${flag} ${value}` : "").join("");
    show(typed, command(`tcplab run ${state.name}.toml --world ${state.world}${flags}`));
  };
  const file = el("details", { open: options.isOpen || state.isByHand, class: "file" }, el("summary", {}, "The file"),
    el("p", { class: "meta" }, "The whole experiment is this file: change it here, or keep it and run it with the command below."), text.element, typed);
  draw();
  typedCommand();
  show(place,
    !options.toml && form,
    outlook,
    el("div", { class: "begin" }, start, worlds, el("label", {}, "called ", name), asked, back),
    !machine.has_kernel && el("p", { class: "meta" }, `This machine's TCP cannot be used: ${machine.why_no_kernel}`),
    estimate, refusal, mistakes,
    file);
  refresh();
};

/** @type {import("./app.js").Page} */
export const experiment = async (place, query) => {
  const from = query.get("scenario"), run = query.get("run");
  let toml, again, name = "experiment", heading = "New experiment";
  if (from) ({ toml, name } = await get("/api/scenario", { name: from }));
  if (run) {
    const it = await get("/api/run", { run });
    [toml, name] = [it.scenario, it.glance.name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 80)];
    again = await asIn(it, name);
  }
  if (toml) heading = `Experiment ${name}`;
  const box = el("div", {});
  show(place, el("header", {}, el("h1", {}, heading)), box);
  await composer(box, { isOpen: true, toml, name, again });
};

/** Where a run ran, and what it had otherwise than its file. @param {any} run @param {string} name */
const asIn = async (run, name) => {
  const { experiment: file } = await post("/api/check", { toml: run.scenario, name });
  const asked = { trials: run.trials_asked === file?.trials ? "" : String(run.trials_asked ?? ""), seed: run.seed === file?.seed ? "" : run.seed ?? "", kernel: run.kernel ?? "" };
  return { world: ["sim", "kernel"].includes(run.glance.world) ? run.glance.world : "auto", asked };
};
