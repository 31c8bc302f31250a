// @ts-check
// The latest packets of a path as a table: sorted by any column, searched by text.

import { el, show } from "./dom.js";

/** Packets of a look, and rows that are shown at once. */
const MOST = 2000, PAGE = 50;

/** @typedef {{ frame: number, captured_by: string, at_ns: number, connection: number, from_client: boolean, flags: string, sequence: number | null, length_bytes: number, ack: number | null, window_bytes: number | null, sack: number[][], kind: string | null, verdict: string | null }} Packet */

const count = (/** @type {number} */ value) => value.toLocaleString("en");
const number = (/** @type {number | null} */ value) => (value === null ? "" : count(value));

/**
 * The columns: heading, what it is, what to sort by, what is shown, whether it is a number.
 * @type {[string, string, (packet: Packet, ends: string[]) => string | number, (packet: Packet, ends: string[]) => string, boolean][]}
 */
const COLUMNS = [
  ["#", "Number in the capture of the end that is named, or of the first", (it) => it.at_ns, (it, ends) => (it.captured_by === "server" ? `${ends[1]} ${it.frame}` : String(it.frame)), true],
  ["time", "Since the path began", (it) => it.at_ns, (it) => (it.at_ns / 1e9).toFixed(6), true],
  ["connection", "Number of the connection", (it) => it.connection, (it) => String(it.connection + 1), true],
  ["way", "From which end to which", (it) => Number(!it.from_client), (it, ends) => (it.from_client ? `${ends[0]} to ${ends[1]}` : `${ends[1]} to ${ends[0]}`), false],
  ["flags", "Other than ACK", (it) => it.flags, (it) => it.flags, false],
  ["first byte", "Place of its data in the stream", (it) => it.sequence ?? -1, (it) => number(it.sequence), true],
  ["length", "Bytes of data", (it) => it.length_bytes, (it) => count(it.length_bytes), true],
  ["ack", "What it acknowledges", (it) => it.ack ?? -1, (it) => number(it.ack), true],
  ["window", "Advertised, bytes", (it) => it.window_bytes ?? -1, (it) => number(it.window_bytes), true],
  ["SACK", "Selective acknowledgements", (it) => it.sack.length, (it) => it.sack.map(([from, until]) => `${from}-${until}`).join(" "), false],
  ["what", "What the analyser calls it, and what the path did to it", (it) => words(it), (it) => words(it), false],
];
const words = (/** @type {Packet} */ it) => [it.kind?.replaceAll("-", " "), it.verdict].filter(Boolean).join("; ");

/**
 * @param {(wanted: Record<string, string | number | boolean>) => Promise<any[]>} ask for packets
 * @param {string[]} ends what both are called
 */
export const packetTable = (ask, ends) => {
  /** @type {Packet[]} */
  let packets = [];
  let sorted = 0, isDown = true, shownRows = PAGE;
  const told = el("p", { class: "meta", role: "status" });
  const body = el("tbody", {}), more = el("div", { class: "actions" });
  const search = el("input", { type: "search", placeholder: "RST, retransmission, connection 2, drop …", "aria-label": "Search packets", oninput: () => { shownRows = PAGE; rows(); } });
  const heads = COLUMNS.map(([heading, title, , , isNumber], at) => el("th", { scope: "col", "aria-sort": "none", class: isNumber ? "number" : "" },
    el("button", { type: "button", class: "sort", title, onclick: () => {
      isDown = sorted === at ? !isDown : isNumber;
      sorted = at;
      rows();
    } }, heading)));
  const text = (/** @type {Packet} */ packet) => `${COLUMNS.map(([, , , cell]) => cell(packet, ends)).join(" ")} connection ${packet.connection + 1}`.toLowerCase();
  const rows = () => {
    const wanted = search.value.toLowerCase().trim();
    const fits = wanted ? packets.filter((packet) => text(packet).includes(wanted)) : [...packets];
    const by = COLUMNS[sorted][2];
    fits.sort((a, b) => {
      const [one, other] = [by(a, ends), by(b, ends)];
      const order = typeof one === "string" ? one.localeCompare(String(other), "en") : one - Number(other);
      return isDown ? -order : order;
    });
    heads.forEach((head, at) => head.setAttribute("aria-sort", at !== sorted ? "none" : isDown ? "descending" : "ascending"));
    show(body, ...fits.slice(0, shownRows).map((packet) => el("tr", {}, ...COLUMNS.map(([, , , cell, isNumber], at) => el(at === 0 ? "th" : "td", { scope: at === 0 ? "row" : null, class: isNumber ? "number" : "" }, cell(packet, ends))))));
    show(more, fits.length > shownRows && el("button", { type: "button", onclick: () => { shownRows += PAGE; rows(); } }, `Show more (${count(fits.length - shownRows)} left)`));
    told.textContent = packets.length === 0 ? "No packet so far." : `${count(fits.length)} of the latest ${count(packets.length)} packets, until ${(packets[packets.length - 1].at_ns / 1e9).toFixed(3)} s.`;
  };
  const look = async () => {
    try {
      packets = await ask({ most: MOST, last: true, until_ns: Number.MAX_SAFE_INTEGER });
      rows();
    } catch (error) {
      told.textContent = /** @type {Error} */ (error).message;
    }
  };
  const details = el("details", { ontoggle: () => { if (details.open && packets.length === 0) look(); } }, el("summary", {}, "The latest packets as a table"),
    el("div", { class: "actions" }, search, el("button", { type: "button", onclick: look }, "Look again")), told,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Packets as a table" },
      el("table", { class: "connections" }, el("thead", {}, el("tr", {}, ...heads)), body)), more);
  return el("section", {}, details);
};
