// @ts-check
// The connections through the path of a shell or a bridge, and where both ends of each are.

import { bytes, duration, el, show } from "./dom.js";
import { PHASES, STATES } from "./states.js";

/** Connections that are shown at once: the latest. */
const SHOWN = 30;

/** @typedef {{ state: number, ca_state: number | null, cwnd_bytes: number | null, ssthresh_bytes: number | null, srtt_ns: number | null, in_flight_bytes: number | null, send_queue_bytes: number, receive_queue_bytes: number }} Socket */
/** @typedef {{ connection: number, ends: string[], states: (string | null)[], sockets: (Socket | null)[] }} Row */

/** What a socket says: heading, what it is, what is shown. @type {[string, string, (socket: Socket) => string][]} */
const COLUMNS = [
  ["phase", "State of congestion control", (it) => PHASES[it.ca_state ?? -1] ?? "–"],
  ["cwnd", "Congestion window", (it) => amount(it.cwnd_bytes)],
  ["ssthresh", "Slow start threshold", (it) => amount(it.ssthresh_bytes)],
  ["RTT", "Smoothed, as the socket has it", (it) => (it.srtt_ns === null ? "–" : duration(it.srtt_ns / 1e9))],
  ["in flight", "Sent and not acknowledged", (it) => amount(it.in_flight_bytes)],
  ["to send", "Written by the program and not acknowledged", (it) => bytes(it.send_queue_bytes)],
  ["unread", "Received and not read by the program", (it) => bytes(it.receive_queue_bytes)],
];
const amount = (/** @type {number | null} */ value) => (value === null ? "–" : bytes(value));

/** The table. @param {string[]} names of both ends */
export const bothEnds = (names) => {
  const place = el("div", {});
  const about = el("p", { class: "meta" });
  const element = el("section", {}, el("h2", {}, "Both ends"), about, place);
  /** @param {{ connections: Row[], has_sockets: boolean }} told */
  const draw = ({ connections, has_sockets: hasSockets }) => {
    about.textContent = hasSockets
      ? "As the sockets say; where there is no socket any more, as the packets do."
      : "As the packets say at the first of these ends: a state counts from the packet that shows it.";
    const latest = connections.slice(-SHOWN).reverse();
    if (connections.length > SHOWN) about.textContent += ` The latest ${SHOWN} connections.`;
    const columns = hasSockets ? COLUMNS : [];
    show(place, latest.length === 0 ? el("p", { class: "meta" }, "No connection so far.")
      : el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Both ends of each connection" },
        el("table", { class: "connections both-ends" },
          el("thead", {}, el("tr", {}, ...["#", "end", "address", "state"].map((it) => el("th", { scope: "col" }, it)),
            ...columns.map(([heading, title]) => el("th", { scope: "col", class: "number", title }, heading)))),
          ...latest.map((row) => el("tbody", {}, ...names.map((name, end) => line(row, name, end, columns)))))));
  };
  return { element, draw };
};

/** An end of a connection. @param {Row} row @param {string} name @param {number} end @param {typeof COLUMNS} columns */
const line = (row, name, end, columns) => {
  const socket = row.sockets[end];
  return el("tr", {},
    el("th", { scope: "row" }, end === 0 ? `${row.connection + 1}` : el("span", { class: "visually-hidden" }, `${row.connection + 1}`)),
    el("td", {}, name), el("td", {}, row.ends[end]),
    el("td", {}, (socket ? STATES[socket.state] : row.states[end]) || "unknown"),
    ...columns.map(([, , cell]) => el("td", { class: "number" }, socket ? cell(socket) : "–")));
};
