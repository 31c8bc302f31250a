// @ts-check
// Light or dark: as the reader chose, else as the system says.

import { el } from "./dom.js";

const KEY = "tcplab-theme";

/** @returns {boolean} */
const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** @param {string | null} theme */
const choose = (theme) => {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
};

/** Calls what draws with colours of its own when they change. */
export const onTheme = (/** @type {() => void} */ redraw) => {
  addEventListener("tcplab-theme", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
};

/**
 * A report in a frame, in this page's theme: it has no origin, so it cannot know what was chosen. On paper a frame is cut: there a line says how to print it.
 * @param {string} src
 * @param {string} title
 */
export const framed = (src, title) => {
  const frame = el("iframe", { class: "report", src, title, onload: () => tell(frame) });
  const instead = el("p", { class: "on-paper" }, `${title}: to print it, open it by itself: `, el("a", { href: src }, new URL(src, location.href).href));
  return [frame, instead];
};

/** @param {HTMLIFrameElement} frame */
const tell = (frame) => {
  const tcplabTheme = document.documentElement.dataset.theme;
  if (tcplabTheme) frame.contentWindow?.postMessage({ tcplabTheme }, "*");
};

/** @param {HTMLElement} button */
export const themeButton = (button) => {
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  name();
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    choose(theme);
    try { localStorage.setItem(KEY, theme); } catch { /* then it is not remembered */ }
    name();
    dispatchEvent(new Event("tcplab-theme"));
    for (const frame of document.querySelectorAll("iframe")) tell(frame);
  });
};

try { choose(localStorage.getItem(KEY)); } catch { /* storage is refused */ }
