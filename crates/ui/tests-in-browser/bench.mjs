// What watching costs a trial, and how the page keeps up: trials with three open pages and without
// any, one after the other in turns. Prints; judges nothing.

import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { launch, open, serve } from "./place.mjs";

const rounds = Number(process.env.ROUNDS ?? 5);
const PAGES = 3;
const FILES = {
  "real time, 1 Gbit/s": {
    world: "kernel",
    toml: 'title = "A transfer"\n[path]\nrate = "1 Gbit/s"\ndelay = "5 ms"\n[workload]\nupload = "400 MB"\n[recording]\nsnaplen = "96 B"\n[repeat]\ntrials = 1\n',
  },
  "virtual time, full speed": {
    world: "sim",
    toml: 'title = "A transfer"\n[path]\nrate = "1 Gbit/s"\ndelay = "5 ms"\n[workload]\nupload = "100 MB"\n[recording]\nsnaplen = "96 B"\n[repeat]\ntrials = 5\n',
  },
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

/** Notes what each frame shows, and when it was on the screen: at the latest when the next begins. */
const note = (page) => page.evaluate(() => {
  const noted = window.noted = { frames: 0, first: 0, from: performance.now(), until: 0, seen: [] };
  let before = null;
  const frame = () => {
    const trial = window.tcplabLive?.trial;
    const wall = performance.timeOrigin + performance.now();
    if (before !== null) noted.seen.push([wall, before]);
    before = trial && !trial.isOver && trial.latest > 0 ? trial.latest : null;
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

const trial = async (what, isWatched) => {
  const { toml, world } = FILES[what];
  const open_ = isWatched ? await Promise.all(Array.from({ length: PAGES }, () => open(browser, server))) : [];
  const pages = open_.map((it) => it.page);
  const job = await ask("/api/jobs", { do: "run", toml, name: "bench", world });
  const began = performance.now();
  let run = "", largest = 0, state, from = performance.now();
  for (;;) {
    state = await ask(`/api/jobs/${job.id}`);
    if (!run && state.run && (state.latest?.event === "started" || state.latest?.event === "progress")) {
      run = state.run;
      from = performance.now();
      for (const page of pages) {
        await page.evaluate((to) => { location.hash = to; }, `/live?run=${encodeURIComponent(run)}&case=base&trial=1`);
        await note(page);
      }
    }
    if (!state.is_running) break;
    if (isWatched) largest = Math.max(largest, await memory());
    await new Promise((done) => setTimeout(done, 100));
  }
  if (state.said || !state.run) throw new Error(JSON.stringify(state));
  const seconds = (performance.now() - (world === "sim" ? began : from)) / 1e3;
  const place = join(server.home, "runs", state.run);
  const trials = join(place, "trials");
  const read = async (where) => JSON.parse(await readFile(join(place, where, "result.json"), "utf8"));
  const result = await read(join("trials", (await readdir(trials)).sort()[0]));
  // The attempt that was watched is the first.
  const watched = await read("flawed/base-1-1").catch(() => result);
  const table = (await readFile(join(place, "metrics.csv"), "utf8")).trim().split("\n").map((line) => line.split(","));
  const goodput = Number(table.slice(1).find((row) => row.includes("goodput"))?.[table[0].indexOf("value")]);
  const lateness = result.world.lateness;
  const views = await Promise.all(pages.map((page) => page.evaluate(() => window.noted)));
  for (const { context } of open_) await context.close();
  const zero = watched.zero_unix_ns / 1e6;
  const late = views.flatMap((it) => (it?.seen ?? []).map(([wall, latest]) => wall - zero - latest * 1e3));
  const frames = views.filter((it) => it?.frames > 1).map((it) => it.frames * 1e3 / (it.until - it.from));
  // What it wrote would fill the disk.
  await rm(place, { recursive: true });
  const { capture_drops } = result.world;
  return { seconds, goodput, lateness, late: late.sort((a, b) => a - b), frames, largest, capture_drops };
};

const line = (what, which, it) => {
  const { lateness, late, frames } = it;
  const us = (ns) => `${(ns / 1e3).toFixed(1)} µs`;
  const parts = [`${what}, ${which} ${PAGES} pages: ${it.seconds.toFixed(2)} s`, `goodput ${it.goodput.toFixed(1)} Mbit/s`];
  if (lateness) parts.push(`lateness ${us(lateness.median_ns)}, p99 ${us(lateness.p99_ns)}, p99.9 ${us(lateness.p999_ns)}`);
  if (frames.length) parts.push(`${Math.min(...frames).toFixed(1)} frames/s`, `page ${(it.largest / 1e6).toFixed(0)} MB`);
  if (late.length) parts.push(`packet to pixel ${median(late).toFixed(0)} ms, p99 ${late[Math.floor(late.length * 0.99)].toFixed(0)} ms`);
  if (it.capture_drops) parts.push(`the recorder missed ${it.capture_drops} packets`);
  return parts.join(", ");
};

const compare = async (what) => {
  const all = { without: [], with: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const which of round % 2 ? ["with", "without"] : ["without", "with"]) {
      const it = await trial(what, which === "with");
      all[which].push(it);
      console.log(line(what, which, it));
    }
  }
  const ratio = (pick) => (median(all.with.map(pick)) / median(all.without.map(pick))).toFixed(3);
  const lateness = all.with[0].lateness
    ? `, lateness: median ${ratio((it) => it.lateness.median_ns)}, p99 ${ratio((it) => it.lateness.p99_ns)}` : "";
  console.log(`${what}, with / without: goodput ${ratio((it) => it.goodput)}, time ${ratio((it) => it.seconds)}${lateness}`);
};

try {
  for (const what of Object.keys(FILES)) if (!process.env.ONLY || what.includes(process.env.ONLY)) await compare(what);
} finally {
  await browser.close();
  await server.forget();
}
