// @ts-check
// Pictures of results: drawn for the width that they have, in the page's colours.

import { el } from "./dom.js";

/**
 * A part of a picture.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 */
export const shape = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, typeof value === "number" ? String(Math.round(value * 10) / 10) : value);
  element.append(...children);
  return element;
};

/** @param {number} x @param {number} y @param {string} words @param {string} [anchor] @param {string} [kind] */
export const text = (x, y, words, anchor = "start", kind = "") => shape("text", { x, y, "text-anchor": anchor, class: kind }, words);

/**
 * A picture that is drawn anew where its width changes.
 * @param {string} label what it shows, for those who do not see it
 * @param {(width: number) => { height: number, shapes: Node[] }} draw
 */
export const figure = (label, draw) => {
  const box = el("div", { class: "figure", role: "img", "aria-label": label });
  let last = 0;
  const redraw = () => {
    if (!last) return;
    const { height, shapes } = draw(last);
    box.replaceChildren(shape("svg", { viewBox: `0 0 ${last} ${height}`, width: last, height, "aria-hidden": "true" }, ...shapes));
  };
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === last) return;
    last = width;
    redraw();
  }).observe(box);
  return { element: box, redraw };
};

/**
 * Where values lie.
 * @param {number} from @param {number} until values at the ends
 * @param {number} start @param {number} end places of the ends
 * @returns {(value: number) => number}
 */
export const linear = (from, until, start, end) => (value) => start + (end - start) * (value - from) / (until - from || 1);

/** As `linear`, by factors. @type {typeof linear} */
export const logarithmic = (from, until, start, end) => {
  const place = linear(Math.log(from), Math.log(until), start, end);
  return (value) => place(Math.log(Math.max(value, from)));
};

/** About `count` round values from zero. @param {number} until @param {number} count */
export const steps = (until, count) => {
  const rough = until / count, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = power * ([1, 2, 5, 10].find((it) => it * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(until / step + 1e-9) + 1 }, (_, index) => index * step);
};

/** Round values by factors: 1, 2, 5 of each power of ten, or powers alone where these are many. @param {number} from @param {number} until @param {number} [most] */
export const factors = (from, until, most = 8) => {
  const powers = Array.from({ length: Math.ceil(Math.log10(until / from)) + 2 }, (_, index) => 10 ** (Math.floor(Math.log10(from)) + index));
  const within = (/** @type {number[]} */ all) => all.filter((it) => it >= from * 0.999 && it <= until * 1.001);
  const fine = within(powers.flatMap((it) => [it, 2 * it, 5 * it]));
  return fine.length <= most ? fine : within(powers);
};
