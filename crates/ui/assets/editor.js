// @ts-check
// A text field for TOML: numbered lines, marked mistakes, and what fits where one writes.

import { get } from "./api.js";
import { offersAt } from "./completion.js";
import { el, show } from "./dom.js";

/** @type {any} */
let schema;

/** What is offered at most: some lines. */
const OFFERS = 60;

/**
 * @param {string} toml
 * @param {Record<string, string[]>} known values of keys that the schema takes any text for
 * @param {() => void} changed by hand
 */
export const editor = (toml, known, changed) => {
  const numbers = el("pre", { class: "numbers-of-lines", "aria-hidden": "true" });
  const marks = el("pre", { class: "marks-of-mistakes", "aria-hidden": "true" });
  const area = el("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "The scenario file", rows: 20 });
  const offers = el("div", { class: "offers", role: "group", "aria-label": "What fits here" });
  const element = el("div", { class: "editor" }, el("div", { class: "editor-lines" }, numbers, el("div", { class: "editor-text" }, marks, area)), offers);
  const draw = () => {
    const lines = area.value.split("\n").length;
    numbers.textContent = Array.from({ length: lines }, (_, line) => String(line + 1)).join("\n");
    area.rows = Math.max(12, Math.min(lines + 1, 36));
  };
  area.addEventListener("input", () => {
    marks.replaceChildren();
    draw();
    offer();
    changed();
  });
  area.addEventListener("scroll", () => {
    numbers.scrollTop = marks.scrollTop = area.scrollTop;
    marks.scrollLeft = area.scrollLeft;
  });
  area.addEventListener("click", () => offer());
  area.addEventListener("keyup", (/** @type {KeyboardEvent} */ event) => { if (event.key.startsWith("Arrow")) offer(); });

  /** Offers what fits at the cursor. */
  const offer = async () => {
    schema ??= await get("/api/schema");
    const [before, after] = [area.value.slice(0, area.selectionStart), area.value.slice(area.selectionStart)];
    show(offers, ...offersAt(schema, before, after, known).slice(0, OFFERS).map(({ shown, about, rest }) => el("button", { type: "button", title: about, onclick: () => {
      area.focus();
      area.setRangeText(rest, area.selectionStart, area.selectionStart, "end");
      area.dispatchEvent(new Event("input"));
    } }, shown)));
  };

  area.value = toml;
  draw();
  return {
    element,
    value: () => area.value,
    /** @param {string} text */
    set: (text) => {
      area.value = text;
      draw();
    },
    /** @param {number} from @param {number} until */
    select: (from, until) => {
      area.focus();
      area.setSelectionRange(from, Math.max(until, from + 1));
      const line = area.value.slice(0, from).split("\n").length;
      area.scrollTop = Math.max(0, (line - 4) * 20);
    },
    /** @param {{ from: number, until: number }[]} mistakes */
    mark: (mistakes) => {
      const parts = [];
      let at = 0;
      for (const { from, until } of [...mistakes].sort((a, b) => a.from - b.from)) {
        if (from < at) continue;
        parts.push(area.value.slice(at, from), el("mark", {}, area.value.slice(from, Math.max(until, from + 1)) || " "));
        at = Math.max(until, from + 1);
      }
      show(marks, ...parts, area.value.slice(at));
      marks.scrollTop = area.scrollTop;
    },
  };
};
