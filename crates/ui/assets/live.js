// @ts-check
// A trial while it runs, and later: curves, the state of both ends, the latest packets.

import { address, get, listen } from "./api.js";
import { Chart, Pace, Series, Stretch } from "./chart.js";
import { bytes, duration, el, rate, rounded, say, show } from "./dom.js";
import { ladder } from "./ladder.js";
import { knobs } from "./knobs.js";
import { MovingRate } from "./moving_rate.js";
import { PHASES, STATES, stateDiagram } from "./states.js";

/** What is seen of a trial that goes on, seconds. */
const WINDOW = 10;
/** What is drawn where no connection is. */
const PATH = "path";
/** A curve of which nothing was heard for so long, milliseconds, rests: files of a recording are not read at the same time. */
const QUIET = 500;
/** The latest marks that are kept. */
const EVENTS = 50_000;
/** Lines of marks. */
const LINES = 12;

/** @param {string[]} names of both ends @param {boolean} forward */
const between = ([one, other], forward) => forward ? `${one} to ${other}` : `${other} to ${one}`;

/** What segments in a row are called where their kind and an s will not do. @type {Record<string, string>} */
const MANY = { "fills-gap": "segments that fill a gap", "out-of-order": "segments out of order", "repeated-control": "SYNs or FINs repeated" };

/** Drops, or segments of a kind. @param {{ what: string, kind: string, count: number }} event */
const inWords = ({ what, kind, count }) => {
  if (kind === "drop") return count > 1 ? `${count} packets ${what}` : what;
  const words = what.replaceAll("-", " ");
  return count > 1 ? `${count} ${MANY[what] ?? `${words}s`}` : words;
};

/** When it was, or from when to when. @param {{ from: number, time: number }} event */
const times = ({ from, time }) => {
  const [first, last] = [from, time].map((it) => it.toFixed(3));
  return first === last ? `${last} s` : `${first} to ${last} s`;
};

/** The curves of one direction of a connection. */
class Flow {
  /** @param {{ connection: number, forward: boolean, ends: string[] | null }} of @param {string[]} names */
  constructor({ connection, forward, ends }, names) {
    this.connection = connection;
    this.forward = forward;
    /** The ports of client and server, if known. */
    this.ports = ends && (forward ? ends : [...ends].reverse()).map((end) => Number(end.split(":").at(-1)));
    const [from, to] = ends ?? (forward ? names : [...names].reverse());
    this.name = `connection ${connection + 1}, ${from} to ${to}`;
    this.sent = new Series("sent", "data", { step: true });
    this.acknowledged = new Series("acknowledged", "acks", { step: true });
    this.allowed = new Series("allowed by the receiver", "edge", { step: true, far: true });
    this.again = new Series("retransmissions, out-of-order segments", "retransmission", { points: true });
    this.flight = new Series("in flight", "plot-muted", { step: true });
    this.rtt = new Series("RTT", "data", { step: true });
    this.cwnd = new Series("congestion window", "data", { step: true });
    this.ssthresh = new Series("slow start threshold", "retransmission", { step: true, dash: [5, 3] });
    this.srtt = new Series("smoothed, by the socket", "acks", { step: true });
    this.goodput = new Series("acknowledged", "acks");
    this.sending = new Series("sent", "data");
    this.rates = { goodput: new MovingRate(this.goodput), sending: new MovingRate(this.sending) };
    /** The last interval, what was acknowledged before it, and when it was heard of. */
    this.last = { place: -1, before: 0, heard: 0 };
  }
  /** @param {number[][]} rows @param {number} interval seconds @param {number} moment */
  take(rows, interval, moment) {
    for (const [place, sent, acknowledged, allowed, flight, data, , , rtt, cwnd, ssthresh, srtt] of rows) {
      const time = (place + 1) * interval;
      if (place > this.last.place) this.last = { place, before: this.acknowledged.latest ?? acknowledged, heard: moment };
      this.sent.put(time, sent);
      this.acknowledged.put(time, acknowledged);
      this.allowed.put(time, allowed);
      this.flight.put(time, flight);
      if (rtt !== null) this.rtt.put(time, rtt / 1e9);
      if (cwnd !== undefined) {
        this.cwnd.put(time, cwnd);
        this.ssthresh.put(time, ssthresh);
        if (srtt !== null) this.srtt.put(time, srtt / 1e9);
      }
      this.rates.sending.put(place, data, interval);
      this.rates.goodput.put(place, Math.max(0, acknowledged - this.last.before), interval);
    }
  }
  /** Nothing more has happened until the end of an interval; `isOver`: nor will. @param {number} until @param {number} interval seconds @param {boolean} isOver */
  rest(until, interval, isOver) {
    for (const one of [this.sent, this.acknowledged, this.allowed, this.flight, this.cwnd, this.ssthresh]) one.holdsUntil = (until + 1) * interval;
    for (const rate of Object.values(this.rates)) if (isOver) rate.end(until); else rate.rest(until);
  }
  /** Whether its sender's socket was seen. */
  get hasSocket() {
    return this.cwnd.length > 0;
  }
  get total() {
    return this.sent.latest ?? 0;
  }
}

/** The curves of one direction of the path. */
class Way {
  /** @param {string} name @param {string} colour */
  constructor(name, colour) {
    this.waited = new Series(name, colour, { step: true });
    this.rate = new Series(name, colour, { step: true });
    this.drops = new Series(`dropped, ${name}`, colour, { points: true, shape: "cross" });
    this.passing = new MovingRate(this.rate);
    /** The last interval, and when it was heard of. */
    this.last = { place: -1, heard: 0 };
  }
  /** @param {number[][]} rows @param {number} interval seconds @param {number} moment */
  take(rows, interval, moment) {
    for (const [place, waited, bytes] of rows) {
      // Rows say themselves since when nothing waited.
      if (place > this.last.place) {
        this.waited.forgetFrom((this.last.place + 2) * interval);
        this.last = { place, heard: moment };
      }
      this.waited.put((place + 1) * interval, waited / 1e9);
      this.passing.put(place, bytes, interval);
    }
  }
  /**
   * Nothing more has passed until the end of an interval; `isOver`: nor will. What waits where something is in flight is not known.
   * @param {number} until @param {number} interval seconds @param {boolean} isOver @param {boolean} isEmpty whether nothing is in flight
   */
  rest(until, interval, isOver, isEmpty) {
    if (isOver) this.passing.end(until); else this.passing.rest(until);
    if (this.waited.length === 0 || (!isOver && until <= this.last.place)) return;
    const from = (this.last.place + 2) * interval;
    this.waited.forgetFrom(from);
    if (isEmpty) this.waited.put(from, 0); else this.waited.gap(from);
    this.waited.holdsUntil = (until + 1) * interval;
  }
}

/** All that is known of a trial. */
export class Trial {
  /** @param {string[]} names of both ends */
  constructor(names) {
    this.names = names;
    /** @type {Map<string, Flow>} */
    this.flows = new Map();
    this.ends = Object.fromEntries(["client", "server"].map((end) => [end, {
      cwnd: new Series("congestion window", "data", { step: true }),
      ssthresh: new Series("slow start threshold", "retransmission", { step: true, dash: [5, 3] }),
      rtt: new Series("smoothed RTT", "data", { step: true }),
      state: new Series("state", "muted"),
      phase: new Series("phase", "muted"),
    }]));
    this.path = Object.fromEntries(["forward", "reverse"].map((direction) =>
      [direction, new Way(between(names, direction === "forward"), direction)]));
    /** The ports of the connection whose sockets are sampled, if known. @type {number[] | null} */
    this.sampled = null;
    /** @type {{ time: number, sent: number, what: string, forward: boolean, kind: string, connection: number | null }[]} */
    this.events = [];
    this.latest = 0;
    /** @type {any[] | null} the latest ones, until they are drawn */
    this.packets = null;
    this.heard = 0;
    this.isOver = false;
    this.isCut = false;
  }
  /** @param {any} told @param {number} [moment] */
  take(told, moment = performance.now()) {
    const interval = told.interval_ns / 1e9;
    this.sampled = told.sampled ?? null;
    let latest = Math.max(this.latest, (told.reached_ns ?? 0) / 1e9);
    for (const of of told.flows) {
      const key = `${of.connection} ${of.forward}`;
      let flow = this.flows.get(key);
      if (!flow) this.flows.set(key, flow = new Flow(of, this.names));
      flow.take(of.intervals, interval, moment);
      latest = Math.max(latest, (flow.last.place + 1) * interval);
    }
    for (const [end, rows] of Object.entries(told.samples)) {
      const of = this.ends[end];
      for (const [place, cwnd, ssthresh, srtt, mss, state, phase] of rows) {
        const time = (place + 1) * interval;
        of.cwnd.put(time, cwnd * mss);
        of.ssthresh.put(time, ssthresh === null ? null : ssthresh * mss);
        if (srtt > 0) of.rtt.put(time, srtt / 1e9);
        of.state.put(time, state);
        of.phase.put(time, phase);
        latest = Math.max(latest, time);
      }
    }
    // Of very many the server keeps the latest.
    const kept = new Set(told.flows.map((/** @type {any} */ of) => `${of.connection} ${of.forward}`));
    for (const key of this.flows.keys()) if (!kept.has(key)) this.flows.delete(key);
    for (const [direction, rows] of Object.entries(told.path)) {
      this.path[direction].take(rows, interval, moment);
      latest = Math.max(latest, (this.path[direction].last.place + 1) * interval);
    }
    for (const mark of told.marks) {
      const time = mark.at_ns / 1e9;
      this.events.push({ time, sent: (mark.sent_ns ?? mark.at_ns) / 1e9, what: mark.what, forward: mark.forward, kind: mark.kind, connection: mark.connection });
      if (mark.kind === "drop") {
        const { waited, drops } = this.path[mark.forward ? "forward" : "reverse"];
        drops.put(time, waited.at(time) ?? 0, mark.what);
      } else if (mark.sequence !== null) {
        this.flows.get(`${mark.connection} ${mark.forward}`)?.again.put(time, mark.sequence, mark.what);
      }
    }
    // Two files tell them, each in order of time.
    if (told.marks.length > 0) this.events.sort((a, b) => a.time - b.time);
    this.packets = told.latest ?? this.packets;
    if (this.events.length > 2 * EVENTS) this.events.splice(0, this.events.length - EVENTS);
    if (latest > this.latest) [this.latest, this.heard] = [latest, moment];
    this.isOver ||= told.is_over;
    this.isCut ||= told.is_cut;
    this.rest(moment, interval);
  }
  /** What is not heard of rests. @param {number} moment @param {number} interval seconds */
  rest(moment, interval) {
    const until = Math.floor(this.latest / interval + 1e-6) - 1;
    const flows = [...this.flows.values()], ways = Object.values(this.path);
    const isEmpty = flows.every((flow) => !flow.flight.latest);
    const rests = (/** @type {Flow | Way} */ one) => this.isOver || moment - one.last.heard > QUIET;
    for (const one of [...flows, ...ways].filter(rests)) one.rest(until, interval, this.isOver, isEmpty);
  }
  /**
   * The latest marks until a time, those of one kind in a row as one, the latest first. They are put together from the first one on,
   * so that those until the last of a line have that line as it was.
   * @param {number} time
   */
  latestEvents(time) {
    /** @type {{ from: number, time: number, sent: number, what: string, forward: boolean, kind: string, connection: number | null, count: number }[]} */
    const rows = [];
    for (const event of this.events) {
      if (event.time > time) break;
      const same = rows.find((row, at) => at > rows.length - 3 && row.what === event.what && row.forward === event.forward && row.connection === event.connection);
      if (same) [same.time, same.sent, same.count] = [event.time, event.sent, same.count + 1];
      else rows.push({ ...event, from: event.time, count: 1 });
      if (rows.length > LINES + 1) rows.shift();
    }
    return rows.sort((a, b) => b.time - a.time).slice(0, LINES);
  }
  /** When the packet of a mark at a time was sent: what was dropped then came to the path before. @param {number} time */
  sentAt(time) {
    return this.events.findLast((event) => event.time === time)?.sent ?? time;
  }
  /** The first moment that is kept. */
  get earliest() {
    const first = Object.values(this.path).map(({ waited }) => waited.length ? waited.times[0] : Infinity);
    return this.isCut ? Math.min(this.latest, ...first) : 0;
  }
  /** The samples of the socket that sends these data; none where others are sampled. @param {Flow} flow */
  socketOf(flow) {
    const isSampled = this.sampled && flow.ports ? this.sampled.join() === flow.ports.join() : !this.hasSeveral;
    return isSampled ? this.ends[flow.forward ? "client" : "server"] : null;
  }
  /** Whether there are several connections. */
  get hasSeveral() {
    return new Set([...this.flows.values()].map((flow) => flow.connection)).size > 1;
  }
  /** The direction with the most data. */
  get main() {
    return [...this.flows.values()].sort((a, b) => b.total - a.total)[0];
  }
}

/** A trial. @type {import("./app.js").Page} */
export const live = async (place, query) => {
  const name = { run: query.get("run") ?? "", case: query.get("case") ?? "", trial: Number(query.get("trial")) };
  return watch(place, {
    title: `${name.case}, trial ${name.trial}`,
    about: el("p", { class: "meta" }, el("a", { href: `#${address("/run", { run: name.run })}` }, name.run)),
    ends: ["client", "server"],
    hasSamples: true,
    at: query.get("at"),
    history: address("/api/live", name),
    packets: async (wanted) => (await get("/api/live/packets", { ...name, ...wanted })).packets,
    steer: (steering, now) => {
      get("/api/run", name).then((run) => knobs(steering, run, name, now), () => {});
    },
    states: (diagram, hold) => stateDiagram(diagram, name, hold),
    why: async (what, isSeen) => {
      const run = await get("/api/run", { run: name.run }).catch(() => null);
      const now = run?.trials.find((/** @type {any} */ it) => it.case === name.case && it.number === name.trial);
      if (now?.state !== "missing") return [what];
      return [isSeen ? "This trial was stopped before its end, and nothing of its recording was kept" : what, ". ",
        el("a", { href: `#${address("/run", { run: name.run })}` }, "Resume the run"), " to have it."];
    },
    over: "The trial is over.",
  });
};

/**
 * What is watched.
 * @typedef {object} Watched
 * @property {string} title
 * @property {Node} about
 * @property {string[]} ends what they are called: the one that sends forward first
 * @property {boolean} hasSamples whether the states of sockets are known
 * @property {string | null} [at] where to hold what is over, seconds
 * @property {string} history the address of its events
 * @property {(wanted: Record<string, string | number | boolean>) => Promise<any[]>} packets
 * @property {(place: HTMLElement, now: () => number) => void} steer shows how its path is changed
 * @property {Record<string, (data: any) => void>} [told] other events
 * @property {(place: HTMLElement, hold: (time: number) => void) => ReturnType<typeof stateDiagram>} [states] shows the states of both ends
 * @property {(what: string, isSeen: boolean) => Promise<(string | Node)[]>} [why] why there are no events (any more), by what the server says
 * @property {string} over what is said at its end
 */

/** Shows what happens. @param {HTMLElement} place @param {Watched} of */
export const watch = (place, of) => {
  const trial = new Trial(of.ends), stretch = new Stretch();
  const flowChoice = el("select", { "aria-label": "Direction that is shown", onchange: () => {
    isChosen = true;
    build(flowChoice.value);
  } });
  const slider = el("input", { type: "range", min: 0, max: 1, step: 0.001, value: 1, "aria-label": "Time" });
  const clock = el("output", { class: "clock" });
  const follow = el("button", { type: "button" });
  const whole = el("button", { type: "button", onclick: () => { mode = "whole"; named(); } }, "Whole");
  const speed = el("select", { "aria-label": "Speed" },
    ...[["0.1", "1/10 of the speed"], ["0.5", "half speed"], ["1", "as it was"], ["4", "4 times as fast"]]
      .map(([value, text]) => el("option", { value, selected: value === "1" }, text)));
  const charts = el("div", { class: "live-charts" });
  const states = el("div", { class: "live-states" });
  const diagram = el("div", {});
  const packets = el("div", { class: "live-packets" });
  const events = el("ol", { class: "live-events" });
  const steering = el("div", {});
  const notes = el("p", { class: "meta", role: "status" });
  show(place,
    el("header", {}, el("h1", {}, of.title), of.about),
    el("div", { class: "live-controls", role: "group", "aria-label": "What is shown" }, follow, slider, clock, speed, whole, flowChoice),
    notes, charts,
    el("div", { class: "live-beside" },
      el("section", {}, of.hasSamples && el("h2", {}, "Both ends"), of.hasSamples && states, el("h2", {}, "Drops and retransmissions"), events),
      el("section", {}, el("h2", {}, "Packets"), packets)),
    of.states && el("section", {}, el("h2", {}, "State diagram"), diagram),
    steering);

  /** @type {"follow" | "play" | "hold" | "whole"} */
  let mode = "follow";
  let now = 0;
  const named = () => {
    follow.textContent = mode === "follow" || mode === "play" ? "Pause" : trial.isOver ? "Play" : "Follow";
    follow.setAttribute("aria-pressed", String(mode === "follow" || mode === "play"));
    speed.hidden = !trial.isOver;
  };
  follow.addEventListener("click", () => {
    if (mode === "follow" || mode === "play") mode = "hold";
    else if (trial.isOver) {
      mode = "play";
      if (now >= trial.latest) now = 0;
    } else mode = "follow";
    named();
    say(mode === "hold" ? "Paused" : "Goes on");
  });
  slider.addEventListener("input", () => {
    mode = "hold";
    now = Number(slider.value) * trial.latest;
    stretch.cursor = now;
    window_();
    named();
  });
  place.addEventListener("zoomed", () => { if (mode !== "hold") { mode = "hold"; named(); } });

  /** A moment that was chosen, and when its packet was sent. */
  let picked = { time: -1, sent: -1 };
  /** Holds at a moment, with what is around it. @param {number} time seconds @param {number} [sent] when its packet was sent */
  const hold = (time, sent = time) => {
    mode = "hold";
    picked = { time, sent };
    now = stretch.cursor = time;
    stretch.show(Math.max(0, time - 0.5), time + 0.5);
    named();
  };
  // Of a point of a chart the packet is shown: the last one until then.
  place.addEventListener("picked", () => {
    const time = stretch.cursor ?? now;
    picked = { time, sent: trial.sentAt(time) };
    if (mode === "hold") return;
    mode = "hold";
    now = time;
    named();
  });
  const window_ = () => {
    const span = mode === "hold" && stretch.until - stretch.from > 2e-3 ? stretch.until - stretch.from : WINDOW;
    const from = Math.max(0, now - span);
    stretch.show(from, Math.max(now, from + Math.min(span, 1)));
  };

  const shown = ladder(packets, of.packets, of.ends, hold);
  const walked = of.states?.(diagram, hold);
  let drawnOf = "", hadSocket = false, isChosen = false;
  const build = (/** @type {string} */ key) => {
    const flow = trial.flows.get(key) ?? trial.main;
    if (!flow && of.hasSamples) return;
    drawnOf = flow ? `${flow.connection} ${flow.forward}` : PATH;
    const sender = of.hasSamples && flow ? trial.socketOf(flow) : null;
    stretch.charts = [];
    hadSocket = flow?.hasSocket ?? false;
    const windows = sender ? [sender.cwnd, sender.ssthresh] : flow?.hasSocket ? [flow.cwnd, flow.ssthresh] : [];
    const roundTrips = sender ? [sender.rtt] : flow ? [flow.rtt, ...(flow.hasSocket ? [flow.srtt] : [])] : [];
    const all = [
      ...(flow ? [
        new Chart(stretch, "Bytes of the stream", bytes, [flow.sent, flow.acknowledged, flow.allowed, flow.again], { height: 240, until: () => 0 }),
        new Chart(stretch, windows.length > 0 ? "In flight and windows" : "In flight", bytes, [flow.flight, ...windows]),
        new Chart(stretch, "Throughput", rate, [flow.sending, flow.goodput]),
        new Chart(stretch, "Round trip", duration, roundTrips),
      ] : []),
      ...(of.hasSamples ? [] : [new Chart(stretch, "All that passed the path", rate, [trial.path.forward.rate, trial.path.reverse.rate])]),
      new Chart(stretch, "Time in the queue; drops", duration, [trial.path.forward.waited, trial.path.reverse.waited, trial.path.forward.drops, trial.path.reverse.drops], { least: 1e-3 }),
    ];
    show(charts, ...all.map((chart) => chart.element));
    stretch.draw();
  };

  const offer = () => {
    const keys = [...trial.flows.keys()];
    if (flowChoice.options.length !== keys.length || keys.some((key, at) => flowChoice.options[at].value !== key)) {
      show(flowChoice, ...keys.map((key) => el("option", { value: key }, trial.flows.get(key)?.name)));
      flowChoice.hidden = keys.length < 2;
    }
    const main = trial.main, drawn = trial.flows.get(drawnOf);
    const best = main && `${main.connection} ${main.forward}`;
    isChosen &&= drawn !== undefined;
    // While connections go on side by side, now this and now that one has a little more.
    const isMain = drawn && (trial.isOver ? best === drawnOf : 2 * drawn.total >= main.total);
    if (best ? !isChosen && !isMain : !drawnOf) build(best ?? "");
    else if (!hadSocket && drawn?.hasSocket) build(drawnOf);
    flowChoice.value = drawnOf;
  };

  const facts = () => {
    const time = stretch.cursor ?? now;
    // Where the trial is over, its packets say the states: the last sample is older than the end.
    const known = walked?.states() ?? [];
    const rows = of.hasSamples ? Object.entries(trial.ends).map(([end, of], at) => {
      const value = (/** @type {Series} */ series, /** @type {(it: number) => string} */ words) => {
        const it = series.at(time);
        return el("td", { class: "number" }, it === null ? "–" : words(it));
      };
      return el("tr", {}, el("th", { scope: "row" }, end),
        known[at] ? el("td", { class: "number" }, known[at]) : value(of.state, (it) => STATES[it] ?? "unknown"), value(of.phase, (it) => PHASES[it] ?? "unknown"),
        value(of.cwnd, bytes), value(of.ssthresh, bytes), value(of.rtt, duration));
    }) : [];
    const sampled = [...trial.flows.values()].find((it) => trial.sampled && it.ports?.join() === trial.sampled.join());
    show(states, of.hasSamples && trial.hasSeveral && el("p", { class: "meta" },
      `The sockets of ${sampled ? `connection ${sampled.connection + 1}` : "one connection"} are sampled: of others, windows and states are not known, and the RTT is that of packets.`),
    el("div", { class: "scroll" }, el("table", {},
      el("thead", {}, el("tr", {}, ...["end", "state", "phase", "cwnd", "ssthresh", "RTT"].map((it) => el("th", { scope: "col" }, it)))),
      el("tbody", {}, ...rows))));
    const until = trial.latestEvents(time);
    show(events, ...until.map((event) => el("li", {},
      el("button", { type: "button", class: "time", onclick: () => hold(event.time, event.sent) }, times(event)),
      ` ${trial.hasSeveral && event.connection !== null ? `connection ${event.connection + 1}, ` : ""}${between(of.ends, event.forward)}: ${inWords(event)}`)));
    if (until.length === 0) show(events, el("li", { class: "meta" }, "none so far"));
  };

  const pace = new Pace();
  // The server has no packets of it any more.
  let isKept = false;
  let factsAt = 0, before = performance.now(), isGone = false, frames = 0;
  const frame = (/** @type {number} */ moment) => {
    if (isGone) return;
    const passed = (moment - before) / 1e3;
    if (mode === "follow" && !pace.isDue(moment)) {
      requestAnimationFrame(frame);
      return;
    }
    before = moment;
    if (mode === "follow") {
      // Between two messages time goes on, by no more than a message is late.
      now = trial.isOver ? trial.latest : trial.latest + Math.min(0.15, (moment - trial.heard) / 1e3);
      window_();
      if (!stretch.charts.some((chart) => chart.canvas.matches(":hover"))) stretch.cursor = null;
    } else if (mode === "play") {
      now = Math.min(trial.latest, now + passed * Number(speed.value));
      stretch.cursor = now;
      window_();
      if (now >= trial.latest) { mode = "hold"; named(); }
    } else if (mode === "whole" && stretch.until !== trial.latest) {
      now = trial.latest;
      stretch.cursor = null;
      stretch.show(trial.earliest, Math.max(trial.latest, trial.earliest + 0.01));
    }
    for (const chart of stretch.charts) chart.draw();
    const seen = stretch.cursor ?? now;
    walked?.at(seen, [trial.ends.client, trial.ends.server].map((of) => of.state.at(seen)));
    if (moment - factsAt > 200) {
      factsAt = moment;
      facts();
      slider.value = String(trial.latest ? now / trial.latest : 1);
      clock.textContent = `${now.toFixed(2)} s of ${Math.max(now, trial.latest).toFixed(2)} s`;
      if (mode === "follow" && stretch.cursor === null) {
        if (trial.packets) shown.latest(trial.packets);
        trial.packets = null;
      } else if (trial.latest > 0 && !isKept) shown.at(Math.min(seen === picked.time ? picked.sent : seen, trial.latest));
    }
    frames += 1;
    requestAnimationFrame(frame);
  };

  let wasLost = false;
  const source = listen(of.history, {
    ...of.told,
    history: (told) => {
      trial.take(told);
      offer();
      if (trial.isOver && mode === "follow") {
        if (of.at) hold(Math.min(trial.latest, Number(of.at) || 0));
        else mode = "whole";
      }
      named();
      notes.textContent = trial.isCut ? "Very much happened: what came first is not all shown." : "";
    },
    over: (told) => {
      trial.isOver = true;
      source.close();
      named();
      say(of.over);
      walked?.load();
      of.told?.over?.(told);
      // Something was wrong with it: its next attempt is shown.
      if (told.is_run_again) dispatchEvent(new Event("hashchange"));
    },
    refused: async (what) => {
      const why = await of.why?.(what, trial.latest > 0) ?? [what];
      if (trial.latest === 0) {
        isGone = true;
        show(place, el("header", {}, el("h1", {}, of.title), of.about), el("p", { class: "lead", role: "alert" }, ...why));
        return;
      }
      // What was told stays, as far as this page has it.
      trial.isOver = isKept = true;
      if (mode === "follow") mode = "whole";
      named();
      show(notes, el("span", { role: "alert" }, ...why, " What this page was told of it stays until you leave it."));
    },
    lost: () => {
      wasLost = true;
      if (!trial.isOver) notes.textContent = "No connection to the server. It is looked for.";
    },
    // All is told once more.
    found: () => { if (wasLost && !trial.isOver) location.reload(); },
  });
  named();
  requestAnimationFrame(frame);
  of.steer(steering, () => stretch.cursor ?? now);
  // For measurements of the page itself.
  /** @type {any} */ (window).tcplabLive = { trial, frames: () => frames, rounded };
  return () => {
    isGone = true;
    source.close();
  };
};
