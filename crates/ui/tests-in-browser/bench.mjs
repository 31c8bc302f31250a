// What watching costs a trial, and how the page keeps up: trials that nobody watches, that three
// streams of events watch (as pages on other machines do), and that one page or three on this machine
// watch, one after the other in turns. Prints; judges nothing.

import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { launch, open, serve } from "./place.mjs";

const rounds = Number(process.env.ROUNDS ?? 5);
/** How many streams and pages watch. */
const WAYS = {
  nobody: { streams: 0, pages: 0 },
  "3 streams": { streams: 3, pages: 0 },
  "1 page": { streams: 0, pages: 1 },
  "3 pages": { streams: 0, pages: 3 },
};
/** A transfer that is watched. */
const transfer = (rate, upload, trials) =>
  `title = "A transfer"\n[path]\nrate = "${rate}"\ndelay = "5 ms"\n[workload]\nupload = "${upload}"\n[recording]\nsnaplen = "96 B"\n[repeat]\ntrials = ${trials}\n`;
const FILES = {
  "real time, 1 Gbit/s": { world: "kernel", toml: transfer("1 Gbit/s", "400 MB", 1) },
  "real time, 100 Mbit/s": { world: "kernel", toml: transfer("100 Mbit/s", "60 MB", 1) },
  "virtual time, full speed": { world: "sim", toml: transfer("1 Gbit/s", "100 MB", 5) },
};

const [browser, server] = await Promise.all([launch(), serve()]);
const token = new URL(server.link).searchParams.get("token") ?? "";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const ask = async (path, body) => {
  const response = await fetch(`http://${server.at}${path}`, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

/** Notes what is on the screen in each frame: what was drawn last, at the latest when the next frame begins. */
const note = (page) => page.evaluate(() => {
  const noted = window.noted = { frames: 0, first: 0, from: performance.now(), until: 0, seen: [] };
  let before = null, drawn = -1;
  const frame = () => {
    const trial = window.tcplabLive?.trial, count = window.tcplabLive?.frames();
    const wall = performance.timeOrigin + performance.now();
    if (before !== null) noted.seen.push([wall, before]);
    if (!trial || trial.isOver || trial.latest <= 0) before = null;
    else if (count !== drawn) [drawn, before] = [count, trial.latest];
    if (before !== null) {
      if (noted.until === 0) [noted.from, noted.first] = [performance.now(), window.tcplabLive.frames()];
      noted.frames = window.tcplabLive.frames() - noted.first;
      noted.until = performance.now();
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
});

/** The largest of the browser's processes that show pages, bytes: its share of memory (PSS). */
const memory = async () => {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  let most = 0;
  for (const { type, id } of processInfo) {
    if (type !== "renderer") continue;
    const about = await readFile(`/proc/${id}/smaps_rollup`, "utf8").catch(() => "");
    most = Math.max(most, Number(/^Pss:\s+(\d+)/m.exec(about)?.[1] ?? 0) * 1024);
  }
  return most;
};

/** Reads the events of a trial: when each came, and how late its packets were known. */
const stream = async (address, noted) => {
  const response = await fetch(`http://${server.at}${address}`, { headers });
  let rest = "";
  for await (const bytes of response.body) {
    rest += Buffer.from(bytes).toString("utf8");
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events.filter((it) => it.startsWith("event: history"))) {
      const told = JSON.parse(event.slice(event.indexOf("data: ") + 6));
      const latest = Math.max(0, ...(told.latest ?? []).map((row) => row.at_ns));
      if (latest > 0 && !told.is_over) noted.push([Date.now(), latest / 1e9]);
    }
  }
};

const trial = async (what, way) => {
  const { toml, world } = FILES[what];
  const watchers = WAYS[way];
  const open_ = await Promise.all(Array.from({ length: watchers.pages }, () => open(browser, server)));
  const pages = open_.map((it) => it.page);
  const job = await ask("/api/jobs", { do: "run", toml, name: "bench", world });
  const began = performance.now();
  const streams = [], told = [];
  let run = "", largest = 0, state, from = performance.now();
  for (;;) {
    state = await ask(`/api/jobs/${job.id}`);
    if (!run && state.run && (state.latest?.event === "started" || state.latest?.event === "progress")) {
      run = state.run;
      from = performance.now();
      const which = `run=${encodeURIComponent(run)}&case=base&trial=1`;
      for (const page of pages) {
        await page.evaluate((to) => { location.hash = to; }, `/live?${which}`);
        await note(page);
      }
      for (let it = 0; it < watchers.streams; it += 1) streams.push(stream(`/api/live?${which}`, told));
    }
    if (!state.is_running) break;
    if (pages.length > 0) largest = Math.max(largest, await memory());
    await new Promise((done) => setTimeout(done, 100));
  }
  await Promise.all(streams);
  if (state.said || !state.run) throw new Error(JSON.stringify(state));
  const seconds = (performance.now() - (world === "sim" ? began : from)) / 1e3;
  const place = join(server.home, "runs", state.run);
  const trials = join(place, "trials");
  const read = async (where) => JSON.parse(await readFile(join(place, where, "result.json"), "utf8"));
  const result = await read(join("trials", (await readdir(trials)).sort()[0]));
  const attempts = 1 + (await readdir(join(place, "flawed")).catch(() => [])).length;
  // The attempt that was watched is the first.
  const watched = await read("flawed/base-1-1").catch(() => result);
  const table = (await readFile(join(place, "metrics.csv"), "utf8")).trim().split("\n").map((line) => line.split(","));
  const goodput = Number(table.slice(1).find((row) => row.includes("goodput"))?.[table[0].indexOf("value")]);
  const lateness = result.world.lateness;
  const views = await Promise.all(pages.map((page) => page.evaluate(() => window.noted)));
  for (const { context } of open_) await context.close();
  const zero = watched.zero_unix_ns / 1e6;
  const seen = [...views.flatMap((it) => it?.seen ?? []), ...told];
  const late = seen.map(([wall, latest]) => wall - zero - latest * 1e3).sort((a, b) => a - b);
  const frames = views.filter((it) => it?.frames > 1).map((it) => it.frames * 1e3 / (it.until - it.from));
  // What it wrote would fill the disk.
  await rm(place, { recursive: true });
  const { capture_drops } = result.world;
  return { seconds, goodput, lateness, late, frames, largest, capture_drops, attempts };
};

const line = (what, way, it) => {
  const { lateness, late, frames, attempts } = it;
  const us = (ns) => `${(ns / 1e3).toFixed(1)} µs`;
  const parts = [`${what}, watched by ${way}: ${it.seconds.toFixed(2)} s`, `goodput ${it.goodput.toFixed(1)} Mbit/s`];
  if (lateness) parts.push(`lateness ${us(lateness.median_ns)}, p99 ${us(lateness.p99_ns)}, p99.9 ${us(lateness.p999_ns)}`);
  if (frames.length) parts.push(`${Math.min(...frames).toFixed(1)} frames/s`, `page ${(it.largest / 1e6).toFixed(0)} MB`);
  const until = WAYS[way].pages > 0 ? "pixel" : "event";
  if (late.length) parts.push(`packet to ${until} ${median(late).toFixed(0)} ms, p99 ${late[Math.floor(late.length * 0.99)].toFixed(0)} ms`);
  if (attempts > 1) parts.push(`${attempts} attempts`);
  if (it.capture_drops) parts.push(`the recorder missed ${it.capture_drops} packets`);
  return parts.join(", ");
};

const compare = async (what) => {
  const ways = Object.keys(WAYS);
  const all = Object.fromEntries(ways.map((way) => [way, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const way of round % 2 ? [...ways].reverse() : ways) {
      const it = await trial(what, way);
      all[way].push(it);
      console.log(line(what, way, it));
    }
  }
  for (const way of ways.slice(1)) {
    const ratio = (pick) => (median(all[way].map(pick)) / median(all.nobody.map(pick))).toFixed(3);
    const lateness = all[way][0].lateness
      ? `, lateness: median ${ratio((it) => it.lateness.median_ns)}, p99 ${ratio((it) => it.lateness.p99_ns)}` : "";
    console.log(`${what}, ${way} / nobody: goodput ${ratio((it) => it.goodput)}, time ${ratio((it) => it.seconds)}${lateness}`);
  }
};

try {
  for (const what of Object.keys(FILES)) if (!process.env.ONLY || what.includes(process.env.ONLY)) await compare(what);
} finally {
  await browser.close();
  await server.forget();
}
