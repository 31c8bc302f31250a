// What the page of a trial shows, and trials side by side.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { fits, go, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

/** A picture for a person, if they want one (`SHOTS=directory`). */
const shot = async (page, name) => {
  if (!process.env.SHOTS) return;
  await mkdir(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
};

const SCENARIO = `
title    = "Small"
path     = { rate = "20 Mbit/s", delay = "20 ms", queue = "60 packets", loss = "0.3 %", interruption = { at = ["0.5 s"], lasting = "200 ms" } }
workload = { download = "3 MB" }
repeat   = { trials = 2 }

[matrix]
"server.socket.congestion" = ["reno", "cubic"]
`;

/** Runs it to its end; the run's name. */
const run = (page, name) => page.evaluate(async ([toml, of]) => {
  const { get, post } = await import("/api.js");
  const { id } = await post("/api/jobs", { do: "run", world: "sim", toml, name: of, seed: 3 });
  for (;;) {
    const job = await get(`/api/jobs/${id}`);
    if (!job.is_running) return job.run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}, [SCENARIO, name]);

/** What a page is told of a trial. */
const told = (more) => ({
  interval_ns: 10_000_000, flows: [], samples: {}, path: { forward: [], reverse: [] }, marks: [], latest: null, is_cut: false, is_over: false, ...more,
});

/** Tells the page of a trial this, in place of the server; `over` at last if it is over. */
const telling = (page, messages) => page.route(/\/api\/live\?/, (route) => {
  const events = messages.map((it) => `event: history\ndata: ${JSON.stringify(it)}\n\n`);
  if (messages.at(-1).is_over) events.push('event: over\ndata: {"is_run_again":false}\n\n');
  return route.fulfill({ contentType: "text/event-stream", body: `retry: 600000\n\n${events.join("")}` });
});

/** A direction of the only connection, that has sent so much until 10 ms. */
const flow = (forward, sent) => ({
  connection: 0, forward, ends: forward ? ["10.98.0.1:32768", "10.98.0.2:5001"] : ["10.98.0.2:5001", "10.98.0.1:32768"],
  intervals: [[0, sent, sent, sent, 0, sent, 1, 0, null]],
});

test("a drop leads to the packet, whichever end sent it, and says the same when it is held", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, "drops");
  await go(page, `/live?run=${encodeURIComponent(name)}&case=reno&trial=1`);
  await page.waitForFunction(() => window.tcplabLive?.trial.isOver && document.querySelectorAll(".live-events li button").length > 5);
  const [from, until] = [/^(\d+\.\d+)/, /(\d+\.\d+) s$/].map((it) => (text) => Number(it.exec(text)[1]));
  const times = await page.locator(".live-events button").allTextContents();
  assert.deepEqual(times.map(until), times.map(until).sort((a, b) => b - a), "the latest first");
  assert.ok(times.every((it) => from(it) <= until(it)));
  const drops = await page.evaluate(() => window.tcplabLive.trial.events.filter((it) => it.kind === "drop" && !it.forward));
  assert.ok(drops.some((it) => it.sent < it.time), "what was lost behind the queue came before");
  const hold = async (time) => {
    await page.evaluate((to) => {
      const slider = document.querySelector("input[type=range]");
      slider.step = "any";
      slider.value = String(to / window.tcplabLive.trial.latest);
      slider.dispatchEvent(new Event("input"));
    }, time);
    await page.waitForFunction((to) => document.querySelector(".clock").textContent.startsWith(`${to.toFixed(2)} s`), time);
  };
  const lost = page.locator(".rungs tr.lost[aria-current]");
  /** The words of a packet are in sight, in few lines. */
  const isInSight = async (row, what) => {
    const [box, cell] = [await page.locator(".live-packets .scroll").boundingBox(), await row.locator("td").last().boundingBox()];
    assert.ok(cell.x + cell.width <= box.x + box.width + 1, `${what}: ${cell.x + cell.width} of ${box.x + box.width}`);
    assert.ok(cell.height < 50, `${what}: ${cell.height} pixels high`);
  };
  for (const what of ["random loss", "interruption", "full queue"]) {
    await hold(drops.find((it) => it.what.includes(what)).time + 1e-6);
    const line = page.locator(".live-events li").filter({ hasText: /server to client: .*dropped/ }).first();
    const before = await line.textContent();
    await line.getByRole("button").click();
    await lost.filter({ hasText: what }).waitFor();
    assert.match(await lost.textContent(), /✕──/);
    // Beside several SACK blocks, too.
    if (what === "interruption") assert.match(await page.locator(".rungs").textContent(), /SACK.*SACK.*SACK/);
    assert.ok((await page.locator(".live-events li").allTextContents()).includes(before), before);
    await isInSight(lost, what);
    await shot(page, `drop-${what.replace(" ", "-")}`);
  }
  await page.setViewportSize({ width: 400, height: 900 });
  await fits(page, "a trial");
  await shot(page, "narrow");
  assert.deepEqual(faults, []);
  await context.close();
});

test("marks of one kind are one line from first to last, that does not depend on what comes later", async () => {
  const { page, context } = await open(browser, server);
  const lines = await page.evaluate(async (empty) => {
    const { Trial } = await import("/live.js");
    const trial = new Trial(["client", "server"]);
    const drop = (ms) => ({ at_ns: ms * 1e6, sent_ns: (ms - 5) * 1e6, kind: "drop", connection: null, forward: false, sequence: null, what: "dropped" });
    const again = (ms) => ({ at_ns: ms * 1e6, sent_ns: null, kind: "segment", connection: 0, forward: false, sequence: 1, what: "fast-retransmission" });
    const other = (ms) => ({ ...drop(ms), forward: true });
    trial.take({ ...empty, marks: [drop(10), again(12), drop(20), other(25), again(30), other(35), drop(40)] });
    const at = (time) => trial.latestEvents(time).map((it) => [it.kind, it.forward, it.from, it.time, it.count]);
    return { all: at(1), first: at(0.02), before: at(0.019), none: at(0.001), sent: [trial.sentAt(0.02), trial.sentAt(0.03), trial.sentAt(0.031)] };
  }, told({}));
  assert.deepEqual(lines.all, [
    ["drop", false, 0.04, 0.04, 1], ["drop", true, 0.025, 0.035, 2],
    ["segment", false, 0.012, 0.03, 2], ["drop", false, 0.01, 0.02, 2],
  ]);
  assert.deepEqual(lines.first, [["drop", false, 0.01, 0.02, 2], ["segment", false, 0.012, 0.012, 1]]);
  assert.deepEqual(lines.before, [["segment", false, 0.012, 0.012, 1], ["drop", false, 0.01, 0.01, 1]]);
  assert.deepEqual([lines.none, lines.sent], [[], [0.015, 0.03, 0.031]]);
  await context.close();
});

test("where nothing passes, rates fall to zero and nothing waits", async () => {
  const { page, context } = await open(browser, server);
  const found = await page.evaluate(async (empty) => {
    const { Trial } = await import("/live.js");
    const trial = new Trial(["client", "server"]), flow = (rows) => ({ connection: 0, forward: true, ends: null, intervals: rows });
    // 12.5 kB in 10 ms, which are 10 Mbit/s, acknowledged at once.
    const row = (place, sent, flight = 0) => [place, sent, sent, null, flight, 12_500, 9, 0, null];
    const take = (rows, forward, more, moment) => trial.take({ ...empty, flows: [flow(rows)], path: { forward, reverse: [] }, ...more }, moment);
    const burst = Array.from({ length: 10 }, (_, place) => row(place, 12_500 * (place + 1)));
    // As the server tells it: from the 11th interval on nothing waited.
    take([...burst, row(100, 137_500)], [...burst.map(([place]) => [place, 25e6, 12_500, 0]), [10, 0, 0, 0], [100, 1e6, 12_500, 0]], {}, 1000);
    const { sending, goodput } = trial.main, { waited, rate } = trial.path.forward;
    const at = (...times) => times.map((time) => [sending, goodput, rate].map((one) => Math.round(one.at(time) / 1e5) / 10).concat(waited.at(time)));
    const between = at(0.1, 0.15, 0.2, 0.5, 1, 1.01);
    const live = [];
    for (const moment of [1100, 1700]) {
      take([row(100, 137_500)], [], { reached_ns: moment * 1e6 }, moment);
      live.push(...at(moment / 1e3));
    }
    // A file that is read late is right.
    take([row(100, 137_500), row(160, 150_000, 9_000)], [[160, 2e6, 12_500, 0]], { reached_ns: 1.8e9 }, 1800);
    const late = at(1.6, 1.61, 1.7);
    take([row(160, 150_000, 9_000)], [], { reached_ns: 2.4e9 }, 2400);
    const waits = at(2.4);
    take([row(160, 150_000)], [], { is_over: true }, 2500);
    return { between, live, late, waits, over: at(1.65, 2.4, 60), latest: trial.latest };
  }, told({}));
  const still = [0, 0, 0, 0], burst = [1, 1, 1];
  assert.deepEqual(found.between, [[10, 9, 10, 0.025], [5, 5, 5, 0], still, still, still, [...burst, 0.001]]);
  assert.deepEqual(found.live, [[...burst, 0.001], still]);
  assert.deepEqual(found.late, [[0, 0, 0, 0.001], [...burst, 0.002], [...burst, 0.002]]);
  // What waits while something is in flight is not known.
  assert.deepEqual(found.waits, [[0, 0, 0, null]]);
  assert.deepEqual([found.over, found.latest], [[[...burst, 0], still, still], 2.4]);
  await context.close();
});

test("the direction with the most data is shown, in whatever order they are told", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, "directions");
  await telling(page, [told({ flows: [flow(true, 2)] }), told({ flows: [flow(true, 2), flow(false, 900_000)], is_over: true })]);
  await go(page, `/live?run=${encodeURIComponent(name)}&case=reno&trial=1`);
  const choice = page.getByRole("combobox", { name: "Direction that is shown" });
  await page.waitForFunction(() => window.tcplabLive?.trial.flows.size === 2);
  await page.waitForTimeout(100);
  assert.equal(await choice.inputValue(), "0 false");
  await choice.selectOption("0 true");
  await page.waitForTimeout(300);
  assert.equal(await choice.inputValue(), "0 true");
  assert.deepEqual(faults, []);
  await context.close();
});

test("the clock of a trial that goes on is not ahead of its end", async () => {
  const { page, context } = await open(browser, server);
  const name = await run(page, "clock");
  await telling(page, [told({ flows: [flow(true, 2)] })]);
  await go(page, `/live?run=${encodeURIComponent(name)}&case=reno&trial=1`);
  const clock = page.locator(".clock");
  await clock.filter({ hasText: "0.16 s of" }).waitFor();
  assert.equal(await clock.textContent(), "0.16 s of 0.16 s");
  await context.close();
});

test("trials that begin later come beside the others, unless the reader has chosen", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, "later");
  // As if the first trial had just begun.
  let begun = 1;
  await page.route(/\/api\/run\?/, async (route) => {
    const it = await (await route.fetch()).json();
    it.trials.forEach((trial, at) => { if (at >= begun) trial.state = "missing"; });
    it.glance.is_finished = begun === it.trials.length;
    await route.fulfill({ json: it });
  });
  await go(page, `/trials?run=${encodeURIComponent(name)}`);
  const charts = page.locator(".multiples canvas"), chips = page.locator(".levels-choice input");
  const are = (selector, count) => page.waitForFunction(([of, wanted]) => document.querySelectorAll(of).length === wanted, [selector, count]);
  await charts.first().waitFor();
  assert.deepEqual([await charts.count(), await chips.count()], [1, 1]);
  await chips.first().focus();
  begun = 4;
  await are(".levels-choice input", 4);
  await are(".multiples canvas", 2);
  assert.ok(await chips.first().evaluate((it) => it === document.activeElement), "the focus is kept");
  assert.ok(!page.url().includes("trials=%5B"), page.url());
  await shot(page, "side-by-side");
  await page.reload();
  await are(".multiples canvas", 2);
  // What the reader chooses stays, also when the page is loaded again.
  begun = 3;
  await page.reload();
  await are(".levels-choice input", 3);
  await page.locator(".levels-choice input:checked").last().uncheck();
  await are(".multiples canvas", 1);
  assert.ok(page.url().includes("trials=%5B"), page.url());
  begun = 4;
  await are(".levels-choice input", 4);
  await page.waitForTimeout(200);
  assert.equal(await charts.count(), 1);
  await page.reload();
  await are(".levels-choice input", 4);
  assert.deepEqual([await charts.count(), await page.locator(".levels-choice input:checked").count()], [1, 1]);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a trial whose recording is gone keeps what was shown, and says why it is gone", async () => {
  const { page, context } = await open(browser, server);
  const name = await run(page, "gone");
  let isGone = false;
  const rows = Array.from({ length: 50 }, (_, at) => [at, 1_000 * at, 1_000 * at, null, 0, 1_000, 1, 0, null]);
  await page.route(/\/api\/live\?/, (route) => {
    if (isGone) return route.fulfill({ status: 404, json: { error: "trial 1 of reno was not begun, or was stopped before its end" } });
    isGone = true;
    return route.fulfill({ contentType: "text/event-stream", body: `retry: 100\n\nevent: history\ndata: ${JSON.stringify(told({ flows: [{ ...flow(true, 1), intervals: rows }] }))}\n\n` });
  });
  await page.route(/\/api\/run\?/, async (route) => {
    const it = await (await route.fetch()).json();
    it.trials.forEach((trial) => { trial.state = "missing"; });
    await route.fulfill({ json: it });
  });
  const there = `/live?run=${encodeURIComponent(name)}&case=reno&trial=1`, alert = page.getByRole("alert");
  await go(page, there);
  await alert.filter({ hasText: "stopped before its end, and nothing of its recording was kept. Resume the run" }).waitFor();
  assert.equal(await page.locator(".live-chart canvas").count(), 5);
  await page.getByRole("button", { name: "Play" }).waitFor();
  assert.match(await page.locator(".live-chart").first().textContent(), /sent49 kB/);
  await shot(page, "gone");
  // Who comes later has nothing that was shown.
  await go(page, "/runs");
  await go(page, there);
  await alert.filter({ hasText: "was not begun, or was stopped before its end. Resume the run" }).waitFor();
  await alert.getByRole("link").click();
  await page.waitForSelector('main[data-page="/run"]');
  await context.close();
});

test("of many cases as many of each level are side by side", async () => {
  const { page, context } = await open(browser, server);
  const spread = await page.evaluate(async () => {
    const { spread: of } = await import("/multiples.js");
    const levels = (count, each) => Array.from({ length: count }, (_, level) => Array.from({ length: each }, (__, at) => `${level} ${at}`));
    return [levels(3, 10), levels(2, 6), levels(5, 4), levels(30, 2), levels(1, 30)].map((all) => of(all, 12));
  });
  assert.deepEqual(spread[0], [0, 1, 2].flatMap((level) => [0, 2, 5, 7].map((at) => `${level} ${at}`)));
  assert.deepEqual(spread.map((it) => [it.length, new Set(it.map((one) => one.split(" ")[0])).size]), [[12, 3], [12, 2], [10, 5], [12, 12], [12, 1]]);
  const name = await run(page, "many");
  await page.route(/\/api\/run\?/, async (route) => {
    const it = await (await route.fetch()).json();
    it.trials = ["reno", "cubic", "bbr"].flatMap((level) => Array.from({ length: 10 }, (_, at) => ({ case: `${level}_${at}`, number: 1, level, state: "whole", keeps_packets: true })));
    await route.fulfill({ json: it });
  });
  await go(page, `/trials?run=${encodeURIComponent(name)}`);
  await page.getByText("12 of 30 cases; choose others below.").waitFor();
  const names = await page.locator(".multiples figcaption b").allTextContents();
  assert.deepEqual(names.map((it) => it.split("_")[0]), ["reno", "cubic", "bbr"].flatMap((level) => Array(4).fill(level)));
  await shot(page, "many");
  await page.locator(".levels-choice input:checked").last().uncheck();
  assert.equal(await page.getByText("12 of 30 cases").count(), 0);
  await context.close();
});
