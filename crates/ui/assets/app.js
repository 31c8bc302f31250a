// @ts-check
// Which page is shown: the address after `#` says.

import { el, say, show } from "./dom.js";
import { themeButton } from "./theme.js";

/** @typedef {(place: HTMLElement, query: URLSearchParams) => Promise<(() => void) | void> | (() => void) | void} Page */

/** @type {Record<string, () => Promise<Page>>} */
const PAGES = {
  "/": async () => (await import("./runs.js")).home,
  "/runs": async () => (await import("./runs.js")).runs,
  "/run": async () => (await import("./runs.js")).run,
  "/figures": async () => (await import("./several.js")).several,
  "/job": async () => (await import("./runs.js")).job,
  "/new": async () => (await import("./experiment.js")).experiment,
  "/advice": async () => (await import("./advice.js")).advice,
  "/rfc6349": async () => (await import("./rfc6349.js")).rfc6349,
  "/latency": async () => (await import("./latency.js")).latency,
  "/load": async () => (await import("./load.js")).load,
  "/live": async () => (await import("./live.js")).live,
  "/trials": async () => (await import("./multiples.js")).multiples,
  "/capture": async () => (await import("./capture.js")).capture,
  "/learn": async () => (await import("./learn.js")).learn,
};

const place = /** @type {HTMLElement} */ (document.getElementById("content"));
/** @type {(() => void) | void} */
let leave;
let turn = 0;

const go = async () => {
  const own = ++turn;
  delete place.dataset.page;
  leave?.();
  leave = undefined;
  const [path, query] = (location.hash.slice(1) || "/").split("?");
  const find = PAGES[path];
  for (const link of document.querySelectorAll(".bar a")) {
    const isHere = link.getAttribute("href") === `#${path}`;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  try {
    if (!find) throw new Error(`There is no page ${path}.`);
    const page = await find();
    if (own !== turn) return;
    // One that comes too late, when another page is wanted, writes where nobody sees it.
    const content = el("div", { class: "page" });
    show(place, content);
    const left = await page(content, new URLSearchParams(query));
    if (own !== turn) {
      left?.();
      return;
    }
    leave = left;
  } catch (error) {
    if (own !== turn) return;
    show(place, el("header", {}, el("h1", {}, "This did not work")), el("p", { class: "lead", role: "alert" }, String(/** @type {Error} */ (error).message)),
      el("p", {}, el("button", { type: "button", onclick: go }, "Try again")));
  }
  // The page is whole.
  place.dataset.page = path;
  const title = place.querySelector("h1")?.textContent;
  document.title = title ? `${title} · tcplab` : "tcplab";
  say(document.title);
};

const pages = /** @type {HTMLElement} */ (document.getElementById("pages"));
addEventListener("hashchange", () => {
  // On a narrow screen the list of pages lies over the page.
  if (pages.matches(":popover-open")) pages.hidePopover();
  // The link that skips the navigation names an element, not a page.
  if (location.hash === "#content") return;
  go();
  place.focus({ preventScroll: true });
  scrollTo(0, 0);
});
document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  place.focus();
});
themeButton(/** @type {HTMLElement} */ (document.getElementById("theme")));
go();
