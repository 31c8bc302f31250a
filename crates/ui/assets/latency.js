// @ts-check
// Latency to a host: the form, a measurement while it runs, and results that were kept.

import { address, get, post, remove } from "./api.js";
import { bytes, command, el, say, show } from "./dom.js";
import { choice, number } from "./fields.js";
import { earlier, follow } from "./follow.js";
import { latencyView } from "./latency_view.js";

/** Seconds of a unit; none: until it is stopped. */
const UNITS = [["1", "seconds"], ["60", "minutes"], ["3600", "hours"], ["", "until I stop it"]];
/** Milliseconds between probes. */
const INTERVALS = [["1", "every 1 ms"], ["10", "every 10 ms"], ["20", "every 20 ms"], ["100", "every 100 ms"], ["1000", "every second"]];
const LOADS = [["", "no load"], ["up", "data to the host"], ["down", "data from the host"], ["both", "data both ways"]];
const CLOCKS = [["auto", "found out by themselves"], ["same", "one clock"], ["separate", "two clocks"]];

/** @type {import("./app.js").Page} */
export const latency = async (place, query) => {
  const id = query.get("id"), kept = query.get("result");
  if (id) return running(place, Number(id));
  return kept ? result(place, kept) : form(place);
};

/** @param {HTMLElement} place */
const form = async (place) => {
  const [own, { results }] = await Promise.all([earlier("latency"), get("/api/latencies")]);
  const state = { host: "", port: 5195, count: 10, unit: "1", interval: 10, timeout: 2000, clocks: "auto", load: "", upload: 5009, download: 5019, connections: 1, idle: 5, third: "", thirdPort: 5196 };
  const time = el("span", {}), load = el("span", {}), servers = el("div", {});
  const refusal = el("p", { role: "alert", class: "warnings" });
  const start = el("button", { class: "primary" }, "Start");
  const sends = () => state.load === "up" || state.load === "both", receives = () => state.load === "down" || state.load === "both";
  const drawServers = () => show(servers, command(server("latency", state.port)),
    sends() && command(server("discard", state.upload)), receives() && command(server("chargen", state.download)),
    state.third !== "" && el("div", {}, el("p", { class: "meta" }, "On the third host, which then measures when this one asks; TCP must pass its firewall:"),
      command(`tcplab latency ${state.host || "HOST"}:${state.port} --on-request 0.0.0.0:${state.thirdPort}`)));
  const drawTime = () => show(time, state.unit !== "" && el("span", {}, number("Duration", state.count, 1, 8784, (it) => { state.count = it; }), " "),
    choice("Unit of the duration", UNITS, state.unit, (it) => { state.unit = it; drawTime(); }));
  const drawLoad = () => {
    show(load, choice("Load", LOADS, state.load, (it) => { state.load = it; drawLoad(); }),
      state.load !== "" && el("span", {}, " after ", number("Idle time, s", state.idle, 1, 3600, (it) => { state.idle = it; }), " s without; connections ",
        number("Connections", state.connections, 1, 64, (it) => { state.connections = it; }), state.load === "both" ? " each way; ports" : "; port",
        sends() && el("span", {}, " ", number("Port of the discard server", state.upload, 1, 65535, (it) => { state.upload = it; drawServers(); }), " (discard)"),
        receives() && el("span", {}, " ", number("Port of the chargen server", state.download, 1, 65535, (it) => { state.download = it; drawServers(); }), " (chargen)")));
    drawServers();
  };
  drawTime();
  drawLoad();
  const begin = async () => {
    start.disabled = true;
    try {
      const job = await post("/api/jobs", {
        do: "latency", host: state.host, port: state.port, interval_ms: state.interval, timeout_ms: state.timeout, clocks: state.clocks,
        ...(state.unit !== "" && { seconds: state.count * Number(state.unit) }),
        ...(state.load !== "" && { load: { connections: state.connections, idle_seconds: state.idle, ...(sends() && { upload_port: state.upload }), ...(receives() && { download_port: state.download }) } }),
        ...(state.third !== "" && { third: { host: state.third, port: state.thirdPort } }),
      });
      location.hash = address("/latency", { id: job.id });
    } catch (error) {
      refusal.textContent = /** @type {Error} */ (error).message;
      start.disabled = false;
    }
  };
  show(place,
    el("header", {}, el("h1", {}, "Latency to a host"),
      el("p", { class: "lead" }, "How long packets take to a host and back, each way by itself, idle and under load, for seconds or for days.")),
    el("form", { class: "ask", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); begin(); } },
      el("p", { class: "fields" },
        el("label", {}, "Host ", el("input", { type: "text", size: 28, required: true, maxlength: 253, autocapitalize: "off", autocomplete: "off", spellcheck: "false", placeholder: "192.0.2.1 or a name", "aria-label": "Host", value: state.host, oninput: (/** @type {any} */ event) => { state.host = event.target.value.trim(); drawServers(); } })),
        el("label", {}, "Port ", number("Port", state.port, 1, 65535, (it) => { state.port = it; drawServers(); })),
        el("span", {}, "for ", time),
        el("span", {}, "a probe ", choice("Interval of probes", INTERVALS, String(state.interval), (it) => { state.interval = Number(it); }))),
      el("p", { class: "fields" }, el("span", {}, "Meanwhile ", load)),
      el("details", {}, el("summary", {}, "What a third host sees meanwhile"),
        el("p", { class: "fields" },
          el("label", {}, "Third host ", el("input", { type: "text", size: 24, maxlength: 253, autocapitalize: "off", autocomplete: "off", spellcheck: "false", placeholder: "none", "aria-label": "Third host", value: state.third, oninput: (/** @type {any} */ event) => { state.third = event.target.value.trim(); drawServers(); } })),
          el("label", {}, "Port ", number("Port of the third host", state.thirdPort, 1, 65535, (it) => { state.thirdPort = it; drawServers(); })))),
      el("details", {}, el("summary", {}, "When a probe is lost, and clocks"),
        el("p", { class: "fields" },
          el("label", {}, "A probe is lost without an answer in ", number("Timeout, ms", state.timeout, 10, 3_600_000, (it) => { state.timeout = it; }), " ms"),
          el("span", {}, "Both hosts have ", choice("Clocks", CLOCKS, state.clocks, (it) => { state.clocks = it; })))),
      el("div", { class: "begin" }, start), refusal),
    el("section", {}, el("h2", {}, "On that host, first"),
      el("p", { class: "meta" }, "Probes are answered by tcplab there. UDP must pass its firewall. A load fills the path: use it on paths that are yours."), servers),
    own || null,
    results.length > 0 && el("section", {}, el("h2", {}, "Kept results"), el("ul", { class: "earlier" }, ...results.map((/** @type {any} */ it) => el("li", {},
      el("a", { href: `#${address("/latency", { result: it.name })}` }, title(it.name)), ` until ${new Date(it.changed_ms).toLocaleString()}, ${bytes(it.bytes)}`)))));
};

/** @param {string} service @param {number} port */
const server = (service, port) => `tcplab server --service ${service} --address 0.0.0.0 --port ${port}`;

/** What a result is called: the host and its port. @param {string} name */
const title = (name) => name.replace(/-\d+$/, "").replace(/_(\d+)$/, ":$1");

/** @param {HTMLElement} place @param {number} id */
const running = async (place, id) => {
  const job = await get(`/api/jobs/${id}`);
  const progress = el("section", { class: "job" }), silence = el("p", { class: "warnings", role: "status" });
  const notes = el("ul", { class: "warnings" }), saved = el("section", {});
  const view = latencyView();
  const host = job.command.split(" ")[2]?.replaceAll("'", "");
  show(place, el("header", {}, el("h1", {}, `Latency to ${host}`)), progress, silence, view.element, notes, saved,
    el("p", {}, el("a", { href: "#/latency" }, "Another measurement")));
  /** @param {any} event */
  const finished = async (event) => {
    silence.textContent = "";
    const { result: found, file } = event;
    for (const warning of found.warnings) notes.append(el("li", {}, warning));
    view.figures(found);
    const name = file?.split("/").pop().replace(/\.json$/, "");
    if (!name) return;
    try {
      view.result(await get("/api/latency", { name }));
      show(saved, files(name));
    } catch (error) {
      notes.append(el("li", {}, `The result is not kept any more: ${/** @type {Error} */ (error).message}`));
    }
  };
  const stop = follow(progress, job, {
    parts: { idle: /--(up|down)load=/.test(job.command) ? "Without load" : "Measuring", "under load": "Under load" },
    told: (event) => {
      if (event.event === "finished") finished(event);
      if (event.event !== "progress") return;
      view.progress(event);
      const quiet = event.silence_seconds > 2 ? "No answers at present: all probes are lost." : "";
      if (silence.textContent !== quiet) silence.textContent = quiet;
    },
    ended: () => { silence.textContent = ""; },
  });
  return () => {
    stop();
    view.leave();
  };
};

/** @param {HTMLElement} place @param {string} name */
const result = async (place, name) => {
  const document = await get("/api/latency", { name });
  const view = latencyView();
  const gone = el("p", { role: "alert", class: "warnings" });
  show(place, el("header", {}, el("h1", {}, `Latency to ${title(name)}`),
    el("p", { class: "lead" }, `Since ${new Date(document.began_unix_ns / 1e6).toLocaleString()}.`)),
  view.element, el("ul", { class: "warnings" }, ...document.warnings.map((/** @type {string} */ warning) => el("li", {}, warning))),
  files(name),
  el("div", { class: "actions" }, el("a", { href: "#/latency" }, "Another measurement"), el("button", { type: "button", onclick: async () => {
    if (!confirm(`Delete the result ${title(name)} for good?`)) return;
    try {
      await remove("/api/latency", { name });
      say("Deleted");
      location.hash = "/latency";
    } catch (error) {
      gone.textContent = /** @type {Error} */ (error).message;
    }
  } }, "Delete")), gone);
  view.result(document);
  return () => view.leave();
};

/** Links that save the files of a result. @param {string} name */
const files = (name) => el("section", {}, el("h2", {}, "Save"),
  el("ul", { class: "earlier" }, ...[["svg", "the figure"], ["csv", "the series over time"], ["json", "all, also for --together"]].map(([ending, what]) => el("li", {},
    el("a", { href: address("/api/latency/file", { name, as: ending }), download: `${name}.${ending}` }, `${name}.${ending}`), ` ${what}`))),
  el("p", {}, el("a", { href: `#${address("/latency", { result: name })}` }, "Open it again"), " also when this server was started anew."));
