// @ts-check
// The packets around a moment, one below the other: the client's on the left.

import { el, show } from "./dom.js";

const ROWS = 24;

/**
 * @param {HTMLElement} place
 * @param {(query: Record<string, string | number | boolean>) => Promise<any[]>} ask for packets
 * @param {string[]} ends what both are called
 * @param {(time: number) => void} pick the reader chose a packet of this time, seconds
 */
export const ladder = (place, ask, ends, pick) => {
  let asked = -1, isAsking = false;
  /** @param {any[]} packets @param {number | null} held ns */
  const draw = (packets, held) => show(place, packets.length ? table(packets, ends, held, pick) : el("p", { class: "meta" }, "No packet until then."));
  /** The packets until a time. @param {number} time seconds */
  const at = async (time) => {
    const wanted = Math.round(time * 1e9);
    if (isAsking || wanted === asked) return;
    isAsking = true;
    try {
      draw(await ask({ until_ns: wanted, most: ROWS, last: true }), wanted);
    } catch (error) {
      show(place, el("p", { class: "meta" }, /** @type {Error} */ (error).message));
    }
    asked = wanted;
    isAsking = false;
  };
  /** The latest packets, as they come. @param {any[]} packets */
  const latest = (packets) => {
    asked = -1;
    draw(packets, null);
  };
  return { at, latest };
};

/** @param {any[]} packets @param {string[]} ends @param {number | null} held @param {(time: number) => void} pick */
const table = (packets, ends, held, pick) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Packets" },
  el("table", { class: "rungs" },
    el("thead", {}, el("tr", {}, ...["time", ends[0], "way", ends[1], "what"].map((it) => el("th", { scope: "col" }, it)))),
    el("tbody", {}, ...packets.map((packet, place) => row(packet, ends, held !== null && place === packets.length - 1, pick)))));

/** @param {any} packet @param {string[]} ends @param {boolean} isHeld @param {(time: number) => void} pick */
const row = (packet, ends, isHeld, pick) => {
  const words = label(packet), isLost = /^(dropped|given up)/.test(packet.verdict ?? "");
  const arrow = packet.from_client ? (isLost ? "──✕" : "──▶") : isLost ? "✕──" : "◀──";
  const time = packet.at_ns / 1e9;
  return el("tr", { class: isLost ? "lost" : packet.kind && packet.kind !== "duplicate-ack" ? "again" : null, "aria-current": isHeld && "true" },
    el("td", {}, el("button", { type: "button", class: "time", onclick: () => pick(time) }, time.toFixed(6))),
    el("td", {}, packet.from_client && words),
    el("td", { "aria-label": `to ${ends[packet.from_client ? 1 : 0]}` }, arrow),
    el("td", {}, !packet.from_client && words),
    el("td", {}, [packet.kind?.replaceAll("-", " "), packet.verdict].filter(Boolean).join("; ")));
};

/** As tcpdump writes it; each part stays on a line. @param {any} packet */
const label = (packet) => {
  /** @type {string[]} */
  const parts = [];
  if (packet.flags) parts.push(packet.flags);
  if (packet.length_bytes > 0) parts.push(`${packet.sequence}:${packet.sequence + packet.length_bytes}(${packet.length_bytes})`);
  if (packet.ack !== null && packet.length_bytes === 0) parts.push(`ack ${packet.ack}`);
  for (const [from, until] of packet.sack) parts.push(`SACK ${from}-${until}`);
  return parts.flatMap((part) => [el("span", {}, part), " "]);
};
