// Trials of several connections, trials that are run again, and jobs that a server no longer has.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { go, launch, open, serve } from "./place.mjs";

let browser, server;
before(async () => {
  [browser, server] = await Promise.all([launch(), serve()]);
});
after(async () => {
  await browser?.close();
  await server?.forget();
});

/** A small experiment. */
const SCENARIO = (workload) => `
title    = "Small"
path     = { rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets", loss = "2 %" }
workload = { ${workload} }
repeat   = { trials = 2 }
`;

/** Runs it to its end; the run's name. */
const run = (page, wish) => page.evaluate(async (of) => {
  const { get, post } = await import("/api.js");
  const { id } = await post("/api/jobs", { do: "run", world: "sim", ...of });
  for (;;) {
    const job = await get(`/api/jobs/${id}`);
    if (!job.is_running) return job.run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}, wish);

/** Watches a trial that is over. */
const watch = async (page, name, trial = 1) => {
  await go(page, `/live?run=${encodeURIComponent(name)}&case=base&trial=${trial}`);
  await page.waitForFunction(() => window.tcplabLive?.trial.isOver);
  await page.locator(".steering").waitFor();
};

test("each connection has its own retransmissions, and windows where its socket was sampled", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, { toml: SCENARIO('upload = "300 kB", connections = { total = 2 }'), name: "two" });
  await watch(page, name);
  const flows = await page.evaluate(() => [...window.tcplabLive.trial.flows].filter(([, it]) => it.forward)
    .map(([key, it]) => ({ key, again: it.again.length, sequences: [...it.again.values].slice(0, it.again.length) })));
  assert.equal(flows.length, 2);
  for (const { key, again, sequences } of flows) {
    assert.ok(again > 0, `${key} has no retransmission`);
    assert.ok(Math.max(...sequences) <= 300_001, `${key}: ${sequences}`);
  }
  await page.locator(".live-states").filter({ hasText: "The sockets of connection 1 are sampled" }).waitFor();
  const legends = () => page.locator(".live-chart figcaption").allTextContents();
  const choice = page.getByRole("combobox", { name: "Direction that is shown" });
  await choice.selectOption("0 true");
  assert.ok((await legends()).some((it) => it.includes("congestion window")), String(await legends()));
  await choice.selectOption("1 true");
  assert.ok(!(await legends()).some((it) => it.includes("congestion window")), String(await legends()));
  await page.locator(".live-events li").filter({ hasText: /connection [12], client to server: .*retransmission/ }).first().waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test("a trial is run again with its seed, and with what was changed while it ran", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, { toml: SCENARIO('upload = "500 kB"'), name: "seeded", seed: "9007199254740993" });
  // As a trial in real time leaves it.
  const file = join(server.home, "runs", name, "trials/base-2/result.json");
  const record = JSON.parse((await readFile(file, "utf8")).replace(/"seed": (\d+)/, '"seed": "$1"'));
  const text = JSON.stringify({ ...record, path_events: [{ at: "100 ms", direction: "forward", drop: 2 }] });
  await writeFile(file, text.replace(/"seed":"(\d+)"/, '"seed":$1'));
  await watch(page, name, 2);
  const steering = page.locator(".steering"), list = steering.locator("ol li");
  await list.filter({ hasText: "0.100 s: drop the next 2, client to server" }).waitFor();
  assert.match(await steering.locator("pre").textContent(), /at = "100 ms"/);
  // Half a segment is none: it is not asked for.
  const drop = steering.getByRole("spinbutton", { name: /Drop the next/ });
  await drop.fill("1.5");
  await steering.locator(".change", { hasText: "Drop the next" }).getByRole("button").click();
  assert.equal(await list.count(), 1);
  await page.getByRole("slider", { name: "Time" }).fill("0.9");
  await drop.fill("3");
  await steering.locator(".change", { hasText: "Drop the next" }).getByRole("button").click();
  await list.nth(1).waitFor();
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/jobs"));
  await steering.getByRole("button", { name: "Run this trial again" }).click();
  const wish = (await asked).postDataJSON();
  assert.deepEqual([wish.seed, wish.case, wish.trial], ["9007199254740993", "base", 2]);
  assert.match(wish.toml, /drop = 2[^]*drop = 3/);
  await page.waitForURL((url) => url.href.includes("-changed"), { timeout: 60_000 });
  // Until the first change all is as it was.
  const again = await page.evaluate(() => new URLSearchParams(location.hash.split("?")[1]).get("run"));
  const [before, after] = await page.evaluate((runs) => Promise.all(runs.map(async (of) => {
    const { get } = await import("/api.js");
    const { packets } = await get("/api/live/packets", { run: of, case: "base", trial: 2, until_ns: 100_000_000 });
    return packets.map((it) => it.at_ns);
  })), [name, again]);
  assert.ok(before.length > 20);
  assert.deepEqual(after, before);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a run is not extended to fewer trials, and its commands do the same", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, { toml: SCENARIO('upload = "100 kB"'), name: "few", seed: 7 });
  await go(page, `/run?run=${encodeURIComponent(name)}`);
  const trials = page.getByRole("spinbutton", { name: "Trials of each case" });
  assert.equal(await trials.getAttribute("min"), "2");
  await trials.fill("1");
  await page.getByRole("button", { name: "Extend" }).click();
  assert.match(page.url(), /#\/run\?/);
  const commands = await page.locator(".command code").allTextContents();
  assert.match(commands.at(-1), /^tcplab run \S+scenario\.toml --world=sim --kernel=model --seed=7 --trials=2 --runs=/);
  // Without a name, in words.
  await page.evaluate(() => { location.hash = "/run"; });
  await page.getByRole("alert").filter({ hasText: "a name is missing" }).waitFor();
  await page.evaluate(() => { location.hash = "/job?id=abc"; });
  await page.getByRole("alert").filter({ hasText: "expected a whole number" }).waitFor();
  assert.ok(faults.every((it) => / 40[03] /.test(it)), String(faults));
  await context.close();
});

test("a run is changed where it ran, with its trials, its seed and its kernel", async () => {
  const { page, context, faults } = await open(browser, server);
  const name = await run(page, { toml: SCENARIO('upload = "100 kB"'), name: "same", seed: 7, trials: 1, kernel: "model" });
  const link = `/new?run=${encodeURIComponent(name)}`;
  await go(page, link);
  const command = page.locator(".command code"), field = (label) => page.getByRole("textbox", { name: label });
  const flags = "--trials 1 --seed 7 --kernel model";
  assert.equal(await command.textContent(), `tcplab run same.toml --world sim ${flags}`);
  await page.locator(".estimate").filter({ hasText: "1 case × 1 trial: " }).waitFor();
  // Those of the file, where nothing else is asked for.
  await field("trials of each case").fill("");
  await field("seed").fill("8");
  assert.equal(await command.textContent(), "tcplab run same.toml --world sim --seed 8 --kernel model");
  await page.locator(".estimate").filter({ hasText: "1 case × 2 trials: " }).waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#/run?"));
  await page.locator(".command code").filter({ hasText: "--kernel=model --seed=8 --trials=2 " }).waitFor();
  // A run in real time is changed in real time, where no kernel in virtual time is chosen.
  await page.route("**/api/run?*", async (route) => {
    const answer = await route.fetch(), it = await answer.json();
    await route.fulfill({ response: answer, json: { ...it, kernel: null, glance: { ...it.glance, world: "kernel" } } });
  });
  await page.evaluate(() => sessionStorage.clear());
  await go(page, link);
  assert.equal(await command.textContent(), "tcplab run same.toml --world kernel --trials 1 --seed 7");
  assert.equal(await page.getByRole("combobox", { name: "Where it runs" }).inputValue(), "kernel");
  // Where this machine refuses it, the page says so.
  assert.ok(faults.every((it) => / 400 /.test(it)), String(faults));
  await context.close();
});

test("the older of two runs is the baseline, whichever was chosen first", async () => {
  const { page, context, faults } = await open(browser, server);
  const names = [];
  for (const started of ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"]) {
    const name = await run(page, { toml: SCENARIO('upload = "100 kB"'), name: "pair" });
    const plan = join(server.home, "runs", name, "plan.json");
    await writeFile(plan, JSON.stringify({ ...JSON.parse(await readFile(plan, "utf8")), started }));
    names.push(name);
  }
  const [newer, older] = names;
  for (const order of [[newer, older], [older, newer]]) {
    await go(page, "/learn");
    await go(page, "/runs");
    for (const name of order) await page.locator(`.run-card[data-run="${name}"] input`).check();
    await page.getByRole("button", { name: "Compare the two chosen" }).click();
    const said = page.getByText("A, the baseline: Small, ");
    await said.waitFor();
    assert.match(await said.textContent(), /1\/1\/2026.* B: Small, 1\/2\/2026/);
    const command = await page.locator(".command code").first().textContent();
    const [, , a, b] = command.split(" ");
    assert.ok(a.endsWith(`/${older}`) && b.endsWith(`/${newer}`), command);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("the page of a trial that is over does not change the next one's path", async (t) => {
  const { page, context, faults } = await open(browser, server);
  const { has_kernel: hasKernel } = await page.evaluate(async () => (await fetch("/api/about")).json());
  if (!hasKernel) {
    t.skip("experiments cannot run on this kernel");
    return;
  }
  const toml = `${SCENARIO('upload = "2 MB"').replace("10 Mbit/s", "4 Mbit/s")}\n[matrix]\n"client.socket.congestion" = ["reno", "cubic"]\n`;
  const id = await page.evaluate(async (text) => {
    const { post } = await import("/api.js");
    return (await post("/api/jobs", { do: "run", world: "kernel", toml: text, name: "real" })).id;
  }, toml);
  const now = () => page.evaluate(async (job) => (await (await fetch(`/api/jobs/${job}`)).json()).trial, id);
  const until = async (isThere) => {
    for (;;) {
      const trial = await now();
      if (isThere(trial)) return trial;
      await page.waitForTimeout(50);
    }
  };
  const first = await until(Boolean);
  await go(page, `/live?run=${encodeURIComponent(first.run)}&case=${first.case}&trial=${first.trial}`);
  const steering = page.locator(".steering");
  await steering.getByText("The trial runs in real time").waitFor();
  await steering.locator(".change", { hasText: "Drop the next" }).getByRole("button", { name: "Now" }).click();
  await steering.getByText("Changed.").waitFor();
  await until((trial) => trial && trial.case !== first.case);
  // What was changed while it ran is kept, and the next change is for another run of it.
  await steering.getByText("Hold the trial at a moment").waitFor();
  await steering.locator("ol li").filter({ hasText: "drop the next 1" }).first().waitFor();
  await steering.locator(".change", { hasText: "Rate" }).getByRole("button", { name: "Here" }).click();
  await page.waitForFunction(async (job) => !(await (await fetch(`/api/jobs/${job}`)).json()).is_running, id, { timeout: 60_000 });
  const other = await page.evaluate(async ([name, own]) => {
    const { get } = await import("/api.js");
    const { trials } = await get("/api/run", { run: name });
    const of = trials.find((it) => it.case !== own);
    return (await get("/api/run", { run: name, case: of.case, trial: 1 })).path_events;
  }, [first.run, first.case]);
  assert.deepEqual(other, []);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a job's page finds its run when the server was started again", async (t) => {
  const own = await serve();
  let latest = own;
  t.after(() => latest.forget());
  const { page, context } = await open(browser, own);
  const toml = SCENARIO('upload = "5 MB"').replace("trials = 2", "trials = 2000");
  const id = await page.evaluate(async (text) => {
    const { post } = await import("/api.js");
    return (await post("/api/jobs", { do: "run", world: "sim", toml: text, name: "long" })).id;
  }, toml);
  await go(page, `/job?id=${id}`);
  await page.getByText(/^Trial \d+ of 2000/).waitFor({ timeout: 30_000 });
  await own.end("SIGKILL");
  await page.getByText("No connection to the server").waitFor({ timeout: 30_000 });
  latest = await serve({ home: own.home, listen: own.at });
  await page.waitForURL((url) => url.href.includes("#/run?run=long"), { timeout: 60_000 });
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await context.close();
});
