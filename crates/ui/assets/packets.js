// @ts-check
// Packets that a display filter shows: the field, and those of a whole capture.

import { el } from "./dom.js";
import { made } from "./products.js";

/** Rows that are shown; the rest is in the file. */
const MOST = 500;

/** A field for a display filter. @param {() => void} list */
export const displayFilter = (list) => {
  const field = el("input", { type: "search", spellcheck: "false", autocapitalize: "off", placeholder: "Display filter, such as tcp.analysis.retransmission && tcp.len > 0", "aria-label": "Display filter of packets" });
  const element = el("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    list();
  } }, field, el("button", { type: "submit" }, "List these packets"),
  el("details", { class: "filter-help" }, el("summary", {}, "What it can say"),
    el("p", { class: "meta" }, "Wireshark's language: ", el("code", {}, "tcp.len > 0"), ", ", el("code", {}, "tcp.seq in {1..5000}"), ", ", el("code", {}, "tcp.flags.reset == 1"), ", ", el("code", {}, "frame.time_relative < 1.5"), ", ", el("code", {}, "tcp.analysis.retransmission"), ", ", el("code", {}, "tcplab.timeout"), "; ", el("code", {}, "&&"), ", ", el("code", {}, "||"), ", ", el("code", {}, "!"), ", parentheses. It chooses what is listed; what is analysed stays the same.")));
  return { element, wanted: () => field.value.trim() };
};

/** A line of a listing: time, frame, connection (none where there is but one), and the packet. */
const LINE = /^ *([\d.]+) #(\d+) (?:connection (\d+) )?([<>] .*)$/;

/**
 * The packets of all connections.
 * @param {{ id: string, filter?: string }} of
 * @param {(of: any, number: number, text: any, title?: string, frame?: number) => any} link to a connection, or to a packet of it
 */
export const packetsOf = (of, link) => {
  const place = el("div", { class: "made" });
  let leave = () => {};
  const rows = (/** @type {string} */ text) => {
    const lines = text.split("\n").filter(Boolean);
    const packets = lines.flatMap((line) => {
      const found = LINE.exec(line);
      return found ? [found.slice(1)] : [];
    });
    // What is not whole does not end with how many there are.
    const end = lines.at(-1) ?? "", counted = LINE.test(end) ? "" : `${end}. `;
    const more = packets.length > MOST ? `The first ${MOST}: ` : "";
    return el("div", {}, el("p", { class: "meta", role: "status" }, counted, more),
      packets.length > 0 && el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Packets" }, el("table", { class: "connections packets" },
        el("thead", {}, el("tr", {}, ...["Time", "Frame", "Connection", "Packet"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, ...packets.slice(0, MOST).map(([time, frame, number = "0", what]) => el("tr", {},
          el("td", { class: "number" }, `${time} s`),
          el("th", { scope: "row", class: "number" }, link(of, Number(number), `#${frame}`, "The packet as bytes", Number(frame))),
          el("td", { class: "number" }, link(of, Number(number), number, `Connection ${number} in depth`)),
          el("td", {}, what)))))));
  };
  const wish = { kind: "listing", filter: of.filter ?? "" };
  const filter = displayFilter(() => {
    leave();
    leave = made(place, of.id, { ...wish, packets: filter.wanted() || undefined }, "Packets", rows);
  });
  return { element: el("section", {}, el("h2", {}, "Packets"), filter.element, place), leave: () => leave() };
};
