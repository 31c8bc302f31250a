// @ts-check
// TCP's state diagram, and where both ends of a connection are in it at a moment.

import { get } from "./api.js";
import { el, picture, say, show } from "./dom.js";

/** Linux: `enum tcp_ca_state`. */
export const PHASES = ["open", "disorder", "CWR", "recovery", "loss"];
/** The states of a socket by Linux's numbers (`include/net/tcp_states.h`). */
export const STATES = ["", "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "SYN-RECEIVED"];
const ENDS = ["client", "server"];

/** @typedef {{ step: number, from: string, to: string, event: string, at_ns: number | null, packet: { frame: number, flags: string, is_sent: boolean } | null, remark: string, waits_for: string }} Edge */
/** @typedef {{ end: string, time: number, edge: Edge }} Transition */

/**
 * The diagram in this place. While a trial runs, samples of the sockets say the states; then its
 * packets do, each transition with its own.
 * @param {HTMLElement} place
 * @param {{ run: string, case: string, trial: number }} name
 * @param {(time: number) => void} hold goes to a moment
 */
export const stateDiagram = (place, name, hold) => {
  /** @type {Transition[]} */
  let transitions = [];
  /** @type {any} */
  let told = null, time = 0, drawn = "", passed = 0;
  /** The place of the transition that was chosen: others may have its time. */
  let chosen = -1;
  const now = el("div", { class: "states-now" });
  const choice = el("select", { "aria-label": "Connection in the state diagram", hidden: true, onchange: () => load(Number(choice.value)) });
  const figure = el("div", {});
  const list = el("div", { class: "states-list" });
  /** @param {number} place */
  const choose = (place) => {
    const found = transitions[place];
    if (!found) return;
    chosen = place;
    hold(found.time);
    at(found.time, []);
    say(inWords(found));
  };
  const back = el("button", { type: "button", onclick: () => choose(passed - 2) }, "◀ Previous transition");
  const on = el("button", { type: "button", onclick: () => choose(passed) }, "Next transition ▶");
  const steps = el("div", { class: "actions", hidden: true }, back, on, choice);
  show(place, now, steps, el("div", { class: "states-beside" }, figure, list));

  /** @param {number} [connection] */
  const load = async (connection) => {
    try {
      told = await get("/api/live/states", { ...name, ...(connection === undefined ? {} : { connection }) });
    } catch (error) {
      show(figure, el("p", { class: "meta", role: "alert" }, /** @type {Error} */ (error).message));
      return;
    }
    show(figure, picture(told.picture, "TCP's state diagram; the states of both ends are also written above it"));
    steps.hidden = !told.is_over;
    transitions = [];
    if (told.is_over) {
      choice.hidden = told.connections.length < 2;
      show(choice, ...told.connections.map((/** @type {any} */ it, /** @type {number} */ at) => el("option", { value: at }, `${it.client} to ${it.server}`)));
      choice.value = String(told.connection);
      for (const end of ENDS) {
        let before = 0;
        for (const edge of told.ends[end].edges) {
          before = edge.at_ns === null ? before : edge.at_ns / 1e9;
          transitions.push({ end, time: before, edge });
        }
        // No packet shows it: the call does.
        const gone = told.ends[end].vanished_ns;
        if (gone !== null) transitions.push({ end, time: gone / 1e9, edge: vanish(told.ends[end]) });
      }
      // What no packet shows, as listen(), was there before.
      const isShown = (/** @type {Transition} */ it) => Number(it.edge.at_ns !== null);
      transitions.sort((a, b) => a.time - b.time || isShown(a) - isShown(b));
      show(list, table(transitions, choose));
    }
    drawn = "";
    at(time, []);
  };

  /**
   * Shows a moment.
   * @param {number} moment seconds
   * @param {(number | null)[]} samples states of both sockets, where the packets do not say them yet
   */
  const at = (moment, samples) => {
    time = moment;
    if (!told) return;
    if (transitions[chosen]?.time !== moment) chosen = -1;
    passed = chosen >= 0 ? chosen + 1 : transitions.filter((it) => it.time <= moment).length;
    const key = told.is_over ? String(passed) : samples.join();
    if (key === drawn) return;
    drawn = key;
    const until = transitions.slice(0, passed);
    const svg = figure.querySelector("svg");
    if (svg) mark(svg, told, until, samples);
    write(now, told, until, samples);
    back.disabled = passed < 2;
    on.disabled = passed === transitions.length;
    for (const row of list.querySelectorAll("tbody tr")) {
      const its = Number(row.dataset.place);
      row.className = its === passed - 1 ? "latest" : its < passed ? "passed" : "to-come";
    }
  };
  /** The states of both ends at the moment that is shown, if the packets of the only connection say them. */
  const states = () => told?.is_over && told.connections.length === 1
    ? ENDS.map((end) => stateOf(told, end, transitions.slice(0, passed), []).state) : [];
  return { at, states, load: () => load(), ready: load().then(() => transitions) };
};

/** The machine of an end loses its power: it is in no state any more. @param {{ start: string, edges: Edge[] }} of @returns {Edge} */
const vanish = ({ start, edges }) => ({
  step: 0, from: edges.at(-1)?.to ?? start, to: "gone", event: "its machine loses its power, and forgets the connection",
  at_ns: null, packet: null, remark: "", waits_for: "",
});

/** The state of an end. @param {any} told @param {string} end @param {Transition[]} passed @param {(number | null)[]} samples */
const stateOf = (told, end, passed, samples) => {
  if (told.is_over) {
    const latest = passed.findLast((it) => it.end === end);
    return latest ? { state: latest.edge.to, waits: latest.edge.waits_for } : { state: told.ends[end].start, waits: "" };
  }
  return { state: STATES[samples[ENDS.indexOf(end)] ?? 0] || null, waits: "" };
};

/** Marks where both ends are, and what they walked so far. @param {SVGElement} svg @param {any} told @param {Transition[]} passed @param {(number | null)[]} samples */
const mark = (svg, told, passed, samples) => {
  const latest = passed.at(-1);
  const walked = new Set(passed.map((it) => `${it.end} ${it.edge.step}`));
  const newest = latest ? `${latest.end} ${latest.edge.step}` : "";
  for (const of of svg.querySelectorAll("[data-step]")) {
    const key = /** @type {SVGElement} */ (of).dataset.step ?? "";
    of.classList.toggle("to-come", !walked.has(key));
    of.classList.toggle("latest", key === newest);
  }
  const boxes = /** @type {SVGElement[]} */ ([...svg.querySelectorAll("[data-state]")]);
  const isBelow = (/** @type {string} */ end) => {
    const last = passed.findLast((it) => it.end === end);
    return Boolean(last && svg.querySelector(`[data-step="${end} ${last.edge.step}"][data-below]`));
  };
  const boxOf = (/** @type {string | null} */ state, /** @type {boolean} */ below) =>
    boxes.find((box) => box.dataset.state === state && "below" in box.dataset === below) ?? boxes.find((box) => box.dataset.state === state);
  for (const box of boxes) box.setAttribute("class", "state");
  for (const it of passed) {
    const below = Boolean(svg.querySelector(`[data-step="${it.end} ${it.edge.step}"][data-below]`));
    boxOf(it.edge.to, below)?.classList.add("visited");
  }
  for (const circle of svg.querySelectorAll("circle.there")) circle.remove();
  for (const [place, end] of ENDS.entries()) {
    const box = boxOf(stateOf(told, end, passed, samples).state, isBelow(end));
    const rect = box?.querySelector("rect");
    if (!box || !rect) continue;
    box.classList.add("visited", "now", end);
    const [x, y, width, height] = ["x", "y", "width", "height"].map((it) => Number(rect.getAttribute(it)));
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    for (const [key, value] of Object.entries({ class: `there ${end}`, cx: x + width / 2 - 12 + 24 * place, cy: y + height, r: 9 })) circle.setAttribute(key, String(value));
    svg.append(circle);
  }
};

/** Says it in words. @param {HTMLElement} place @param {any} told @param {Transition[]} passed @param {(number | null)[]} samples */
const write = (place, told, passed, samples) => {
  const latest = passed.at(-1);
  show(place, el("dl", {}, ...ENDS.map((end) => {
    const { state, waits } = stateOf(told, end, passed, samples);
    return [el("dt", { class: end }, end), el("dd", {}, el("strong", {}, state ?? "unknown"), waits && ` waits for ${waits}`)];
  }).flat()),
  el("p", { class: "states-cause" }, latest ? inWords(latest) : told.is_over ? "Nothing was sent yet." : "The states are samples of the sockets; when the trial is over, each transition is shown with its packet."));
};

/** As in the diagram: half of its last digit is rounded up. @param {number} time seconds */
const rounded = (time) => (Math.round(Math.round(time * 1e9) / 1e5) / 1e4).toFixed(4);

/** The packet that shows a transition. @param {Edge} edge */
const packetOf = ({ packet, remark }) =>
  [packet && `packet ${packet.frame} ${packet.flags} ${packet.is_sent ? "sent" : "received"}`, remark].filter(Boolean).join(", ");

/** @param {Transition} it */
const inWords = ({ end, time, edge }) => {
  const packet = packetOf(edge);
  return `${rounded(time)} s, ${end}: ${edge.from} to ${edge.to}, ${edge.event}${packet ? ` (${packet})` : ""}.`;
};

/** @param {Transition[]} all @param {(place: number) => void} choose */
const table = (all, choose) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Transitions" }, el("table", {},
  el("thead", {}, el("tr", {}, ...["time", "end", "state", "by"].map((it) => el("th", { scope: "col" }, it)))),
  el("tbody", {}, ...all.map((it, place) => el("tr", { "data-place": place },
    el("td", {}, el("button", { type: "button", class: "time", onclick: () => choose(place) }, `${rounded(it.time)} s`)),
    el("td", { class: it.end }, it.end),
    el("td", {}, el("b", {}, it.edge.to)),
    el("td", {}, it.edge.event, el("span", { class: "meta" }, ` ${packetOf(it.edge)}`)))))));
