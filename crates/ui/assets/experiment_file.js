// @ts-check
// The scenario file that the form of an experiment makes.

import { CONGESTIONS, KNOBS } from "./fields.js";

/** What the applications do: who sends most of the data, and how the form calls it. */
export const WORKS = [
  { key: "download", name: "Download", sender: "server", receiver: "client", isBulk: true },
  { key: "upload", name: "Upload", sender: "client", receiver: "server", isBulk: true },
  { key: "requests", name: "Requests and responses", sender: "server", receiver: "client", isBulk: false },
  { key: "keystrokes", name: "Typing", sender: "client", receiver: "server", isBulk: false },
];

/** What is asked for first. */
export const START = {
  path: { preset: "lte", set: /** @type {Record<string, string>} */ ({}) },
  factor: "congestion", levels: ["reno", "cubic", "bbr"],
  /** What varies besides. */
  more: /** @type {{ factor: string, levels: string[] }[]} */ ([]),
  work: "download", amount: 10, count: 100, request: 200, response: 10, pause: 100, flows: 1,
  interrupted: true, every: 5, lasting: 200,
  trials: 10, seed: "",
  ends: /** @type {Record<string, { stack: string, socket: Record<string, string | number | boolean> }>} */ ({
    client: { stack: "", socket: {} }, server: { stack: "", socket: {} },
  }),
};

/** @typedef {typeof START} Wanted */

const SIZE = { pattern: "[1-9][0-9]{0,5} (B|kB|KiB)|[1-9][0-9]{0,2} (MB|MiB)", title: "such as 48 KiB or 2 MB" };
const RATE = { pattern: "[1-9][0-9]{0,3}([.][0-9]{1,3})? [kMG]bit/s", title: "such as 2.5 Mbit/s" };
export const PATTERNS = { SIZE, RATE };

const word = (/** @type {string} */ level) => JSON.stringify(level);
const workOf = (/** @type {Wanted} */ { work }) => WORKS.find((it) => it.key === work) ?? WORKS[0];

/**
 * What can be compared: a name, choices, those that are chosen first, what else may be written, and the
 * key of the scenario; none where the rest leaves nothing to vary.
 */
export const FACTORS = [
  { key: "congestion", name: "congestion control", choices: CONGESTIONS.slice(1).map(([name]) => name), chosen: ["reno", "cubic", "bbr"], other: null,
    about: "How the sender finds its rate.", sets: (/** @type {Wanted} */ it) => `${workOf(it).sender}.socket.congestion` },
  { key: "queue", name: "queue of the bottleneck", choices: ["32 packets", "128 packets", "512 packets", "1 bdp"], chosen: ["32 packets", "512 packets"], other: { pattern: "[1-9][0-9]{0,5} packets", title: "such as 64 packets" },
    about: "How much may wait in front of the slowest link.", sets: () => "path.queue" },
  { key: "buffer", name: "receive buffer", choices: ["16 KiB", "64 KiB", "256 KiB", "1 MiB"], chosen: ["16 KiB", "64 KiB", "256 KiB"], other: SIZE,
    about: "SO_RCVBUF of the receiver: it bounds the window.", sets: (/** @type {Wanted} */ it) => `${workOf(it).receiver}.socket.rcvbuf` },
  { key: "loss", name: "random loss", choices: ["0 %", "0.1 %", "1 %", "3 %"], chosen: ["0 %", "0.1 %", "1 %"], other: { pattern: "[0-9]{1,2}([.][0-9]{1,3})? %", title: "such as 0.5 %" },
    about: "What the line loses at random, in both directions.", sets: () => "path.loss" },
  { key: "stack", name: "TCP stack of the sender", choices: ["model:linux-6.18", "model:windows-7", "model:osx-10.7", "model:haiku-2017-after"], chosen: ["model:linux-6.18", "model:windows-7"], other: null,
    about: "Models of whole stacks, in virtual time.", sets: (/** @type {Wanted} */ it) => `${workOf(it).sender}.stack` },
  { key: "rate", name: "rate of the bottleneck", choices: ["1 Mbit/s", "5 Mbit/s", "20 Mbit/s", "100 Mbit/s"], chosen: ["1 Mbit/s", "5 Mbit/s", "20 Mbit/s"], other: RATE,
    about: "In both directions.", sets: () => "path.rate" },
  { key: "delay", name: "one-way delay", choices: ["5 ms", "20 ms", "50 ms", "200 ms"], chosen: ["5 ms", "50 ms"], other: { pattern: "[1-9][0-9]{0,2}([.][0-9])? ms", title: "such as 35 ms" },
    about: "Half of the round trip of the idle path.", sets: () => "path.delay" },
  { key: "send-buffer", name: "send buffer", choices: ["16 KiB", "64 KiB", "256 KiB", "1 MiB"], chosen: ["16 KiB", "64 KiB", "256 KiB"], other: SIZE,
    about: "SO_SNDBUF of the sender: what was written and is not acknowledged.", sets: (/** @type {Wanted} */ it) => `${workOf(it).sender}.socket.sndbuf` },
  { key: "nodelay", name: "TCP_NODELAY of the sender", choices: ["off", "on"], chosen: ["off", "on"], other: null, write: (/** @type {string} */ it) => String(it === "on"),
    about: "On: small segments are sent at once (Nagle's algorithm is off).", sets: (/** @type {Wanted} */ it) => `${workOf(it).sender}.socket.nodelay` },
  { key: "amount", name: "amount of data", choices: ["10 kB", "100 kB", "1 MB", "10 MB"], chosen: ["100 kB", "1 MB", "10 MB"], other: SIZE,
    about: "Of a transfer, or of each response.", sets: (/** @type {Wanted} */ it) => workOf(it).isBulk ? `workload.${it.work}` : it.work === "requests" ? "workload.requests.response" : null },
  { key: "flows", name: "number of connections at once", choices: ["1", "2", "4", "8"], chosen: ["1", "4"], other: { pattern: "[1-9][0-9]?|100", title: "1 to 100" }, write: (/** @type {string} */ it) => it,
    about: "Equal ones, which begin together and share the path.", sets: () => "flow.each.count" },
  { key: "lasting", name: "length of the interruptions", choices: ["50 ms", "100 ms", "200 ms", "500 ms"], chosen: ["100 ms", "500 ms"], other: null,
    about: "How long nothing passes.", sets: (/** @type {Wanted} */ { interrupted }) => interrupted ? "path.interruption.lasting" : null },
];

/** @typedef {(typeof FACTORS)[number]} Factor */

/** Those that can be compared there. @param {Wanted} wanted @param {any} path as the server lists it */
export const factorsOf = (wanted, path) => FACTORS.filter((it) => it.sets(wanted) !== null && !(it.key === "rate" && path?.is_wireless));

/** The levels of a factor, if it varies. @param {Wanted} wanted @param {string} key */
const levelsIn = ({ factor, levels, more }, key) => [{ factor, levels }, ...more].find((it) => it.factor === key)?.levels ?? [];

/** A full packet, bits. */
const PACKET = 1514 * 8;
const UNITS = /** @type {Record<string, number>} */ ({ "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, ms: 1e-3 });

/** Whether a queue of one bandwidth-delay product may be less than a packet, which is refused. @param {Wanted} wanted @param {any} path as the server lists it */
export const isBdpTooSmall = (wanted, path) => {
  const least = (/** @type {string} */ key, /** @type {number} */ own) => {
    const set = levelsIn(wanted, key).length > 0 ? levelsIn(wanted, key) : wanted.path.set[key] ? [wanted.path.set[key]] : [];
    return set.length > 0 ? Math.min(...set.map((it) => Number.parseFloat(it) * UNITS[it.split(" ")[1]])) : own;
  };
  return Boolean(path) && (path.is_wireless || least("rate", path.rate_bits_per_second ?? Infinity) * 2 * least("delay", path.base_rtt_ns / 2e9) < PACKET);
};

/** What is offered of a factor there. @param {Factor} factor @param {Wanted} wanted @param {any} path @returns {string[]} */
export const choicesOf = ({ choices }, wanted, path) => isBdpTooSmall(wanted, path) ? choices.filter((it) => it !== "1 bdp") : choices;

/** The levels that are chosen, in the order of the choices; those that were written are last. @param {Factor} factor @param {string[]} levels @param {Wanted} wanted @param {any} path */
export const levelsOf = (factor, levels, wanted, path) => [
  ...choicesOf(factor, wanted, path).filter((it) => levels.includes(it)), ...levels.filter((it) => !factor.choices.includes(it))];

/** What varies: the factor of the question first. @param {Wanted} wanted @param {any} path */
export const varied = (wanted, path) => {
  const there = factorsOf(wanted, path);
  return [{ factor: wanted.factor, levels: wanted.levels }, ...wanted.more].flatMap(({ factor: key, levels }, at) => {
    const factor = there.find((it) => it.key === key), chosen = factor && levelsOf(factor, levels, wanted, path);
    return factor && chosen && (at === 0 || chosen.length > 0) ? [{ factor, key: String(factor.sets(wanted)), levels: chosen }] : [];
  });
};

/** The most moments at which interruptions begin. */
const PHASES = 20;

/** Trials at each of some moments, together as many as are asked for, or a few more. @param {Wanted} wanted */
export const inPhases = ({ trials, interrupted }) => {
  // Which interruption meets which part of a transfer decides much: each of some phases is a case.
  const each = interrupted ? Math.ceil(trials / PHASES) : trials;
  return { each, phases: interrupted ? Math.ceil(trials / each) : 1 };
};

/** What is set at an end, in the tables of a file. @param {Wanted} wanted @param {string} end @param {Set<string>} elsewhere keys that vary */
const endLines = ({ ends }, end, elsewhere) => {
  const { stack, socket } = ends[end];
  const options = Object.entries(socket).filter(([key]) => !elsewhere.has(`${end}.socket.${key}`)).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return [
    ...stack && !elsewhere.has(`${end}.stack`) ? [`[${end}]`, `stack = ${word(stack)}`, ""] : [],
    ...options.length > 0 ? [`[${end}.socket]`, ...options, ""] : [],
  ];
};

/** What the applications do. @param {Wanted} wanted */
const workLine = ({ work, amount, count, request, response, pause }) => work === "requests" ? `requests = { count = ${count}, request = "${request} B", response = "${response} kB" }`
  : work === "keystrokes" ? `keystrokes = { count = ${count}, every = "${pause} ms" }` : `${work} = "${amount} MB"`;

/** The file. @param {Wanted} wanted @param {any} path as the server lists it */
export const scenarioOf = (wanted, path) => {
  const { path: { preset, set }, interrupted, every, lasting, flows, seed } = wanted;
  const all = varied(wanted, path), keys = new Set(all.map((it) => it.key));
  const { each, phases } = inPhases(wanted);
  const offsets = Array.from({ length: phases }, (_, at) => `${Math.round((every * 1000 * (2 * at + 1)) / (2 * phases))} ms`);
  const suits = `Which ${all[0]?.factor.name} suits the path ${preset}${interrupted ? ", with interruptions" : ""}?`;
  const list = (/** @type {string[]} */ levels, write = word) => `[${levels.map((it) => write(it)).join(", ")}]`;
  return [
    `title = ${word(suits)}`, ...all.length > 1 ? [`question_factor = ${word(all[0].key)}`] : [], "",
    "[path]", `preset = ${word(preset)}`,
    ...KNOBS.filter(({ key }) => set[key] && !keys.has(`path.${key}`)).map(({ key }) => `${key} = ${word(set[key])}`),
    ...path?.is_queue_in_bdp && !set.queue && !keys.has("path.queue") && isBdpTooSmall(wanted, path) ? ['queue = "1 packet"   # more than a bandwidth-delay product'] : [],
    ...interrupted ? [`interruption = { every = "${every} s", lasting = "${lasting} ms", offset = ${word(offsets[0])} }`] : [], "",
    ...endLines(wanted, "client", keys), ...endLines(wanted, "server", keys),
    "[workload]", workLine(wanted), "",
    ...flows > 1 || keys.has("flow.each.count") ? ["[flow.each]", `count = ${flows}`, ""] : [],
    "[matrix]", ...all.map(({ factor, key, levels }) => `"${key}" = ${list(levels, factor.write)}`),
    ...phases > 1 ? [`"path.interruption.offset" = ${list(offsets)}`] : [], "",
    "[repeat]", `trials = ${each}`, ...seed ? [`seed = ${seed}`] : [], "",
    "# Headers, of each packet.", "[recording]", 'snaplen = "96 B"', "",
  ].join("\n");
};
