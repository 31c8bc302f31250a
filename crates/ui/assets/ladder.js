// @ts-check
// The packets around a moment, one below the other: the client's on the left.

import { el, show } from "./dom.js";

const ROWS = 24;

/**
 * @param {HTMLElement} place
 * @param {(query: Record<string, string | number | boolean>) => Promise<any[]>} ask for packets
 * @param {string[]} ends what both are called
 */
export const ladder = (place, ask, ends) => {
  let asked = -1, isAsking = false;
  /** @param {number} time seconds @param {number} latest @param {boolean} isGrowing */
  const at = async (time, latest, isGrowing) => {
    const wanted = Math.round(Math.min(time, latest) * 1e9);
    // While packets come, once a second is enough to read them.
    const near = isGrowing ? 1e9 : 0;
    if (isAsking || latest <= 0 || Math.abs(wanted - asked) <= near) return;
    isAsking = true;
    try {
      const packets = await ask({ until_ns: wanted, most: ROWS, last: true });
      asked = wanted;
      show(place, packets.length ? table(packets, ends) : el("p", { class: "meta" }, "No packet until then."));
    } catch (error) {
      show(place, el("p", { class: "meta" }, /** @type {Error} */ (error).message));
      asked = wanted;
    }
    isAsking = false;
  };
  return { at };
};

/** @param {any[]} packets @param {string[]} ends */
const table = (packets, ends) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Packets" },
  el("table", { class: "rungs" },
    el("thead", {}, el("tr", {}, ...["time", ends[0], "way", ends[1], "what"].map((it) => el("th", { scope: "col" }, it)))),
    el("tbody", {}, ...packets.map((packet) => row(packet, ends)))));

/** @param {any} packet @param {string[]} ends */
const row = (packet, ends) => {
  const words = label(packet), isLost = /drop|lost/i.test(packet.verdict ?? "");
  const arrow = packet.from_client ? (isLost ? "──✕" : "──▶") : "◀──";
  return el("tr", { class: isLost ? "lost" : packet.kind && packet.kind !== "duplicate-ack" ? "again" : null },
    el("td", { class: "number" }, (packet.at_ns / 1e9).toFixed(6)),
    el("td", {}, packet.from_client ? words : ""),
    el("td", { "aria-label": `to ${ends[packet.from_client ? 1 : 0]}` }, arrow),
    el("td", {}, packet.from_client ? "" : words),
    el("td", {}, [packet.kind?.replaceAll("-", " "), packet.verdict].filter(Boolean).join("; ")));
};

/** As tcpdump writes it. @param {any} packet */
const label = (packet) => {
  const parts = [];
  if (packet.flags) parts.push(packet.flags);
  if (packet.length_bytes > 0) parts.push(`${packet.sequence}:${packet.sequence + packet.length_bytes}(${packet.length_bytes})`);
  if (packet.ack !== null && packet.length_bytes === 0) parts.push(`ack ${packet.ack}`);
  for (const [from, until] of packet.sack) parts.push(`SACK ${from}-${until}`);
  return parts.join(" ");
};
