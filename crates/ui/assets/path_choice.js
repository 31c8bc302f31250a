// @ts-check
// A path, by name: with its picture, and what is changed of it.

import { post } from "./api.js";
import { el, picture, show } from "./dom.js";
import { KNOBS, choice, slider } from "./fields.js";

/**
 * @param {any[]} paths as the server lists them
 * @param {{ preset: string, set: Record<string, string> }} state
 */
export const pathChoice = (paths, state) => {
  const reference = el("p", { class: "meta" }), sliders = el("div", {});
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
  const draw = () => {
    reference.textContent = paths.find((it) => it.name === state.preset)?.reference ?? "";
    show(sliders, ...KNOBS.map((knob) => slider(knob, state.set, look)));
    look();
  };
  draw();
  return el("div", {},
    el("p", {}, choice("Path", paths.map((it) => [it.name, `${it.name}: ${it.title}`]), state.preset, (name) => {
      state.preset = name;
      state.set = {};
      draw();
    })),
    outlook,
    el("details", {}, el("summary", {}, "Change the path"), reference, sliders));
};
