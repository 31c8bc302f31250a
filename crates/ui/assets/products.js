// @ts-check
// What commands make of a capture: pages, text, files to save.

import { address, get, post, remove } from "./api.js";
import { bytes, command, el, say, show } from "./dom.js";
import { framed } from "./theme.js";

/** How often a command is asked after, milliseconds. */
const EVERY = 300;

/**
 * Has something made and shows it in `place`; returns what stops waiting for it.
 * @param {Element} place
 * @param {string} id of the capture
 * @param {any} wish
 * @param {string} title
 * @param {(text: string, url: (file: string) => string) => any} [drawn] what a text is shown as; `url` is that of another file
 * @returns {() => void}
 */
export const made = (place, id, wish, title, drawn = (text) => el("pre", { class: "text", tabindex: 0, role: "region", "aria-label": title }, text)) => {
  let isOver = false;
  /** @type {number | undefined} */
  let number;
  const run = async () => {
    let it = await post("/api/capture/products", { id, ...wish });
    number = it.number;
    const began = performance.now();
    while (it.is_running && !isOver) {
      const passed = Math.round((performance.now() - began) / 1e3);
      show(place, el("p", { class: "meta", role: "status" }, passed > 1 ? `Working for ${passed} s … ` : "Working … ",
        el("button", { type: "button", onclick: stop }, "Stop")), command(it.command));
      await new Promise((resolve) => setTimeout(resolve, EVERY));
      if (!isOver) it = await get("/api/capture/product", { id, number: it.number });
    }
    if (isOver) return;
    number = undefined;
    show(place, ...shown(id, it, title, drawn));
    say(it.error ? `${title} failed` : `${title} is ready`);
  };
  const stop = () => {
    isOver = true;
    if (number !== undefined) remove("/api/capture/product", { id, number }).catch(() => {});
    show(place);
  };
  run().catch((error) => {
    if (!isOver) show(place, el("pre", { role: "alert", class: "warnings" }, error.message));
  });
  return () => {
    isOver = true;
    if (number !== undefined) remove("/api/capture/product", { id, number }).catch(() => {});
  };
};

/** @param {string} id @param {any} it @param {string} title @param {(text: string, url: (file: string) => string) => any} drawn */
const shown = (id, it, title, drawn) => {
  if (it.error !== null) return [el("pre", { role: "alert", class: "warnings" }, it.error || "The command failed."), command(it.command)];
  const url = (/** @type {string} */ name) => address("/api/capture/file", { id, number: it.number, name });
  const save = (/** @type {any} */ file) => el("a", {
    href: url(file.name), download: file.name.split("/").at(-1),
  }, file.name);
  if (it.page) {
    return [
      el("p", {}, el("a", { href: it.page, target: "_blank", rel: "noreferrer" }, "Open by itself"), " · ",
        ...it.files.slice(0, 1).map((/** @type {any} */ file) => el("a", {
          href: address("/api/capture/file", { id, number: it.number, name: file.name }), download: file.name,
        }, `Save (${bytes(file.bytes)})`))),
      ...framed(it.page, title), command(it.command),
    ];
  }
  if (it.text !== null) {
    const file = it.files.find((/** @type {any} */ file) => file.name.endsWith(".txt"));
    return [
      drawn(it.text, url),
      el("p", { class: "meta" }, it.is_text_whole ? "" : `The first ${bytes(it.text.length)} of ${bytes(file.bytes)}. `,
        save(file)),
      command(it.command),
    ];
  }
  return [
    el("ul", { class: "files" }, ...it.files.map((/** @type {any} */ file) => el("li", {}, save(file), ` ${bytes(file.bytes)}`))),
    it.files.length === 0 && el("p", { class: "meta" }, "Nothing was written: no packet is of use for it."),
    command(it.command),
  ];
};

/**
 * Buttons, one for each thing to make, and the place where it is shown.
 * @param {string} id
 * @param {[string, any, string][]} wishes label, what to make, what it is
 */
export const makers = (id, wishes) => {
  const place = el("div", { class: "made" });
  let leave = () => {};
  const buttons = wishes.map(([label, wish, what]) => el("button", { type: "button", title: what, "aria-pressed": "false", onclick: (/** @type {any} */ event) => {
    leave();
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === event.currentTarget));
    leave = made(place, id, wish, label);
  } }, label));
  return {
    element: el("div", {}, el("div", { class: "actions" }, ...buttons), place), leave: () => leave(),
    press: (/** @type {string} */ label) => buttons.find((button) => button.textContent === label)?.click(),
  };
};
