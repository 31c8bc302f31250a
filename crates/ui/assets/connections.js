// @ts-check
// A capture: what was found in it, its connections as a table, one of them in depth, what to save.

import { asBytes } from "./bytes.js";
import { address, get, post } from "./api.js";
import { bytes, command, duration, el, rate, say, show } from "./dom.js";
import { displayFilter, packetsOf } from "./packets.js";
import { made, makers } from "./products.js";
import { dropZone } from "./upload.js";

/** How often the page asks while a capture is read, milliseconds. */
const EVERY = 500;
/** Rows while it is read, and all that the server keeps. */
const MEANWHILE = 200, ALL = 5000;
/** Rows that are shown at once. */
const PAGE = 200;

const count = (/** @type {number} */ value) => value.toLocaleString("en");
const plural = (/** @type {number} */ value, /** @type {string} */ one, /** @type {string} */ more) => `${count(value)} ${value === 1 ? one : more}`;
const time = (/** @type {number | null} */ ns) => (ns === null ? "–" : duration(ns / 1e9));
const busier = (/** @type {any} */ row) => (row.reverse.unique_bytes > row.forward.unique_bytes ? row.reverse : row.forward);
const share = (/** @type {number} */ part, /** @type {number} */ of) => (of > 0 ? `${(100 * part / of).toPrecision(2)} %` : "–");
const retransmitted = (/** @type {any} */ row) => row.forward.retransmissions + row.reverse.retransmissions;
const segments = (/** @type {any} */ row) => row.forward.segments + row.reverse.segments;

/**
 * The columns: key, heading, what it is, what to sort by, what is shown, whether large comes first.
 * @type {[string, string, string, (row: any) => any, (row: any) => any, boolean][]}
 */
const COLUMNS = [
  ["number", "#", "Number, as Wireshark's tcp.stream where all packets are read", (row) => row.number, (row) => row.number, false],
  ["client", "Client", "The end that sent the first SYN", (row) => row.client, (row) => row.client, false],
  ["server", "Server", "The other end", (row) => row.server, (row) => row.server, false],
  ["state", "State", "How it opened and closed", (row) => row.state, (row) => row.state, false],
  ["opened", "First", "First packet, since the first of the capture", (row) => row.first_ns, (row) => `${(row.first_ns / 1e9).toFixed(3)} s`, false],
  ["closed", "Last", "Last packet, since the first of the capture", (row) => row.last_ns, (row) => `${(row.last_ns / 1e9).toFixed(3)} s`, true],
  ["duration", "Duration", "From its first packet to its last", (row) => row.last_ns - row.first_ns, (row) => time(row.last_ns - row.first_ns), true],
  ["lost", "Time lost", "Limits, stalls and retransmissions that cost time; failures and resets come first", (row) => row.order_ns, (row) => (row.lost_ns ? time(row.lost_ns) : ""), true],
  ["sent", "Sent", "Data from client to server, without retransmissions", (row) => row.forward.unique_bytes, (row) => bytes(row.forward.unique_bytes), true],
  ["received", "Received", "Data from server to client, without retransmissions", (row) => row.reverse.unique_bytes, (row) => bytes(row.reverse.unique_bytes), true],
  ["goodput", "Goodput", "Of the direction with more data", (row) => busier(row).goodput_bits_per_second ?? -1, (row) => (busier(row).goodput_bits_per_second === null ? "–" : rate(busier(row).goodput_bits_per_second)), true],
  ["retransmissions", "Retrans.", "Retransmissions of both directions, and their share of the segments", retransmitted, (row) => (retransmitted(row) ? `${count(retransmitted(row))} (${share(retransmitted(row), segments(row))})` : "0"), true],
  ["stall", "Longest stall", "Of the direction with more data", (row) => busier(row).stall_max_ns ?? -1, (row) => (busier(row).stall_max_ns === null ? "–" : `${time(busier(row).stall_max_ns)} ${busier(row).stall}`), true],
  ["rtt", "RTT min", "Of the direction with more data", (row) => busier(row).rtt_min_ns ?? -1, (row) => time(busier(row).rtt_min_ns), true],
  ["rttmedian", "RTT median", "Of the direction with more data", (row) => busier(row).rtt_median_ns ?? -1, (row) => time(busier(row).rtt_median_ns), true],
  ["limit", "Largest limit", "What limited the direction with more data for the longest time", (row) => busier(row).limit ?? "", (row) => (busier(row).limit === null ? "–" : `${busier(row).limit} ${Math.round(100 * busier(row).limit_share)} %`), false],
  ["findings", "Findings", "How many, and how grave the worst is", (row) => GRAVE.indexOf(row.worst) * 1000 + row.findings, (row) => (row.findings ? el("span", { class: `grave ${row.worst}`, title: row.rules.join(", ") }, `${row.findings} ${row.worst}`) : ""), true],
];
const GRAVE = [null, "note", "harm", "failure", "doubt"];
const TEXTS = new Set(["client", "server", "state", "limit"]);

/**
 * @param {HTMLElement} place
 * @param {string} id
 * @param {URLSearchParams} query
 */
export const connections = async (place, id, query) => {
  const filter = query.get("filter") ?? "", number = query.get("c");
  const of = filter ? { id, filter } : { id };
  if (number !== null) return connection(place, of, Number(number), query.get("frame"));
  const [first, { largest_bytes: largest }] = await Promise.all([get("/api/capture", { id, most: 0 }), get("/api/captures")]);
  const names = first.files.map((/** @type {any} */ file) => file.name);
  const parts = {
    names, now: el("p", { class: "lead", role: "status" }), bar: el("progress", { max: 1, value: 0, "aria-label": "Reading" }),
    notes: el("ul", { class: "warnings" }), findings: el("section", {}), table: el("section", {}), typed: el("div", {}),
    advice: el("p", {}, el("a", { href: `#${address("/advice", { capture: id })}` }, "Advice for its largest connection")),
  };
  const table = tableOf(parts.table, of);
  const filterForm = formOf(of, filter);
  const saved = makers(id, [
    ["Page", { kind: "page", filter }, "A page with all connections, and graphs of the slowest"],
    ["Annotated pcapng", { kind: "annotated", filter }, "A copy with comments for Wireshark"],
    ["CSV", { kind: "csv", filter }, "A line for each connection, with tcptrace's columns"],
    ["Parquet", { kind: "parquet", filter }, "Tables of connections, segments, ACKs, episodes, stalls and limits"],
    ["JSON", { kind: "json", filter }, "All that is known, for programs"],
  ]);
  const joined = joinOf(id, names);
  const packets = packetsOf(of, link);
  const saves = el("section", {}, el("h2", {}, "Save"), saved.element);
  show(place, el("header", {}, el("h1", {}, names.join(" + ")), parts.now, parts.bar, parts.notes),
    parts.advice,
    filterForm.element, parts.findings, parts.table,
    packets.element, saves, joined.element,
    el("section", {}, el("h2", {}, "Add a file"), dropZone({ id, largest, label: "Drop the capture of the other end, or more of this one", done: () => dispatchEvent(new HashChangeEvent("hashchange")) })),
    el("section", {}, el("h2", {}, "As a command"), parts.typed));
  const { mistake } = await post("/api/capture/read", { id, filter });
  if (mistake) {
    for (const part of place.querySelectorAll(":scope > section, progress")) part.setAttribute("hidden", "");
    filterForm.mark(mistake);
    return;
  }
  let isOver = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = async () => {
    let { reading } = await get("/api/capture", { id, most: MEANWHILE });
    if (reading && !reading.is_running) ({ reading } = await get("/api/capture", { id, most: ALL }));
    if (isOver || !reading) return;
    draw(parts, table, reading, of);
    if (reading.is_running) timer = setTimeout(next, EVERY);
    else {
      say(parts.now.textContent ?? "");
      if (reading.ends) joined.join(reading.ends);
      // There is no connection, or none that could be read.
      parts.advice.hidden = reading.ends ? false : reading.error !== null || reading.totals.connections === 0;
      // Of the two as one there is neither a table nor a file.
      for (const part of [parts.table, packets.element, saves, filterForm.element]) part.hidden = reading.error !== null;
    }
  };
  const next = () => look().catch((error) => {
    if (!isOver) show(parts.now, el("span", { role: "alert" }, error.message));
  });
  await look();
  return () => {
    isOver = true;
    clearTimeout(timer);
    saved.leave();
    packets.leave();
    joined.leave();
  };
};

/** @param {any} parts @param {ReturnType<typeof tableOf>} table @param {any} reading @param {any} of */
const draw = (parts, table, reading, of) => {
  const { totals } = reading;
  parts.bar.hidden = !reading.is_running;
  show(parts.typed, command(reading.command));
  const error = reading.error && sentence(reading.error, parts.names);
  if (error) show(parts.now, el("span", { role: reading.ends ? null : "alert" }, error));
  else if (reading.is_waiting) parts.now.textContent = "Waiting: other captures are being read.";
  else if (reading.is_running) {
    parts.bar.max = Math.max(reading.size_bytes, 1);
    parts.bar.value = reading.read_bytes;
    parts.now.textContent = `Read ${bytes(reading.read_bytes)} of ${bytes(reading.size_bytes)}, ${plural(totals.connections, "connection that has ended", "connections that have ended")} so far`;
  } else parts.now.textContent = summary(reading);
  show(parts.notes, ...(reading.notes ?? []).map((/** @type {any} */ note) => el("li", {}, note.frame ? `Frame ${note.frame}: ${note.text}` : note.text)));
  table.draw(reading);
  if (reading.is_running && parts.findings.contains(document.activeElement)) return;
  show(parts.findings, reading.findings.length > 0 && el("h2", {}, "Findings"),
    el("ul", { class: "findings-first" }, ...reading.findings.map((/** @type {any} */ rule) => el("li", { class: rule.severity },
      el("h3", {}, el("span", { class: `grave ${rule.severity}` }, rule.severity), ` ${rule.rule.replaceAll("-", " ")}`,
        el("span", { class: "meta" }, ` in ${plural(rule.connections, "connection", "connections")}`)),
      el("p", {}, rule.examples[0].statement, rule.examples[0].remedy && ` ${rule.examples[0].remedy}`),
      el("p", { class: "meta" }, "Connections ", ...rule.examples.flatMap((/** @type {any} */ it, /** @type {number} */ at) => [at > 0 && ", ", link(of, it.connection, it.connection, it.statement)]),
        rule.connections > rule.examples.length && ", …",
        rule.examples[0].frames.length > 0 && ["; frames ", ...rule.examples[0].frames.flatMap((/** @type {number} */ frame, /** @type {number} */ at) => [at > 0 && ", ", link(of, rule.examples[0].connection, frame, "The packet as bytes", frame)])])))));
};

/** A reason as a sentence; a name that it begins with stays as it is. @param {string} reason @param {string[]} names */
const sentence = (reason, names) => `${names.some((name) => reason.startsWith(name)) ? reason : reason[0].toUpperCase() + reason.slice(1)}.`;

/** @param {any} reading */
const summary = (reading) => {
  const { totals } = reading;
  if (reading.packets === 0) return "The capture has no packets.";
  if (totals.connections === 0) return reading.filter ? "No TCP packet matches the filter." : "No TCP packet found.";
  const states = [[totals.closed, "closed"], [totals.reset, "reset"], [totals.never_opened, "never opened"], [totals.one_direction, "in one direction only"]]
    .filter(([number]) => number > 0).map(([number, what]) => `${count(/** @type {number} */ (number))} ${what}`).join(", ");
  return `${plural(totals.connections, "connection", "connections")}${states && ` (${states})`} in ${plural(reading.packets, "packet", "packets")} and ${time(reading.lasted_ns)}: `
    + `${bytes(totals.client_bytes)} sent, ${bytes(totals.server_bytes)} received, ${count(totals.retransmissions)} of ${plural(totals.segments, "segment", "segments")} retransmitted (${share(totals.retransmissions, totals.segments)}).`;
};

/** @param {any} of @param {number} number @param {any} text @param {string} [title] @param {number} [frame] */
const link = (of, number, text, title, frame) => el("a", {
  href: `#${address("/capture", { ...of, c: number, ...(frame ? { frame } : {}) })}`, title,
}, text);

/** The filter, in the command's language. @param {any} of @param {string} filter */
const formOf = (of, filter) => {
  const field = el("input", { type: "search", value: filter, spellcheck: "false", autocapitalize: "off", placeholder: "ip.addr == 10.0.0.1 && tcp.port == 443", "aria-label": "Filter of packets", "aria-describedby": "filter-mistake" });
  const wrong = el("div", { id: "filter-mistake", class: "filter-mistake", role: "alert" });
  const element = el("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    const text = field.value.trim();
    const there = address("/capture", text ? { id: of.id, filter: text } : { id: of.id });
    if (location.hash === `#${there}`) dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = there;
  } }, field, el("button", { type: "submit" }, "Analyse only these packets"), wrong,
  el("details", { class: "filter-help" }, el("summary", {}, "What a filter can say"),
    el("p", { class: "meta" }, el("code", {}, "host ADDRESS"), ", ", el("code", {}, "net ADDRESS/LENGTH"), ", ", el("code", {}, "port N"), " or ", el("code", {}, "N-M"), ", ", el("code", {}, "time 1s..5s"), " since the first packet, ", el("code", {}, "part K/N"), " of all connections; ",
      el("code", {}, "and"), ", ", el("code", {}, "or"), ", ", el("code", {}, "not"), ", parentheses. Wireshark's ", el("code", {}, "ip.addr == …"), ", ", el("code", {}, "tcp.port == …"), ", ", el("code", {}, "&&"), ", ", el("code", {}, "||"), ", ", el("code", {}, "!"), " mean the same.")));
  return {
    element,
    /** @param {{ what: string, filter: string, from: number, until: number }} mistake */
    mark: ({ what, filter: text, from, until }) => {
      show(wrong, el("p", {}, what), el("pre", {}, text.slice(0, from), el("mark", {}, text.slice(from, until) || " "), text.slice(until)));
      field.setAttribute("aria-invalid", "true");
      field.focus();
      field.setSelectionRange(from, Math.max(until, from));
    },
  };
};

/** The table, sorted by any column, and searched by text. @param {Element} place @param {any} of */
const tableOf = (place, of) => {
  /** @type {any} */
  let reading = { rows: [], totals: { connections: 0 } };
  let [sorted, isDown] = ["lost", true];
  let shownRows = PAGE;
  const search = el("input", { type: "search", placeholder: "Search addresses, states, limits, findings", "aria-label": "Search connections", oninput: () => { shownRows = PAGE; rows(); } });
  const told = el("p", { class: "meta", role: "status" });
  const body = el("tbody", {}), more = el("div", { class: "actions" });
  const heads = COLUMNS.map(([key, label, about, , , isLargeFirst]) => el("th", { scope: "col", "aria-sort": "none", class: TEXTS.has(key) ? "" : "number" }, el("button", { type: "button", class: "sort", title: about, onclick: () => {
    isDown = sorted === key ? !isDown : isLargeFirst;
    sorted = key;
    rows();
  } }, label)));
  const rows = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (/** @type {any} */ row) => `${row.number} ${row.client} ${row.server} ${row.state} ${busier(row).limit ?? ""} ${busier(row).stall ?? ""} ${row.worst ?? ""} ${row.rules.join(" ")}`.toLowerCase();
    const fits = words.length ? reading.rows.filter((/** @type {any} */ row) => words.every((/** @type {string} */ word) => text(row).includes(word))) : [...reading.rows];
    const by = COLUMNS.find(([key]) => key === sorted)?.[3] ?? ((/** @type {any} */ row) => row.number);
    const sign = isDown ? -1 : 1;
    fits.sort((/** @type {any} */ a, /** @type {any} */ b) => {
      const [one, other] = [by(a), by(b)];
      if (one === other) return a.number - b.number;
      return sign * (typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other);
    });
    for (const [at, [key]] of COLUMNS.entries()) heads[at].setAttribute("aria-sort", key !== sorted ? "none" : isDown ? "descending" : "ascending");
    show(body, ...fits.slice(0, shownRows).map((/** @type {any} */ row) => el("tr", {}, ...COLUMNS.map(([key, , , , cell]) => el(key === "number" ? "th" : "td", {
      scope: key === "number" ? "row" : null, class: TEXTS.has(key) ? "" : "number",
    }, key === "number" ? link(of, row.number, row.number, `Connection ${row.number} in depth`) : cell(row))))));
    show(more, fits.length > shownRows && el("button", { type: "button", onclick: () => { shownRows += 5 * PAGE; rows(); } }, `Show more (${count(fits.length - shownRows)} left)`));
    const all = reading.totals.connections;
    const isPart = reading.is_running && reading.rows.length < all;
    const kept = isPart ? ` These lost most time of the ${count(all)} so far.` : reading.kept_rows < all && !reading.is_running ? ` The table has the ${count(reading.kept_rows)} of ${count(all)} connections that lost most time; choose others by a filter.` : "";
    told.textContent = `${plural(fits.length, "connection", "connections")}${words.length ? " match" : ""}.${kept}`;
  };
  show(place, el("h2", {}, "Connections"), el("div", { class: "actions" }, search), told,
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Connections" }, el("table", { class: "connections" }, el("thead", {}, el("tr", {}, ...heads)), body)), more);
  return {
    /** @param {any} now */
    draw: (now) => {
      // Who has come to a row by the keyboard keeps it.
      if (now.is_running && body.contains(document.activeElement)) return;
      reading = now;
      rows();
    },
  };
};

/** Two files joined as the two ends. @param {string} id @param {string[]} names */
const joinOf = (id, names) => {
  const place = el("section", {});
  if (names.length < 2) return { element: place, leave: () => {}, join: () => {} };
  const choice = (/** @type {string} */ label, /** @type {number} */ at) => el("select", { "aria-label": label }, ...names.map((name, own) => el("option", { value: name, selected: own === at }, name)));
  const client = choice("Capture near the client", 0), server = choice("Capture near the server", 1);
  const maker = { leave: () => {} }, result = el("div", {});
  const join = () => {
    maker.leave();
    maker.leave = made(result, id, { kind: "joined", client: client.value, server: server.value }, "Both ends");
  };
  show(place, el("h2", {}, "Two ends of the same connections"),
    el("p", { class: "meta" }, "Joined packet by packet: what was lost, duplicated and reordered between them, one-way delays, clock offset. Read as one, the same packets at two places look duplicated."),
    el("div", { class: "actions" }, el("label", {}, "Client ", client), el("label", {}, "Server ", server),
      el("button", { type: "button", onclick: join }, "Join")), result);
  return {
    element: place,
    leave: () => maker.leave(),
    /** @param {string[]} ends of client and server */
    join: (ends) => {
      [client.value, server.value] = ends;
      join();
    },
  };
};

/**
 * A connection in depth.
 * @param {HTMLElement} place @param {any} of @param {number} number @param {string | null} wanted frame
 */
const connection = async (place, of, number, wanted) => {
  const { id, filter = "" } = of;
  const { files } = await get("/api/capture", { id, most: 0 });
  const wish = { connection: number, filter };
  const frame = el("input", { type: "number", min: 1, value: wanted ?? "", "aria-label": "Frame number", placeholder: "frame" });
  const packets = displayFilter(() => views.press("Packet by packet"));
  const listing = { kind: "listing", ...wish, get packets() { return packets.wanted() || undefined; } };
  const views = makers(id, [
    ["Graphs and findings", { kind: "page", ...wish }, "Time-sequence graph, RTT over time and by sequence number, window, throughput, lengths of segments, ladder, packets as bytes"],
    ["Packet by packet", listing, "All packets, each with its reason, or those that the display filter shows"],
    ["Ladder", { kind: "ladder", ...wish }, "Packets between the two ends; similar ones are folded"],
    ["Save xplot graphs", { kind: "xplot", ...wish }, "tcptrace's names and colours"],
    ["Save JSON", { kind: "json", ...wish }, "All that is known of it, for programs"],
  ]);
  const packet = { leave: () => {} }, result = el("div", {});
  const showFrame = () => {
    if (!frame.value) return;
    packet.leave();
    packet.leave = made(result, id, { kind: "bytes", frame: Number(frame.value), filter }, `Frame ${frame.value}`, asBytes);
  };
  const packetPart = el("section", {}, el("h2", {}, "A packet as bytes"), el("form", { class: "actions", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); showFrame(); } }, el("label", {}, "Frame ", frame), el("button", { type: "submit" }, "Show")), result);
  show(place, el("header", {}, el("h1", {}, `Connection ${number}`),
    el("p", { class: "meta" }, `of ${files.map((/** @type {any} */ file) => file.name).join(" + ")}${filter && `, filtered by ${filter}`}. `,
      el("a", { href: `#${address("/capture", of)}` }, "All connections"))),
  wanted ? [packetPart, packets.element, views.element] : [packets.element, views.element, packetPart]);
  if (wanted) showFrame();
  views.press("Graphs and findings");
  return () => {
    views.leave();
    packet.leave();
  };
};
