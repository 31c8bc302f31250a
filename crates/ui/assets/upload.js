// @ts-check
// Files that are dropped or chosen go to the server.

import { address, remove } from "./api.js";
import { bytes, duration, el, say, show } from "./dom.js";

/** The part of the page where files are dropped. @param {{ id?: string, largest: number, label: string, done: (id: string) => void }} options */
export const dropZone = ({ id, largest, label, done }) => {
  const chosen = el("input", { type: "file", multiple: true, class: "visually-hidden", id: `files-${id ?? "new"}` });
  const state = el("div", { class: "uploads" });
  const alert = el("p", { role: "alert", class: "warnings" });
  const zone = el("div", { class: "drop" },
    chosen, el("label", { for: chosen.id, class: "drop-label" }, el("b", {}, label), el("span", { class: "meta" },
      `pcap, pcapng, snoop, Network Monitor or ERF, also compressed with gzip or zstd; at most ${bytes(largest)} each. The files stay on this machine.`)),
    state, alert);
  let isBusy = false;
  const take = async (/** @type {File[]} */ files) => {
    if (isBusy || files.length === 0) return;
    isBusy = true;
    alert.textContent = "";
    let own = id;
    try {
      for (const [place, file] of files.entries()) {
        if (file.size > largest) throw new Error(`${file.name} has ${bytes(file.size)}; at most ${bytes(largest)} are taken.`);
        own = await send(file, own, state, files.length > 1 ? `File ${place + 1} of ${files.length}: ` : "");
      }
      say("Uploaded");
      if (own) done(own);
    } catch (error) {
      alert.textContent = /** @type {Error} */ (error).message;
      // Of several files none is of use without the others.
      if (own && !id) remove("/api/capture", { id: own }).catch(() => {});
    } finally {
      isBusy = false;
      chosen.value = "";
      show(state);
    }
  };
  chosen.addEventListener("change", () => take([...chosen.files]));
  zone.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take([...(event.dataTransfer?.files ?? [])]);
  });
  return zone;
};

/**
 * Sends a file; the name of its capture. `fetch` does not tell how much has gone.
 * @param {File} file @param {string | undefined} id @param {Element} state @param {string} which
 * @returns {Promise<string>}
 */
const send = (file, id, state, which) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();
  const bar = el("progress", { max: Math.max(file.size, 1), value: 0, "aria-label": `Uploading ${file.name}` });
  const told = el("p", { class: "meta" }, `${which}${file.name}`);
  const began = performance.now();
  show(state, told, bar, el("button", { type: "button", onclick: () => request.abort() }, "Cancel"));
  request.upload.addEventListener("progress", (event) => {
    bar.value = event.loaded;
    const left = (performance.now() - began) / 1e3 * (event.total - event.loaded) / Math.max(event.loaded, 1);
    told.textContent = `${which}${file.name}: ${bytes(event.loaded)} of ${bytes(event.total)}, about ${duration(left)} left`;
  });
  request.addEventListener("load", () => {
    let answer;
    try { answer = JSON.parse(request.responseText); } catch { /* it is text */ }
    if (request.status === 200) resolve(answer.id);
    else reject(new Error(answer?.error ?? request.responseText));
  });
  request.addEventListener("abort", () => reject(new Error(`The upload of ${file.name} was cancelled; nothing of it is kept.`)));
  request.addEventListener("error", () => reject(new Error(`The upload of ${file.name} broke off; nothing of it is kept.`)));
  request.open("POST", address("/api/captures", id ? { name: file.name, id } : { name: file.name }));
  request.setRequestHeader("content-type", "application/octet-stream");
  request.send(file);
});
