// @ts-check
// A path, by its name and its picture, and what is changed of it.

import { post } from "./api.js";
import { drawn, el, picture, show } from "./dom.js";
import { KNOBS, slider } from "./fields.js";

/** A path by name, and keys that are set otherwise. @typedef {{ preset: string, set: Record<string, string> }} Chosen */

/** Groups until now: each has a name of its own. */
let groups = 0;

/**
 * One of the paths that have a name: small pictures in a row, or all at once.
 * @param {any[]} paths as the server lists them
 * @param {string} chosen
 * @param {(name: string) => void} take
 */
const pathPictures = (paths, chosen, take) => {
  groups += 1;
  const group = `path-${groups}`;
  const strip = el("div", { class: "path-strip" }, ...paths.map(({ name, title, small }) => {
    const [own, about] = [`${group}-${name}`, `${group}-${name}-about`];
    return el("label", { class: "path-card", title }, small && drawn(small),
      el("span", { class: "path-name" },
        el("input", { type: "radio", name: group, value: name, checked: name === chosen, "aria-labelledby": own, "aria-describedby": about, onchange: () => take(name) }),
        el("b", { id: own }, name)),
      el("span", { id: about, class: "path-title" }, title));
  }));
  // Once it has a place, the chosen one is seen.
  const seen = new ResizeObserver(() => {
    if (strip.clientWidth === 0) return;
    const card = strip.querySelector("label:has(:checked)");
    if (card) strip.scrollLeft = card.offsetLeft - strip.offsetLeft - (strip.clientWidth - card.clientWidth) / 2;
    seen.disconnect();
  });
  seen.observe(strip);
  const whole = `All ${paths.length} at once`;
  const all = el("button", { type: "button", "aria-expanded": "false", onclick: () => {
    const isWhole = strip.classList.toggle("whole");
    all.setAttribute("aria-expanded", String(isWhole));
    all.textContent = isWhole ? "In one row" : whole;
  } }, whole);
  return el("fieldset", { class: "paths" }, el("legend", {}, "Path"), strip,
    el("p", { class: "meta" }, "Rate, delay and loss over 30 s, on equal logarithmic scales. ", all));
};

/**
 * What is changed of a path.
 * @param {any[]} paths
 * @param {Chosen} state
 * @param {() => void} changed
 * @param {(key: string) => boolean} [isFree] whether a key is not set elsewhere
 */
const pathSliders = (paths, state, changed, isFree = () => true) => {
  const reference = el("p", { class: "meta" }), sliders = el("div", {});
  let shown = "";
  const draw = () => {
    const path = paths.find((it) => it.name === state.preset);
    // The rate of a wireless link is that of its standard.
    const knobs = KNOBS.filter(({ key }) => isFree(key) && !(key === "rate" && path?.is_wireless));
    // As long as there is the same to move, it stays, and keeps the focus.
    const isNew = [state.preset, ...knobs.map((it) => it.key)].join(" ");
    if (isNew === shown) return;
    shown = isNew;
    reference.textContent = path?.reference ?? "";
    show(sliders, ...knobs.map((knob) => slider(knob, state.set, changed)));
  };
  draw();
  return { element: el("details", {}, el("summary", {}, "Change the path"), reference, sliders), draw };
};

/**
 * Both, for a form that draws what is chosen.
 * @param {any[]} paths
 * @param {Chosen} state
 * @param {() => void} changed
 * @param {(key: string) => boolean} [isFree]
 */
export const pathFields = (paths, state, changed, isFree) => {
  const { element, draw } = pathSliders(paths, state, changed, isFree);
  const pictures = pathPictures(paths, state.preset, (name) => {
    state.preset = name;
    state.set = {};
    draw();
    changed();
  });
  return { pictures, sliders: element, draw };
};

/**
 * A path with its outlook.
 * @param {any[]} paths
 * @param {Chosen} state
 */
export const pathChoice = (paths, state) => {
  const outlook = el("div", { class: "outlook" });
  let turn = 0, waiting = 0;
  const look = () => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const own = ++turn;
      const set = Object.entries(state.set).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
      const toml = ['title = "A path"', "[path]", `preset = ${JSON.stringify(state.preset)}`, ...set, "[workload]", 'upload = "1 MB"'].join("\n");
      try {
        const seen = await post("/api/outlook", { toml });
        if (own === turn) show(outlook, picture(seen.picture, "What the path will do: rate, delay and losses over time"));
      } catch (error) {
        if (own === turn) show(outlook, el("p", { role: "alert", class: "warnings" }, /** @type {Error} */ (error).message));
      }
    }, 150);
  };
  const { pictures, sliders } = pathFields(paths, state, look);
  look();
  return el("div", {}, pictures, outlook, sliders);
};
