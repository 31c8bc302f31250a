// @ts-check
// Elements without markup in strings: text stays text.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element. Attributes that begin with `on` are listeners; `null`, `false` and `undefined` leave
 * an attribute out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export const el = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, ...children);
  return element;
};

/** @param {Node} parent @param {...(Child | Child[])} children */
export const add = (parent, ...children) => {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
};

/** Puts these in the place of what is there. @param {Element} parent @param {...(Child | Child[])} children */
export const show = (parent, ...children) => {
  parent.replaceChildren();
  add(parent, ...children);
};

/**
 * What the server drew: inline, so that the page's colours hold. Its pictures have no scripts, and
 * the page's policy would not run one.
 * @param {string} svg
 */
export const drawn = (svg) => document.importNode(
  new DOMParser().parseFromString(svg, "text/html").body.firstElementChild ?? document.createElement("span"), true);

/**
 * A picture that the server drew.
 * @param {string} svg
 * @param {string} label
 */
export const picture = (svg, label) => el("div", { class: "picture", role: "img", tabindex: 0, "aria-label": label }, drawn(svg));

/** Tells it to those who do not see the page. @param {string} text */
export const say = (text) => {
  const said = document.getElementById("said");
  if (said) said.textContent = text;
};

/** A number with at most so many significant digits. @param {number} value @param {number} [digits] */
export const rounded = (value, digits = 3) => {
  if (!Number.isFinite(value)) return "–";
  const whole = Math.abs(value) >= 10 ** digits;
  return whole ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(digits)));
};

/** @param {number} value bytes */
export const bytes = (value) => scaled(value, 1e3, ["B", "kB", "MB", "GB", "TB"]);
/** @param {number} value bit/s */
export const rate = (value) => scaled(value, 1e3, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);

/** @param {number} value @param {number} step @param {string[]} units */
const scaled = (value, step, units) => {
  let unit = 0;
  while (Math.abs(value) >= step && unit < units.length - 1) {
    value /= step;
    unit += 1;
  }
  return `${rounded(value)} ${units[unit]}`;
};

/** @param {number} seconds */
export const duration = (seconds) => {
  if (seconds < 1e-3) return `${rounded(seconds * 1e6)} µs`;
  if (seconds < 1) return `${rounded(seconds * 1e3)} ms`;
  if (seconds < 120) return `${rounded(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${rounded(seconds / 3600)} h`;
};

/** A command that can be copied. @param {string} text */
export const command = (text) => {
  const code = el("code", { tabindex: 0, role: "group", "aria-label": "Command" }, text);
  const copy = async (/** @type {any} */ event) => {
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // there is none without encryption: what is selected can be copied
      getSelection()?.selectAllChildren(code);
      isCopied = document.execCommand("copy");
    }
    event.target.textContent = isCopied ? "Copied" : "Selected";
    say(isCopied ? "Copied" : "The command is selected: copy it with the keyboard.");
  };
  return el("div", { class: "command" }, code, el("button", { type: "button", onclick: copy }, "Copy"));
};
