// @ts-check
// A text field for TOML: numbered lines, marked mistakes, and the keys that fit where one writes.

import { get } from "./api.js";
import { el, show } from "./dom.js";

/** @type {any} */
let schema;

/**
 * @param {string} toml
 * @param {() => void} changed by hand
 */
export const editor = (toml, changed) => {
  const numbers = el("pre", { class: "numbers-of-lines", "aria-hidden": "true" });
  const marks = el("pre", { class: "marks-of-mistakes", "aria-hidden": "true" });
  const area = el("textarea", { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", "aria-label": "The scenario file", rows: 20 });
  const offers = el("div", { class: "offers", role: "group", "aria-label": "Keys that fit here" });
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

  /** Offers keys for the line of the cursor. */
  const offer = async () => {
    schema ??= await get("/api/schema");
    const before = area.value.slice(0, area.selectionStart), line = before.slice(before.lastIndexOf("\n") + 1);
    const begun = /^\s*([A-Za-z_]*)$/.exec(line);
    if (!begun) return show(offers);
    const table = [...before.matchAll(/^\s*\[+\s*([A-Za-z0-9_."-]+?)\s*\]+/gm)].at(-1)?.[1].replaceAll('"', "").split(".") ?? [];
    const keys = keysOf(table).filter(([key]) => key.startsWith(begun[1]));
    show(offers, ...keys.slice(0, 40).map(([key, about]) => el("button", { type: "button", title: about, onclick: () => {
      area.focus();
      area.setRangeText(`${key.slice(begun[1].length)} = `, area.selectionStart, area.selectionStart, "end");
      area.dispatchEvent(new Event("input"));
    } }, key)));
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

/** The keys of a table, with what each is. @param {string[]} table @returns {[string, string][]} */
const keysOf = (table) => {
  let node = schema;
  for (const part of table) {
    node = resolved(node);
    node = node?.properties?.[part] ?? node?.additionalProperties;
    if (!node) return [];
  }
  const properties = resolved(node)?.properties ?? {};
  return Object.entries(properties).map(([key, of]) => [key, /** @type {any} */ (of).description ?? ""]);
};

/** The object that a node of the schema means. @param {any} node @returns {any} */
const resolved = (node) => {
  for (let depth = 0; depth < 8 && node; depth++) {
    if (node.$ref) {
      let found = schema;
      for (const part of node.$ref.slice(2).split("/")) found = found?.[part];
      node = found;
    } else if (node.properties) return node;
    else if (node.items) node = node.items;
    else {
      const all = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
      const found = all.map(resolved).find((it) => it?.properties);
      return found ?? node;
    }
  }
  return node;
};
