// @ts-check
// Fields that several forms share.

import { el } from "./dom.js";

/**
 * One of several.
 * @param {string} label
 * @param {string[][]} all values with their names
 * @param {string} chosen
 * @param {(it: string) => void} take
 */
export const choice = (label, all, chosen, take) =>
  el("select", { "aria-label": label, onchange: (/** @type {any} */ event) => take(event.target.value) },
    ...all.map(([value, name]) => el("option", { value, selected: value === chosen }, name)));

/**
 * A number; what is none, or out of bounds, is not taken, and the browser says why.
 * @param {string} label
 * @param {number} value
 * @param {number} min
 * @param {number} max
 * @param {(it: number) => void} take
 * @param {number | "any"} [step]
 */
export const number = (label, value, min, max, take, step = 1) =>
  el("input", { type: "number", "aria-label": label, value, min, max, step, required: true, oninput: (/** @type {any} */ event) => {
    if (event.target.reportValidity()) take(Number(event.target.value));
  } });

/**
 * A text by rules; one that keeps them not is not taken, and the browser says why.
 * @param {string} label
 * @param {string} value
 * @param {{ pattern: string, title: string, placeholder?: string, size?: number }} rules
 * @param {(it: string) => void} take
 * @param {(it: string) => boolean} [isRight] what the pattern cannot say
 */
export const written = (label, value, rules, take, isRight = () => true) =>
  el("input", { type: "text", "aria-label": label, value, ...rules, oninput: (/** @type {any} */ event) => {
    const field = event.target;
    field.setCustomValidity(isRight(field.value) ? "" : rules.title);
    if (field.reportValidity()) take(field.value);
  } });

/** Congestion controls, and none. */
export const CONGESTIONS = [["", "as it is found"], ...["reno", "cubic", "bbr", "vegas", "westwood"].map((it) => [it, it])];

/** Where trials run. */
export const WORLDS = [["sim", "in virtual time: seconds, exactly repeatable"], ["kernel", "on this machine's TCP: real time"], ["auto", "on this machine's TCP, else in virtual time"]];

/** What is set on a path. Sliders are logarithmic: a factor counts. */
export const KNOBS = [
  { key: "rate", name: "Rate", least: 0.1, most: 1000, write: (/** @type {number} */ it) => round(it, 3) + " Mbit/s" },
  { key: "delay", name: "One-way delay", least: 0.1, most: 600, write: (/** @type {number} */ it) => round(it, 2) + " ms" },
  { key: "loss", name: "Random loss", least: 0.01, most: 20, write: (/** @type {number} */ it) => round(it, 2) + " %" },
  { key: "queue", name: "Queue", least: 1, most: 10000, write: (/** @type {number} */ it) => Math.round(it) + " packets" },
];

/** Where a slider stands for what is set: what `write` made, read again. @param {any} knob @param {string | undefined} value */
const placeOf = ({ least, most }, value) => value === undefined ? 0
  : Math.max(1, Math.round(1000 * Math.log(Number.parseFloat(value) / least) / Math.log(most / least)));

const round = (/** @type {number} */ value, /** @type {number} */ digits) => Number(value.toPrecision(digits));

/**
 * A slider for a key of a path; at its left end the preset's own value holds.
 * @param {any} knob
 * @param {Record<string, string>} set what is set
 * @param {() => void} changed
 */
export const slider = (knob, set, changed) => {
  const shown = el("output", {}, set[knob.key] ?? "as the preset says");
  const input = el("input", { type: "range", min: 0, max: 1000, value: placeOf(knob, set[knob.key]), "aria-label": knob.name, "aria-valuetext": shown.textContent, oninput: () => {
    const share = Number(input.value) / 1000;
    if (share === 0) delete set[knob.key];
    else set[knob.key] = knob.write(knob.least * (knob.most / knob.least) ** share);
    shown.textContent = set[knob.key] ?? "as the preset says";
    input.setAttribute("aria-valuetext", shown.textContent);
    changed();
  } });
  return el("div", { class: "knob" }, el("span", {}, knob.name), input, shown);
};
