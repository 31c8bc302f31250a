// @ts-check
// A packet as bytes, coloured by what they are of, as the reports have it.

import { get } from "./api.js";
import { el, show } from "./dom.js";

/** What shows it: the reports' own. */
const SHARED = "/dump.js";

/** Bytes that are shown, as many as the command prints; the rest is in the files. */
const MOST = 2048;

/**
 * The text that the command printed, until the fields are there to colour the bytes by.
 * @param {string} text
 * @param {(file: string) => string} url
 */
export const asBytes = (text, url) => {
  const head = text.split("\n", 1)[0];
  const place = el("div", {}, el("pre", { class: "text", tabindex: 0, role: "region", "aria-label": "Bytes and fields" }, text));
  const colour = async () => {
    const [{ ByteView, TITLES }, { packets: [packet] }] = await Promise.all([import(SHARED), get(url("packet.json"))]);
    const fields = packet.fields.map((/** @type {any} */ field) => ({
      ...field, first: field.offset_bytes, end: field.offset_bytes + field.length_bytes,
    }));
    const bytes = packet.bytes.match(/../g) ?? [];
    show(place, el("h3", {}, head), new ByteView({ bytes: bytes.slice(0, MOST), captured: bytes.length, fields }, TITLES).element);
  };
  // Without them the text says all.
  colour().catch(() => {});
  return place;
};
