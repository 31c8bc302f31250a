// @ts-check
// Captures: brought by dropping or choosing files, listed, deleted. One of them: connections.js.

import { address, get, remove } from "./api.js";
import { connections } from "./connections.js";
import { bytes, command, el, show } from "./dom.js";
import { dropZone } from "./upload.js";

/** All captures, or one of them. @type {import("./app.js").Page} */
export const capture = async (place, query) => {
  const id = query.get("id");
  if (id) return connections(place, id, query);
  const list = el("ul", { class: "run-cards" });
  const alert = el("p", { role: "alert", class: "warnings" });
  const { largest_bytes: largest } = await get("/api/captures");
  const draw = async () => {
    const { captures } = await get("/api/captures");
    show(list, ...captures.map((/** @type {any} */ it) => {
      const names = it.files.map((/** @type {any} */ file) => file.name).join(" + ");
      const size = it.files.reduce((/** @type {number} */ all, /** @type {any} */ file) => all + file.bytes, 0);
      return el("li", { class: "run-card" },
        el("h3", {}, el("a", { href: `#${address("/capture", { id: it.id })}` }, names)),
        el("p", { class: "meta" }, `${bytes(size)}, ${new Date(it.changed_ms).toLocaleString()}. `,
          el("button", { type: "button", "aria-label": `Delete ${names}`, onclick: async () => {
            if (!confirm(`Delete ${names} and what was made of it?`)) return;
            await remove("/api/capture", { id: it.id }).catch((error) => { alert.textContent = error.message; });
            await draw();
          } }, "Delete")));
    }));
    if (captures.length === 0) show(list, el("li", { class: "meta" }, "None yet."));
  };
  await draw();
  show(place,
    el("header", {}, el("h1", {}, "Explain a capture"),
      el("p", { class: "lead" }, "Every connection of a capture: what limited it, what was lost and why, what to do about it."),
      el("p", { class: "meta" }, "Several files are read as one, sorted by time; captures of both ends of the same connections can be joined.")),
    dropZone({ largest, label: "Drop captures here, or choose files", done: (of) => { location.hash = address("/capture", { id: of }); } }),
    alert, el("section", {}, el("h2", {}, "Captures"), list),
    el("section", {}, el("h2", {}, "As a command"), command("tcplab trace FILE")));
};
