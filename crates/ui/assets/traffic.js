// @ts-check
// The page of a shell or a bridge: what passes its path, and changes of it.

import { address, get, post } from "./api.js";
import { bothEnds } from "./both_ends.js";
import { command, el, say, show } from "./dom.js";
import { changes, inWords } from "./knobs.js";
import { watch } from "./live.js";
import { packetTable } from "./packet_table.js";
import { themeButton } from "./theme.js";

/** Packets that a page keeps when the server is gone. */
const KEPT = 2000;

const place = /** @type {HTMLElement} */ (document.getElementById("content"));

const begin = async () => {
  let state = await get("/api/traffic");
  const { ends } = state;
  const sockets = bothEnds(ends);
  /** @type {any[] | null} */
  let kept = null;
  const running = el("p", { class: "lead", role: "status" });
  const list = el("ol", { class: "live-events" });
  const file = el("div", {});
  const told = el("p", { class: "meta", role: "status" });
  const section = el("section", { class: "steering" });

  /** @param {any} latest */
  const draw = (latest) => {
    state = latest;
    running.textContent = state.is_running ? "" : OVER;
    running.hidden = state.is_running;
    show(list, ...state.path_events.map((/** @type {any} */ event) => el("li", {}, inWords(event, ends))));
    show(file, el("details", { open: state.path_events.length > 0 }, el("summary", {}, state.path_events.length > 0 ? "The path file with these changes" : "The path file"),
      el("pre", { tabindex: 0 }, state.path_file)));
  };
  const change = async (/** @type {any} */ wanted) => {
    try {
      await post("/api/traffic/change", wanted);
      told.textContent = "Changed.";
    } catch (error) {
      told.textContent = `Not changed: ${/** @type {Error} */ (error).message}`;
    }
  };
  const ask = async (/** @type {Record<string, any>} */ wanted) => {
    if (!kept) return (await get("/api/traffic/packets", wanted)).packets;
    return kept.filter((packet) => packet.at_ns <= wanted.until_ns).slice(-wanted.most);
  };
  const over = async (/** @type {any} */ latest) => {
    // It answers for a moment still.
    await get("/api/traffic/packets", { most: KEPT, last: true }).then(({ packets }) => { kept = packets; }, () => { kept = []; });
    form.querySelectorAll("button").forEach((/** @type {HTMLButtonElement} */ button) => { button.disabled = true; });
    told.textContent = "";
    draw(latest);
  };

  const form = changes("Now", ends, change);
  show(section, el("h2", {}, "Change the path"),
    el("p", { class: "meta" }, "A change holds at once, for all connections. It is kept with the recording."),
    form, told, list, file);
  const content = el("div", { class: "page" });
  show(place, content);
  draw(state);
  const snaplen = state.snaplen_bytes;
  const keeps = snaplen === null ? "Packets are kept whole" : `The first ${snaplen} bytes of each packet are kept`;
  watch(content, {
    title: `Traffic through ${state.path}`,
    about: el("div", {}, command(state.command), running,
      el("p", { class: "meta" }, state.recording === null
        ? `${keeps} while it runs, the latest of them; nothing stays. To keep all: --capture DIR.`
        : `${keeps}, in ${state.recording}: tcplab trace explains them.`)),
    ends,
    hasSamples: false,
    history: address("/api/traffic/live", {}),
    packets: ask,
    steer: (where) => show(where, sockets.element, section, packetTable(ask, ends)),
    told: { path: draw, connections: sockets.draw, over },
    over: OVER,
  });
  document.title = `${state.path} · tcplab`;
};

const OVER = "The program has ended. This page keeps what it shows until you close it.";

document.getElementById("skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  place.focus();
});
themeButton(/** @type {HTMLElement} */ (document.getElementById("theme")));
begin().catch((error) => {
  show(place, el("div", { class: "page" }, el("header", {}, el("h1", {}, "This did not work")), el("p", { class: "lead", role: "alert" }, error.message)));
  say(error.message);
});
