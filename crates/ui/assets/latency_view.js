// @ts-check
// Latency over time and its figures: of a measurement that runs, and of a result.

import { Chart, Pace, Series, Stretch } from "./chart.js";
import { duration, el, rate, rounded, show } from "./dom.js";

/** What is followed, seconds. */
const LATEST = 60;

const percent = (/** @type {number} */ it) => `${rounded(it)} %`;

/** A place with charts and figures; `progress` and `result` fill it. */
export const latencyView = () => {
  const stretch = new Stretch();
  const series = {
    there: new Series("there", "forward"), back: new Series("back", "reverse"),
    mean: new Series("mean", "data"), most: new Series("longest", "plot-muted"), least: new Series("shortest", "acks"),
    lostThere: new Series("there", "forward", { step: true }), lostBack: new Series("back", "reverse", { step: true }),
    lostSomewhere: new Series("way not known", "plot-muted", { step: true }),
    upload: new Series("upload", "forward", { step: true }), download: new Series("download", "reverse", { step: true }),
    thirdMean: new Series("mean", "data"), thirdMost: new Series("longest", "plot-muted"),
  };
  const charts = el("div", { class: "live-charts" });
  const figures = el("section", {}, el("h2", {}, "Figures")), numbers = el("div", {}), others = el("section", {});
  figures.append(numbers);
  const latest = el("button", { type: "button", onclick: () => { mode = "latest"; turn(); } }, "Latest minute");
  const whole = el("button", { type: "button", onclick: () => { mode = "whole"; turn(); } }, "Whole");
  const clock = el("output", { class: "clock" });
  const controls = el("div", { class: "live-controls", role: "group", "aria-label": "What is shown" }, latest, whole, clock);
  const element = el("div", { class: "latency", hidden: true }, controls, charts, figures, others);
  /** @type {"latest" | "whole" | "hold"} */
  let mode = "whole";
  let until = 0, drawn = "";

  const turn = () => {
    latest.setAttribute("aria-pressed", String(mode === "latest"));
    whole.setAttribute("aria-pressed", String(mode === "whole"));
    if (mode === "latest") stretch.show(Math.max(0, until - LATEST), until);
    else if (mode === "whole") stretch.show(0, until);
    stretch.draw();
  };
  element.addEventListener("zoomed", () => { mode = "hold"; turn(); });
  element.addEventListener("whole", () => { mode = "whole"; turn(); });
  stretch.heard.push(() => {});

  /** @param {boolean} hasLoad @param {boolean} isKnown whether the way of all losses is known @param {string} third */
  const build = (hasLoad, isKnown, third) => {
    const key = `${hasLoad} ${isKnown} ${third}`;
    if (key === drawn) return;
    drawn = key;
    stretch.charts = [];
    const all = [
      new Chart(stretch, "Latency, mean", duration, [series.there, series.back], { height: 220 }),
      new Chart(stretch, "RTT", duration, [series.mean, series.most, series.least]),
      new Chart(stretch, "Lost probes", percent, [series.lostThere, series.lostBack, ...(isKnown ? [] : [series.lostSomewhere])], { least: 1 }),
      ...(hasLoad ? [new Chart(stretch, "Throughput of the load", rate, [series.upload, series.download])] : []),
      ...(third ? [new Chart(stretch, `RTT from ${third}`, duration, [series.thirdMean, series.thirdMost])] : []),
    ];
    show(charts, ...all.map((chart) => chart.element));
  };

  /** @param {Record<string, (number | null)[]>} columns a list for each quantity @param {any} [third] what a third host measured, and how much later it began */
  const fill = (columns, third) => {
    for (const one of Object.values(series)) one.clear();
    const seconds = (/** @type {number | null} */ it) => it === null ? null : it / 1e3;
    let isKnown = true, hasLoad = false;
    columns.at_seconds.forEach((at, place) => {
      const value = (/** @type {string} */ key) => columns[key]?.[place] ?? null;
      const time = at ?? 0, sent = value("sent") ?? 0;
      const { there, back, mean, most, least } = series;
      for (const [one, key] of /** @type {[Series, string][]} */ ([[there, "there_mean_ms"], [back, "back_mean_ms"], [mean, "rtt_mean_ms"], [most, "rtt_max_ms"], [least, "rtt_min_ms"]])) {
        const it = seconds(value(key));
        if (it === null) one.gap(time);
        else one.put(time, it);
      }
      if (sent > 0) {
        const [lost, lostThere, lostBack] = ["lost", "lost_there", "lost_back"].map((key) => value(key) ?? 0);
        series.lostThere.put(time, (lostThere * 100) / sent);
        series.lostBack.put(time, (lostBack * 100) / sent);
        series.lostSomewhere.put(time, ((lost - lostThere - lostBack) * 100) / sent);
        isKnown &&= lost === lostThere + lostBack;
      }
      for (const [one, key] of /** @type {[Series, string][]} */ ([[series.upload, "upload_bits_per_second"], [series.download, "download_bits_per_second"]])) {
        const it = value(key);
        if (it === null) one.gap(time);
        else one.put(time, it);
        hasLoad ||= it !== null;
      }
    });
    for (const point of third?.series ?? []) {
      for (const [one, it] of /** @type {[Series, number | null][]} */ ([[series.thirdMean, point.rtt_mean_ms], [series.thirdMost, point.rtt_max_ms]])) {
        const at = point.at_seconds + third.later;
        if (it === null) one.gap(at);
        else one.put(at, it / 1e3);
      }
    }
    build(hasLoad, isKnown, third?.host ?? "");
  };

  /** @param {any} of a progress, or a result */
  const tell = (of) => {
    show(numbers, facts(of), table(of.phases));
    if (of.third) show(others, el("h2", {}, `Meanwhile, from the third host ${of.third.host}`), facts(of.third.result), table(of.third.result.phases));
  };

  const pace = new Pace();
  let isGone = false;
  const frame = (/** @type {number} */ moment) => {
    if (isGone) return;
    if (pace.isDue(moment)) for (const chart of stretch.charts) chart.draw();
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  return {
    element,
    /** What is known while it runs. @param {any} event */
    progress: (event) => {
      element.hidden = false;
      // A short measurement is seen whole; of a long one the latest.
      if (until <= LATEST && event.elapsed_seconds > LATEST && mode === "whole") mode = "latest";
      until = event.elapsed_seconds;
      clock.textContent = `${duration(until)} so far`;
      fill(event.series);
      turn();
      tell(event);
    },
    /** The figures of all, without a series. @param {any} found */
    figures: (found) => {
      element.hidden = false;
      tell(found);
    },
    /** A document of `tcplab latency --json`. @param {any} document */
    result: (document) => {
      element.hidden = false;
      /** @type {any[]} */
      const points = document.series;
      until = document.elapsed_seconds;
      clock.textContent = `${duration(until)} in all`;
      const keys = Object.keys(points[0] ?? { at_seconds: 0 });
      const third = document.third && { host: document.third.host, series: document.third.result.series, later: byServer(document.third.result) - byServer(document) };
      fill(Object.fromEntries(keys.map((key) => [key, points.map((point) => point[key])])), third);
      mode = "whole";
      turn();
      latest.hidden = true;
      tell(document);
    },
    leave: () => { isGone = true; },
  };
};

/** When it began by the server's clock, seconds. @param {any} document */
const byServer = (document) => (document.began_unix_ns + (document.clock?.offset_ns ?? 0)) / 1e9;

const time = (/** @type {number} */ nanos) => duration(nanos / 1e9);
const COLUMNS = [["min", "min_ns"], ["median", "p50_ns"], ["p90", "p90_ns"], ["p99", "p99_ns"], ["p99.9", "p999_ns"], ["max", "max_ns"]];

/** @param {any[]} phases */
const table = (phases) => el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Table of latencies" }, el("table", { class: "gains" },
  el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "latency"), ...COLUMNS.map(([name]) => el("th", { scope: "col" }, name)))),
  el("tbody", {}, ...phases.flatMap((phase) => [["RTT", "rtt"], ["there", "there"], ["back", "back"]].map(([name, key]) => el("tr", {},
    el("th", { scope: "row" }, phases.length > 1 ? `${name}, ${phase.name}` : name),
    ...COLUMNS.map(([, quantile]) => el("td", {}, phase[key].count > 0 ? time(phase[key][quantile]) : "–"))))))));

/** A silence has no way until an answer comes. @param {any} of */
const lostByWay = (of) => {
  const unknown = of.lost_unknown ?? 0;
  const [there, back, somewhere] = [of.lost_there, of.lost - of.lost_there - unknown, unknown].map((it) => it.toLocaleString("en"));
  return `${there} there, ${back} back${unknown > 0 ? `, ${somewhere} way unknown` : ""}`;
};

/** Losses, what load adds, and how exact all is. @param {any} of */
const facts = (of) => {
  const share = of.sent > 0 ? ` (${rounded((of.lost * 100) / of.sent)} %)` : "";
  const ways = of.lost === 0 ? "" : of.lost_there === null ? "on which way is not known" : lostByWay(of);
  const others = [[of.reordered, "reordered"], [of.duplicates, "duplicates"], [of.late, "after the timeout"]].filter(([count]) => count > 0).map(([count, what]) => `${count.toLocaleString("en")} ${what}`);
  const [idle, loaded] = ["idle", "under load"].map((name) => of.phases.find((/** @type {any} */ phase) => phase.name === name && phase.rtt.count > 0));
  return el("dl", { class: "meanings" },
    meaning("Probes", of.sent.toLocaleString("en"), others.length > 0 ? `answers: ${others.join(", ")}` : ""),
    meaning("Lost", `${of.lost.toLocaleString("en")}${share}`, ways),
    idle && loaded && meaning("Load adds, median", more(loaded.rtt.p50_ns - idle.rtt.p50_ns),
      `there ${more(loaded.there.p50_ns - idle.there.p50_ns)}, back ${more(loaded.back.p50_ns - idle.back.p50_ns)}`),
    ...(of.phases.length > 1 ? of.phases.filter((/** @type {any} */ phase) => phase.sent > 0) : []).map((/** @type {any} */ phase) => meaning(`Lost, ${phase.name}`, `${phase.lost.toLocaleString("en")} (${rounded((phase.lost * 100) / phase.sent)} %)`,
      phase.lost_there + phase.lost_back > 0 ? `${phase.lost_there.toLocaleString("en")} there, ${phase.lost_back.toLocaleString("en")} back` : "")),
    of.send_delay?.count > 0 && meaning("Send delay, p99", time(of.send_delay.p99_ns), `at most ${time(of.send_delay.max_ns)}: probes left this much late${of.unsent > 0 ? `; ${of.unsent.toLocaleString("en")} never` : ""}`),
    ...(of.loads ?? []).map((/** @type {any} */ load) => meaning(load.direction === "upload" ? "Upload" : "Download", rate(load.bits_per_second), `for ${duration(load.elapsed_seconds)}`)),
    of.clock && meaning("Each way", of.clock.is_same ? "exact" : `± ${time(of.clock.bound_ns)}`, clockIs(of.clock)));
};

/** @param {string} name @param {string} value @param {string} more */
const meaning = (name, value, more) => el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), more && el("p", {}, more)));

const more = (/** @type {number} */ nanos) => `${nanos < 0 ? "−" : "+"}${time(Math.abs(nanos))}`;

/** @param {any} clock */
const clockIs = (clock) => {
  if (clock.is_same) return "Both hosts have one clock.";
  const ahead = `The server's clock is ${time(Math.abs(clock.offset_ns))} ${clock.offset_ns < 0 ? "behind" : "ahead"}`;
  const drift = clock.drift_ppb === null ? "its drift is not known yet" : `it drifts by ${rounded(clock.drift_ppb / 1e3)} ppm`;
  return `${ahead}; ${drift}. The RTT is exact; each way is right where both take equally long without queues.`;
};
