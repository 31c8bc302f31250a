// @ts-check
// An experiment is composed: a form on one side, the scenario file that it makes on the other.

import { Refused, address, get, post } from "./api.js";
import { command, el, picture, say, show } from "./dom.js";
import { keep, kept } from "./draft.js";
import { editor } from "./editor.js";
import { FACTORS, START } from "./experiment_file.js";
import { experimentForm } from "./experiment_form.js";
import { choice } from "./fields.js";

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
    wanted: structuredClone(START),
    world: options.again?.world ?? "sim", isWorldChosen: Boolean(options.again), asked: options.again?.asked ?? {}, name: options.name ?? "", isNamed: Boolean(options.name), isByHand: Boolean(options.toml),
    ...draft?.state,
  };
  const { wanted } = state;
  const { element: form, draw, scenario } = experimentForm(paths, wanted, () => refresh());
  form.addEventListener("input", () => look());
  const calledByForm = () => `${wanted.factor}-${wanted.path.preset}`.replace(/[^A-Za-z0-9_-]/g, "-");
  state.name ||= calledByForm();
  const outlook = el("div", { class: "outlook" });
  const mistakes = el("ul", { class: "mistakes", "aria-live": "polite" });
  const estimate = el("p", { class: "meta estimate", role: "status" });
  const typed = el("div", {});
  const refusal = el("p", { class: "warnings", role: "alert" });
  const start = el("button", { type: "button", class: "primary", onclick: () => begin() }, "Start");
  const back = el("button", { type: "button", hidden: true, onclick: () => toForm() }, "Back to the form");
  const text = editor((state.isByHand && draft?.toml) || (options.toml ?? scenario()), { preset: paths.map((/** @type {any} */ it) => it.name), congestion: FACTORS[0].choices }, () => { state.isByHand = true; look(); });
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
    draw();
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
  typedCommand();
  show(place, el("div", { class: "composer" },
    !options.toml && form,
    outlook,
    el("div", { class: "composer-start" },
      el("div", { class: "begin" }, start, worlds, el("label", {}, "called ", name), asked, back),
      !machine.has_kernel && el("p", { class: "meta" }, `This machine's TCP cannot be used: ${machine.why_no_kernel}`),
      estimate, refusal, mistakes),
    file));
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
